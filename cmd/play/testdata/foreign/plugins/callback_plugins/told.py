"""Notes what it is told, as lines of JSON."""
import json
import os

from ansible.plugins.callback import CallbackBase

DOCUMENTATION = """
name: told
type: notification
short_description: notes what it is told
options:
  mark:
    description: stands before the sum
    default: told
    env: [{name: TOLD_MARK}]
    ini: [{section: callback_told, key: mark}]
"""


class CallbackModule(CallbackBase):
    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = 'notification'
    CALLBACK_NAME = 'told'

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.seen = 0

    def note(self, event, **fields):
        self.seen += 1
        with open(os.environ['TOLD'], 'a') as f:
            f.write(json.dumps(dict(fields, event=event), sort_keys=True) + '\n')

    def task(self, task):
        return dict(name=task.name, shown=task.get_name(), action=task.action, path=os.path.basename(task.get_path() or ''), no_log=bool(task.no_log), tags=sorted(set(task.tags)),
                    role=task._role.get_name() if task._role else None, text=str(task), failed_when=[str(c).lower() for c in task.failed_when], vars=task.get_vars(),
                    args=dict((k, v) for k, v in task.args.items() if not k.startswith('_ansible_')) if not task.no_log and task.action != 'gather_facts' else None)

    def known(self, play, host):
        manager = play.get_variable_manager()
        all = manager.get_vars(play=play, host=host)
        self.note('known', of=host.name, groups=sorted(g.name for g in host.get_groups()), own=dict((k, v) for k, v in host.vars.items() if not k.startswith('inventory_')),
                  shown=sorted(k for k in host.get_vars()), extra=sorted(manager.extra_vars), all=dict((k, all.get(k)) for k in (
                      'root', 'inventory_hostname', 'group_names', 'told', 'deep', 'weight', 'later', 'of_play', 'kept')), neighbour=all['hostvars']['b']['inventory_hostname'])

    def result(self, event, result, **fields):
        r = dict((k, v) for k, v in result._result.items() if k in (
            'msg', 'rc', 'stdout', 'censored', 'item', 'attempts', 'retries', 'skip_reason', '_ansible_item_label', 'dest', 'inventory_hostname', 'failed', 'skipped'))
        if result._task.action == 'set_stats':
            r['ansible_stats'] = result._result['ansible_stats']['data']
        self.note(event, host=result._host.get_name(), name=str(result._host), result=r, changed=result.is_changed(), task=self.task(result._task),
                  task_name=result.task_name, label=self.host_label(result), items=len(result._result.get('results', [])), loop=bool(result._task.loop), **fields)

    def v2_playbook_on_start(self, playbook): self.note('start', file=os.path.basename(playbook._file_name))
    def v2_playbook_on_play_start(self, play):
        self.play = play
        self.note('play', name=play.get_name(), own=play.name, text=str(play), hosts=play.get_variable_manager().get_vars(play=play)['ansible_play_hosts_all'])
    def v2_playbook_on_no_hosts_matched(self): self.note('none matched')
    def v2_playbook_on_no_hosts_remaining(self): self.note('none left')
    def v2_playbook_on_task_start(self, task, is_conditional): self.note('task', task=self.task(task), conditional=is_conditional)
    def v2_playbook_on_handler_task_start(self, task): self.note('handler', task=self.task(task))
    def v2_playbook_on_include(self, included_file): self.note('include', file=os.path.basename(included_file._filename), hosts=sorted(h.name for h in included_file._hosts))
    def v2_playbook_on_notify(self, handler, host): self.note('notify', handler=handler.get_name(), host=host.get_name())
    def v2_runner_on_start(self, host, task):
        setattr(self, host.name, host)
        self.note('begin', host=host.name, task=task.get_name())
    def v2_runner_on_ok(self, result): self.result('ok', result)
    def v2_runner_on_failed(self, result, ignore_errors=False): self.result('failed', result, ignored=bool(ignore_errors))
    def v2_runner_on_skipped(self, result): self.result('skipped', result)
    def v2_runner_item_on_ok(self, result): self.result('item ok', result, label_of=self._get_item_label(result._result))
    def v2_runner_item_on_skipped(self, result): self.result('item skipped', result)
    def v2_runner_retry(self, result): self.result('retry', result)
    def v2_on_file_diff(self, result): self.note('diff', diff=[sorted(d) for d in [result._result['diff']] if isinstance(d, dict)] or len(result._result['diff']))

    def v2_playbook_on_stats(self, stats):
        for host in (self.a, self.b):
            self.known(self.play, host)
        self.note('stats', hosts=dict((h, stats.summarize(h)) for h in sorted(stats.processed)), custom=stats.custom, dark=stats.dark, failures=stats.failures)
        self._display.display('%s %d events' % (self.get_option('mark'), self.seen))
        print('and printed')

# An Ansible callback plugin that writes down, as one JSON object per line in
# the file $PLAY_RECORD, the events of a run as package event would tell them.
# It runs beside the stdout callback whose output record.py captures. Written
# for ansible-core 2.14; run through record.py.

import json
import os
import sys

from ansible import constants as C
from ansible import context
from ansible.executor.task_result import TaskResult
from ansible.plugins.callback import CallbackBase
from ansible.utils.display import Display

DOCUMENTATION = """
    name: recorder
    type: aggregate
    short_description: write the events of a run as JSON lines
    description: see the first lines of this file
"""

HINTS = ("_ansible_verbose_always", "_ansible_verbose_override")


def write(kind, **fields):
    """Append one event; safe from several processes. What is empty is left out."""
    found = {k: v for k, v in fields.items() if v or k in ("result", "counts")}
    line = json.dumps(dict(event=kind, **found), default=str) + "\n"
    fd = os.open(os.environ["PLAY_RECORD"], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    os.write(fd, line.encode())
    os.close(fd)


def plain(value):
    """A copy without Ansible's internal keys, but with the display hints."""
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()
                if not (isinstance(k, str) and k.startswith("_ansible_") and k not in HINTS)}
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    return value


def watch_display(main):
    """Record warnings and verbose words that no result carries."""
    state = {"result": False}
    warning, deprecated, verbose = Display.warning, Display.deprecated, Display.verbose
    handle, copy = CallbackBase._handle_warnings, TaskResult.clean_copy

    def on_warning(self, msg, formatted=False):
        if not state["result"]:
            write("warning", msg=msg)
        return warning(self, msg, formatted)

    def on_deprecated(self, msg, version=None, removed=False, date=None, collection_name=None):
        if not state["result"]:
            write("deprecated", msg=msg, version=version, date=date, collection=collection_name)
        return deprecated(self, msg, version=version, removed=removed, date=date, collection_name=collection_name)

    def on_verbose(self, msg, host=None, caplevel=2):
        # Workers tell of pipes and temporary files, which play has not.
        if os.getpid() == main:
            if self.verbosity > caplevel:
                write("verbose", level=caplevel + 1, host=host, msg=msg)
            return verbose(self, msg, host=host, caplevel=caplevel)

    def on_handle(self, res):
        state["result"] = True
        try:
            return handle(self, res)
        finally:
            state["result"] = False

    def on_copy(self):
        clean = copy(self)
        clean.raw = self._result
        return clean

    Display.warning, Display.deprecated, Display.verbose = on_warning, on_deprecated, on_verbose
    CallbackBase._handle_warnings, TaskResult.clean_copy = on_handle, on_copy


class CallbackModule(CallbackBase):
    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = "aggregate"
    CALLBACK_NAME = "recorder"

    def __init__(self, display=None, options=None):
        super().__init__(display, options)
        watch_display(os.getpid())
        write("options", **self.options())
        for stream in (sys.stdout, sys.stderr):
            stream.write("<RECORD>\n")
            stream.flush()
        self.tasks = set()

    def options(self):
        names = ("display_skipped_hosts", "display_ok_hosts", "display_failed_stderr", "show_custom_stats",
                 "show_per_host_start", "check_mode_markers", "show_task_path_on_failure", "result_format",
                 "pretty_results")
        found = {n: C.config.get_config_value(n, plugin_type="callback", plugin_name="default") for n in names}
        args = context.CLIARGS
        stdout = C.DEFAULT_STDOUT_CALLBACK
        if "module_name" in args:  # the command ansible
            stdout = "oneline" if args["one_line"] else "minimal"
        cli = ["%s: %s" % (a, args[a]) for a in args if a != "args" and args[a]]
        own = [n for n in ("ok", "changed", "skip", "error") if "ANSIBLE_COLOR_" + n.upper() in os.environ]
        found["colors"] = {n: C.config.get_config_value("COLOR_" + n.upper()) for n in own}
        pretty = found.pop("pretty_results")
        if pretty is not None:  # written also when it is false
            found["pretty_results"] = "yes" if pretty else "no"
        return dict(found, verbosity=self._display.verbosity, color=bool(C.ANSIBLE_FORCE_COLOR),
                    width=self._display.columns, diff_context=C.DIFF_CONTEXT, check=args.get("check", False),
                    action_warnings=C.ACTION_WARNINGS, deprecation_warnings=C.DEPRECATION_WARNINGS,
                    system_warnings=C.SYSTEM_WARNINGS, stdout_callback=stdout,
                    positional=list(args.get("args", ())), cli=cli)

    def task(self, t):
        """A task in full where it is first told of, then only its id."""
        if t._uuid in self.tasks:
            return t._uuid
        self.tasks.add(t._uuid)
        path, _, line = (t.get_path() or "").rpartition(":")
        args = ""
        if C.DISPLAY_ARGS_TO_STDOUT and not t.no_log:
            args = ", ".join("%s=%s" % a for a in t.args.items())
        found = dict(id=t._uuid, name=t.get_name().strip(), own=t.name, action=t.resolved_action or t.action,
                    file=path, line=int(line or 0), handler=type(t).__name__.startswith("Handler"),
                    no_log=bool(t.no_log), check=bool(t.check_mode), diff=bool(t.diff), args=args)
        return {k: v for k, v in found.items() if v}

    def result(self, status, r, **more):
        t = r._task
        res = r._result if r._result.get("_ansible_no_log") else getattr(r, "raw", r._result)
        delegated = t.delegate_to if t.delegate_to and t.delegate_to != r._host.get_name() else ""
        address = r._result.get("_ansible_delegated_vars", {}).get("ansible_host", "") if delegated else ""
        write("result", status=status, host=r._host.get_name(), task=self.task(t), changed=bool(res.get("changed")),
              delegated=delegated, address=address, loop=t.loop is not None and "results" in res,
              result=plain(res), **more)

    def item(self, status, r):
        self.result(status, r, is_item=True, item="%s" % (self._get_item_label(r._result),))

    def v2_playbook_on_start(self, playbook):
        write("playbook", path=playbook._file_name)

    def v2_playbook_on_play_start(self, play):
        path, _, line = (play.get_path() or "").rpartition(":")
        write("play", file=path, line=int(line or 0), id=play._uuid, name=play.get_name().strip(),
              pattern=",".join(play.hosts), check=bool(play.check_mode),
              free=play.strategy in ("free", "host_pinned"))

    def v2_playbook_on_no_hosts_matched(self):
        write("no_hosts")

    def v2_playbook_on_no_hosts_remaining(self):
        write("no_hosts_left")

    def v2_playbook_on_task_start(self, task, is_conditional):
        write("task", task=self.task(task))

    def v2_playbook_on_handler_task_start(self, task):
        write("task", task=self.task(task))

    def v2_playbook_on_include(self, f):
        label = self._get_item_label(f._vars)
        write("included", file=f._filename, hosts=[h.name for h in f._hosts], label="%s" % label if label else "",
              task=self.task(f._task))

    def v2_runner_on_start(self, host, task):
        write("host_start", host=host.get_name(), task=self.task(task))

    def v2_runner_on_ok(self, r):
        self.result("ok", r)

    def v2_runner_on_failed(self, r, ignore_errors=False):
        self.result("failed", r, ignored=bool(ignore_errors))

    def v2_runner_on_skipped(self, r):
        self.result("skipped", r)

    def v2_runner_on_unreachable(self, r):
        self.result("unreachable", r, ignored=bool(r._task.ignore_unreachable))

    def v2_runner_item_on_ok(self, r):
        self.item("ok", r)

    def v2_runner_item_on_failed(self, r):
        self.item("failed", r)

    def v2_runner_item_on_skipped(self, r):
        self.item("skipped", r)

    def v2_runner_retry(self, r):
        self.result("failed", r, retrying=True)

    def polled(self, state, r, jid):
        t = r._task
        write("async", state=state, host=r._host.get_name(), task=self.task(t), jid=jid,
              started=r._result.get("started"), finished=r._result.get("finished"))

    def v2_runner_on_async_poll(self, r):
        self.polled("running", r, r._result.get("ansible_job_id"))

    def v2_runner_on_async_ok(self, r):
        self.polled("ok", r, r._result.get("ansible_job_id"))

    def v2_runner_on_async_failed(self, r):
        jid = r._result.get("ansible_job_id") or r._result.get("async_result", {}).get("ansible_job_id")
        self.polled("failed", r, jid)

    def v2_playbook_on_notify(self, handler, host):
        write("notified", host=host.get_name(), handler=handler.get_name())

    def v2_playbook_on_stats(self, stats):
        counts = {h: stats.summarize(h) for h in sorted(stats.processed)}
        write("stats", counts=counts, custom=plain(stats.custom))

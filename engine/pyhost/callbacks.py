"""Tells callback plugins what happens in a run: the second part of a Python of their own, after pyhost.py.

play (callbacks.go) sends {"do": "tell", "event", ...}; what the plugins print meanwhile goes back as {"say", "err"},
and what went wrong as {"warn"}. The objects that plugins are given have what plugins commonly use, not all that
ansible-core's have.
"""
import copy
import io

from ansible import constants as C
from ansible import context
from ansible.executor.stats import AggregateStats
from ansible.inventory.group import Group
from ansible.inventory.host import Host
from ansible.utils.display import Display
from ansible.utils.unsafe_proxy import wrap_var

PLUGINS = []
KNOWN = {"hosts": {}, "plays": {}, "tasks": {}}


class Stream(io.TextIOBase):
    """Standard output or error of the plugins: play prints it."""

    def __init__(self, err):
        self.err = err

    def writable(self):
        return True

    def write(self, text):
        send({"id": TELLING[0], "say": text, "err": self.err})
        return len(text)


TELLING = [0]  # the request that is served


def ask(what, host=None):
    """Something that play knows of the run now; text of a host is marked as no template."""
    return unpack(Variables(TELLING[0]).ask(known=what, host=host)["value"])


class Named(Host):
    """A host whose variables and groups are fetched when they are asked for."""
    vars = property(lambda self: ask("own", self.name), lambda self, value: None)
    groups = property(lambda self: [Group(name) for name in ask("groups", self.name)], lambda self, value: None)


class HostVars(Mapping):
    def __getitem__(self, name):
        if name not in list(self):
            raise KeyError(name)
        return variables(name)

    def __iter__(self):
        return iter(ask("hosts"))

    def __len__(self):
        return len(ask("hosts"))


def variables(host):
    """All variables of a host, not evaluated: templates are text, and what is data can be none."""
    return dict((name, v if template else wrap_var(v)) for name, template, v in ask("variables", host))


class Kept:
    """Something of a run; an attribute that it lacks is none of ansible-core's common ones."""

    def __init__(self, **fields):
        self.__dict__.update(fields)


class Playbook(Kept):
    def get_loader(self):
        return LOADER

    def get_plays(self):
        return list(KNOWN["plays"].values())


class Play(Kept):
    strategy = "linear"
    serial = tags = roles = vars_files = ()
    gather_facts = become = None

    def get_name(self):
        return self.name

    __str__ = get_name

    def get_vars(self):
        return {}

    def get_roles(self):
        return []

    def get_tasks(self):
        return [[None] * self.count]

    def get_variable_manager(self):
        return Manager(play=self)


class Manager(Kept):
    """The variables of the play, of a host and of a task, not evaluated."""
    extra_vars = property(lambda self: ask("extra"))

    def get_vars(self, play=None, host=None, task=None, **more):
        names = self.play.members
        found = dict(ansible_play_name=self.play.name, ansible_play_hosts=names, ansible_play_hosts_all=names, ansible_play_batch=names)
        if host is not None:
            found.update(variables(host.get_name()))
        if task is not None:
            found.update(task.get_vars())
        found.update(self.extra_vars, hostvars=HostVars())
        return dict(found, vars=found)


class Role(Kept):
    def get_name(self, include_role_fqcn=True):
        return self._role_name

    __str__ = get_name


class Task(Kept):
    _parent = loop = loop_with = register = delegate_to = become = become_user = None
    args = vars = environment = {}
    when = changed_when = failed_when = notify = tags = ()
    async_val = poll = retries = 0
    implicit = any_errors_fatal = ignore_errors = run_once = False

    def get_name(self, include_role_fqcn=True):
        return self.shown

    def __repr__(self):
        return "%s: %s" % ("HANDLER" if self.handler else "TASK", self.shown)

    def get_path(self):
        return self.path

    def get_vars(self):
        return dict(self.vars)

    def serialize(self):
        return dict((k, v) for k, v in self.__dict__.items() if k not in ("_role", "shown", "path"))

    def get_first_parent_include(self):
        return None


class Result(Kept):
    @property
    def task_name(self):
        return self._task_fields.get("name") or self._task.get_name()

    def is_changed(self):
        return self.any("changed")

    def is_failed(self):
        return self.failed

    def is_unreachable(self):
        return self.unreachable

    def is_skipped(self):
        return self.skipped

    def any(self, key):
        items = [self._result] if key in self._result else self._result.get("results", [])
        return any(i.get(key, False) for i in items if isinstance(i, dict))

    def needs_debugger(self, globally_enabled=False):
        return False

    def clean_copy(self):
        return self

    host = property(lambda self: self._host)
    task = property(lambda self: self._task)
    result = property(lambda self: self._result)
    task_fields = property(lambda self: self._task_fields)


def host(name):
    if name not in KNOWN["hosts"]:
        KNOWN["hosts"][name] = Named(name)
    return KNOWN["hosts"][name]


def task(t):
    known = KNOWN["tasks"].get(t["_uuid"])
    if known is None or known.shown != t["shown"]:
        role = t.pop("role")
        known = Task(_role=Role(_role_name=role, _role_path="") if role else None, resolved_action="ansible.builtin." + t["action"], **t)
        KNOWN["tasks"][t["_uuid"]] = known
    return known


def result(r):
    t = copy.copy(task(r["task"]))
    t.args = t.args if r["args"] is None or t.no_log else r["args"]
    t.delegate_to = r["delegated"]
    t.ignore_errors = r["ignored"]
    t.loop = "loop" if r["loop"] else None  # only whether there is one
    return Result(_host=host(r["host"]), _task=t, _result=r["result"], _task_fields={"name": t.name, "ignore_errors": r["ignored"], "delegate_to": r["delegated"],
                  "action": t.action, "no_log": t.no_log}, failed=r["failed"], unreachable=r["unreachable"], skipped=r["skipped"])


def stats(r):
    s = AggregateStats()
    for name, counts in r["counts"].items():
        s.processed[name] = 1
        for what, n in counts.items():
            if n:
                getattr(s, what)[name] = n
    s.custom.update(r["custom"])
    return s


def play(p):
    if p["_uuid"] not in KNOWN["plays"]:
        KNOWN["plays"][p["_uuid"]] = Play(**p)
    return KNOWN["plays"][p["_uuid"]]


def included(r):
    return Kept(_filename=r["file"], _hosts=[host(n) for n in r["hosts"]], _task=task(r["task"]), _args={}, _vars={}, _is_role=r["task"]["action"] == "include_role")


ARGUMENTS = {
    "v2_playbook_on_start": lambda r: [Playbook(_file_name=r["path"], _basedir=os.path.dirname(os.path.abspath(r["path"])), _entries=[])],
    "v2_playbook_on_play_start": lambda r: [play(r["play"])],
    "v2_playbook_on_task_start": lambda r: [task(r["task"])],
    "v2_playbook_on_handler_task_start": lambda r: [task(r["task"])],
    "v2_runner_on_start": lambda r: [host(r["host"]), task(r["task"])],
    "v2_playbook_on_notify": lambda r: [Task(name=r["handler"], shown=r["handler"], _uuid=r["handler"], action="", path="", handler=True, no_log=False, _role=None), host(r["host"])],
    "v2_playbook_on_include": lambda r: [included(r)],
    "v2_playbook_on_vars_prompt": lambda r: [r["name"]],
    "v2_playbook_on_stats": lambda r: [stats(r)],
    "v2_playbook_on_no_hosts_matched": lambda r: [],
    "v2_playbook_on_no_hosts_remaining": lambda r: [],
}
NAMED = {
    "v2_playbook_on_task_start": lambda r: {"is_conditional": False},
    "v2_runner_on_failed": lambda r: {"ignore_errors": r["ignored"]},
    "v2_playbook_on_vars_prompt": lambda r: {"prompt": r["prompt"]},
}


def tell(r):
    """Calls the plugins' methods of an event."""
    r = unpack(r["of"])
    event = r["event"]
    args = ARGUMENTS.get(event, lambda r: [result(r)])(r)
    kwargs = NAMED.get(event, lambda r: {})(r)
    for plugin in PLUGINS:
        if getattr(plugin, "disabled", False):
            continue
        for name in (event, "v2_on_any"):
            method = getattr(plugin, name, None) or getattr(plugin, name[3:], None)
            if method is None:
                continue
            try:
                method(*args, **kwargs)
            except Exception as e:
                warn("Failure using method (%s) in callback plugin (%s): %s" % (event, plugin, e))


def warn(text):
    send({"id": TELLING[0], "warn": text})


def name_of(cls):
    redirected = getattr(cls, "_redirected_names", None)
    return redirected[0] if redirected else os.path.splitext(os.path.basename(cls._original_path))[0]


def wanted(cls, r, own):
    """Whether a plugin takes part: the operator's own do unless they want to be enabled, others when they are."""
    name = name_of(cls)
    if getattr(cls, "CALLBACK_TYPE", "") == "stdout":
        return name == r["stdout"]
    needs = getattr(cls, "CALLBACK_NEEDS_ENABLED", getattr(cls, "CALLBACK_NEEDS_WHITELIST", False))
    return name in r["enabled"] or (own and not needs and r["more"])


def callbacks(r):
    """Loads the plugins that take part."""
    r = unpack(r["of"])
    context.CLIARGS = context.CLIArgs(r["args"])
    display = Display()
    display.verbosity = r["verbosity"]
    display.warning = lambda msg, formatted=False: warn(msg)
    for folder in r["folders"]:
        loaders.callback_loader.add_directory(folder)
    found = {}
    for cls in loaders.callback_loader.all(class_only=True):
        if any(cls._original_path.startswith(os.path.join(f, "")) for f in r["folders"]):
            found[cls] = True
    for name in r["enabled"] + [r["stdout"]]:
        cls = loaders.callback_loader.get(name, class_only=True) if name else None
        if cls is not None:
            found.setdefault(cls, False)
    for cls, own in found.items():
        if not wanted(cls, r, own) and not (not own and name_of(cls) == r["stdout"]):
            continue
        try:
            plugin = cls()
            plugin.set_options()
        except Exception as e:
            warn("Skipping callback '%s', unable to load due to: %s" % (name_of(cls), e))
            continue
        if getattr(cls, "CALLBACK_TYPE", "") == "stdout":
            PLUGINS.insert(0, plugin)
        else:
            PLUGINS.append(plugin)
    return len(PLUGINS)


def noting(do):
    def serve(r):
        TELLING[0] = r["id"]
        return do(r)
    return serve


sys.stdout, sys.stderr = Stream(False), Stream(True)
DO.update(callbacks=noting(callbacks), tell=noting(tell))

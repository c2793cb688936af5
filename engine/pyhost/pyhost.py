"""Runs Python plugins for play, which has started it (host.go).

Frames travel both ways on the first two file descriptors: a length in four bytes
and JSON. play sends {"id", "do", ...}; the answer is {"id", "ok"} or {"id",
"error"}. While a plugin runs it may ask for variables: {"id", "ask", "name"} is
answered by {"answer", "found", "value"}. Values are JSON with tags: ["l", items],
["t", items], ["d", key, value...], ["s", items], ["m", time], ["u", message].
"""
import base64
import datetime
import importlib.util
import json
import os
import struct
import sys

READ = os.dup(0)
WRITE = os.dup(1)
null = os.open(os.devnull, os.O_RDWR)
os.dup2(null, 0)
os.dup2(2, 1)  # what plugins print does not stand between the frames

import jinja2
from collections.abc import Mapping
from ansible.errors import AnsibleError
from ansible.parsing.dataloader import DataLoader
from ansible.parsing.vault import VaultLib, VaultSecret
from ansible.plugins import loader as loaders
from ansible.template import Templar

try:
    from ansible.parsing.yaml.objects import AnsibleUnicode
except ImportError:  # a later ansible-core marks what it read in another way
    class AnsibleUnicode(str):
        pass
try:
    from ansible.template import AnsibleUndefined as Undefined
except ImportError:
    from jinja2 import StrictUndefined as Undefined


try:
    from ansible.parsing.yaml.objects import AnsibleVaultEncryptedUnicode as Encrypted
except ImportError:  # there, the text decrypts itself
    class Encrypted(str):
        pass


def exactly(n):
    data = b""
    while len(data) < n:
        more = os.read(READ, n - len(data))
        if not more:
            os._exit(0)  # play has gone
        data += more
    return data


def receive():
    return json.loads(exactly(struct.unpack(">I", exactly(4))[0]).decode("utf-8"))


def send(message):
    data = json.dumps(message).encode("utf-8")
    data = struct.pack(">I", len(data)) + data
    while data:
        data = data[os.write(WRITE, data):]


def pack(v):
    if isinstance(v, jinja2.Undefined):
        return ["u", getattr(v, "_undefined_message", None) or str(getattr(v, "_undefined_hint", "") or "undefined")]
    if v is None or isinstance(v, (bool, int, float)):
        return v
    if isinstance(v, Read):
        return ["r", str(v)]
    if isinstance(v, (str, Encrypted)):
        return str(v)
    if isinstance(v, bytes):
        return v.decode("utf-8", "surrogateescape")
    if isinstance(v, Mapping):
        out = ["d"]
        for k in v:
            out += [pack(k), pack(v[k])]
        return out
    if isinstance(v, tuple):
        return ["t"] + [pack(i) for i in v]
    if isinstance(v, (set, frozenset)):
        return ["s"] + [pack(i) for i in v]
    if isinstance(v, datetime.datetime):
        return ["m", v.isoformat()]
    if isinstance(v, list) or hasattr(v, "__iter__"):
        return ["l"] + [pack(i) for i in v]
    return str(v)


def unpack(v):
    if not isinstance(v, list):
        return v
    tag, rest = v[0], v[1:]
    if tag == "d":
        return dict((unpack(rest[i]), unpack(rest[i + 1])) for i in range(0, len(rest), 2))
    if tag == "r":
        return rest[0]
    if tag == "u":
        return Undefined(hint=rest[0])
    if tag == "m":
        return datetime.datetime.fromisoformat(rest[0])
    items = [unpack(i) for i in rest]
    return {"t": tuple, "s": set}.get(tag, list)(items)


class Variables(Mapping):
    """The task's variables, each fetched when it is asked for."""
    answers = {}
    asked = [0]

    def __init__(self, call):
        self.call = call

    def ask(self, **what):
        self.asked[0] += 1
        number = self.asked[0]
        send(dict(what, id=self.call, ask=number))
        while number not in self.answers:
            handle(receive())
        return self.answers.pop(number)

    def __getitem__(self, name):
        answer = self.ask(name=name)
        if not answer["found"]:
            raise KeyError(name)
        return unpack(answer["value"])

    def __iter__(self):
        return iter(unpack(self.ask(names=True)["value"]))

    def __len__(self):
        return sum(1 for _ in self)

    def copy(self):
        return dict(self)


OWN = {"filter": {}, "test": {}}
FOLDERS = {"filter": [], "test": [], "lookup": [], "inventory": [], "vars": []}
LOADER = DataLoader()


def names(kind):
    """Loads the files of a kind and tells what each holds, and what is wrong with it."""
    found, wrong = {}, []
    for folder in reversed(FOLDERS[kind]):
        for file in sorted(os.listdir(folder)):
            path = os.path.join(folder, file)
            if not file.endswith(".py") or file == "__init__.py":
                continue
            try:
                held = functions(kind, path)
            except BaseException as e:
                wrong.append([path, "%s: %s" % (type(e).__name__, e)])
                continue
            OWN[kind].update(held)
            found.update((name, path) for name in held)
    return {"found": found, "wrong": wrong}


def functions(kind, path):
    spec = importlib.util.spec_from_file_location("play_%s_%s" % (kind, os.path.basename(path)[:-3]), path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    if kind == "filter":
        return module.FilterModule().filters()
    return module.TestModule().tests()


def function(kind, name):
    """A filter or test by name; None when there is none."""
    if name in OWN[kind]:
        return OWN[kind][name]
    if name.count(".") < 2:
        return None
    try:
        plugin = getattr(loaders, kind + "_loader").get(name)
    except (KeyError, AnsibleError):
        plugin = None
    if plugin is not None:
        OWN[kind][name] = getattr(plugin, "j2_function", plugin)
    return OWN[kind].get(name)


def lookup(name, variables):
    return loaders.lookup_loader.get(name, loader=LOADER, templar=Templar(LOADER, variables=variables))


def before(fn):
    """What a function of jinja2's own kinds is given first."""
    wants = str(getattr(fn, "jinja_pass_arg", "")).rsplit(".", 1)[-1]
    env = Templar(LOADER, variables={}).environment if wants else None
    if wants == "environment":
        return [env]
    if wants == "context":
        return [env.context_class(env, {}, None, {})]
    if wants == "eval_context":
        return [jinja2.nodes.EvalContext(env)]
    return []


def call(r):
    args, kwargs = unpack(r["args"]), unpack(r["kwargs"])
    if r["kind"] == "lookup":
        variables = Variables(r["id"])
        return lookup(r["name"], variables).run(args, variables=variables, **kwargs)
    fn = function(r["kind"], r["name"])
    return fn(*(before(fn) + args), **kwargs)


def has(r):
    if r["kind"] == "lookup":
        return lookup(r["name"], {}) is not None
    return function(r["kind"], r["name"]) is not None


DECRYPTED = []  # since the last answer


def unlock(passwords):
    """Gives the loader the passwords of vaults, and notes what they open."""
    decrypt = VaultLib.decrypt

    def noting(self, *args, **kwargs):
        plain = decrypt(self, *args, **kwargs)
        DECRYPTED.append(plain.decode("utf-8", "surrogateescape") if isinstance(plain, bytes) else plain)
        return plain

    VaultLib.decrypt = noting
    LOADER.set_vault_secrets([(label, VaultSecret(base64.b64decode(text))) for label, text in passwords])


def answer(r, **what):
    noted = DECRYPTED[:]
    del DECRYPTED[:]
    send(dict(what, id=r["id"], decrypted=noted))


def begin(r):
    unlock(r.get("passwords") or [])
    FOLDERS.update(r["folders"])
    for folder in FOLDERS["lookup"]:
        loaders.lookup_loader.add_directory(folder)
    for folder in FOLDERS["inventory"]:
        loaders.inventory_loader.add_directory(folder)
    for folder in FOLDERS["vars"]:
        loaders.vars_loader.add_directory(folder)
    return True


def inventory(r):
    """What ansible-core makes of an inventory file, as an inventory script says it."""
    from ansible.inventory.manager import InventoryManager
    from ansible.utils.display import Display
    said, Display.warning = [], lambda self, msg, formatted=False: said.append(msg.strip())
    found = InventoryManager(loader=LOADER, sources=[r["path"]])
    if not found._inventory.processed_sources:
        raise AnsibleError("; ".join(said) or "no plugin of ansible-core can read it")
    hosts = dict((n, h.vars) for n, h in found.hosts.items())
    groups = {"_meta": {"hostvars": hosts}}
    for name, group in found.groups.items():
        groups[name] = {"hosts": [h.name for h in group.hosts] if name != "all" else [],
                        "children": [g.name for g in group.child_groups], "vars": group.vars}
    return groups


class Read(str):
    """A string of a file that ansible-core has read: it may be a template."""


def mark(v):
    """Marks what was read from files; all else that plugins return is data."""
    if isinstance(v, AnsibleUnicode):
        return Read(v)
    if isinstance(v, Mapping):
        return dict((k, mark(i)) for k, i in v.items())
    if isinstance(v, (list, tuple, set)):
        return [mark(i) for i in v]
    return v


def vars_plugins(r):
    """What the vars plugins of a folder say of groups or of a host, those of group_vars and host_vars apart."""
    from ansible.vars import plugins as stages
    own = loaders.vars_loader.get("host_group_vars")
    if own is not None:
        type(own).get_vars = lambda *args, **kwargs: {}
    made = [entity(e) for e in unpack(r["entities"])]
    return mark(stages.get_vars_from_path(LOADER, r["path"], made, r["stage"]))


def entity(e):
    from ansible.inventory.group import Group
    from ansible.inventory.host import Host
    made = Group(e["name"]) if e["kind"] == "group" else Host(e["name"])
    for name, value in e["vars"].items():
        made.set_variable(name, value)
    for name in e["groups"]:
        made.groups.append(Group(name))
    return made


DO = {"begin": begin, "names": lambda r: names(r["kind"]), "has": has, "call": call, "inventory": inventory, "vars": vars_plugins}


def handle(r):
    if "answer" in r:
        Variables.answers[r["answer"]] = r
        return
    try:
        result = DO[r["do"]](r)
        answer(r, ok=pack(result))
    except jinja2.UndefinedError as e:
        answer(r, error=str(e), undefined=True)
    except (KeyboardInterrupt, SystemExit) as e:
        answer(r, error="it wants to end the program: %r" % e)
    except AnsibleError as e:
        answer(r, error=str(e))
    except Exception as e:
        answer(r, error="%s: %s" % (type(e).__name__, e))


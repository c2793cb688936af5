"""Records what ansible-core's own modules do, as data for cases_test.go.

    /usr/bin/python3 record.py [MODULE...]      (Debian's ansible-core 2.14.18, run as root)

cases/MODULE.json holds the inputs under "cases"; this program fills each one's
"result" (the module's printed JSON) and "after" (the tree it left). Trees are
lists of "TYPE MODE PATH[ -> TARGET][ =CONTENT]". {root} stands for the folder.

A module that would change the machine is given stubs instead of the real tools:
"stubs" (of the file, and of a case) maps the names of programs to the bodies of
shell scripts, which stand in {bin}, the first folder of PATH. Each notes its
argument vector in the file "log" of the tree, so that it is compared; one whose
body begins with "# query" does not. "env" sets further variables. A module that
must not be recorded here has "unrecorded" with the reason. A "timeless" case leaves
out of the comparison whether files were rewritten.

A "random" case makes new keys, serial numbers or times: those are not compared.

"setup" is a shell script run in {root} before the module; "probe" is one whose
output's lines stand as "after" in place of the tree.

A module that speaks HTTP is given a server: "server" (of the file, and of a case)
maps "METHOD /path" to an answer (status, headers, body), or to a list of answers
given in turn, of which the last stays. It listens on {url} and on the Unix socket
{sock}, and notes each request in the file "requests" of the tree.

A module that speaks to Docker is given an engine of dockertest: "engine" (of the
file, and of a case) is its state, "prior" a list of arguments (with "_module" for
another module) that are run first; the state then stands as JSON in "engine_before",
so that the native module starts from what Ansible's made. Requests that change
something are noted in "requests".
"""
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import traceback

import dockerserver
import httpserver

HERE = os.path.dirname(os.path.abspath(__file__))
OLD = 1500000000
RUN = """
import sys, json
from ansible.module_utils import basic
import importlib
basic._ANSIBLE_ARGS = json.dumps({"ANSIBLE_MODULE_ARGS": json.load(sys.stdin)}).encode()
for home in ("ansible.modules.", "ansible_collections.community.general.plugins.modules.", "ansible_collections.ansible.posix.plugins.modules.",
             "ansible_collections.community.crypto.plugins.modules.", "ansible_collections.community.docker.plugins.modules."):
    try:
        module = importlib.import_module(home + sys.argv[1])
        break
    except ModuleNotFoundError:
        pass
module.main()
"""
NOTE = """#!/bin/sh
{ printf '%s' "${0##*/}"; for a; do printf ' [%s]' "$a"; done; echo; } >>"{root}/log"
"""


def build(root, tree):
    for line in tree:
        kind, mode, rest = line.split(" ", 2)
        rest, _, content = rest.partition(" =")
        rest, _, target = rest.partition(" -> ")
        path = os.path.join(root, rest)
        if kind == "d":
            os.mkdir(path)
        elif kind == "f":
            with open(path, "wb") as f:
                f.write(json.loads('"' + content.replace("{root}", root) + '"').encode("utf-8", "surrogateescape"))
        elif kind == "l":
            os.symlink(target.replace("{root}", root), path)
        elif kind == "h":
            os.link(os.path.join(root, target), path)
        elif kind == "p":
            os.mkfifo(path)
        if kind not in "lh":
            os.chmod(path, int(mode, 8))
    for line in reversed(tree):
        path = os.path.join(root, line.split(" ", 2)[2].split(" =")[0].split(" -> ")[0])
        os.utime(path, (OLD, OLD), follow_symlinks=False)


def scan(root):
    tree = []
    for folder, dirs, files in os.walk(root):
        for name in dirs + files:
            path = os.path.join(folder, name)
            st = os.lstat(path)
            short = os.path.relpath(path, root)
            short = re.sub(r"\b(ansible\.|pfx\.)[a-z0-9_]{8}", r"\1RANDOM", short)
            short = re.sub(r"\.\d+\.\d{4}-\d\d-\d\d@\d\d:\d\d:\d\d~", ".BACKUP~", short)
            mode = "%04o" % (st.st_mode & 0o7777)
            if os.path.islink(path):
                tree.append("l 0777 %s -> %s" % (short, os.readlink(path).replace(root, "{root}")))
            elif os.path.isdir(path):
                tree.append("d %s %s" % (mode, short))
            elif os.path.isfile(path):
                content = open(path, "rb").read().decode("utf-8", "surrogateescape").replace(root, "{root}")
                old = " @old" if int(st.st_mtime) == OLD else ""
                tree.append("f %s %s%s =%s" % (mode, short, old, json.dumps(content)[1:-1]))
            else:
                tree.append("p %s %s" % (mode, short))
    return sorted(tree, key=lambda t: t.split(" ", 2)[2].split(" =")[0])


def write_stubs(top, stubs):
    folder = os.path.join(top, "bin")
    os.mkdir(folder)
    for name, body in stubs.items():
        text = ("#!/bin/sh\n" if body.startswith("# query") else NOTE) + body + "\n"
        with open(os.path.join(folder, name), "w") as f:
            f.write(text.replace("{root}", os.path.join(top, "root")).replace("{bin}", folder))
        os.chmod(f.name, 0o755)


def environment(top, case):
    env = {"PATH": os.path.join(top, "bin") + ":" + os.environ["PATH"], "LC_ALL": "C.UTF-8", "HOME": "/root"}
    for name, text in case.get("env", {}).items():
        env[name] = text.replace("{root}", os.path.join(top, "root"))
    return env


def script(top, case, key):
    if key not in case:
        return ""
    run = subprocess.run(["/bin/sh", "-e", "-c", case[key].replace("{root}", os.path.join(top, "root"))], capture_output=True, text=True, cwd=os.path.join(top, "root"), env=environment(top, case))
    if run.returncode:
        sys.exit("%s: %s: %s%s" % (case["name"], key, run.stdout, run.stderr))
    return run.stdout


class Finished:
    def __init__(self, stdout, stderr):
        self.stdout, self.stderr = stdout, stderr


def run_module(module, args, root, env):
    """Runs a module in a fork of this process, which has its imports already."""
    args = json.dumps(args)
    out, err = (tempfile.TemporaryFile("w+") for _ in range(2))
    pid = os.fork()
    if not pid:
        code = 1
        try:
            os.chdir(root)
            os.environ.clear()
            os.environ.update(env)
            sys.argv = ["-c", module]
            os.dup2(out.fileno(), 1)
            os.dup2(err.fileno(), 2)
            sys.stdin, sys.stdout, sys.stderr = io.StringIO(args), os.fdopen(1, "w"), os.fdopen(2, "w")
            exec(RUN, {"__name__": "run"})
        except SystemExit as end:
            code = end.code or 0
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code if isinstance(code, int) else 1)
    os.waitpid(pid, 0)
    texts = []
    for f in (out, err):
        f.seek(0)
        texts.append(f.read())
    return Finished(*texts)


def preload():
    import ansible_collections.community.crypto.plugins.modules.openssl_csr
    import ansible_collections.community.crypto.plugins.modules.x509_certificate
    import ansible_collections.community.docker.plugins.module_utils.common_api
    import ansible_collections.community.docker.plugins.modules.docker_container


def prior(module, case, engine, root, env):
    for args in case.get("prior", []):
        args = dict(args)
        run = run_module(args.pop("_module", module), args, root, env)
        if not run.stdout.strip() or json.loads(run.stdout.strip().splitlines()[-1]).get("failed"):
            sys.exit("%s: %s%s" % (case["name"], run.stdout, run.stderr))
    case["engine_before"] = engine.state()
    if os.path.exists(os.path.join(root, "requests")):
        os.remove(os.path.join(root, "requests"))


def record(module, case, stubs, routes, state):
    top = tempfile.mkdtemp(prefix="rec-")
    root = os.path.join(top, "root")
    os.mkdir(root)
    write_stubs(top, {**stubs, **case.get("stubs", {})})
    os.chmod(top, 0o755)
    server = httpserver.start(top, {**routes, **case.get("server", {})}) if routes or "server" in case else None
    engine = dockerserver.start(top, {**state, **case.get("engine", {})}) if state or "engine" in case else None
    env = environment(top, case)
    if engine:
        env["DOCKER_HOST"] = "unix://" + engine.sock
    try:
        build(root, case.get("before", []))
        script(top, case, "setup")
        text = json.dumps(case["args"]).replace("{root}", root).replace("{bin}", os.path.join(top, "bin"))
        text = server.fill(text) if server else text
        args = json.loads(text)
        if "body" in case:
            body = os.path.join(top, "source")
            with open(body, "w") as f:
                f.write(case["body"])
            args["src"] = body
        if module == "shell":  # Ansible's own is its command module with a flag
            module, args["_uses_shell"] = "command", True
        if module == "service":  # its action hands over to the module of the service manager
            module = args.pop("use", "service")
        for key in ("check", "diff"):
            if case.get(key):
                args["_ansible_%s%s" % (key, "_mode" if key == "check" else "")] = True
        if engine:
            prior(module, case, engine, root, env)
        if engine or module.startswith(("openssl", "x509")):
            run = run_module(module, args, root, env)
        else:
            run = subprocess.run([sys.executable, "-c", RUN, module], input=json.dumps(args), capture_output=True, text=True, cwd=root, env=env)
        out = run.stdout.strip().splitlines()[-1] if run.stdout.strip() else "{}"
        if "body" in case:
            out = out.replace(os.path.join(top, "source"), "{source}")
        out = server.clean(out) if server else out
        result = json.loads(out.replace(root, "{root}").replace(os.path.join(top, "bin"), "{bin}"))
        result.pop("invocation", None)
        warnings = [w for w in result.pop("warnings", []) if not w.startswith("Module did not set no_log")]  # a word to its author
        if warnings:
            result["warnings"] = warnings
        if {"vars", "output"} <= set(result):  # a failure of a module of ModuleHelper tells everything three times
            del result["vars"], result["output"]
        result["deprecations"] = [d for d in result.get("deprecations", []) if not d["msg"].startswith("The CmdMixin")]  # another word to its author
        if not result["deprecations"]:
            del result["deprecations"]
        if module == "tempfile":
            result = json.loads(re.sub(r"\b(ansible\.|pfx\.)[a-z0-9_]{8}", r"\1RANDOM", json.dumps(result)))
        if run.stderr and not run.stdout.strip():
            result = {"crash": run.stderr.strip().splitlines()[-1]}
        case["result"] = result
        case["after"] = [server.clean(line) if server else line for line in scan(root)]
        if "probe" in case:
            case["after"] = script(top, case, "probe").replace(root, "{root}").splitlines()
    finally:
        for running in (server, engine):
            if running:
                running.stop()
        shutil.rmtree(top)


def main():
    os.umask(0o022)
    for name in sys.argv[1:] or sorted(f[:-5] for f in os.listdir(os.path.join(HERE, "cases"))):
        path = os.path.join(HERE, "cases", name + ".json")
        data = json.load(open(path))
        if "unrecorded" in data:
            continue
        data["recorded"] = "ansible-core 2.14.18, %s record.py %s" % (os.path.basename(sys.executable), name)
        if name.startswith(("docker", "openssl", "x509")):
            preload()
        for case in data["cases"]:
            record(data["module"], case, data.get("stubs", {}), data.get("server", {}), data.get("engine", {}))
        with open(path, "w") as f:
            json.dump(data, f, indent=1, ensure_ascii=False)
            f.write("\n")


main()

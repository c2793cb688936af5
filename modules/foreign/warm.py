"""Runs Python modules in forks of an interpreter that has loaded what they share.

The agent (warm.go) starts it with a socket as its standard input and a module's
zip as its argument. A request on that socket is one letter with open files:

  Z  one socket: a fork that has also loaded one module's imports answers there
  R  control socket, stdout, stderr: run one module in a fork of its own

What is to be loaded or run comes as JSON, after its length in four bytes, on the
socket that was handed over. The fork for R is a guard in a process group of its
own. It writes "P<pid>", runs the module in a child, writes "S<wait status>", and
goes when the agent closes the control socket; if that happens before the module
has ended, it ends the whole group. This process ends with its socket, and when
packages were installed or removed since it began.
"""
import sys

sys.path[:] = [p for p in sys.path[1:] if p]

import array
import ast
import atexit
import gc
import importlib
import importlib.util
import json
import os
import random
import select
import signal
import socket
import struct
import threading
import time
import types

STANDARD = """__future__ abc argparse atexit base64 collections contextlib copy ctypes datetime errno fcntl fnmatch
    functools getpass glob grp hashlib hmac http.client io itertools locale logging math operator pathlib pipes
    platform pwd queue re selectors shlex shutil ssl stat string subprocess syslog tempfile textwrap threading
    traceback urllib.parse urllib.request uuid xml.etree.ElementTree zipfile zipimport"""

GRACE = 2.0  # seconds between SIGTERM and SIGKILL


def load(names):
    for name in names:
        try:
            importlib.import_module(name)
        except BaseException:  # what cannot be loaded now fails in the module, where it is seen
            pass


def stamp():
    """What changes when a package is installed or removed. The zip comes first in sys.path."""
    found = []
    for path in [sys.executable, os.path.dirname(os.__file__)] + sys.path[1:]:
        try:
            found.append(os.stat(path).st_mtime)
        except (OSError, TypeError):
            found.append(None)
    return found


def receive(sock):
    """The letter of a request and its files; no letter at the end."""
    files = array.array("i")
    letter, extra, _, _ = sock.recvmsg(1, socket.CMSG_SPACE(3 * files.itemsize))
    for level, kind, data in extra:
        if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
            files.frombytes(data[:len(data) - len(data) % files.itemsize])
    return letter, list(files)


def exactly(fd, n):
    data = b""
    while len(data) < n:
        more = os.read(fd, min(n - len(data), 1 << 16))
        if not more:
            os._exit(0)  # the agent has gone
        data += more
    return data


def details(fd):
    return json.loads(exactly(fd, struct.unpack(">I", exactly(fd, 4))[0]).decode("utf-8"))


def serve(sock, warm, began):
    """Answers requests. It returns in the fork that runs a module: what to run."""
    while True:
        letter, files = receive(sock)
        if not letter or stamp() != began:
            os._exit(0)
        try:
            pid = os.fork()
        except OSError:
            pid = -1  # the closed files tell the agent
        if pid == 0:
            sock.close()
            if letter == b"R":
                return guard(files), warm
            sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM, 0, files[0])
            warm = template(details(sock.fileno()))
            continue
        for fd in files:
            os.close(fd)


def template(request):
    """Loads a module's code and all that it imports at its top."""
    place(request["zip"])
    spec = importlib.util.find_spec(request["package"])
    code = spec.loader.get_code(spec.name)
    for node in top(ast.parse(spec.loader.get_source(spec.name)).body):
        if isinstance(node, ast.Import):
            load(alias.name for alias in node.names)
        elif node.module != "__future__":
            base = "." * node.level + (node.module or "")
            base = importlib.util.resolve_name(base, spec.parent) if node.level else base
            load([base])
            held = sys.modules.get(base)
            load(base + "." + a.name for a in node.names if a.name != "*" and hasattr(held, "__path__") and not hasattr(held, a.name))
    settle()
    return spec, code


def settle():
    """Keeps the collector from touching, and so copying, what forks share."""
    if hasattr(gc, "freeze"):
        gc.collect()
        gc.freeze()


def top(body):
    """The import statements outside of functions and classes."""
    for node in body:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            yield node
        elif isinstance(node, (ast.Try, ast.If, ast.With)):
            for part in ("body", "orelse", "finalbody"):
                for inner in top(getattr(node, part, [])):
                    yield inner


def place(zip):
    """Makes a zip the one that modules are imported from."""
    old, sys.path[0] = sys.path[0], zip
    if old == zip:
        return
    for name, module in list(sys.modules.items()):
        if name.split(".")[0] in ("ansible", "ansible_collections") and hasattr(module, "__path__"):
            module.__path__ = [zip + p[len(old):] if p.startswith(old) else p for p in module.__path__]


def guard(files):
    """Runs the rest in a child and reports how that ended. Returns in the child."""
    control, out, err = files
    os.setpgid(0, 0)
    request = details(control)
    tell(control, "P%d\n" % os.getpid())
    ended, wake = os.pipe()
    for fd in (ended, wake):
        os.set_blocking(fd, False)
    signal.set_wakeup_fd(wake)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    pid = os.fork()
    if pid == 0:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        os.dup2(out, 1)
        os.dup2(err, 2)
        for fd in (control, out, err, ended, wake):
            os.close(fd)
        return request
    os.close(out)
    os.close(err)
    status = wait(pid, control, ended)
    tell(control, "S%d\n" % status)
    exactly(control, 1)


def tell(control, text):
    try:
        os.write(control, text.encode("ascii"))
    except OSError:
        os._exit(0)  # the agent has gone, and the module with it or before


def wait(pid, control, ended):
    """The wait status of the module, whose group ends when the agent closes control."""
    while True:
        ready = select.select([control, ended], [], [])[0]
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            return status
        if control in ready:
            end(pid)
        os.read(ended, 64)


def end(pid):
    """Ends the group, this process included."""
    os.killpg(0, signal.SIGTERM)
    until = time.time() + GRACE
    while time.time() < until and not os.waitpid(pid, os.WNOHANG)[0]:
        time.sleep(0.02)
    os.killpg(0, signal.SIGKILL)


def run(request, warm):
    """Runs the module as the main program of this process."""
    if request["dir"]:
        os.chdir(request["dir"])
    place(request["zip"])
    random.seed()
    sys.argv[:] = [request["package"]]
    from ansible.module_utils import basic
    basic._ANSIBLE_ARGS = request["args"].encode("utf-8")
    basic._ANSIBLE_PROFILE = "legacy"
    if warm is None:
        spec = importlib.util.find_spec(request["package"])
        warm = spec, spec.loader.get_code(spec.name)
    spec, code = warm
    main = types.ModuleType("__main__")
    main.__dict__.update(_module_fqn=spec.name, _modlib_path=request["zip"], __file__=spec.origin, __cached__=None,
                         __spec__=spec, __loader__=spec.loader, __package__=spec.parent)
    sys.modules["__main__"] = main
    exec(code, main.__dict__)


def finish(request, warm):
    """Runs the module and ends as Python does, but for the clearing of memory that is shared."""
    status = 1
    try:
        run(request, warm)
        status = 0
    except SystemExit as e:
        if e.code is None or isinstance(e.code, int):
            status = (e.code or 0) & 255
        else:
            print(e.code, file=sys.stderr)
    except BaseException:
        sys.excepthook(*sys.exc_info())
    for last in (threading._shutdown, atexit._run_exitfuncs, lambda: sys.stdout.flush(), lambda: sys.stderr.flush()):
        try:
            last()
        except BaseException:
            status = status or 120
    os._exit(status)


def begin():
    """Loads what all modules share, says so, and serves."""
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM, 0, os.dup(0))
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    sys.path.insert(0, sys.argv[1])
    load(STANDARD.split())
    importlib.import_module("ansible.module_utils.basic")
    began = stamp()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    settle()
    sock.sendall(b"H")
    return serve(sock, None, began)


finish(*begin())

"""Runs Python modules in forks of an interpreter that has loaded what they share.

The agent (warm.go) starts it with a socket as its standard input and a module's
zip as its argument. A request on that socket is one letter with open files:

  Z  one socket: a fork that has also loaded one module's imports answers there
  R  control socket, stdout, stderr: run one module in a fork of its own

What is to be loaded or run comes as JSON, after its length in four bytes, on the
socket that was handed over. A module's parent is its keeper: a fork for Z keeps
one module at a time, itself; this process, which serves many, forks a keeper for
each. The keeper runs the module in a process group of its own, writes "P<pid>",
waits, and writes "S<wait status>"; if the agent closes its side of the control
socket before the module has ended, the keeper ends the whole group. This process
ends with its socket, and when packages were installed or removed since it began;
so does a fork for Z, after the module that it keeps.
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
import select
import signal
import socket
import struct
import subprocess
import threading
import time
import types

GRACE = 2.0  # seconds between SIGTERM and SIGKILL
LOADING = 60  # seconds that the imports of a module may take


class Gone(BaseException):
    """The agent has closed a socket."""


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
            raise Gone
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
        if letter == b"R" and warm:
            request = keep(files, [sock.fileno()])
            if request:
                sock.detach()
                return request, warm
        elif not fork():
            sock.close()
            if letter == b"Z":
                sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM, 0, files.pop())
                warm = template(details(sock.fileno()))
            os.setpgid(0, 0)  # what this process keeps goes on when the one that it is a fork of is ended
            if letter == b"R":
                return keep(files, []) or os._exit(0), warm
        close(files)


def fork():
    try:
        return os.fork()
    except OSError:
        return -1  # the closed files tell the agent


def close(files):
    for fd in files:
        os.close(fd)
    del files[:]


def template(request):
    """Loads a module's code and all that it imports at its top."""
    signal.alarm(LOADING)
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
    signal.alarm(0)
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


def keep(files, private):
    """Runs the rest in a child and reports how that ended. Returns the request in the child, and nothing here.
    private are open files that are not the child's."""
    control = files[0]
    try:
        request = details(control)
    except Gone:
        return None
    ended, wake = os.pipe()
    os.set_blocking(ended, False)
    os.set_blocking(wake, False)
    signal.set_wakeup_fd(wake)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    pid = fork()
    if pid == 0:
        os.setpgid(0, 0)
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        os.dup2(files[1], 1)
        os.dup2(files[2], 2)
        close(files + private + [ended, wake])
        return request
    close(files[1:])
    if pid > 0:
        tell(control, "P%d\n" % pid)
        tell(control, "S%d\n" % wait(pid, control, ended))
    signal.set_wakeup_fd(-1)
    close([ended, wake, control])
    del files[:]


def tell(control, text):
    try:
        os.write(control, text.encode("ascii"))
    except OSError:
        pass  # the agent has gone, which wait sees


def wait(pid, control, ended):
    """The wait status of the module, whose group ends when the agent closes control."""
    while True:
        ready = select.select([control, ended], [], [])[0]
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            return status
        if control in ready:
            return end(pid)
        os.read(ended, 64)


def end(pid):
    """Ends the module's group; its wait status. A module that cannot be ended ends this process."""
    done = 0
    for number in (signal.SIGTERM, signal.SIGKILL):
        send(os.killpg, pid, number)
        if not done:
            send(os.kill, pid, number)  # it may have left its group
        until = time.time() + GRACE
        while not done and time.time() < until:
            time.sleep(0.01)
            done, status = os.waitpid(pid, os.WNOHANG)
    return status if done else os._exit(0)


def send(how, pid, number):
    try:
        how(pid, number)
    except OSError:
        pass


def setsid(real=os.setsid):
    """The os.setsid of a module, which leads its group here and would not in a process of its own."""
    if os.getpgid(0) == os.getpid() != os.getsid(0):
        os.setpgid(0, os.getpgid(os.getppid()))
    real()


class Popen(subprocess.Popen):
    """What run_command of basic.py has done in a new process is to set a umask. Without one nothing is, and a process
    that needs no copy of this one's memory is made faster."""

    def __init__(self, *args, **kwargs):
        if idle(kwargs.get("preexec_fn")):
            del kwargs["preexec_fn"]
        super().__init__(*args, **kwargs)


def idle(first):
    """Whether a function is run_command's own, with no umask to set."""
    cells = getattr(first, "__closure__", None) or ()
    return getattr(first, "__name__", "") == "preexec" and not any(isinstance(c.cell_contents, int) and c.cell_contents for c in cells)


class Subprocess:
    """The module subprocess as basic.py sees it."""
    Popen = Popen

    def __getattr__(self, name):
        return getattr(subprocess, name)


def run(request, warm):
    """Runs the module as the main program of this process."""
    if request["dir"]:
        os.chdir(request["dir"])
    place(request["zip"])
    sys.argv[:] = [request["package"]]
    from ansible.module_utils import basic
    basic._ANSIBLE_ARGS = request["args"].encode("utf-8")
    basic._ANSIBLE_PROFILE = "legacy"
    if getattr(basic, "subprocess", None) is subprocess:
        basic.subprocess = Subprocess()
    os.setsid = setsid
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
    importlib.import_module("ansible.module_utils.basic")
    began = stamp()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    settle()
    sock.sendall(b"H")
    return serve(sock, None, began)


try:
    what = begin()
except Gone:
    os._exit(0)
finish(*what)

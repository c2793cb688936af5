#!/usr/bin/python3
"""Fill the recorded dialogues beside this file: run the command of each *.txtar
(or those named) with the installed Ansible's programs on a terminal of 80 by 24,
type the answers, and write down what the terminal showed.

A dialogue is a txtar archive. Its comment has a line "run: …", which a shell
executes in the folder of the case's files, and for each answer a line
"say: [text, answer]": the answer is typed, with Enter unless it ends with Ctrl-D,
as soon as the text has come up behind the last answer's. The file "screen" is what was shown. A line
"deviation: …" says why play answers otherwise; its screen is "screen.play".
Usage: record.py [case…]"""

import fcntl
import glob
import json
import os
import pty
import re
import select
import struct
import sys
import termios
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(HERE, "..", "recorded"))
import record as runs  # noqa: E402

runs.ANSWERS = ("screen", "screen.play")


def typed(answer):
    return (answer if answer.endswith("\x04") else answer + "\n").encode()


def talk(command, lines, env):
    pid, master = pty.fork()
    if pid == 0:
        os.chdir(runs.DIR)
        os.execvpe("sh", ["sh", "-c", command], env)
    fcntl.ioctl(master, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    shown, seen, deadline = "", 0, time.time() + 60
    while True:
        if time.time() > deadline:
            sys.exit("%s does not end; it shows\n%s" % (command, shown))
        if not select.select([master], [], [], 1)[0]:
            continue
        try:
            got = os.read(master, 65536)
        except OSError:
            break
        if not got:
            break
        shown += got.decode().replace("\r\n", "\n")
        if lines and lines[0][0] in shown[seen:]:
            seen = len(shown)
            time.sleep(0.2)  # the program may still be on its way to reading
            os.write(master, typed(lines.pop(0)[1]))
    return shown, os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), lines


def record(path):
    comment, files = runs.read(path)
    runs.lay_out(files)
    env = {k: v for k, v in os.environ.items() if not k.startswith("ANSIBLE") and k != "EDITOR"}
    env.update(LC_ALL="C.UTF-8", HOME=runs.DIR, ANSIBLE_NOCOLOR="1", ANSIBLE_FORKS="1", ANSIBLE_GATHERING="explicit", ANSIBLE_NOCOWS="1", TZ="UTC", TERM="xterm")
    lines = [json.loads(line) for line in re.findall(r"^say: (.*)$", comment, flags=re.M)]
    shown, status, left = talk(runs.header(comment, "run"), lines, env)
    if left and "deviation:" not in comment:
        print("%s: never asked for %s; it shows\n%s" % (path, left, shown))
    comment = re.sub(r"^recorded: .*\n", "", comment, flags=re.M) + "recorded: ansible-core %s, exit status %s\n" % (runs.version(), status)
    shown = re.sub(r"^usage: (.*\n)*?command\.\n", "", shown, flags=re.M)  # the text of --help is each program's own
    files["screen"] = re.sub(r"^ {10}[0-9a-f]+$", "          HEX", runs.stable(shown), flags=re.M)
    if not files["screen"].endswith("\n"):
        files["screen"] += "\n"
    with open(path, "w") as f:
        f.write(comment + "".join("-- %s --\n%s" % kv for kv in files.items()))


if __name__ == "__main__":
    cases = [os.path.join(HERE, c + ".txtar") for c in sys.argv[1:]]
    for case in cases or sorted(glob.glob(os.path.join(HERE, "*.txtar"))):
        record(case)

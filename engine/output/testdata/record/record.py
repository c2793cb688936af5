#!/usr/bin/python3
"""Fill the recorded cases: run each ../recorded/*.txtar (or those named) with
the installed ansible-playbook and rewrite its events, stdout and stderr.

The comment at the top of a case may hold lines "args: …" (for the command) and
"env: NAME=value …"; its files other than the recorded ones are laid out in
/tmp/play-record first, beside an inventory of h1, h2 and h3 unless it brings
its own. What a run leaves in its folder "made" is recorded too, its files'
times of day and durations replaced. Usage: record.py [case…]"""

import glob
import os
import re
import shlex
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
DIR = os.environ.get("PLAY_RECORD_DIR", "/tmp/play-record")
RECORDED = ("events", "stdout", "stderr")
HOSTS = "\n".join("h%d ansible_connection=local ansible_python_interpreter=/usr/bin/python3" % n for n in (1, 2, 3)) + "\n"


def read(path):
    parts = re.split(r"^-- (\S+) --\n", open(path, errors="surrogateescape").read(), flags=re.M)
    return parts[0], dict(zip(parts[1::2], parts[2::2]))


def header(comment, key):
    return " ".join(re.findall(r"^%s: (.*)$" % key, comment, flags=re.M))


def lay_out(files):
    shutil.rmtree(DIR, ignore_errors=True)
    for name, text in {"hosts": HOSTS, **files}.items():
        if name in RECORDED or name.startswith("made/"):
            continue
        path = os.path.join(DIR, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", errors="surrogateescape") as f:
            f.write(text)


def run(comment):
    env = {k: v for k, v in os.environ.items() if not k.startswith("ANSIBLE")}
    env.update(ANSIBLE_CALLBACK_PLUGINS=HERE, ANSIBLE_CALLBACKS_ENABLED="recorder", ANSIBLE_FORKS="1",
               PLAY_RECORD=os.path.join(DIR, ".events"), LC_ALL="C.UTF-8", HOME=DIR, ANSIBLE_NOCOWS="1",
               ANSIBLE_RETRY_FILES_ENABLED="0", ANSIBLE_LOCALHOST_WARNING="0", ANSIBLE_ASYNC_DIR=os.path.join(DIR, ".async"))
    env.update(a.split("=", 1) for a in shlex.split(header(comment, "env")))
    command = shlex.split(header(comment, "command") or "ansible-playbook -i hosts site.yml")
    return subprocess.run(command + shlex.split(header(comment, "args")), cwd=DIR, env=env, stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, errors="surrogateescape", timeout=120)


def made():
    """The files that callbacks wrote, by name."""
    files = {}
    for path in sorted(glob.glob(DIR + "/made/**", recursive=True)):
        if os.path.isfile(path):
            name = os.path.relpath(path, DIR)
            files[re.sub(r"-[0-9.]+xml$", "-TIME.xml", re.sub(r"-\d+\.\d+\.xml$", "-TIME.xml", name))] = open(path).read().rstrip("\n") + "\n"
    return files


def after_mark(text):
    before, mark, rest = text.partition("<RECORD>\n")
    return rest if mark else text


def beginning(text):
    """What the output itself (dense) writes before the recorder begins."""
    before, mark, _ = text.partition("<RECORD>\n")
    return re.search(r"(\x1b\[[0-9;]*[msK])*$", before).group(0) if mark else ""


def record(path):
    comment, files = read(path)
    lay_out(files)
    done = run(comment)
    events = os.path.join(DIR, ".events")
    files["events"] = open(events).read() if os.path.exists(events) else ""
    files["stdout"], files["stderr"] = beginning(done.stdout) + after_mark(done.stdout), after_mark(done.stderr)
    files = {k: v for k, v in files.items() if not k.startswith("made/")}
    files.update(made())
    comment = re.sub(r"^recorded: .*\n", "", comment, flags=re.M) + "recorded: ansible-core %s, exit status %d\n" % (
        version(), done.returncode)
    with open(path, "w", errors="surrogateescape") as f:
        f.write(comment + "".join("-- %s --\n%s" % (k, v if v.endswith("\n") or not v else v + "\n") for k, v in files.items()))
    if not files["events"]:
        print("no events:", path, done.stderr, file=sys.stderr)


def version():
    out = subprocess.run(["ansible", "--version"], capture_output=True, text=True).stdout
    return re.search(r"core (\S+)\]", out).group(1)


if __name__ == "__main__":
    for case in sys.argv[1:] or sorted(glob.glob(os.path.join(HERE, "..", "recorded", "*.txtar"))):
        record(case)

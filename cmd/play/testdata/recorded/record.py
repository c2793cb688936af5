#!/usr/bin/python3
"""Fill the recorded cases beside this file: run each *.txtar (or those named)
with the installed ansible-playbook and rewrite its stdout and exit status.

A case is a txtar archive. Its comment says what it shows and may hold
  args: …            added to "ansible-playbook -i hosts site.yml"
  inventory: …       stands in place of "hosts"
  env: NAME=value …  for the command
  deviation: …       why play answers otherwise (its answer is in stdout.play)
  play-status: N     play's exit status where it deviates
  leave-out: …       lines that match are not compared: those that tell how often
                     something was tried
  compare: hosts     only the order per host is compared (free strategies)
Its files are laid out in a folder of their own, with an inventory of h1 to h4
on the local connection unless it brings "hosts"; "stdin" is what is typed. Usage: record.py [case…]"""

import glob
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
DIR = tempfile.mkdtemp(prefix="play-recorded-")
ANSWERS = ("stdout", "stderr", "stdout.play")
HOSTS = "".join("h%d ansible_connection=local ansible_python_interpreter=/usr/bin/python3\n" % n for n in (1, 2, 3, 4))
VOLATILE = (
    (r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+", "TIME"),
    (r"\b\d:\d\d:\d\d\.\d+", "DELTA"),
    (r"\bj\d+\.[0-9a-f]+|\b\d{6,}\.\d{2,}", "JID"),
    (re.escape(DIR), "DIR"),
)


def read(path):
    parts = re.split(r"^-- (\S+) --\n", open(path).read(), flags=re.M)
    return parts[0], dict(zip(parts[1::2], parts[2::2]))


def header(comment, key):
    return " ".join(re.findall(r"^%s: (.*)$" % key, comment, flags=re.M))


def lay_out(files):
    shutil.rmtree(DIR, ignore_errors=True)
    for name, text in {"hosts": HOSTS, **files}.items():
        if name in ANSWERS:
            continue
        path = os.path.join(DIR, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as f:
            f.write(text)
        if text.startswith("#!"):
            os.chmod(path, 0o755)


def run(comment, typed):
    env = {k: v for k, v in os.environ.items() if not k.startswith("ANSIBLE")}
    env.update(ANSIBLE_FORKS="1", ANSIBLE_GATHERING="explicit", LC_ALL="C.UTF-8", HOME=DIR, ANSIBLE_NOCOWS="1", ANSIBLE_NOCOLOR="1",
               ANSIBLE_RETRY_FILES_ENABLED="0", ANSIBLE_LOCALHOST_WARNING="0", ANSIBLE_ASYNC_DIR=os.path.join(DIR, ".async"))
    env.update(a.split("=", 1) for a in shlex.split(header(comment, "env")))
    command = ["ansible-playbook", "-i", header(comment, "inventory") or "hosts", "site.yml"] + shlex.split(header(comment, "args"))
    return subprocess.run(command, cwd=DIR, env=env, input=typed, capture_output=True, text=True, timeout=180)


def stable(text):
    for pattern, name in VOLATILE:
        text = re.sub(pattern, name, text)
    return "".join(line + "\n" for line in text.splitlines() if not line.startswith("Skipping callback "))


def record(path):
    comment, files = read(path)
    lay_out(files)
    done = run(comment, files.get("stdin", ""))
    files["stdout"] = stable(done.stdout)
    files.pop("stderr", None)
    if "PLAY RECAP" not in done.stdout:
        files["stderr"] = stable(done.stderr)
    comment = re.sub(r"^recorded: .*\n", "", comment, flags=re.M) + "recorded: ansible-core %s, exit status %d\n" % (
        version(), done.returncode)
    with open(path, "w") as f:
        f.write(comment + "".join("-- %s --\n%s" % kv for kv in files.items()))


def version():
    out = subprocess.run(["ansible", "--version"], capture_output=True, text=True).stdout
    return re.search(r"core (\S+)\]", out).group(1)


if __name__ == "__main__":
    cases = [os.path.join(HERE, c + ".txtar") for c in sys.argv[1:]]
    for case in cases or sorted(glob.glob(os.path.join(HERE, "*.txtar"))):
        record(case)
    shutil.rmtree(DIR)

#!/usr/bin/python3
"""Fill the listings beside this file: run ansible-playbook on the site.yml of
each *.txtar (or those named) once for every "args: …" line of its comment, and
write its stdout, and the exit status, into the parts "1", "2", … in that order."""

import glob
import os
import re
import shlex
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
DIR = "/tmp/play-listings"


def lay_out(files):
    shutil.rmtree(DIR, ignore_errors=True)
    for name, text in files.items():
        path = os.path.join(DIR, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as f:
            f.write(text)


def record(path):
    parts = re.split(r"^-- (\S+) --\n", open(path).read(), flags=re.M)
    comment = re.sub(r"^recorded: .*\n", "", parts[0], flags=re.M)
    files = {k: v for k, v in zip(parts[1::2], parts[2::2]) if not k.isdigit()}
    lay_out(files)
    env = {k: v for k, v in os.environ.items() if not k.startswith("ANSIBLE")}
    env.update(HOME=DIR, LC_ALL="C.UTF-8", ANSIBLE_NOCOLOR="1")
    statuses = []
    for n, args in enumerate(re.findall(r"^args: (.*)$", comment, flags=re.M), 1):
        command = ["ansible-playbook", "-i", "hosts", "site.yml"] + shlex.split(args)
        done = subprocess.run(command, cwd=DIR, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        files[str(n)] = done.stdout.replace(DIR, "DIR")
        statuses.append(str(done.returncode))
    version = subprocess.run(["ansible", "--version"], capture_output=True, text=True).stdout
    comment += "recorded: ansible-core %s, exit status %s\n" % (re.search(r"core (\S+)\]", version).group(1), " ".join(statuses))
    with open(path, "w") as f:
        f.write(comment + "".join("-- %s --\n%s" % kv for kv in files.items()))


for case in [os.path.join(HERE, c + ".txtar") for c in sys.argv[1:]] or sorted(glob.glob(os.path.join(HERE, "*.txtar"))):
    record(case)

#!/usr/bin/python3
"""Fill the recorded cases beside this file: run the commands of each *.txtar (or
those named) with the installed Ansible's programs.

A case is a txtar archive. Its comment has a line "run: …" for each command, which
a shell executes in the folder of the case's files, one after the other; stdout of
the third is the file "3", and the exit statuses stand in the last line. A line
"deviation 3: …" says why play answers otherwise; its answer is then "3.play".
Usage: record.py [case…]"""

import glob
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(HERE, "..", "recorded"))
import record as runs  # noqa: E402

runs.DIR = DIR = "/tmp/play-recorded-tools"
runs.VOLATILE = runs.VOLATILE[:-1] + ((re.escape(DIR), "DIR"),)


def record(path):
    comment, files = runs.read(path)
    inputs = {n: t for n, t in files.items() if not re.fullmatch(r"\d+(\.play)?", n)}
    answers = {n: t for n, t in files.items() if n.endswith(".play") and n[0].isdigit()}
    runs.lay_out(inputs)
    env = {k: v for k, v in os.environ.items() if not k.startswith("ANSIBLE") and k != "EDITOR"}
    env.update(LC_ALL="C.UTF-8", HOME=DIR, ANSIBLE_NOCOLOR="1", ANSIBLE_FORKS="1", COLUMNS="80", ANSIBLE_LOCALHOST_WARNING="0",
               ANSIBLE_INVENTORY_UNPARSED_WARNING="0", TZ="UTC")
    statuses = []
    for i, command in enumerate(re.findall(r"^run: (.*)$", comment, flags=re.M)):
        done = subprocess.run(["sh", "-c", command], cwd=DIR, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120)
        usage = done.stdout.startswith("usage: ")  # the text of --help is each program's own
        answers[str(i + 1)] = "" if usage else runs.stable(done.stdout)
        statuses.append(str(done.returncode))
    comment = re.sub(r"^recorded: .*\n", "", comment, flags=re.M) + "recorded: ansible-core %s, exit status %s\n" % (
        runs.version(), " ".join(statuses))
    inputs.update(sorted(answers.items(), key=lambda a: float(a[0].replace(".play", ".5"))))
    with open(path, "w") as f:
        f.write(comment + "".join("-- %s --\n%s" % kv for kv in inputs.items()))


if __name__ == "__main__":
    cases = [os.path.join(HERE, c + ".txtar") for c in sys.argv[1:]]
    for case in cases or sorted(glob.glob(os.path.join(HERE, "*.txtar"))):
        record(case)

#!/usr/bin/python3
"""Run the playbooks of the recorded cases with play and compare its stdout and
exit status with what was recorded of ansible-playbook, but for times, job ids
and temporary files. Usage: compare.py PLAY [case…]; with cases it shows the
differences, without it only names what differs."""

import difflib
import glob
import os
import re
import shlex
import subprocess
import sys

import record

VOLATILE = (
    (r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+", "TIME"),
    (r"\b\d:\d\d:\d\d\.\d+", "DELTA"),
    (r"\bj\d+\.[0-9a-f]+", "JID"),
    (r"/\S*/\.ansible/tmp/[^\" ]*", "TMP"),
    (r"\b\d{10}\.\d+", "STAMP"),
)


def stable(text):
    for pattern, name in VOLATILE:
        text = re.sub(pattern, name, text)
    return [line for line in text.split("\n") if not line.startswith("Skipping callback ")]


def run(play, comment):
    env = {k: v for k, v in os.environ.items() if not k.startswith("ANSIBLE")}
    env.update(a.split("=", 1) for a in shlex.split(record.header(comment, "env")))
    args = [play, "-f", "1", "-i", "hosts", "site.yml"] + shlex.split(record.header(comment, "args"))
    return subprocess.run(args, cwd=record.DIR, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          errors="surrogateescape", timeout=120)


def compare(play, path, show):
    comment, files = record.read(path)
    if "site.yml" not in files or any(name.startswith("library/") for name in files):
        return None  # an ad-hoc command, or a case of Python modules
    record.lay_out(files)
    done = run(play, comment)
    want = int(re.search(r"exit status (\d+)", comment).group(1))
    old, new = stable(files["stdout"]), stable(done.stdout)
    if show:
        print("\n".join(difflib.unified_diff(old, new, "ansible", "play", lineterm="")))
        print(done.stderr, end="")
    return old == new and want == done.returncode


def main(play, cases):
    results = {}
    paths = sorted(glob.glob(os.path.join(record.HERE, "..", "recorded", "*.txtar")))
    for path in paths:
        name = os.path.basename(path)[:-len(".txtar")]
        if not cases or name in cases:
            results[name] = compare(os.path.abspath(play), path, bool(cases))
    same = [n for n, ok in results.items() if ok]
    differ = [n for n, ok in results.items() if ok is False]
    print("%d as recorded, %d differ: %s" % (len(same), len(differ), " ".join(differ)))
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))

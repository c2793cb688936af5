#!/usr/bin/python3
"""Records what `ansible-playbook --list-tasks` says of each archive in list/.

Usage: /usr/bin/python3 record_list.py

Every list/*.txtar holds site.yml and what it needs. Its last file, want, is
replaced by the output of
  ANSIBLE_ROLES_PATH=more ansible-playbook --list-tasks -e extra=given site.yml
and the file version by ansible-core's version.
"""
import glob
import os
import re
import subprocess
import tempfile

from ansible.release import __version__


def record(path):
    text = open(path).read()
    parts = re.split(r"^-- (.+) --\n", text, flags=re.M)
    files = [(n, d) for n, d in zip(parts[1::2], parts[2::2]) if n not in ("want", "version")]
    with tempfile.TemporaryDirectory() as folder:
        for name, data in files:
            full = os.path.join(folder, name)
            os.makedirs(os.path.dirname(full), exist_ok=True)
            with open(full, "w") as f:
                f.write(data)
        env = dict(os.environ, ANSIBLE_ROLES_PATH="more", ANSIBLE_COLLECTIONS_PATH="collections", ANSIBLE_DEPRECATION_WARNINGS="0")
        command = ["ansible-playbook", "--list-tasks", "-e", "extra=given", "site.yml"]
        out = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True)
    if out.returncode:
        raise SystemExit(path + ": " + out.stderr)
    with open(path, "w") as f:
        for name, data in files + [("version", __version__ + "\n"), ("want", out.stdout)]:
            f.write("-- %s --\n%s" % (name, data))


for archive in sorted(glob.glob(os.path.join(os.path.dirname(os.path.abspath(__file__)), "list", "*.txtar"))):
    record(archive)

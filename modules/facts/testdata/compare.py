"""Compares the native facts with those of ansible-core's setup on this machine.

    /usr/bin/python3 modules/facts/testdata/compare.py      (from the project's root)

Prints each key that differs and the share of equal ones. Keys that move from
second to second are compared by shape only.
"""
import json
import os
import subprocess
import sys

RUN = """
import sys, json
from ansible.module_utils import basic
basic._ANSIBLE_ARGS = json.dumps({"ANSIBLE_MODULE_ARGS": {}}).encode()
from ansible.modules import setup
setup.main()
"""
MOVING = {"ansible_date_time", "ansible_loadavg", "ansible_memfree_mb", "ansible_memory_mb", "ansible_uptime_seconds", "ansible_mounts", "ansible_env"}


def shape(v):
    if isinstance(v, dict):
        return {k: shape(x) for k, x in v.items()}
    if isinstance(v, list):
        return [shape(x) for x in v]
    return type(v).__name__


def norm(key, v):
    if key in MOVING:
        return shape(v)
    if isinstance(v, list) and all(isinstance(x, str) for x in v) and key != "ansible_processor":
        return sorted(v)
    if isinstance(v, dict):
        return {k: norm(k, x) for k, x in v.items()}
    return v


theirs = subprocess.run([sys.executable, "-c", RUN], capture_output=True, text=True, check=True, env=dict(os.environ)).stdout
theirs = json.loads(theirs.strip().splitlines()[-1])["ansible_facts"]
ours = json.loads(subprocess.run(["go", "run", "./modules/facts/testdata/factdump"], capture_output=True, text=True, check=True).stdout)
if ours.get("warnings"):
    print("warnings:", ours["warnings"])
ours = ours["ansible_facts"]
same = 0
for key in sorted(set(theirs) | set(ours)):
    a, b = norm(key, theirs.get(key)), norm(key, ours.get(key))
    if a == b and type(a) is type(b):
        same += 1
    else:
        print(key, "\n  ansible:", json.dumps(a)[:600], "\n  native: ", json.dumps(b)[:600])
total = len(set(theirs) | set(ours))
print("%d of %d keys equal: %.1f %%" % (same, total, 100 * same / total))

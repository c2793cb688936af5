#!/usr/bin/python3
"""Write down the options of the installed Ansible's programs, from their --help,
into options.json beside this file: program and subcommand, then for each option
its names and whether it takes a value.
Usage: record.py"""

import json
import os
import re
import subprocess
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAMS = {
    "ansible": [""], "ansible-playbook": [""], "ansible-inventory": [""], "ansible-doc": [""],
    "ansible-vault": ["create", "decrypt", "edit", "view", "encrypt", "encrypt_string", "rekey"],
    "ansible-config": ["list", "dump", "view", "init"],
}


def ask(*words):
    env = {"PATH": os.environ["PATH"], "COLUMNS": "200", "HOME": tempfile.mkdtemp(), "LC_ALL": "C.UTF-8"}
    return subprocess.run(words, capture_output=True, text=True, env=env).stdout


def options(words):
    found = []
    for spelt in re.findall(r"^  (-.*?)(?:  +.*)?$", ask(*words, "--help"), re.M):
        names = re.findall(r"(?:^|, )(--?[A-Za-z][\w-]*)( [A-Z_]+| \{[^}]*\})?", spelt)
        found.append({"names": [n for n, _ in names], "value": any(v for _, v in names)})
    return found


answer = {"recorded": ask("ansible", "--version").splitlines()[0], "options": {}}
for program, subs in PROGRAMS.items():
    for sub in subs:
        words = [program, sub] if sub else [program]
        answer["options"][" ".join(words)] = options(words)
with open(os.path.join(HERE, "options.json"), "w") as f:
    f.write("{\"recorded\": %s, \"options\": {\n" % json.dumps(answer["recorded"]))
    f.write(",\n".join('%s: [\n%s]' % (json.dumps(k), ",\n".join(" " + json.dumps(o) for o in v)) for k, v in answer["options"].items()))
    f.write("}}\n")

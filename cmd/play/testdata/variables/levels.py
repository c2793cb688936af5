#!/usr/bin/python3
"""Make and record level_02.txtar to level_22.txtar: one variable in every place
that Ansible's documentation ranks, from the weakest (2; 1 is no variable) up to
the level in the name. What wins is then recorded."""

import importlib.util
import os

HERE = os.path.dirname(os.path.abspath(__file__))
spec = importlib.util.spec_from_file_location("variables", os.path.join(HERE, "record.py"))
variables = importlib.util.module_from_spec(spec)
spec.loader.exec_module(variables)

DIRS = {4: "inv/group_vars/all.yml", 5: "group_vars/all.yml", 6: "inv/group_vars/g.yml", 7: "group_vars/g.yml",
        9: "inv/host_vars/h1.yml", 10: "host_vars/h1.yml", 2: "roles/r/defaults/main.yml", 15: "roles/r/vars/main.yml"}
NAMES = {2: "role defaults", 3: "inventory group vars", 4: "inventory group_vars/all", 5: "playbook group_vars/all",
         6: "inventory group_vars/*", 7: "playbook group_vars/*", 8: "inventory host vars", 9: "inventory host_vars/*",
         10: "playbook host_vars/*", 11: "host facts", 12: "play vars", 13: "play vars_prompt", 14: "play vars_files",
         15: "role vars", 16: "block vars", 17: "task vars", 18: "include_vars", 19: "set_fact", 20: "role params",
         21: "include params", 22: "extra vars"}


def case(top):
    def at(level, text):
        return text.replace("@", NAMES[level]) if level <= top else ""
    files = {"inv/hosts": "[g]\nh1 ansible_connection=local ansible_python_interpreter=/usr/bin/python3" + at(8, " x='@'") + "\n"
             + at(3, "[g:vars]\nx=@\n")}
    for level, path in DIRS.items():
        files[path] = at(level, 'x: "@"\n') or "other: 1\n"
    files["pf.yml"] = at(14, 'x: "@"\n') or "other: 1\n"
    files["iv.yml"] = at(18, 'x: "@"\n') or "other: 1\n"
    files["library/given"] = "#!/bin/sh\necho '{\"ansible_facts\": {\"%s\": \"host facts\"}}'\n" % ("x" if top >= 11 else "other")
    files["site.yml"] = ("- hosts: h1\n  vars:\n    y: 1\n" + at(12, '    x: "@"\n') + "  vars_files: [pf.yml]\n"
                         + at(13, '  vars_prompt:\n  - {name: x, prompt: x, default: "@"}\n')
                         + "  pre_tasks:\n  - given:\n  - include_vars: iv.yml\n" + at(19, '  - set_fact: {x: "@"}\n')
                         + "  roles:\n  - {role: r" + at(20, ', x: "@"') + "}\n"
                         + "  tasks:\n  - debug: var=x\n  - include_tasks: more.yml\n" + at(21, '    vars: {x: "@"}\n'))
    inner = "- block:\n  - debug: var=x\n" + at(17, '    vars: {x: "@"}\n') + "  - debug: msg=\"{{ hostvars.h1.x | default('-') }}\"\n" + at(16, '  vars: {x: "@"}\n')
    files["more.yml"] = files["roles/r/tasks/main.yml"] = inner
    header = "Places 2 to %d of the documented precedence set x.\ninventory: inv/hosts\n" % top
    return header + at(22, "args: -e 'x=\"@\"'\n"), files


if __name__ == "__main__":
    for top in NAMES:
        path = os.path.join(HERE, "level_%02d.txtar" % top)
        comment, files = case(top)
        with open(path, "w") as f:
            f.write(comment + "".join("-- %s --\n%s" % kv for kv in files.items()))
        variables.record.record(path)

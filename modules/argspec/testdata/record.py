#!/usr/bin/python3
"""Record what AnsibleModule of ansible-core answers to argument specs.

Reads cases.in.json (a list of {name, spec, rules, params}) beside this file and
writes cases.json with each case's answer: {"error": text} or {"params": dict},
with the warnings and deprecations where there are any.
Recorded with ansible-core 2.14.18:  /usr/bin/python3 record.py
"""
import contextlib
import io
import json
import os

from ansible.module_utils import basic
from ansible.module_utils.common import warnings
from ansible.release import __version__

HERE = os.path.dirname(os.path.abspath(__file__))
RULES = ("mutually_exclusive", "required_together", "required_one_of", "required_if", "required_by")


def spec_of(spec):
    out = {}
    for name, option in spec.items():
        option = dict(option)
        if "env" in option:
            option["fallback"] = (basic.env_fallback, [option.pop("env")])
        if "options" in option:
            option["options"] = spec_of(option["options"])
        out[name] = option
    return out


def answer(case):
    basic._ANSIBLE_ARGS = json.dumps({"ANSIBLE_MODULE_ARGS": case["params"]}).encode()
    rules = {k: v for k, v in case.get("rules", {}).items() if k in RULES}
    out = io.StringIO()
    warnings._global_warnings, warnings._global_deprecations = [], []
    try:
        with contextlib.redirect_stdout(out):
            module = basic.AnsibleModule(argument_spec=spec_of(case["spec"]), **rules)
        return dict({"params": module.params}, **told())
    except SystemExit:
        return dict({"error": json.loads(out.getvalue())["msg"]}, **told())


def told():
    found = {"warnings": list(warnings.get_warning_messages()), "deprecations": list(warnings.get_deprecation_messages())}
    return {k: v for k, v in found.items() if v}


os.environ.update(HOME="/home/user", FALL="fallen", PLAY_DIR="/srv")
with open(os.path.join(HERE, "cases.in.json")) as f:
    cases = json.load(f)
for case in cases:
    case["want"] = answer(case)
with open(os.path.join(HERE, "cases.json"), "w") as f:
    json.dump({"version": __version__, "cases": cases}, f, indent=1)
    f.write("\n")

#!/usr/bin/python3
"""Record what Jinja2 inside ansible-core answers to the cases of cases_language.py.

    /usr/bin/python3 engine/jinja/testdata/record.py

writes language.jsonl beside this file: one case per line with the answer of
ansible-core 2.14.18 and Jinja2 3.1.2 (Debian's ansible and python3-jinja2). The Go test reads it, so that
testing needs neither. Modes: "file" is what the template module renders,
"value" is what a string of a playbook becomes, "cond" how a condition is judged.
"""
import json
import os
import sys
import tempfile

os.environ["ANSIBLE_JINJA2_EXTENSIONS"] = "jinja2.ext.do,jinja2.ext.loopcontrols"
os.environ["ANSIBLE_LOCALHOST_WARNING"] = "0"
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
sys.dont_write_bytecode = True
sys.setrecursionlimit(700)

import jinja2  # noqa: E402
from ansible import release  # noqa: E402
from ansible.parsing.dataloader import DataLoader  # noqa: E402
from ansible.playbook.conditional import Conditional  # noqa: E402
from ansible.template import Templar  # noqa: E402

import cases_language  # noqa: E402


def message(exc):
    """The text of the error that the person's template caused."""
    while getattr(exc, "orig_exc", None):
        exc = exc.orig_exc
    return str(exc)


def answer(case, directory):
    templar = Templar(loader=DataLoader(), variables=case.get("vars", {}))
    templar.environment.loader.searchpath = [directory]
    for name, text in case.get("files", {}).items():
        with open(os.path.join(directory, name), "w") as f:
            f.write(text)
    is_file = case["mode"] == "file"
    try:
        if case["mode"] == "cond":
            conditional = Conditional(loader=DataLoader())
            conditional.when = [case["template"]]
            return {"want": repr(bool(conditional.evaluate_conditional(templar, case.get("vars", {}))))}
        if is_file:
            got = templar.do_template(case["template"], preserve_trailing_newlines=True, escape_backslashes=False)
        else:
            got = templar.template(case["template"])
    except Exception as exc:  # every failure is an answer
        text = message(exc)
        if case["mode"] == "cond":  # the cause stands at the end
            text = text.rsplit(". ", 1)[-1].replace("The error was: ", "")
        return {"error": text}
    return {"want": str(got) if is_file else repr(got)}


def main():
    versions = "ansible-core %s, jinja2 %s" % (release.__version__, jinja2.__version__)
    seen = set()
    with open(os.path.join(HERE, "language.jsonl"), "w") as out:
        out.write(json.dumps({"recorded": versions}) + "\n")
        for case in cases_language.cases():
            key = json.dumps(case, sort_keys=True)
            if key in seen:
                continue
            seen.add(key)
            with tempfile.TemporaryDirectory() as directory:
                case.update(answer(case, directory))
            out.write(json.dumps(case) + "\n")
    print("%d cases: %s" % (len(seen), versions))


if __name__ == "__main__":
    main()

#!/usr/bin/python3
"""Record what Python's shlex does, into cases.json.

Recorded with Python 3.11.2:  /usr/bin/python3 record.py
"""
import json
import shlex
import sys

LINES = ["", " ", "a", "a b", " a  b ", "'a b' c", '"a b" c', "a'b'c", "a\\ b", "a\\", "'a", '"a', '"a\\"b"', '"a\\b"', "'a\\'b'",
         "''", "a '' b", '""x', "a#b #c", "a\tb\nc\rd", "a\\\nb", '"a\\\nb"', "$HOME `x` $(y)", "a;b|c>d", "*?[]", "~/x", "ü ☃",
         "a\\\\b", '"\\$x"', "'\"'", '"\'"', "\\'", '\\"', "a=b c='d e'", "x\"y'z\"w", "a\x0bb", "a\x0cb", "a\u00a0b", '"\\', "'\\"]


def split(line):
    try:
        return {"words": shlex.split(line)}
    except ValueError as e:
        return {"error": str(e)}


cases = [{"line": line, "split": split(line), "quote": shlex.quote(line)} for line in LINES]
with open("cases.json", "w") as f:
    json.dump({"python": sys.version.split()[0], "cases": cases}, f, indent=1)
    f.write("\n")

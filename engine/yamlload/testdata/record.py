#!/usr/bin/python3
"""Writes pyyaml.jsonl: what PyYAML's loader, as ansible-core sets it up, makes of each case.

Usage: /usr/bin/python3 record.py > pyyaml.jsonl

Each line is {"yaml": text, "value": answer} or {"yaml": text, "error": true}.
An answer writes ints, True, False and None as Python does, strings as JSON,
floats as f and their 64 bits in hex, dicts as {key: value, …} and lists,
tuples and sets as [item, …]. Dates are strings.
"""
import datetime
import json
import struct
import sys

import yaml
from ansible.parsing.yaml.loader import AnsibleLoader
from ansible.release import __version__

SCALARS = """yes Yes YES yEs no No NO true True TRUE tRUE false False FALSE on On ON off Off OFF y Y n N
null Null NULL nULL ~ none None = << 0 00 07 08 09 0644 0o644 0755 +0644 -0644 0_7 0_ 007 0b101 0B101 -0b11 0b1_0 0b2
0x1F 0xff 0XFF 0x 0x_f -0x10 0xg 1 +1 -1 --1 1_000 1__0 _1 1_ 12345678901234567890 -9223372036854775808 9223372036854775808
1:30 1:60 1:5 01:30 190:20:30 -1:30 +1:30 1:30: :30 1:30:5.5 20:30.15 1:2:3:4 22:22 0:30 12:30:45 1_0:30
1.0 1. .5 -.5 +.5 +1.5 -1.5 1.5e3 1.5e+3 1.5e-3 1.5E+3 1e3 1e+3 .5e+3 1_000.5 1.5_0 1.e+2 . .. ._5 5._ 1.2.3 1,000 0.0 -0.0 00.5 08.5
.inf .Inf .INF -.inf +.inf .iNF .nan .NaN .NAN -.nan inf nan 1.0e+400 1.7976931348623157e+308 4.9e-324 0.1 3.14159 100.
2001-12-14 2001-1-1 2001-12-14t21:59:43.10-05:00 2001-12-14T21:59:43Z 2001-12-14T21:59:43.1234567Z 2001-12-14T21:59:43.000
1.2.3.4 10.0.0.0/8 0755x 1a a1 v1.0 1-2 - ? a:b a::b http://x/y c:\\dir a#b x{y [] {} [,] *x &x !x %x @x `x | > -x ?x :x
0.1.2 1e 1.e 1.5e 1.5e+ 1:30.5e+3 +.nan 1:3_0 1:30_ 0777777777777777777777777 +0 -0 +0x1f -0b0 00x1 0b 0b_ 0x_""".split()

DOCUMENTS = [
    "", "---\n", "# only a comment\n", "a:\n", "- \n- ~\n- ''\n", "a: b\n", "a: 2001-12-14 21:59:43.10 -5\n", "a: 2001-12-14 21:59:43\n",
    "a: 'yes'\nb: \"no\"\nc: '012'\n", "yes: no\n1: 2\n1.5: x\n~: y\n", "on: 1\noff: 2\n", "a: |\n  x\n  y\n", "a: |-\n  x\n\n",
    "a: |+\n  x\n\n", "a: >\n  x\n  y\n\n  z\n", "a: >-\n  x\n   y\n  z\n", "a: |2\n    x\n  y\n", "a: x\n  y\n  z\n", 'a: "x\n  y\\n z"\n',
    "a: 'it''s'\n", 'a: "\\x41\\u00e9\\U0001F600\\t\\e\\0\\/\\\\"\n', "a: {b: 1, c: [1, 2], d}\n", "[a, b: c, 'd']\n", "a: [1, 2,]\n",
    "base: &b {x: 1, y: 2}\nm:\n  <<: *b\n  y: 3\n  z: 4\n", "m:\n  z: 4\n  <<: {x: 1, z: 0}\n", "m:\n  <<: [{a: 1}, {a: 2, b: 3}]\n  c: 4\n",
    "a: &l [1, 2]\nb: *l\n", "a: 1\nb: 2\na: 3\n", "m: {'<<': 1}\n", "<<: 3\n", "a: !!str 012\n", "a: !!int '12'\n", "a: !!float 3\n",
    "a: !!bool 'Yes'\n", "a: !!null x\n", "a: !!binary aGVsbG8=\n", "a: !!seq [1]\n", "a: !!map {x: 1}\n", "a: !!set {p, q}\n",
    "a: !!omap [p: 1, q: 2]\n", "a: !!pairs [p: 1, p: 2]\n", "a: !!str\n", "a: !!map [1]\n", "a: !foo x\n", "a: !!python/tuple [1]\n",
    "a: ! 12\n", "? a\n: b\n", "? [1]\n: 2\n", "a: {{ b }}\n", "a: {b: {c: d}}\n", "a: b: c\n", "a: 'x\n", "a: [1\n", "a: {1\n", "a: \"\\q\"\n",
    "a:\n\tb: 1\n", "a:\tb\n", "a: b\t# c\n", "a: @x\n", "a: `x\n", "a: %x\n", "- a\nb: c\n", "a: b\n c: d\n", "a: *nope\n", "%YAML 1.1\n---\na: 1\n",
    "%YAML 1.2\n---\na: no\n", "a: 1\n...\n", "a: 1\n---\nb: 2\n", "\ufeffa: 1\n", "a: b # c\n", "a: b#c\n", "a: 'b' # c\n", "a: # c\n  b\n",
    "a:\n- 1\n- 2\n", "a:\n  - b: 1\n    c: 2\n  -\n    d: 3\n", "- - 1\n  - 2\n- - 3\n", "a: é\nß: ü\n", "a: \U0001F600\n", "a: x:y\n", "a: -1\nb: - 1\n",
    "a: -\n", "a: --- x\n", "a: !unsafe '{{ x }}'\n", "a: !unsafe [1, '{{ x }}', {b: 'c'}]\n", "{\"a\": 1, \"b\": [true, null]}\n", "{a: 1, a: 2}\n",
    "a: 1\r\nb: 2\r\n", "a: \"x\\\n   y\"\n", "'a': 1\n\"b\": 2\n", "a: [x, [y, {z: 1}]]\n", "a: &x 1\nb: [*x, *x]\n", "1:30: x\n", "0644: x\n", "1: a\ntrue: b\n1.0: c\n",
    "a: >2\n   x\n", "a: |\n\n  x\n", "a: |\n  {{ x }}\n  # not a comment\n", "\"a b\": 1\n", "a b: 1\n", "a: \"1\"\nb: 1\n", "a: ''\nb: \"\"\n", "{}\n", "[]\n", "42\n", "text\n",
]


def show(v):
    if v is None or isinstance(v, bool):
        return str(v)
    if isinstance(v, int):
        return str(v)
    if isinstance(v, float):
        return "fnan" if v != v else "f" + struct.pack(">d", v).hex()
    if isinstance(v, (datetime.date, datetime.datetime)):
        return json.dumps(str(v))
    if isinstance(v, bytes):
        return json.dumps(v.decode())
    if isinstance(v, dict):
        return "{" + ", ".join(show(k) + ": " + show(x) for k, x in v.items()) + "}"
    if isinstance(v, set):
        return "[" + ", ".join(sorted(show(x) for x in v)) + "]"
    if isinstance(v, (list, tuple)):
        return "[" + ", ".join(show(x) for x in v) + "]"
    return json.dumps(str(v))


def record(text):
    try:
        return {"yaml": text, "value": show(AnsibleLoader(text).get_single_data())}
    except Exception:
        return {"yaml": text, "error": True}


print(json.dumps({"pyyaml": yaml.__version__, "libyaml": yaml.__with_libyaml__, "ansible-core": __version__}))
for text in ["a: " + s + "\n" for s in SCALARS] + DOCUMENTS:
    print(json.dumps(record(text)))

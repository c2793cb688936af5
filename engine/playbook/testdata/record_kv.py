#!/usr/bin/python3
"""Writes kv.jsonl: what ansible-core's parse_kv makes of each text.

Usage: /usr/bin/python3 record_kv.py > kv.jsonl

Each line is {"text": …, "raw": bool, "pairs": [[name, value], …]} or has
"error": true. Raw is check_raw: the rules of command, shell, raw and script.
"""
import json

from ansible.parsing.splitter import parse_kv
from ansible.release import __version__

TEXTS = [
    "", "a=b", "a=b c=d", 'a="b c" d', "echo a=b creates=/x", 'echo "a b" chdir=/tmp', "ls\n-l creates=x", "a={{ b }}",
    'a={{ b }} c={{ d | e("x y") }}', 'a="it\\"s"', "a='x' b=\"y\"", "src=a\\ b", "x=\\n", 'a="x\\ny"', "a=b=c", "=x", "a= b", "a=",
    'a="{% if x %}y{% endif %} z"', "echo \\=", "echo hi \\\n  there", 'cmd "un', "a={{ b", "x\n\n y=1", "a=b\nc=d", '"quoted=x" y',
    "echo foo\\=bar", "a=\u00e9", "echo   two  spaces", 'a="b"c d', "warn=no echo", "a=b #c", "removes=x _raw", "name=x state=present",
    "src=/a/b dest=/c mode=0644", "msg='hello world'", 'msg="a=b c=d"', "msg={{ 'a b' }}", "msg={{ a }} {{ b }}", "{{ a }}", "{{ a }} b=c",
    "{% if a %}x=1{% endif %}", "echo '{{ a b }}' x", "echo 'it''s'", "cat <<EOF\nx=1\nEOF", "a='b\nc'", 'a="b\n  c" d=e', "a=b\\\nc",
    "echo a \\\nb \\\nc", "/usr/bin/x --flag=1 --other 'a b' chdir=/", "executable=/bin/bash set -e; x=1", "echo $A=b", "tail -f | grep 'a=b'",
    "regexp='^a\\s+b$' line=\"x y\"", "regexp=\\d+", "path=C:\\\\temp\\\\new", "path=C:\\temp", "a=\\x41 b=\\u00e9", "line='a\\tb'", 'line="a\\\\tb"',
    "a='{{ b }}' c='{{ d }}'", "a={{ b|default('x y') }}/z c=d", "a=[1,2] b={'c': 'd e'}", "a=b  c=d", "a=b   ", "foo bar=baz qux", "\\\\ a=b",
    "stdin=x echo", "strip_empty_ends=no stdin_add_newline=no echo", "a='' b=\"\"", "a=' b ' c=\" d \"", "a='b\" c='d", "x={# a b #} y=z", "{{ a }}={{ b }}",
    "\"a b\"=c", "echo \\\"a b\\\"", "a=\"\\\"\"", "when='a == \"b c\"'", "if [ a = b ]; then x; fi", "a = b", "a =b", "echo {{ a }}{{ b }} c={{ d }}e",
    "file.yml", "file.yml x=1 y='a b'", "flush_handlers", "creates='/a b' echo", "chdir={{ x }}/y make -j4 CC=gcc", "\ta=b\tc=d", "a=b\tc", "echo 'a\\'b' c",
    "ls\n", "ls \n", "ls\n\n", "a=b\n", "ls  \n  x\n", "ls ", "a=b c ", "echo 'x '\n", "x\n\n\ny\n", "ls\n creates=/x\n", "ls \\\n", "{{ x }}\n", "ls\t\n", "a=b \\\n  c=d \\\n  e=f\n",
]


def record(text, raw):
    line = {"text": text, "raw": raw}
    try:
        line["pairs"] = [[k, v] for k, v in parse_kv(text, check_raw=raw).items()]
    except Exception:
        line["error"] = True
    return line


print(json.dumps({"ansible-core": __version__}))
for text in TEXTS:
    for raw in (False, True):
        print(json.dumps(record(text, raw)))

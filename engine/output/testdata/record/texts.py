#!/usr/bin/python3
"""Print answers of Python's textwrap and difflib, which Ansible words its
warnings and diffs with, for ../texts.json: texts.py > ../texts.json"""

import difflib
import json
import random
import sys
import textwrap

random.seed(7)
WORDS = ["a", "the", "host", "with-hyphens", "--option", "x--y", "e-mail", "2024-01-02", "/very/long/path/to/some.txt",
         "semi-auto-matic", "don't", "ünïcode", "x" * 30, "-", "--", "---", "end.", "a-", "-b", "a-b-c", "tab\there",
         "new\nline", "  ", "\"quoted\"", "x-1", "1-x", "abc-def-" * 4, "日本語", "foo--bar--baz", "a.b--c", "_x-_y"]


def sentence():
    return " ".join(random.choice(WORDS) for _ in range(random.randint(0, 14)))


def lines(n, kinds):
    return [random.choice(kinds) + "\n" for _ in range(random.randint(0, n))]


def edited(text, kinds):
    out = []
    for line in text:
        if random.random() < 0.8:
            out.append(line)
        if random.random() < 0.15:
            out.append(random.choice(kinds) + "\n")
    return out


def wraps():
    for n in range(300):
        text, width = sentence(), random.choice([10, 20, 33, 79])
        yield dict(text=text, width=width, trimmed=textwrap.wrap(text, width),
                   kept=textwrap.wrap(text, width, drop_whitespace=False))


def diffs():
    for n in range(120):
        kinds = [str(i) for i in range(random.choice([3, 10, 400]))]
        before = lines(random.choice([3, 30, 250]), kinds)
        after = edited(before, kinds)
        context = random.choice([0, 1, 3])
        yield dict(before="".join(before), after="".join(after), context=context,
                   diff="".join(difflib.unified_diff(before, after, "before", "after", n=context)))


def listing(name, cases):
    return '"%s": [\n%s\n]' % (name, ",\n".join(json.dumps(c) for c in cases))


print('{"python": "%s",\n%s,\n%s}' % (sys.version.split()[0], listing("wraps", wraps()), listing("diffs", diffs())))

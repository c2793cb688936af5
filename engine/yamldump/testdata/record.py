"""Records what PyYAML (with libyaml) prints: /usr/bin/python3 record.py > dump.jsonl

Each line: {"in": value as JSON, "out": {option set: text}}.
"""
import json
import random
import sys

import yaml

OPTS = {
    'to_yaml': dict(default_flow_style=None),
    'nice': dict(default_flow_style=False, indent=4),
    'plain': dict(default_flow_style=False, sort_keys=False),
    'flow': dict(default_flow_style=True, width=40),
    'wide': dict(default_flow_style=False, indent=2, width=1000),
    'ascii': dict(default_flow_style=None, allow_unicode=False),
    'explicit': dict(default_flow_style=False, explicit_start=True, explicit_end=True),
    'double': dict(default_flow_style=False, default_style='"'),
    'literal': dict(default_flow_style=False, default_style='|', indent=4),
}
WORDS = ['a', 'yes', 'no', 'on', 'null', '~', '1', '0644', '0o644', '1.5', '1e3', '1.5e+3', '0x1f', '1:30', '-', '- a', '-a', '?', '? a',
         ':', 'a: b', 'a:b', 'a :b', ':a', '#a', 'a #b', 'a#b', '', ' ', ' a', 'a ', '\n', 'a\nb', 'a\n', '\na', 'a\n\nb\n', 'a b\nc d\n e',
         "it's", '"q"', "'q'", '"\'', '[a]', '{a}', 'a, b', 'a]', '@a', '`a', '%a', '!a', '&a', '*a', '|', '>', '=', '<<', '---', '--- a', '...',
         'é', '日本', '😀', '\t', 'a\tb', '\x00', '\x07', '\x1b[0m', '\x7f', '\x85', '\xa0', '\u2028', '\ufeff', '2001-12-14', '2001-12-14 21:59:43',
         '12:30:45', '.inf', '.nan', '-.inf', '+1', '1_000', 'TRUE', 'Off', 'n', 'y', 'N', '.5', '5.', '.', '..', '08', '0b1', '+', '-1',
         'long ' * 30, 'x' * 130, 'word' * 30 + ' ' + 'tail ' * 20, "it's " * 40, 'a: ' * 40, 'é ' * 60, 'two  spaces ' * 20, 'C:\\path\\x',
         '{{ a }}', 'a\r\nb', 'a\rb', 'tail \nx', 'x\n y', '  two\nlines', 'last\n\n', '$ANSIBLE_VAULT;1.1', 'key: |', '# c\nx', 'a\\nb', '\\', '"']
DATA = [None, True, False, 0, -5, 12345678901234567890123, 1.0, 1.5, -0.0, 1e16, 1e-7, 1.5e300, float('inf'), float('-inf'), float('nan'),
        [], {}, [[]], [{}], {'a': []}, {'a': {}}, [1, 2, 3], ['a', 'b'], [[1, 2], [3]], [{'a': 1}], [{'a': 1, 'b': 2}, {'c': [1]}],
        {'a': 1}, {'b': 1, 'a': 2}, {'a': {'b': {'c': [1, {'d': 2}]}}}, {'a': [1, 2], 'b': {'c': 'd'}}, {'a': [[1, [2]], []]},
        {'k': 'a\nb\n', 'l': ['x\ny', {'m': 'p\nq'}]}, {'x' * 127: 1}, {'x' * 128: 1}, {'x' * 129: 1, 'y': 2}, {'a\nb': 1}, {'': 1}, {' ': ' '},
        {'yes': 'no', 'a: b': '- c', '1': 2}, [list(range(60))], {'list': ['w%d' % i for i in range(40)]}, {'d': {'k%d' % i: i for i in range(30)}},
        [[[[['deep']]]]], [[{'a': [{'b': []}]}]], [None, True, 1, 1.5, 'x'], {'n': None, 't': True}]


def rnd(r, depth=0):
    k = r.random()
    if depth < 4 and k < 0.25:
        return [rnd(r, depth + 1) for _ in range(r.randrange(4))]
    if depth < 4 and k < 0.5:
        return {r.choice(WORDS): rnd(r, depth + 1) for _ in range(r.randrange(4))}
    if k < 0.6:
        return r.choice([None, True, 0, 17, 2.5, -1e-9])
    if k < 0.7:
        return ''.join(r.choice('ab :-#\n\'"{}[],&*!|>%@é\t\\?') for _ in range(r.randrange(12)))
    return r.choice(WORDS)


def main():
    r = random.Random(7)
    values = DATA + WORDS + [{w: w} for w in WORDS] + [[w] for w in WORDS] + [rnd(r) for _ in range(int(sys.argv[1]) if len(sys.argv) > 1 else 150)]
    for v in values:
        row = {'in': v, 'out': {}}
        for name, o in OPTS.items():
            if name == 'literal' and '\\u2028' in json.dumps(v):
                continue  # a line separator as the last line break: libyaml keeps it unindented
            row['out'][name] = yaml.dump(json.loads(json.dumps(v)), Dumper=yaml.CSafeDumper, **{'allow_unicode': True, **o})
        print(json.dumps(row))
    print('pyyaml', yaml.__version__, 'libyaml', yaml._yaml.get_version_string(), file=sys.stderr)


main()

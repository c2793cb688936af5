"""Records ansible-core's answers to the expressions in *.txt of this folder.

    cd engine/jinja/testdata/builtins && TZ=UTC /usr/bin/python3 record.py

Every line of NAME.txt that is neither empty nor begins with "#" is one
expression, evaluated by ansible-core's Templar over the variables of vars.json;
NAME.jsonl gets a line {"expr", "want"} or {"expr", "err"} for each. An
expression behind "~ " is to fail too, with another text. What JSON
has no form for is tagged: {"!tuple": […]}, {"!dict": [[key, value], …]},
{"!undefined": true}, {"!object": str(value)}. This folder's name is $DIR.
"""
import datetime
import glob
import json
import os
import sys
import types

os.environ['TZ'] = 'UTC'
os.environ['PLAY_TEST_ENV'] = 'from the environment'
os.environ['HOME'] = '/home/someone'
os.environ['ANSIBLE_NOCOLOR'] = '1'
os.environ['ANSIBLE_DEPRECATION_WARNINGS'] = 'False'

from ansible import __version__                       # noqa: E402
from ansible.parsing.dataloader import DataLoader     # noqa: E402
from ansible.template import Templar                  # noqa: E402
from jinja2.runtime import Undefined                  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))


def tagged(v):
    if isinstance(v, Undefined):
        return {'!undefined': True}
    if v is None or isinstance(v, (bool, int, float)):
        return v
    if isinstance(v, str):
        return str(v).replace(HERE, '$DIR')
    if isinstance(v, tuple):
        return {'!tuple': [tagged(x) for x in v]}
    if isinstance(v, dict):
        if all(isinstance(k, str) for k in v):
            return {tagged(k): tagged(x) for k, x in v.items()}
        return {'!dict': [[tagged(k), tagged(x)] for k, x in v.items()]}
    if isinstance(v, (list, types.GeneratorType)) or type(v).__name__ in ('zip', 'map', 'dict_items', 'dict_keys', 'dict_values',
                                                                         'list_reverseiterator', 'product', 'permutations',
                                                                         'combinations', 'zip_longest', 'range'):
        return [tagged(x) for x in v]
    return {'!object': str(v)}


def evaluate(expr, variables):
    loader = DataLoader()
    loader.set_basedir(HERE)
    variables = dict(variables)
    templar = Templar(loader=loader, variables=variables)
    env = templar.environment
    env.globals.update(lookup=templar._lookup, query=templar._query_lookup, q=templar._query_lookup, now=templar._now_datetime)
    try:
        fn = env.compile_expression(expr, undefined_to_none=False)
        return {'expr': expr, 'want': tagged(fn(**{**env.globals, **variables}))}
    except Exception as e:  # every error is an answer
        while getattr(e, 'orig_exc', None) is not None and not str(e):
            e = e.orig_exc
        text = str(e).replace(HERE, '$DIR')
        return {'expr': expr, 'err': text or type(e).__name__}


def main():
    os.chdir(HERE)
    names = sys.argv[1:] or sorted(glob.glob('*.txt'))
    total = 0
    for name in names:
        rows = []
        for line in open(name, encoding='utf-8'):
            line = line.rstrip('\n')
            if line.strip() and not line.startswith('#'):
                variables = json.load(open('vars.json', encoding='utf-8'))
                row = evaluate(line.removeprefix('~ '), variables)
                if line.startswith('~ '):
                    row['loose'] = True
                rows.append(row)
        with open(name[:-4] + '.jsonl', 'w', encoding='utf-8') as f:
            for row in rows:
                f.write(json.dumps(row) + '\n')
        total += len(rows)
    print('ansible-core', __version__, 'cases', total, file=sys.stderr)


main()

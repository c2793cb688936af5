#!/usr/bin/python3
"""Record the names of ansible's options: ../options.tsv.

A row is: name, type, default (JSON), environment variables, ini places
(section.key), choices. Plugin options are named type.plugin.option. Only names,
types, defaults and places are taken.
"""
import json
import os
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))
ENV = {k: v for k, v in os.environ.items() if not k.startswith('ANSIBLE_')}
KINDS = ['connection', 'shell', 'become', 'callback', 'vars', 'inventory', 'cache']


def ask(*args):
    out = subprocess.run(['ansible-config', 'list', '--format', 'json', *args], cwd='/', env=ENV, capture_output=True, text=True)
    return json.loads(out.stdout)


def row(name, o):
    env = [e['name'] for e in o.get('env') or []]
    ini = [e['section'] + '.' + e['key'] for e in o.get('ini') or []]
    choices = o.get('choices') or []
    if isinstance(choices, dict):
        choices = list(choices)
    kind = {'boolean': 'bool', 'integer': 'int', 'str': 'string', 'tmppath': 'tmp'}.get(o.get('type'), o.get('type') or '')
    return [name, kind, json.dumps(o.get('default')), ' '.join(env), ' '.join(ini), '|'.join(map(str, choices))]


def main():
    rows = [row(k, v) for k, v in ask().items()]
    for kind in KINDS:
        for plugin, options in ask('-t', kind)['PLUGINS'].get(kind, {}).items():
            rows += [row('%s.%s.%s' % (kind, plugin, k), v) for k, v in options.items() if v.get('env') or v.get('ini')]
    rows.sort()
    version = subprocess.run(['ansible', '--version'], capture_output=True, text=True).stdout.splitlines()[0]
    with open(os.path.join(HERE, '../options.tsv'), 'w') as f:
        f.write('# %s: ansible-config list; written by testdata/record_options.py\n' % version)
        for r in rows:
            f.write('\t'.join(r) + '\n')


main()

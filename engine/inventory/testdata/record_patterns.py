#!/usr/bin/python3
"""Record which hosts ansible matches: patterns.json from patterns/*.

Each line of cases.txt is a pattern; each of limits.txt a pattern and a limit.
A case is "unordered" when the order changes from run to run.
"""
import json
import os
import re
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))
ENV = dict(os.environ, ANSIBLE_NOCOLOR='1', COLUMNS='4000', LC_ALL='C.UTF-8',
           ANSIBLE_LOCALHOST_WARNING='false', ANSIBLE_DEPRECATION_WARNINGS='false')


def run(argv, seed='0'):
    env = dict(ENV, PYTHONHASHSEED=seed)
    p = subprocess.run(argv, cwd=os.path.join(HERE, 'patterns'), env=env, capture_output=True, text=True)
    return p.returncode, p.stdout, p.stderr


def case(pattern, limit):
    argv = ['ansible', '-i', 'hosts.ini', pattern, '--list-hosts'] + (['-l', limit] if limit else [])
    rc, out, err = run(argv)
    c = {'pattern': pattern, 'rc': rc}
    if limit:
        c['limit'] = limit
    if rc == 0:
        c['hosts'] = [line.strip() for line in out.splitlines()[1:]]
        # Ansible walks groups below the second level in the order of a set.
        if 'wor' in pattern and any(run(argv, seed)[1] != out for seed in '1234'):
            c['unordered'] = True
    warnings = re.findall(r'\[WARNING\]: ([^\n]*)', err)
    if warnings:
        c['warnings'] = [w.strip() for w in warnings]
    errors = re.findall(r'^ERROR! (.*)$', err, re.M)
    if errors:
        c['error'] = errors[0]
    return c


def main():
    version = run(['ansible', '--version'])[1].splitlines()[0]
    cases = []
    with open(os.path.join(HERE, 'patterns/cases.txt')) as f:
        for line in f.read().splitlines():
            cases.append(case(line if line != "''" else '', ''))
    with open(os.path.join(HERE, 'patterns/limits.txt')) as f:
        for line in f.read().splitlines():
            cases.append(case(*line.split('\t')))
    head = {'version': version, 'command': 'ansible -i hosts.ini PATTERN --list-hosts [-l LIMIT]'}
    with open(os.path.join(HERE, 'patterns.json'), 'w') as f:
        f.write(json.dumps(head) + '\n')
        for c in cases:
            f.write(json.dumps(c, ensure_ascii=False) + '\n')


main()

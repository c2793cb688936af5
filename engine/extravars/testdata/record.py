#!/usr/bin/python3
"""Record how ansible reads --extra-vars: cases.json.

Each case is a list of -e arguments; the files it names are in files/. The
answer is the variables of a host that has no others, sorted by name and not
evaluated, or "fails".
"""
import json
import os
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))
ENV = dict(os.environ, ANSIBLE_NOCOLOR='1', LC_ALL='C.UTF-8', ANSIBLE_LOCALHOST_WARNING='false')
CASES = [
    ['a=1'], ['a=1 b=2'], ["a='x y' b=\"z w\""], ['a=x=y'], ['a='], ['foo'], ['a=1 foo bar'],
    ['{"a": 1, "b": [true]}'], ['{a: 1, b: yes}'], ['[1,2]'], ['@f.yml'], ['@f.json', 'a=3'], ['@nope'],
    ['@list.yml'], ['/x'], ['./x'], [''], ['a=1', 'a=2'], ['a={"b": 1}'], ['a=[1,2]'],
    ["a='{\"b\": 1}'"], ['a={{ b }}'], ["a={{ b | default('x y') }} c=1"], ["a='it''s'"],
    ["a='x\\ny'"], ['a="x\\ty"'], ['a=x\\ y'], ['a=\\\\'], ['a\\=b=c'], ["'a=b c'"], ['"a=b c"'],
    ['a = 1'], ['a= 1'], ['a =1'], ["a='x"], ['a="x'], ['a={{ x'], ['a=b\nc=d'], ['a=é'], ['a=\\u00e9'],
    ['a=\\x41'], ['a=b#c'], ['a=b # c'], ['a=True b=5'], ["{'a': 'b'}"], ['{a: {b: c}}', '{a: {d: e}}'],
    ['a:1'], ['a=1,b=2'], ['=x'], ['{a'], ['a=$HOME'], ["a='a'b"], ["a='a' 'b'"],
    ['a="{{ x }}" b=\'{{ y }}\''], ["a=''"], ['a="'], ["a='\"q\"'"], ['a="\'q\'"'],
    ['{"a": "{{ b }}"}'], ['a={% if x %}y z{% endif %}'], ['a={# c d #}e'], ['a=\\'], ['{}'],
    ['a.b=1'], ['a b=1 c'], ['{"a": 1'], ['{a: 0644, b: 1.0, c: ~, d: "5"}'], ['@f.yml', '{"a": {"z": null}}', 'q=1'],
]


def run(argv):
    p = subprocess.run(argv, cwd=os.path.join(HERE, 'files'), env=ENV, capture_output=True, text=True)
    return p.returncode, p.stdout


def main():
    version = run(['ansible', '--version'])[1].splitlines()[0]
    with open(os.path.join(HERE, 'cases.json'), 'w') as f:
        f.write(json.dumps({'version': version, 'command': "ansible-inventory -i h, --host h -e ARG…"}) + '\n')
        for args in CASES:
            argv = ['ansible-inventory', '-i', 'h,', '--host', 'h']
            for a in args:
                argv += ['-e', a]
            rc, out = run(argv)
            c = {'args': args, 'vars': json.loads(out)} if rc == 0 else {'args': args, 'fails': True}
            f.write(json.dumps(c, ensure_ascii=False) + '\n')


main()

#!/usr/bin/python3
"""Record texts that ansible-vault encrypted: cases.json."""
import json
import os
import subprocess
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
CASES = [
    ('hello', 'secret', None), ('', 'secret', None), ('line one\nline two\n', 'pass word', None), ('é€😀', 'pässwörd', None),
    ('x' * 16, 'p', None), ('y' * 15, 'p', None), ('z' * 1000, 'p' * 200, None), ('labelled', 'secret', 'dev'),
    ('labelled', 'other', 'prod.eu-1'), ('{"json": [1, 2]}', 'secret', None), ('a: 1\nb: "{{ a }}"\n', 's3cr;t', 'x y'),
]


def main():
    version = subprocess.run(['ansible', '--version'], capture_output=True, text=True).stdout.splitlines()[0]
    with open(os.path.join(HERE, 'cases.json'), 'w') as out:
        out.write(json.dumps({'version': version, 'command': 'ansible-vault encrypt --vault-id ID@FILE'}) + '\n')
        for plain, password, label in CASES:
            with tempfile.TemporaryDirectory() as d:
                with open(d + '/pw', 'w') as f:
                    f.write(password + '\n')
                with open(d + '/f', 'w') as f:
                    f.write(plain)
                vid = ['--vault-id', label + '@' + d + '/pw'] if label else ['--vault-password-file', d + '/pw']
                subprocess.run(['ansible-vault', 'encrypt', *vid, d + '/f'], check=True, capture_output=True)
                with open(d + '/f') as f:
                    out.write(json.dumps({'plain': plain, 'password': password, 'id': label or 'default', 'text': f.read()}) + '\n')


main()

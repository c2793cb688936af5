#!/usr/bin/python3
"""Record what ansible-inventory says: inventories.json from inventories/*.txtar.

The first line of each archive is the arguments; files that start with #! are
made executable. A case with "fails" is an inventory that ansible refuses, in
part or as a whole. Names as arguments record these cases only.
"""
import glob
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ENV = dict(os.environ, ANSIBLE_NOCOLOR='1', COLUMNS='4000', LC_ALL='C.UTF-8', PYTHONHASHSEED='0',
           ANSIBLE_DEPRECATION_WARNINGS='false')
# With the INI plugin first, it leaves a group for the first header of a TOML file.
TOML = dict(ENV, ANSIBLE_INVENTORY_ENABLED='host_list,script,auto,yaml,toml,ini')
VIEWS = {'list': ['--list'], 'export': ['--list', '--export'], 'graph': ['--graph'], 'graph_vars': ['--graph', '--vars'],
         'yaml': ['--list', '--yaml'], 'yaml_export': ['--list', '--yaml', '--export']}


def unpack(text, folder):
    parts = re.split(r'^-- (.*) --\n', text, flags=re.M)
    for path, body in zip(parts[1::2], parts[2::2]):
        path = os.path.join(folder, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, 'w', newline='') as f:
            f.write(body)
        if body.startswith('#!'):
            os.chmod(path, 0o755)
    return shlex.split(parts[0])


def run(argv, folder):
    env = TOML if 'hosts.toml' in argv else ENV
    p = subprocess.run(argv, cwd=folder, env=env, capture_output=True, text=True)
    return p.returncode, p.stdout, p.stderr.replace(folder, '.')


def case(path):
    name = os.path.basename(path)[:-len('.txtar')]
    with open(path, newline='') as f, tempfile.TemporaryDirectory() as folder:
        text = f.read()
        c = {'name': name}
        args = unpack(text, folder)
        for view, flags in VIEWS.items():
            if name.startswith('bad-') and view != 'list':
                continue
            rc, out, err = run(['ansible-inventory'] + args + flags, folder)
            c[view] = out
            if view != 'list':
                continue
            if rc or 'Failed to parse' in err:
                c['fails'] = re.sub(r'\s+', ' ', err)[-300:]
                del c[view]
                break
            warnings = [' '.join(w.split()) for w in re.findall(r'\[WARNING\]: (.*?)(?=\n\[|\Z)', err, re.S)]
            if warnings:
                c['warnings'] = warnings
        return c


def main():
    version = run(['ansible', '--version'], HERE)[1].splitlines()[0]
    kept = {}
    if sys.argv[1:]:
        with open(os.path.join(HERE, 'inventories.json')) as f:
            kept = {c['name']: c for c in map(json.loads, f.readlines()[1:])}
    with open(os.path.join(HERE, 'inventories.json'), 'w') as f:
        f.write(json.dumps({'version': version, 'command': 'ansible-inventory ARGS --list|--graph [--export|--vars|--yaml]'}) + '\n')
        for path in sorted(glob.glob(os.path.join(HERE, 'inventories/*.txtar'))):
            name = os.path.basename(path)[:-len('.txtar')]
            c = case(path) if name in sys.argv[1:] or name not in kept else kept[name]
            f.write(json.dumps(c, ensure_ascii=False) + '\n')
            f.flush()


main()

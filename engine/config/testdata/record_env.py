#!/usr/bin/python3
"""Record the names of all ANSIBLE_* variables that the documentation of the
installed ansible-core, and of the collections beside it, tells of: ../env.txt."""
import os
import re
import subprocess

import ansible

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(ansible.__file__))
found = subprocess.run(['grep', '-rhoE', r'name: +ANSIBLE_[A-Z0-9_]+', '--include=*.py', '--include=*.yml',
                        os.path.join(TOP, 'ansible'), os.path.join(TOP, 'ansible_collections')], capture_output=True, text=True).stdout
names = sorted(set(re.findall('ANSIBLE_[A-Z0-9_]+', found)))
version = subprocess.run(['ansible', '--version'], capture_output=True, text=True).stdout.splitlines()[0]
with open(os.path.join(HERE, '../env.txt'), 'w') as f:
    f.write('# %s and its collections; written by testdata/record_env.py\n' % version)
    f.write('\n'.join(names) + '\n')

#!/usr/bin/python3
"""Record how ansible reads configuration: cases.json.

Each case is an ansible.cfg and variables; the answer is the options that are
not at their default, with value and origin. DIR stands for the folder of the
file, HOME for the home folder.
"""
import json
import os
import subprocess
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
CASES = [
    ('[defaults]\nforks=7\n', {}),
    ('[defaults]\nforks = 7 ; seven\nremote_user: bob\nprivate_key_file=~/k # c\n# x\n; y\n', {}),
    ('[defaults]\nroles_path=r1:../r2:/r3:~/r4\ncollections_path = c1\nlibrary=lib:/lib2\n', {}),
    ('[defaults]\ninventory=h1,./inv, /etc/h2\n', {}),
    ('[defaults]\nhost_key_checking=no\ntimeout=5\nnocows=1\n[ssh_connection]\npipelining=True\n', {}),
    ('[privilege_escalation]\nbecome=yes\nbecome_method=su\nbecome_user=admin\nbecome_ask_pass=False\n', {}),
    ('[defaults]\nforks=7\n', {'ANSIBLE_FORKS': '9', 'ANSIBLE_REMOTE_USER': 'eve'}),
    ('', {'ANSIBLE_ROLES_PATH': 'a:b', 'ANSIBLE_INVENTORY': 'x,y', 'ANSIBLE_LOG_PATH': 'l.log'}),
    ('[defaults]\nhash_behaviour=merge\ngathering = smart\ngather_subset=!all,min\nfact_caching=jsonfile\nfact_caching_connection=/tmp/f\nfact_caching_timeout=3600\n', {}),
    ('[defaults]\nstdout_callback = yaml\ncallbacks_enabled=timer, profile_tasks\ndisplay_args_to_stdout=on\n', {}),
    ('[defaults]\nansible_managed = Managed: {file} on {host}\nvault_identity_list=a@x, b@prompt\nvault_password_file=./vp\n', {}),
    ('[defaults]\nany_errors_fatal=True\nretry_files_enabled = false\nretry_files_save_path=~/retry\n[diff]\nalways=yes\ncontext=5\n', {}),
    ('[DEFAULTS]\nforks=1\n[defaults]\nFORKS = 4\n', {}),
    ('[defaults]\nlog_path=$HOME/x.log\n', {}),
    ("[defaults]\nremote_user='quoted'\nexecutable = \"/bin/bash\"\n", {}),
    ('[defaults]\nforks=abc\n', {}),
    ('[defaults]\nhash_behaviour=mix\n', {}),
    ('[defaults]\nforks=1\nforks=2\n', {}),
    ('forks=1\n', {}),
    ('[defaults]\nforks\n', {}),
    ('[defaults]\nbecome=junk\nnosuch=1\nhost_key_checking=0\n', {}),
    ('[defaults]\ndeprecation_warnings=f\nsystem_warnings=off\nlocalhost_warning=n\nforce_handlers=T\nerror_on_missing_handler=1\n', {}),
    ('[defaults]\npoll_interval=3\ninternal_poll_interval=0.01\nremote_port=2222\n', {}),
    ('[inventory]\nenable_plugins=ini, yaml\nunparsed_is_failed=True\n[defaults]\nforce_valid_group_names=ignore\n', {}),
    ('[defaults]\ntransport=local\ninterpreter_python=/usr/bin/python3\n[tags]\nrun=a,b\nskip = c\n', {}),
]


def case(text, env):
    with tempfile.TemporaryDirectory() as top:
        folder = os.path.join(top, 'w')
        os.mkdir(folder)
        with open(os.path.join(folder, 'ansible.cfg'), 'w') as f:
            f.write(text)
        full = {k: v for k, v in os.environ.items() if not k.startswith('ANSIBLE_')}
        full.update(env)
        p = subprocess.run(['ansible-config', 'dump', '--only-changed', '--format', 'json'],
                           cwd=folder, env=full, capture_output=True, text=True)
        c = {'cfg': text, 'env': env}
        if p.returncode:
            c['fails'] = True
            return c
        out = p.stdout.replace(folder, 'DIR').replace(top, 'TOP').replace(os.path.expanduser('~'), 'HOME')
        c['options'] = {o['name']: [o['value'], o['origin']] for o in json.loads(out) if o['name'] != 'CONFIG_FILE'}
        return c


def main():
    version = subprocess.run(['ansible', '--version'], capture_output=True, text=True).stdout.splitlines()[0]
    with open(os.path.join(HERE, 'cases.json'), 'w') as f:
        f.write(json.dumps({'version': version, 'command': 'ansible-config dump --only-changed --format json'}) + '\n')
        for c in CASES:
            f.write(json.dumps(case(*c)) + '\n')


main()

"""Record what ansible-playbook tells the plugins beside plugins/site.yml: python3 record_plugins.py

Writes plugins.json: the events that callback_plugins/told.py noted, and what stood on standard output and error."""
import json, os, subprocess, tempfile

here = os.path.dirname(os.path.abspath(__file__))
with tempfile.TemporaryDirectory(prefix="record-") as top:
    told = os.path.join(top, "told")
    command = ["ansible-playbook", "-i", "hosts", "--vault-password-file", "password", "site.yml", "-e", "root=" + top]
    env = dict(PATH="/usr/sbin:/usr/bin:/sbin:/bin", HOME=top, LC_ALL="C.UTF-8", ANSIBLE_NOCOLOR="1", TOLD=told, TOLD_MARK="sum", PYTHONDONTWRITEBYTECODE="1")
    run = subprocess.run(command, cwd=os.path.join(here, "plugins"), env=env, capture_output=True, text=True)
    version = subprocess.run(["ansible", "--version"], capture_output=True, text=True).stdout.split("\n")[0]
    with open(os.path.join(here, "plugins.json"), "w") as f:
        json.dump(dict(version=version, command=" ".join(command).replace(top, "{top}"), status=run.returncode,
                       last=run.stdout.strip().split("\n")[-2:], events=[json.loads(line.replace(top, "{top}")) for line in open(told)]), f, indent=1, sort_keys=True)
        f.write("\n")

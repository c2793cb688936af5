"""Record what ansible-playbook shows of collections/site.yml: python3 record_collections.py

Writes collections.json: the messages of its debug tasks, and what is deprecated."""
import json, os, re, subprocess, tempfile

here = os.path.dirname(os.path.abspath(__file__))
with tempfile.TemporaryDirectory(prefix="record-") as top:
    command = ["ansible-playbook", "-i", "localhost,", "-c", "local", "site.yml"]
    env = dict(PATH="/usr/sbin:/usr/bin:/sbin:/bin", HOME=top, LC_ALL="C.UTF-8", ANSIBLE_NOCOLOR="1", PYTHONDONTWRITEBYTECODE="1")
    run = subprocess.run(command, check=True, cwd=os.path.join(here, "collections"), env=env, capture_output=True, text=True)
    version = subprocess.run(["ansible", "--version"], capture_output=True, text=True).stdout.split("\n")[0]
    deprecated = re.search(r"\[DEPRECATION WARNING\]: (.*?)\. Deprecation", " ".join(run.stderr.split())).group(1)
    with open(os.path.join(here, "collections.json"), "w") as f:
        json.dump(dict(version=version, command=" ".join(command), messages=re.findall(r'"msg": (".*")', run.stdout), deprecated=deprecated), f, indent=1, sort_keys=True)
        f.write("\n")

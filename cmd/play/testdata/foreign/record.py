"""Record what ansible-playbook makes of modules.yml: python3 record.py

Writes results.json beside it, with the version it came from."""
import json, os, subprocess, tempfile

here = os.path.dirname(os.path.abspath(__file__))
with tempfile.TemporaryDirectory(prefix="record-") as top:
    root = os.path.join(top, "root")
    os.mkdir(root)
    out = os.path.join(top, "out.json")
    command = ["ansible-playbook", "-i", "localhost,", os.path.join(here, "modules.yml"), "-e", "root=" + root, "-e", "out=" + out]
    env = dict(PATH="/usr/sbin:/usr/bin:/sbin:/bin", HOME=top, LC_ALL="C.UTF-8", ANSIBLE_NOCOLOR="1")
    subprocess.run(command, check=True, cwd=top, env=env, stdout=subprocess.DEVNULL)
    version = subprocess.run(["ansible", "--version"], capture_output=True, text=True).stdout.split("\n")[0]
    text = open(out).read().replace(root, "{root}")
    with open(os.path.join(here, "results.json"), "w") as f:
        json.dump(dict(version=version, command=" ".join(command).replace(top, "{top}").replace(here + "/", ""), results=json.loads(text)), f, indent=1, sort_keys=True)
        f.write("\n")

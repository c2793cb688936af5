"""Record what ansible-playbook makes of a module of each kind: python3 record_kinds.py

Writes kinds.json. It needs gcc, perl and node."""
import json, os, shutil, subprocess, tempfile

here = os.path.dirname(os.path.abspath(__file__))
with tempfile.TemporaryDirectory(prefix="record-") as top:
    root = os.path.join(top, "root")
    shutil.copytree(os.path.join(here, "kinds"), root)
    subprocess.run(["gcc", "-o", os.path.join(root, "library", "k_binary"), os.path.join(root, "binary.c")], check=True)
    os.symlink(shutil.which("node"), os.path.join(root, "node"))
    out = os.path.join(top, "out.json")
    command = ["ansible-playbook", "-i", "localhost,", os.path.join(root, "site.yml"), "-e", "root=" + root, "-e", "out=" + out]
    env = dict(PATH="/usr/sbin:/usr/bin:/sbin:/bin", HOME=top, LC_ALL="C.UTF-8", ANSIBLE_NOCOLOR="1")
    subprocess.run(command, check=True, cwd=top, env=env, stdout=subprocess.DEVNULL)
    version = subprocess.run(["ansible", "--version"], capture_output=True, text=True).stdout.split("\n")[0]
    text = open(out).read().replace(root, "{root}").replace(top, "{top}")
    with open(os.path.join(here, "kinds.json"), "w") as f:
        json.dump(dict(version=version, command=" ".join(command).replace(top, "{top}"), results=json.loads(text)), f, indent=1, sort_keys=True)
        f.write("\n")

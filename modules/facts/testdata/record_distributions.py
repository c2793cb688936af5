"""Records what ansible-core's setup makes of distributions' release files.

    /usr/bin/python3 record_distributions.py        (as root; it works in a mount namespace of its own)

distributions.json holds the files; this fills in the facts. Written with ansible-core 2.14.18.
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
RUN = """
import json
from ansible.module_utils import basic
basic._ANSIBLE_ARGS = json.dumps({"ANSIBLE_MODULE_ARGS": {"gather_subset": ["!all", "!min", "distribution"]}}).encode()
from ansible.modules import setup
setup.main()
"""
path = os.path.join(HERE, "distributions.json")
cases = json.load(open(path))
for case in cases:
    top = tempfile.mkdtemp(prefix="dist-")
    etc = os.path.join(top, "etc")
    os.mkdir(etc)
    for name in ("passwd", "group", "ld.so.cache", "hosts", "nsswitch.conf"):
        shutil.copy("/etc/" + name, etc)
    for name, text in case["files"].items():
        with open(os.path.join(etc, name), "w") as f:
            f.write(text)
    run = subprocess.run(["unshare", "-m", "sh", "-c", "mount --bind %s /etc && exec %s -c \"$RUN\"" % (etc, sys.executable)],
                         capture_output=True, text=True, env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "RUN": RUN, "LC_ALL": "C.UTF-8"})
    if not run.stdout.strip():
        raise SystemExit(run.stderr)
    facts = json.loads(run.stdout.strip().splitlines()[-1])["ansible_facts"]
    case["facts"] = {k[len("ansible_"):]: v for k, v in sorted(facts.items()) if k.startswith("ansible_")}
    shutil.rmtree(top)
with open(path, "w") as f:
    json.dump(cases, f, indent=1, ensure_ascii=False)
    f.write("\n")

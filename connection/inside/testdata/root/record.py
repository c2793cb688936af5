"""Records what ansible-core's own modules do in a throwaway root, for root_test.go.

    /usr/bin/python3 record.py [FILE.deb...]     (Debian's ansible-core 2.14.18, run as root)

steps.json holds what is done, one step after the other in the same root; this
program fills in each one's "result" (the module's printed JSON) and, where it
has a "probe", "after" (what that shell script then prints in the root). The
root is that of make.sh, with Python and Ansible's modules added. Packages that
the machine lacks (cron) are given as files.
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
PACKAGES = "passwd apt debconf libc-bin locales mawk openssh-client procps tzdata python3 python3-apt python3-yaml python3-jinja2".split()
ENV = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root", "LC_ALL": "C.UTF-8"}
RUN = """
import sys, json, importlib
from ansible.module_utils import basic
basic._ANSIBLE_ARGS = json.dumps({"ANSIBLE_MODULE_ARGS": json.load(sys.stdin)}).encode()
for home in ("ansible.modules.", "ansible_collections.community.general.plugins.modules.", "ansible_collections.ansible.posix.plugins.modules."):
    try:
        module = importlib.import_module(home + sys.argv[1])
        break
    except ModuleNotFoundError:
        pass
module.main()
"""
LIBRARY = "/usr/lib/python3/dist-packages/"
VOLATILE = ("invocation", "stdout", "stdout_lines", "stderr", "stderr_lines", "cache_update_time")


def inside(root, argv, text=""):
    return subprocess.run(["chroot", root] + argv, input=text, capture_output=True, text=True, env=ENV, cwd="/")


def main():
    os.umask(0o022)
    root = tempfile.mkdtemp(prefix="root-")
    os.chmod(root, 0o755)
    try:
        subprocess.run([HERE + "/make.sh", root] + PACKAGES + [os.path.abspath(p) for p in sys.argv[1:]], check=True)
        for part in ("ansible", "ansible_collections/community/general/plugins", "ansible_collections/ansible/posix/plugins"):
            shutil.copytree(LIBRARY + part, root + LIBRARY + part, symlinks=True)
        setup = inside(root, ["/bin/sh"], open(HERE + "/setup.sh").read())
        if setup.returncode:
            sys.exit(setup.stdout + setup.stderr)
        data = json.load(open(HERE + "/steps.json"))
        data = {"recorded": "ansible-core 2.14.18, python3 record.py", "steps": data["steps"]}
        for step in data["steps"]:
            args = dict(step["args"])
            for key in ("check", "diff"):
                if step.get(key):
                    args["_ansible_%s%s" % (key, "_mode" if key == "check" else "")] = True
            run = inside(root, ["/usr/bin/python3", "-c", RUN, step["module"]], json.dumps(args))
            if not run.stdout.strip():
                sys.exit("%s: %s" % (step["name"], run.stderr))
            result = json.loads(run.stdout.strip().splitlines()[-1])
            step["result"] = {k: v for k, v in result.items() if k not in VOLATILE}
            if "probe" in step:
                step["after"] = inside(root, ["/bin/sh"], step["probe"]).stdout.splitlines()
        with open(HERE + "/steps.json", "w") as f:
            json.dump(data, f, indent=1, ensure_ascii=False)
            f.write("\n")
    finally:
        shutil.rmtree(root)


main()

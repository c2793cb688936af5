"""Record what ansible-playbook makes of the playbooks here: python3 record.py [NAME...]

Writes NAME.json beside NAME.yml, with the version it came from. servers.yml needs
the Debian packages mariadb-server, postgresql, redis-server, python3-pymysql,
python3-psycopg2 and python3-redis."""
import json, os, platform, subprocess, sys, tempfile

here = os.path.dirname(os.path.abspath(__file__))


def record(name):
    with tempfile.TemporaryDirectory(prefix="record-") as top:
        os.chmod(top, 0o755)
        root = os.path.join(top, "root")
        os.mkdir(root)
        out = os.path.join(top, "out.json")
        command = ["ansible-playbook", "-i", "localhost,", os.path.join(here, name + ".yml"), "-e", "root=" + root, "-e", "out=" + out]
        env = dict(PATH="/usr/sbin:/usr/bin:/sbin:/bin", HOME=top, LC_ALL="C.UTF-8", ANSIBLE_NOCOLOR="1")
        servers = None
        if name == "servers":
            servers = subprocess.Popen(["sh", os.path.join(here, "servers.sh"), root], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=env)
            command += ["-e", "redis=" + servers.stdout.readline().split()[1]]
        try:
            subprocess.run(command, check=True, cwd=top, env=env, stdout=subprocess.DEVNULL)
        finally:
            if servers:
                servers.stdin.close()
                servers.wait()
        version = subprocess.run(["ansible", "--version"], capture_output=True, text=True).stdout.split("\n")[0]
        text = open(out).read().replace(root, "{root}").replace(top, "{top}").replace("on %s's Python" % platform.node(), "on {node}'s Python")
        with open(os.path.join(here, name + ".json"), "w") as f:
            shown = " ".join(command).replace(top, "{top}").replace(here + "/", "")
            json.dump(dict(version=version, command=shown, results=json.loads(text)), f, indent=1, sort_keys=True)
            f.write("\n")


for name in sys.argv[1:] or ["modules", "more", "internal", "servers"]:
    record(name)

#!/usr/bin/python3
"""Records what the collections' own database modules do, as data for database_test.go.

    /usr/bin/python3 record.py [MODULE...]

(Debian 12's ansible 7.7 on ansible-core 2.14.18 with python3-pymysql and python3-psycopg2;
mariadb-server and postgresql installed; run as root.)

MODULE.json holds under "server" which server it wants (mysql or postgresql) and under
"cases" what is done: "setup" is SQL run first, "args" are the module's arguments, "probe" is
SQL whose output stands for the state left. This program fills "result" (what the module
printed) and "after" (the probe's output). {dir} stands for a folder of the case's own, {sock}
for where the server listens. Every case uses names of its own: the server is shared.
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
RUN = """
import sys, json, importlib
from ansible.module_utils import basic
basic._ANSIBLE_ARGS = json.dumps({"ANSIBLE_MODULE_ARGS": json.load(sys.stdin)}).encode()
importlib.import_module(sys.argv[1]).main()
"""


class MySQL:
    home = "ansible_collections.community.mysql.plugins.modules."

    def __init__(self, top):
        self.sock = top + "/sock"
        subprocess.run(["chown", "mysql", top], check=True)
        subprocess.run(["mariadb-install-db", "--no-defaults", "--datadir=" + top + "/data", "--user=mysql",
                        "--auth-root-authentication-method=normal", "--skip-test-db"], check=True, capture_output=True)
        self.server = subprocess.Popen(["mariadbd", "--no-defaults", "--datadir=" + top + "/data", "--user=mysql", "--socket=" + self.sock,
                                        "--skip-networking", "--pid-file=" + top + "/pid", "--character-set-server=utf8mb4"],
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def sql(self, text):
        return subprocess.run(["mysql", "--no-defaults", "-S", self.sock, "-uroot", "-N", "-B"], input=text, capture_output=True, text=True)


class PostgreSQL:
    home = "ansible_collections.community.postgresql.plugins.modules."

    def __init__(self, top):
        self.sock = top
        subprocess.run(["chown", "postgres", top], check=True)
        folder = subprocess.run(["pg_config", "--bindir"], capture_output=True, text=True, check=True).stdout.strip()
        if not os.path.exists(folder + "/initdb"):
            folder = sorted("/usr/lib/postgresql/%s/bin" % v for v in os.listdir("/usr/lib/postgresql"))[-1]
        subprocess.run(["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups", folder + "/initdb", "-D", top + "/data", "-A", "trust",
                        "--no-sync", "-E", "UTF8", "--locale=C.UTF-8"], check=True, capture_output=True)
        self.server = subprocess.Popen(["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups", folder + "/postgres", "-D", top + "/data",
                                        "-k", top, "-h", "", "-F"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def sql(self, text):
        return subprocess.run(["psql", "-X", "-q", "-A", "-t", "-h", self.sock, "-U", "postgres", "-v", "ON_ERROR_STOP=1"],
                              input=text, capture_output=True, text=True)


def wait(server):
    for _ in range(600):
        if server.sql("select 1;").returncode == 0:
            return
        time.sleep(0.1)
    sys.exit("the server does not start")


def must(run, what):
    if run.returncode:
        sys.exit("%s: %s%s" % (what, run.stdout, run.stderr))
    return run.stdout


def record(server, module, case):
    folder = tempfile.mkdtemp(prefix="case-")
    os.chmod(folder, 0o777)

    def fill(text):
        return text.replace("{dir}", folder).replace("{sock}", server.sock)

    def clean(text):
        return text.replace(folder, "{dir}").replace(server.sock, "{sock}")

    try:
        if "files" in case:
            for name, text in case["files"].items():
                with open(os.path.join(folder, name), "w") as f:
                    f.write(fill(text))
        if "setup" in case:
            must(server.sql(fill(case["setup"])), case["name"])
        args = json.loads(fill(json.dumps(case["args"])))
        for key in ("check", "diff"):
            if case.get(key):
                args["_ansible_%s%s" % (key, "_mode" if key == "check" else "")] = True
        run = subprocess.run([sys.executable, "-c", RUN, server.home + module], input=json.dumps(args), capture_output=True, text=True,
                             env=dict(os.environ, HOME=folder))
        result = json.loads(clean(run.stdout.strip().splitlines()[-1]) if run.stdout.strip() else json.dumps({"crash": run.stderr}))
        for key in ("invocation", "exception"):
            result.pop(key, None)
        case["result"] = result
        if "probe" in case:
            case["after"] = clean(must(server.sql(fill(case["probe"])), case["name"])).splitlines()
    finally:
        shutil.rmtree(folder)


def main():
    for name in sys.argv[1:] or sorted(f[:-5] for f in os.listdir(HERE) if f.endswith(".json")):
        path = os.path.join(HERE, name + ".json")
        data = json.load(open(path))
        top = tempfile.mkdtemp(prefix="server-")
        os.chmod(top, 0o755)
        server = {"mysql": MySQL, "postgresql": PostgreSQL}[data["server"]](top)
        try:
            wait(server)
            data["recorded"] = "ansible-core 2.14.18, ansible 7.7.0, record.py %s" % name
            for case in data["cases"]:
                record(server, data["module"], case)
        finally:
            server.server.terminate()
            server.server.wait()
            shutil.rmtree(top)
        with open(path, "w") as f:
            json.dump(data, f, indent=1, ensure_ascii=False)
            f.write("\n")


main()

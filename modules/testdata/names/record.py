#!/usr/bin/python3
"""Records names.tsv: every full name in ansible-core and in the installed
collections of the namespaces ansible and community that means a module of HOMES,
and where its routing ends. Run it where ansible-core and Debian's package ansible are
installed (/usr/bin/python3); the first line names their versions."""
import os
import subprocess

import yaml
from ansible.release import __version__
import ansible
import ansible_collections

CORE = os.path.dirname(ansible.__file__)
ROOT = list(ansible_collections.__path__)[0]
HOMES = ["ansible.builtin", "ansible.posix", "community.crypto", "community.docker", "community.general",
         "community.libvirt", "community.mysql", "community.postgresql", "community.rabbitmq"]


def routing(path):
    if not os.path.exists(path):
        return {}
    with open(path) as f:
        return ((yaml.safe_load(f) or {}).get("plugin_routing") or {}).get("modules") or {}


def collections():
    yield "ansible.builtin", os.path.join(CORE, "modules"), routing(os.path.join(CORE, "config", "ansible_builtin_runtime.yml"))
    for ns in ("ansible", "community"):
        for name in sorted(os.listdir(os.path.join(ROOT, ns))):
            base = os.path.join(ROOT, ns, name)
            yield f"{ns}.{name}", os.path.join(base, "plugins", "modules"), routing(os.path.join(base, "meta", "runtime.yml"))


def main():
    files, routes = set(), {}
    for coll, folder, table in collections():
        for top, _, names in os.walk(folder):
            prefix = os.path.relpath(top, folder).replace(os.sep, ".")
            for n in names:
                if n.endswith((".py", ".ps1")) and n != "__init__.py":
                    stem = os.path.splitext(n)[0].lstrip("_")
                    files.add(".".join([coll] + ([prefix] if prefix != "." else []) + [stem]))
        for name, entry in table.items():
            if entry and entry.get("redirect") and not name.endswith(".ps1") and not entry["redirect"].startswith("testns"):
                routes[f"{coll}.{name}"] = entry["redirect"]
    version = subprocess.run(["dpkg-query", "-W", "-f", "${Version}", "ansible"], capture_output=True, text=True).stdout
    with open(os.path.join(os.path.dirname(__file__), "names.tsv"), "w") as out:
        out.write(f"# ansible-core {__version__}, ansible {version}; made by record.py\n")
        for full in sorted(files | set(routes)):
            end, hops = full, 0
            while end in routes and hops < 10:
                end, hops = routes[end], hops + 1
            if ".".join(end.split(".")[:2]) in HOMES:
                out.write(full + ("" if end == full else "\t" + end) + "\n")


main()

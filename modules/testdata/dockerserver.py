"""Runs the engine of modules/dockertest for record.py; cases_docker_test.go has it in its own process."""
import atexit
import functools
import http.client
import json
import os
import shutil
import socket
import subprocess
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))


class Connection(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost")
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.connect(self.path)


@functools.lru_cache(maxsize=None)
def program():
    folder = tempfile.mkdtemp(prefix="rec-")
    atexit.register(shutil.rmtree, folder)
    subprocess.run(["go", "build", "-o", os.path.join(folder, "serve"), "./dockertest/serve"], cwd=os.path.dirname(HERE), check=True)
    return os.path.join(folder, "serve")


class Server:
    def __init__(self, top, state):
        self.sock = os.path.join(top, "docker")
        self.process = subprocess.Popen([program(), self.sock, os.path.join(top, "root", "requests")], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.process.stdin.write(json.dumps(state).encode() + b"\n")
        self.process.stdin.flush()
        self.process.stdout.readline()

    def state(self):
        connection = Connection(self.sock)
        connection.request("GET", "/_state")
        return connection.getresponse().read().decode()

    def stop(self):
        self.process.stdin.close()
        self.process.wait()


def start(top, state):
    return Server(top, state)

"""Runs the engine of modules/dockertest for record.py; cases_docker_test.go has it in its own process."""
import http.client
import json
import os
import socket
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))


class Connection(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost")
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.connect(self.path)


class Server:
    def __init__(self, top, state):
        self.sock = os.path.join(top, "docker")
        program = os.path.join(top, "dockerd")
        subprocess.run(["go", "build", "-o", program, "./dockertest/serve"], cwd=os.path.dirname(HERE), check=True)
        self.process = subprocess.Popen([program, self.sock, os.path.join(top, "root", "requests")], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
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

"""The HTTP server of recorded cases; cases_http_test.go has the same in Go."""
import http.server
import os
import re
import socketserver
import threading

NOTED = ("authorization", "content-type", "accept", "user-agent", "if-modified-since", "cookie")


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self):
        owner = self.server.owner
        size = int(self.headers.get("Content-Length") or 0)
        owner.note(self, self.rfile.read(size).decode())
        answer = owner.next(self.command + " " + self.path)
        body = owner.fill(answer.get("body", "")).encode()
        self.send_response_only(answer.get("status", 200))
        for name, text in answer.get("headers", {}).items():
            self.send_header(name, owner.fill(text))
        if answer.get("status") not in (204, 304):
            self.send_header("Content-Length", str(len(body)))
        self.send_header("Connection", "close")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)
        self.close_connection = True

    do_GET = do_HEAD = do_POST = do_PUT = do_DELETE = do_PATCH = do_OPTIONS = answer

    def log_message(self, *args):
        pass


class Unix(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    pass


class Server:
    def __init__(self, top, routes):
        self.log, self.routes, self.asked = os.path.join(top, "root", "requests"), routes, {}
        self.sock = os.path.join(top, "sock")
        self.tcp = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.unix = Unix(self.sock, Handler)
        self.url = "http://127.0.0.1:%d" % self.tcp.server_port
        self.noting = threading.Lock()
        for server in (self.tcp, self.unix):
            server.owner = self
            threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()

    def next(self, name):
        answers = self.routes.get(name, {"status": 404, "body": "not here"})
        if not isinstance(answers, list):
            return answers
        turn = self.asked[name] = self.asked.get(name, -1) + 1
        return answers[min(turn, len(answers) - 1)]

    def note(self, request, body):
        line = request.command + " " + request.path
        names = [n for n in request.headers.keys() if n.lower() in NOTED or n.lower().startswith("x-")]
        for name in sorted(names, key=str.lower):
            line += " [%s: %s]" % (name.lower(), request.headers[name])
        line = re.sub("=====+[0-9]+==", "BOUNDARY", line + " " + body)
        with self.noting, open(self.log, "a") as f:
            f.write(line.rstrip() + "\n")

    def fill(self, text):
        return text.replace("{url}", self.url).replace("{sock}", self.sock)

    def clean(self, text):
        return text.replace(self.url, "{url}").replace(self.url[7:], "{address}").replace(self.sock, "{sock}")

    def stop(self):
        self.tcp.shutdown()
        self.unix.shutdown()


def start(top, routes):
    return Server(top, routes)

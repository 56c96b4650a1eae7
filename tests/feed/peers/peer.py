# SPDX-License-Identifier: GPL-2.0-or-later
"""The stand-ins for istiod, as a test uses them."""
import base64
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import threading
import time

from . import PEERS, messages
from shared import BUILD
from netlab.outcome import WAIT_S, Failure, Skip, expect

GOCODE = "/usr/share/gocode"


building = threading.Lock()
built = {}


def go_program(name):
    """One on grpc-go, peers/NAME; built once a build directory."""
    with building:
        if name not in built:
            built[name] = _build(name)
        return built[name]


def _build(name):
    if shutil.which("go") is None:
        raise Skip("go is not installed")
    if not os.path.exists(f"{GOCODE}/src/google.golang.org/grpc/server.go"):
        raise Skip("golang-google-grpc-dev is not installed")
    here = BUILD / "tests/feed"
    here.mkdir(parents=True, exist_ok=True)
    done = subprocess.run(
        ["go", "build", "-o", str(here / name), "."], cwd=PEERS / name, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        env=dict(os.environ, GO111MODULE="off", GOPATH=f"{here}/go:{GOCODE}",
                 GOCACHE=f"{here}/go/cache", GOFLAGS="", CGO_ENABLED="0"))
    expect(done.returncode == 0, f"{name} does not build: {done.stdout}")
    return here / name


def popen(command, **options):
    """A process that ends with the thread that starts it at the latest.  No
    Python runs between fork and exec, for this process has threads."""
    return subprocess.Popen(["setpriv", "--pdeathsig", "KILL", *map(str, command)], **options)


class Talker:
    """A program that takes commands on stdin and says events on stdout, both as
    JSON, one a line."""

    def __init__(self, command, space=None, **options):
        self.events = []
        self.changed = threading.Condition()
        self.errors = tempfile.TemporaryFile()
        start = space.popen if space else popen
        self.process = start(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                             stderr=self.errors, env=messages.environment(), **options)
        self.done = 0
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.process.stdout:
            event = json.loads(line)
            event["at"] = time.monotonic()
            if "octets" in event:
                event["octets"] = base64.b64decode(event["octets"] or "")
            with self.changed:
                if event["event"] == "done":
                    self.done += 1
                else:
                    self.events.append(event)
                self.changed.notify_all()
        with self.changed:
            self.events.append({"event": "ended", "at": time.monotonic()})
            self.changed.notify_all()

    def _wait(self, condition, what, timeout=WAIT_S):
        with self.changed:
            if not self.changed.wait_for(condition, timeout):
                self.errors.seek(0)
                raise Failure(f"{what}: not so after {timeout} s;"
                              f" {self.errors.read().decode(errors='replace')[-500:]}")
            return condition()

    def wait(self, event, count=1, timeout=WAIT_S, where=lambda event: True):
        """The count-th event of that name for which "where" is true."""
        def found():
            there = self.seen(event, where)
            return there[count - 1] if len(there) >= count else None
        return self._wait(found, f"event {event} number {count}", timeout)

    def seen(self, event, where=lambda event: True):
        return [e for e in list(self.events) if e["event"] == event and where(e)]

    def do(self, what, **values):
        before = self.done
        line = json.dumps({"do": what, **values})
        self.process.stdin.write(line.encode() + b"\n")
        self.process.stdin.flush()
        self._wait(lambda: self.done > before, f"command {what}")

    def end(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.process.stdin.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end()


class Istiod(Talker):
    """Says what it is asked, and remembers what it is told.

    pair, roots: its certificate, and the PEM of those who sign its clients';
    without them it speaks in clear text.  age, grace: seconds of a connection.
    identity: by which it says who it is."""

    def __init__(self, stack="core", pair=None, roots=None, age=None, grace=None, port=0,
                 host="127.0.0.1", space=None, identity="istiod-1", more=()):
        self.directory = tempfile.TemporaryDirectory(prefix="nfdns-istiod-")
        self.host, self.version, self.identity = host, 0, identity
        dash = "--" if stack == "core" else "-"
        words = [PEERS / "istiod_core" if stack == "core" else go_program("istiod_go"),
                 f"{dash}listen={host}:{port}"]
        if pair:
            here = pathlib.Path(self.directory.name)
            pair.write(here / "cert.pem", here / "key.pem")
            words += [f"{dash}cert={here}/cert.pem", f"{dash}key={here}/key.pem"]
            if roots:
                (here / "roots.pem").write_bytes(roots)
                words.append(f"{dash}roots={here}/roots.pem")
        unit = "" if stack == "core" else "s"
        words += [f"{dash}{name}={value}{unit}" for name, value in
                  (("age", age), ("grace", grace)) if value is not None]
        super().__init__([*words, *more], space)
        self.port = self.wait("listening")["port"]

    def end(self):
        super().end()
        self.directory.cleanup()

    def _message(self, do, octets):
        if len(octets) < 1 << 16:
            self.do(do, octets=base64.b64encode(octets).decode())
        else:
            path = pathlib.Path(self.directory.name) / "message"
            path.write_bytes(octets)
            self.do(do, file=str(path))

    def send(self, octets):
        """To every stream."""
        self._message("send", octets)

    def answer(self, octets):
        """To the first request of every stream from now on."""
        self._message("answer", octets)

    def response(self, names):
        """A DiscoveryResponse of the next version, of {name: address}."""
        self.version += 1
        return messages.response(messages.table(names), str(self.version), identity=self.identity)

    def has(self, names):
        """What streams are given from now on that begin."""
        self.answer(self.response(names))
        return str(self.version)

    def push(self, names):
        """To all streams, and to those that begin.  Returns the version."""
        octets = self.response(names)
        self.answer(octets)
        self.send(octets)
        return str(self.version)

    def close(self, code, text):
        """All streams end with this status."""
        self.do("end", code=code, text=text)

    def requests(self, stream=None):
        """Decoded, in the order of arrival; of one stream or of all."""
        return [messages.request(e["octets"]) for e in
                self.seen("request", lambda e: stream in (None, e["stream"]))]

    def wait_ack(self, version, timeout=WAIT_S):
        """The answer to that version's push, which must be an ACK."""
        found = self.wait("request", timeout=timeout, where=lambda e: messages.request(
            e["octets"]).response_nonce == f"nonce-{version}")
        read = messages.request(found["octets"])
        expect(not read.HasField("error_detail"), "NACK:", read.error_detail)
        expect(read.version_info == str(version), "ACK of version", read.version_info)
        return found

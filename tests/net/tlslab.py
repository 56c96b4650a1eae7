# SPDX-License-Identifier: GPL-2.0-or-later
"""DNS over TLS for tests: an authority with its certificates, made by openssl(1); a
server in this process that does as it is told; and a client."""
import contextlib
import os
import shutil
import socket
import ssl
import struct
import subprocess
import threading

from netlab import Closing, Failure, Skip, family_of
from streamlab import framed

TLS_PORT = 853


def openssl(*words):
    if shutil.which("openssl") is None:
        raise Skip("openssl is not installed")
    done = subprocess.run(["openssl", *map(str, words)], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        raise Failure(f"openssl {words[0]}: {done.stdout}")


class Authority:
    """A root, and certificates of it: pairs of files."""

    def __init__(self, directory, name):
        self.directory = directory / name
        self.directory.mkdir()
        self.directory.chmod(0o755)
        self.name, self.count = name, 0
        self.cert, self.key = self.directory / "ca.pem", self.directory / "ca.key"
        openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                "-keyout", self.key, "-out", self.cert, "-subj", f"/CN={name}", "-days", 30)

    def issue(self, *names, days=30):
        """(certificate, key) for names "DNS:..." and "IP:..."; days < 0: expired."""
        self.count += 1
        base = self.directory / f"{self.count}"
        key, csr, cert, more = (base.with_suffix(s) for s in (".key", ".csr", ".pem", ".ext"))
        openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                "-keyout", key, "-out", csr, "-subj", "/CN=nobody.example")
        more.write_text(f"subjectAltName={','.join(names)}\nextendedKeyUsage=serverAuth\n")
        openssl("x509", "-req", "-in", csr, "-CA", self.cert, "-CAkey", self.key,
                "-CAcreateserial", "-out", cert, "-extfile", more, "-days", days)
        return cert, key


def server_context(pair):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.load_cert_chain(*pair)
    return context


class Peer:
    """A connection of the server, as what it does has it."""

    def __init__(self, server, connection):
        self.server, self.connection = server, connection
        self.questions = 0
        self.octets = b""

    def question(self):
        """The next message, or None at the end."""
        while len(self.octets) < 2 or \
                len(self.octets) < 2 + struct.unpack_from("!H", self.octets)[0]:
            more = self.connection.recv(65536)
            if not more:
                return None
            self.octets += more
        length = struct.unpack_from("!H", self.octets)[0]
        message, self.octets = self.octets[2:2 + length], self.octets[2 + length:]
        self.questions += 1
        with self.server.lock:
            self.server.seen.append(message)
        return message

    def send(self, octets):
        self.connection.sendall(octets)

    def reset(self):
        """RST instead of an orderly end."""
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.close()


def answering(answer):
    """What a sound server does: each question gets answer(octets)."""
    def behave(peer):
        while (message := peer.question()) is not None:
            peer.send(framed(answer(message)))
    return behave


class TlsServer(Closing):
    """DNS over TLS; "behave" gets each connection and may be replaced."""

    def __init__(self, space, address, pair, behave, port=TLS_PORT):
        self.space, self.behave = space, behave
        self.context = server_context(pair)
        self.seen, self.connections, self.resumed, self.lock = [], 0, 0, threading.Lock()
        self.open = set()
        self.listener = space.socket(family_of(address), socket.SOCK_STREAM)
        self.listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        with space.inside():
            self.listener.bind((address, port))
        self.listener.listen(64)
        self.thread = threading.Thread(target=self._serve, daemon=True)
        self.thread.start()

    def _serve(self):
        while True:
            try:
                raw = self.listener.accept()[0]
            except OSError:
                return
            threading.Thread(target=self._take, args=(raw,), daemon=True).start()

    def _take(self, raw):
        with self.lock:
            self.open.add(raw)
        connection = raw
        try:
            raw.settimeout(30)
            connection = self.context.wrap_socket(raw, server_side=True)
            with self.lock:
                self.connections += 1
                self.resumed += connection.session_reused
                self.open.discard(raw)
                self.open.add(connection)
            self.behave(Peer(self, connection))
        except (OSError, ValueError):
            pass
        finally:
            with contextlib.suppress(OSError):
                connection.close()
            with self.lock:
                self.open.discard(connection)

    def drop_all(self):
        """Every connection ends at once."""
        with self.lock:
            for connection in list(self.open):
                with contextlib.suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)

    def close(self):
        with contextlib.suppress(OSError):
            self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        self.drop_all()
        self.thread.join(5)


class TlsClient:
    """Asks a server directly, many questions at a time over one connection."""

    def __init__(self, space, address, authority, name, port=TLS_PORT):
        context = ssl.create_default_context(cafile=str(authority.cert))
        with space.inside():
            raw = socket.create_connection((address, port), 10)
        self.connection = context.wrap_socket(raw, server_hostname=name)

    def ask(self, messages, window=100):
        """{id: answer}"""
        answers, left, under_way, octets = {}, list(messages), 0, b""
        while left or under_way:
            while left and under_way < window:
                self.connection.sendall(framed(left.pop(0)))
                under_way += 1
            octets += self.connection.recv(65536)
            while len(octets) >= 2 and len(octets) >= 2 + struct.unpack_from("!H", octets)[0]:
                length = struct.unpack_from("!H", octets)[0]
                message, octets = octets[2:2 + length], octets[2 + length:]
                answers[struct.unpack_from("!H", message)[0]] = message
                under_way -= 1
        return answers

    def close(self):
        self.connection.close()


def tls_process(daemon):
    """The process id of the nfdns-tls that the daemon runs, or None."""
    pid = daemon.process.pid
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
        children = [int(word) for word in file.read().split()]
    for child in children:
        with contextlib.suppress(OSError):
            if os.readlink(f"/proc/{child}/exe").endswith("/nfdns-tls"):
                return child
    return None

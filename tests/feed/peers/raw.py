# SPDX-License-Identifier: GPL-2.0-or-later
"""A server of HTTP/2 made by hand, frame by frame: it can say what no real one
would.  Frames and header blocks are python3-hyperframe's and python3-hpack's.

Each connection that is accepted runs a script of its own in a thread; a script
reads what it waits for, and everything read stays in "frames"."""
import contextlib
import socket
import ssl
import struct
import tempfile
import threading

import hpack
from hyperframe import frame as h2

from . import messages
from netlab.outcome import WAIT_S, Failure, expect

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
END_HEADERS, END_STREAM, ACK = "END_HEADERS", "END_STREAM", "ACK"
HEADERS = [(":status", "200"), ("content-type", "application/grpc")]
RESET = struct.pack("ii", 1, 0)		# SO_LINGER: close() sends RST


class Closed(Exception):
    """The client has ended the connection."""


class Connection:
    def __init__(self, sock, number):
        self.sock, self.number = sock, number
        self.sock.settimeout(WAIT_S)
        self.frames = []			# received
        self.encoder, self.decoder = hpack.Encoder(), hpack.Decoder()
        self.headers = {}			# of the request
        self.stream = 1
        self.body = b""				# of the request: not yet read messages
        self.requests = []			# read messages
        self.replied = False
        self.auto = True			# answers SETTINGS and PING

    # What comes.

    def _exactly(self, count):
        octets = b""
        while len(octets) < count:
            try:
                more = self.sock.recv(count - len(octets))
            except TimeoutError:
                raise Failure(f"connection {self.number}: nothing came for {WAIT_S} s") from None
            except OSError as error:
                raise Closed(str(error)) from None
            if not more:
                raise Closed("end of connection")
            octets += more
        return octets

    def read(self):
        """The next frame."""
        got, length = h2.Frame.parse_frame_header(memoryview(self._exactly(9)))
        got.parse_body(memoryview(self._exactly(length)))
        self.frames.append(got)
        if isinstance(got, (h2.HeadersFrame, h2.ContinuationFrame)):
            self._block = (b"" if isinstance(got, h2.HeadersFrame) else self._block) + got.data
            if END_HEADERS in got.flags:
                self.headers = dict(self.decoder.decode(self._block))
                self.stream = got.stream_id
        elif isinstance(got, h2.DataFrame):
            self.body += got.data
        elif isinstance(got, h2.SettingsFrame) and ACK not in got.flags and self.auto:
            self.send(h2.SettingsFrame(0, flags=[ACK]))
        elif isinstance(got, h2.PingFrame) and ACK not in got.flags and self.auto:
            self.send(h2.PingFrame(0, got.opaque_data, flags=[ACK]))
        return got

    def wait(self, kind, where=lambda frame: True):
        """The next frame of that kind."""
        while True:
            got = self.read()
            if isinstance(got, kind) and where(got):
                return got

    def next_request(self):
        """The next DiscoveryRequest."""
        while len(self.body) < 5 or len(self.body) < 5 + int.from_bytes(self.body[1:5], "big"):
            self.read()
        expect(self.body[0] == 0, "a compressed request")
        length = int.from_bytes(self.body[1:5], "big")
        octets, self.body = self.body[5:5 + length], self.body[5 + length:]
        self.requests.append(messages.request(octets))
        if len(self.requests) == 1:
            fault = messages.first_request_fault(octets)
            expect(not fault, fault)
        return self.requests[-1]

    def wait_ack(self, version):
        """Until it has answered that push; whether it was an ACK."""
        while True:
            got = self.next_request()
            if got.response_nonce == f"nonce-{version}":
                return not got.HasField("error_detail")

    def until_closed(self):
        with contextlib.suppress(Closed):
            while True:
                self.read()

    # What goes.

    def octets(self, octets):
        try:
            self.sock.sendall(octets)
        except OSError as error:
            raise Closed(str(error)) from None

    def send(self, *frames):
        self.octets(b"".join(one.serialize() for one in frames))

    def settings(self, **values):
        numbers = {"table": 1, "push": 2, "streams": 3, "window": 4, "frame": 5, "list": 6}
        self.send(h2.SettingsFrame(0, settings={numbers[k]: v for k, v in values.items()}))

    def preface(self, **settings):
        """The beginning of a connection, from both sides."""
        octets = self._exactly(len(PREFACE))
        expect(octets == PREFACE, octets)
        self.settings(**settings)
        self.wait(h2.SettingsFrame, lambda frame: ACK not in frame.flags)

    def begin(self, **settings):
        """Up to the first request, which is read."""
        self.preface(**settings)
        return self.next_request()

    def block(self, fields, flags=(END_HEADERS,)):
        self.send(h2.HeadersFrame(self.stream, self.encoder.encode(fields), flags=list(flags)))

    def reply(self):
        self.replied = True
        self.block(HEADERS)

    def data(self, octets, flags=(), size=16384):
        for at in range(0, max(len(octets), 1), size):
            last = at + size >= len(octets)
            self.send(h2.DataFrame(self.stream, octets[at:at + size],
                                   flags=list(flags) if last else []))

    def message(self, octets, flag=0):
        """One of gRPC."""
        if not self.replied:
            self.reply()
        self.data(bytes([flag]) + len(octets).to_bytes(4, "big") + octets)

    def table(self, names, version="1"):
        self.message(messages.response(messages.table(names), version))

    def trailers(self, code, text=None, more=()):
        fields = [("grpc-status", str(code))] + ([("grpc-message", text)] if text else [])
        if not self.replied:
            fields = HEADERS + fields
        self.block([*fields, *more], (END_HEADERS, END_STREAM))

    def rst(self, code):
        self.send(h2.RstStreamFrame(self.stream, code))

    def goaway(self, last, code=0, debug=b""):
        self.send(h2.GoAwayFrame(0, last, code, debug))

    def ping(self, octets=b"12345678"):
        """Sends one, and waits for its echo."""
        self.send(h2.PingFrame(0, octets))
        self.wait(h2.PingFrame, lambda f: ACK in f.flags and f.opaque_data == octets)

    def close(self):
        self.sock.close()

    def reset(self):
        """TCP's RST."""
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
        self.sock.close()

    def has(self, names, version="1"):
        """An ordinary beginning: the first request is answered with a table,
        which is acknowledged."""
        self.begin()
        self.table(names, version)
        expect(self.wait_ack(version), "NACK:", self.requests[-1].error_detail)


def serving(names, version="1"):
    """A script: a well-behaved istiod with that table."""
    def script(connection):
        connection.has(names, version)
        connection.until_closed()
    return script


class Server:
    """Runs script after script, one a connection; the last one for all others."""

    def __init__(self, *scripts, space=None, pair=None, host="127.0.0.1", port=0,
                 alpn=("h2",)):
        self.scripts = scripts
        self.connections, self.failures = [], []
        self.changed = threading.Condition()
        self.tls = None
        if pair:
            self.tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            if alpn:
                self.tls.set_alpn_protocols(list(alpn))
            with tempfile.NamedTemporaryFile() as file:
                file.write(pair.certificate + pair.key)
                file.flush()
                self.tls.load_cert_chain(file.name)
        make = space.socket if space else socket.socket
        self.listener = make(socket.AF_INET, socket.SOCK_STREAM)
        self.listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.listener.bind((host, port))
        self.listener.listen(64)
        self.host, self.port = self.listener.getsockname()
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            try:
                sock, _ = self.listener.accept()
            except OSError:
                return
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            with self.changed:
                number = len(self.connections)
                connection = Connection(sock, number)
                connection.outcome = None
                self.connections.append(connection)
                self.changed.notify_all()
            threading.Thread(target=self._run, daemon=True, args=(
                connection, self.scripts[min(number, len(self.scripts) - 1)])).start()

    def _run(self, connection, script):
        outcome = "done"
        try:
            if self.tls:
                connection.sock = self.tls.wrap_socket(connection.sock, server_side=True)
                connection.sock.settimeout(WAIT_S)
            script(connection)
        except Closed as why:
            outcome = f"closed by the client: {why}"
        except Failure as why:
            outcome = f"failed: {why}"
        except Exception as error:	# noqa: BLE001  told by the test
            outcome = f"failed: {type(error).__name__}: {error}"
        finally:
            connection.close()
            with self.changed:
                connection.outcome = outcome
                self.changed.notify_all()

    def wait(self, count, timeout=WAIT_S):
        """Until that many connections were accepted; the last of them."""
        with self.changed:
            if not self.changed.wait_for(lambda: len(self.connections) >= count, timeout):
                raise Failure(f"no connection number {count} after {timeout} s")
            return self.connections[count - 1]

    def wait_end(self, number, timeout=WAIT_S):
        """Until the script of a connection has run to its end."""
        connection = self.wait(number + 1, timeout)
        with self.changed:
            if not self.changed.wait_for(lambda: connection.outcome is not None, timeout):
                raise Failure(f"the script of connection {number} has not ended")
        expect(not connection.outcome.startswith("failed"),
               f"connection {number}: {connection.outcome}")
        return connection

    def end(self):
        # shutdown() wakes accept(), close() alone does not.
        with contextlib.suppress(OSError):
            self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        for connection in self.connections:
            with contextlib.suppress(OSError):
                connection.sock.shutdown(socket.SHUT_RDWR)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end()

# SPDX-License-Identifier: GPL-2.0-or-later
"""DNS over TCP for the tests: connections that ask, a nameserver that answers,
and a look at what the daemon's worker holds."""
import contextlib
import os
import selectors
import socket
import struct
import threading

from netlab import *
import dnswire

SO_BINDTODEVICE, SO_LINGER_NOW = 25, struct.pack("ii", 1, 0)


def framed(octets):
    return struct.pack("!H", len(octets)) + octets


class Connection(Closing):
    """A TCP connection to a nameserver, seen as messages.  space None: in the
    namespace where this thread is."""

    def __init__(self, space, server, timeout=5.0, device=None, port=53, source=None, mark=None):
        with space.inside() if space is not None else contextlib.nullcontext():
            family, kind, _, _, target = socket.getaddrinfo(server, port,
                                                            type=socket.SOCK_STREAM)[0]
            self.socket = socket.socket(family, kind)
            self.socket.settimeout(timeout)
            if device is not None:
                self.socket.setsockopt(socket.SOL_SOCKET, SO_BINDTODEVICE, device.encode())
            if mark is not None:
                self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_MARK, mark)
            try:
                if source is not None:
                    self.socket.bind((source, 0))
                self.socket.connect(target)
            except OSError:
                self.socket.close()
                raise
        self.received = b""

    def send(self, *messages):
        self.socket.sendall(b"".join(map(framed, messages)))

    def octets(self, count):
        while len(self.received) < count:
            more = self.socket.recv(1 << 20)
            if not more:
                raise EOFError("the connection ended")
            self.received += more
        taken, self.received = self.received[:count], self.received[count:]
        return taken

    def receive(self):
        """The next message's octets."""
        (length,) = struct.unpack("!H", self.octets(2))
        return self.octets(length)

    def ask(self, name, kind="A", **options):
        self.send(dnswire.query(name, kind, **options))
        return dnswire.Message(self.receive())

    def is_over(self):
        """Whether the peer has ended it, without waiting."""
        if not select.select([self.socket], [], [], 0)[0]:
            return False
        try:
            return self.socket.recv(1, socket.MSG_PEEK) == b""
        except OSError:
            return True

    def reset(self):
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, SO_LINGER_NOW)
        self.socket.close()

    def close(self):
        self.socket.close()


def ask_tcp(space, server, name, kind="A", device=None, timeout=5.0, **options):
    with Connection(space, server, timeout, device) as connection:
        return connection.ask(name, kind, **options)


class StreamNameserver(Closing):
    """A nameserver over TCP in this process.

    answer(octets) gives the octets of the answer; None: none, the question stays
    open.  "seen" has every message, "connections" how many there were.
    """

    def __init__(self, space, address, answer, limit=None, port=53):
        self.answer, self.limit = answer, limit
        self.seen, self.connections = [], 0
        self.listener = space.socket(family_of(address), socket.SOCK_STREAM)
        self.listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        with space.inside():
            self.listener.bind((address, port))
        self.listener.listen(1024)
        self.selector = selectors.DefaultSelector()
        self.ending, self.end = os.pipe()
        self.selector.register(self.listener, selectors.EVENT_READ)
        self.selector.register(self.ending, selectors.EVENT_READ)
        self.kept = {}
        self.thread = threading.Thread(target=self._serve, daemon=True)
        self.thread.start()

    def _serve(self):
        while True:
            for key, _ in self.selector.select():
                if key.fileobj == self.ending:
                    return
                if key.fileobj is self.listener:
                    with contextlib.suppress(OSError):
                        self._accept()
                else:
                    self._read(key.fileobj)

    def _accept(self):
        connection = self.listener.accept()[0]
        connection.settimeout(20)
        self.connections += 1
        self.kept[connection] = [b"", 0]
        self.selector.register(connection, selectors.EVENT_READ)

    def _drop(self, connection):
        self.selector.unregister(connection)
        connection.close()
        del self.kept[connection]

    def _read(self, connection):
        kept = self.kept[connection]
        try:
            octets = connection.recv(65536)
        except OSError:
            octets = b""
        if not octets:
            self._drop(connection)
            return
        kept[0] += octets
        while len(kept[0]) >= 2 and len(kept[0]) >= 2 + struct.unpack_from("!H", kept[0])[0]:
            length = struct.unpack_from("!H", kept[0])[0]
            message, kept[0] = kept[0][2:2 + length], kept[0][2 + length:]
            self.seen.append(message)
            kept[1] += 1
            try:
                reply = self.answer(message)
            except (ValueError, IndexError, struct.error):
                self._drop(connection)	# no DNS
                return
            if reply is not None:
                with contextlib.suppress(OSError):
                    connection.sendall(framed(reply))
            if self.limit is not None and kept[1] >= self.limit:
                self._drop(connection)	# as dnsmasq does after a hundred
                return

    def close(self):
        os.write(self.end, b"x")
        self.thread.join(10)
        self.selector.close()
        for connection in self.kept:
            connection.close()
        self.listener.close()
        os.close(self.end)
        os.close(self.ending)


def address_answer(address):
    """An answer() that gives this address to every name."""
    def answer(octets):
        return dnswire.reply(octets, [("A", 60, address_octets(address))])
    return answer


def tcp_packets(found, port=53):
    """Of captured packets, those of TCP from or to a port."""
    def is_tcp(packet):
        at = (packet[0] & 15) * 4 if packet[0] >> 4 == 4 else 40
        protocol = packet[9] if packet[0] >> 4 == 4 else packet[6]
        return protocol == 6 and port in struct.unpack_from("!HH", packet, at)
    return [p for p in found if is_tcp(p)]


def resident_kib(pid):
    for line in open(f"/proc/{pid}/status"):
        if line.startswith("VmRSS:"):
            return int(line.split()[1])
    return 0


def open_files(pid):
    return len(os.listdir(f"/proc/{pid}/fd"))


@contextlib.contextmanager
def running_reader(lab, number):
    """Another program that has the queue."""
    with lab.vm.socket(socket.AF_NETLINK, socket.SOCK_RAW, 12) as sock:
        bind = struct.pack("=BxH", 1, 0)
        attribute = struct.pack("=HH", 8, 1) + bind
        body = struct.pack("=BBH", 0, 0, socket.htons(number)) + attribute
        sock.send(struct.pack("=IHHII", 16 + len(body), 3 << 8 | 2, 5, 1, 0) + body)
        expect(struct.unpack_from("=i", sock.recv(4096), 16)[0] == 0, "the queue cannot be bound")
        yield

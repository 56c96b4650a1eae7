#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What users of a VM do to each other's DNS, for test_attacks: each attack, and
the questions over TCP of somebody else.  Stands alone, since whoever runs it may
not get at the rest.

  attackers.py WHAT SERVER SECONDS       prints a JSON object
"""
import contextlib
import json
import socket
import struct
import sys
import threading
import time

MESH, ADDRESS, PUBLIC = "shop.mesh.example", b"\x0a\x01\x02\x03", "public.example"
RESET = struct.pack("ii", 1, 0)
MOST_S = 2.0			# a question that takes longer is lost


def query(name, records=b"", count=0):
    labels = b"".join(bytes([len(p)]) + p.encode() for p in name.split("."))
    return (struct.pack("!6H", 0x4711, 0x0100, 1, 0, 0, count) + labels + b"\0\0\1\0\1" + records)


def framed(octets):
    return struct.pack("!H", len(octets)) + octets


class Attack:
    def __init__(self, server, seconds):
        self.server, self.until = server, time.monotonic() + seconds
        self.count = 0

    def goes_on(self):
        return time.monotonic() < self.until

    def connect(self):
        sock = socket.socket()
        sock.settimeout(MOST_S)
        try:
            sock.connect((self.server, 53))
        except OSError:
            sock.close()
            raise
        return sock


class Pipelining(Attack):
    """More questions at once than a connection may have, one that is malformed or
    passes behind them, and a reset while they are answered."""

    def run(self):
        mesh = framed(query(MESH))
        ends = (framed(b"\xff" * 13), framed(query(PUBLIC)), b"")
        while self.goes_on():
            with contextlib.suppress(OSError):
                sock = self.connect()
                sock.settimeout(0.05)
                with contextlib.suppress(TimeoutError):
                    sock.sendall(mesh * (1100 + self.count % 3 * 500) + ends[self.count % 3])
                wait = time.monotonic() + self.count % 10 / 10000
                while time.monotonic() < wait:
                    pass
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
                sock.close()
                self.count += 1


class Connecting(Attack):
    """Connections that are closed at once, whole ones and such as are not waited
    for, to many nameservers, since the ports to one would run out."""
    RATE = 3500

    def run(self):
        network = self.server.rpartition(".")[0]
        begun = time.monotonic()
        while self.goes_on():
            if self.count > self.RATE * (time.monotonic() - begun):
                time.sleep(0.001)
                continue
            sock = socket.socket()
            # Above the user's rate nobody is there to answer.
            if self.count % 32:
                sock.setblocking(False)
            else:
                sock.settimeout(0.002)
            with contextlib.suppress(OSError):
                sock.connect((f"{network}.{self.count % 200 + 2}", 53))
            sock.close()
            self.count += 1


class Flooding(Attack):
    """Messages of 3 KB that are as hard to read as can be, on many sockets, since
    what waits in the queue counts against each one's buffer."""
    SOCKETS, RATE = 400, 20000

    def message(self):
        long = b"\1x" * 117 + b"\xc0\x0c"
        fixed = struct.pack("!HHIH", 1, 1, 0, 0)
        at = struct.pack("!H", 0xc000 | len(query(MESH)))
        return query(MESH, long + fixed + (at + fixed) * 255, 256)

    def run(self):
        socks = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(self.SOCKETS)]
        for sock in socks:
            sock.connect((self.server, 53))
            sock.setblocking(False)
        message, begun = self.message(), time.monotonic()
        while self.goes_on():
            due = self.RATE * (time.monotonic() - begun)
            while self.count < due and self.goes_on():
                sent = self.count
                for sock in socks:
                    with contextlib.suppress(OSError):
                        for _ in range(10):
                            sock.send(message)
                            self.count += 1
                    if self.count >= due:
                        break
                if self.count == sent:
                    break			# no socket has room
            time.sleep(0.001)


class Asking(Attack):
    """Not an attack: what somebody else asks over TCP.  One thread has a connection
    for each question, another one for all of them."""
    PACE_S = 0.01

    def __init__(self, server, seconds):
        super().__init__(server, seconds)
        self.asked, self.lost, self.broken, self.longest, self.why = 0, 0, 0, 0.0, {}

    def exchange(self, sock):
        sock.sendall(framed(query(MESH)))
        received = b""
        while len(received) < 2 or len(received) < 2 + struct.unpack_from("!H", received)[0]:
            more = sock.recv(65536)
            if not more:
                raise ConnectionResetError("closed")
            received += more
        if not received.endswith(ADDRESS):
            raise ValueError("wrong answer")

    def question(self, sock):
        """Asks; the connection, if it may be asked on again."""
        began, kept = time.monotonic(), sock is not None
        try:
            try:
                sock = sock or self.connect()
                self.exchange(sock)
            except ConnectionError:
                # One that was idle may be closed at any time (RFC 7766 section
                # 6.2.4); for a fresh one it is counted.  Both ask again, as libc does.
                self.broken += not kept
                if sock is not None:
                    sock.close()
                sock = self.connect()
                self.exchange(sock)
        except (OSError, ValueError) as error:
            self.lost += 1
            self.why[str(error)] = self.why.get(str(error), 0) + 1
            if sock is not None:
                sock.close()
            sock = None
        self.asked += 1
        self.longest = max(self.longest, time.monotonic() - began)
        return sock

    def one_way(self, keep):
        sock, due = None, time.monotonic()
        while self.goes_on():
            sock = self.question(sock)
            if sock is not None and not keep:
                sock.close()
                sock = None
            due = max(due + self.PACE_S, time.monotonic() - 1)
            time.sleep(max(0.0, due - time.monotonic()))

    def run(self):
        threads = [threading.Thread(target=self.one_way, args=(keep,)) for keep in (False, True)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()


if __name__ == "__main__":
    attack = {c.__name__.lower(): c for c in (Pipelining, Connecting, Flooding,
                                              Asking)}[sys.argv[1]](sys.argv[2], float(sys.argv[3]))
    attack.run()
    print(json.dumps({name: getattr(attack, name)
                      for name in ("count", "asked", "lost", "broken", "longest", "why")
                      if hasattr(attack, name)}))

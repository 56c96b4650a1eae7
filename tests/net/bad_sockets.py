# SPDX-License-Identifier: GPL-2.0-or-later
"""An nfdns-sockets that was taken over, or is faulty: it does what a file says, its mood,
which a test changes.  It serves the listener at descriptor 3, as nfdns-sockets does, and
needs nothing of the tests, since its user need not get at them.

  bad_sockets.py DIRECTORY	in which are "mood", and "counts" of requests by mood"""
import array
import json
import os
import pathlib
import select
import socket
import struct
import sys

REQUEST = struct.Struct("!BBBBHHI16s16sI")
DATAGRAM, CONNECTION, LISTENER, RESTRICT, ASKING, UPSTREAM = range(6)
FAMILIES = {4: socket.AF_INET, 6: socket.AF_INET6}
LIE = bytes([6, 6, 6, 6])
HOUR, RESET = struct.pack("ii", 1, 3600), struct.pack("ii", 1, 0)
COPIES = 200			# of sockets, that are kept
SO_TIMESTAMPING, OF_SENT = 37, 1 << 1 | 1 << 4 | 1 << 11


class Wanted:
    """A request."""

    def __init__(self, octets):
        (_, self.kind, family, flags, self.port, _, scope, address, source,
         self.device) = REQUEST.unpack(octets)
        self.family = FAMILIES.get(family)
        length = 4 if family == 4 else 16
        self.host = socket.inet_ntop(self.family, address[:length]) if self.family else ""
        self.scope, self.has_source = scope, flags & 1 != 0

    def stream(self):
        return self.kind in (CONNECTION, LISTENER)

    def address(self):
        return (self.host, self.port) if self.family == socket.AF_INET else (
            self.host, self.port, 0, self.scope)

    def open(self):
        """As nfdns-sockets does."""
        made = socket.socket(self.family, socket.SOCK_STREAM if self.stream() else socket.SOCK_DGRAM)
        made.setblocking(False)
        if self.kind == LISTENER:
            made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if self.family == socket.AF_INET6:
                made.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            made.bind(self.address())
        elif self.kind != DATAGRAM:
            made.connect_ex(self.address())
        return made


# What is given in place of a socket: each makes a list of descriptors.

def detached(*sockets):
    return [s.detach() for s in sockets]


def pipe(_, __):
    end, other = os.pipe()
    os.write(other, b"octets")
    os.close(other)
    return [end]


def unix_pair(kind):
    def make(_, __):
        one, other = socket.socketpair(socket.AF_UNIX, kind)
        other.send(b"octets")
        other.close()
        return detached(one)
    return make


def some_file(path):
    return lambda _, __: [os.open(path, os.O_RDONLY)]


def unconnected(_, wanted):
    return detached(socket.socket(wanted.family, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK))


def elsewhere(stand, wanted):
    """Connected to one that lies."""
    if wanted.stream():
        made = socket.create_connection(stand.mute.getsockname())
    else:
        made = socket.socket(socket.AF_INET, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK)
        made.connect(stand.liar.getsockname())
    return detached(made)


def lingering(stand, _):
    """close(2) of it waits for an hour: its peer reads nothing."""
    made = socket.create_connection(stand.mute.getsockname())
    made.setblocking(False)
    try:
        while True:
            made.send(bytes(1 << 16))
    except BlockingIOError:
        pass
    made.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, HOUR)
    return detached(made)


def listening(_, __):
    made = socket.create_server(("127.0.0.1", 0))
    made.setblocking(False)
    return detached(made)


def of_other_kind(_, wanted):
    wanted.kind = CONNECTION if wanted.kind == ASKING else ASKING
    return detached(wanted.open())


def blocking(_, wanted):
    made = wanted.open()
    made.setblocking(True)
    return detached(made)


def error_queue(_, wanted):
    """Each datagram that is sent leaves a note, for which epoll wakes without end."""
    made = wanted.open()
    made.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPING, OF_SENT)
    return detached(made)


GIFTS = {
    "pipe": pipe,
    "memfd": lambda _, __: [os.memfd_create("m")],
    "null": some_file("/dev/null"),
    "directory": some_file("/"),
    "unix-datagram": unix_pair(socket.SOCK_DGRAM),
    "unix-stream": unix_pair(socket.SOCK_STREAM),
    "epoll": lambda _, __: [os.dup(select.epoll().fileno())],
    "itself": lambda stand, _: [os.dup(stand.now.fileno())],
    "unconnected": unconnected,
    "elsewhere": elsewhere,
    "lingering": lingering,
    "listening": listening,
    "other-kind": of_other_kind,
    "blocking": blocking,
    "error-queue": error_queue,
}


# What is said: each sends what it likes; false: the channel is over.

def answer(channel, error=0, fds=(), octets=None):
    octets = octets if octets is not None else struct.pack("!BxxxHH", 2, 0, error)
    rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))] if fds else []
    channel.sendmsg([octets], rights, socket.MSG_DONTWAIT)


def good(stand, channel, wanted):
    with wanted.open() as made:
        answer(channel, 0, [made.fileno()])


def several(count):
    def say(stand, channel, wanted):
        made = [wanted.open() for _ in range(count)]
        answer(channel, 0, [m.fileno() for m in made])
        for m in made:
            m.close()
    return say


def nothing(stand, channel, wanted):
    answer(channel)


def unasked(stand, channel, wanted):
    for _ in range(3):
        good(stand, channel, wanted)


def twice(stand, channel, wanted):
    with wanted.open() as made:
        for _ in range(2):
            answer(channel, 0, [made.fileno()])


def octets(text):
    def say(stand, channel, wanted):
        with wanted.open() as made:
            answer(channel, 0, [made.fileno()], text)
    return say


def close(stand, channel, wanted):
    return False


def die(stand, channel, wanted):
    os._exit(1)


def silent(stand, channel, wanted):
    """Until its mood is another: then it leaves the channel, on which answers are owed."""
    stand.owing.add(channel)


def refuse(error):
    return lambda stand, channel, wanted: answer(channel, error)


def kept(stand, channel, wanted):
    """It keeps a copy, which the worker's close(2) does not end."""
    made = wanted.open()
    answer(channel, 0, [made.fileno()])
    stand.copies.append(made)
    if len(stand.copies) > COPIES:
        stand.copies.pop(0).close()


SAYINGS = {
    "good": good, "three": several(3), "hundred": several(100), "nothing": nothing,
    "unasked": unasked, "twice": twice, "half": octets(b"\2\0\0\0"), "empty": octets(b""),
    "long": octets(bytes(100)), "other-version": octets(b"\1" + bytes(7)),
    "failed-with-socket": octets(struct.pack("!BxxxHH", 2, 0, 24)),
    "large-error": octets(b"\2\0\0\0\xff\xff\xff\xff"),
    "close": close, "die": die, "silent": silent, "refuse": refuse(24), "unreachable": refuse(101),
    "refuse-zero": refuse(0), "kept": kept,
}


class Stand:
    def __init__(self, directory):
        self.directory = directory
        self.listener = socket.socket(fileno=3)
        self.listener.setblocking(False)
        self.channels, self.copies = [], []
        told = directory / "counts"	# by one before this
        self.counts = {(m, k): n for m, k, n in json.loads(told.read_text())} if told.exists() else {}
        self.restricted, self.owing = set(), set()
        self.liar = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.liar.bind(("127.0.0.1", 0))
        self.mute = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.accepted = []

    def run(self):
        while True:
            sources = [self.listener, self.liar, self.mute, *self.channels]
            for ready in select.select(sources, [], [])[0]:
                self.handle(ready)

    def handle(self, ready):
        if ready is self.listener:
            channel, _ = ready.accept()
            channel.setblocking(False)
            self.channels.append(channel)
        elif ready is self.liar:
            self.lie()
        elif ready is self.mute:
            self.accepted.append(ready.accept()[0])
            del self.accepted[:-40]
        elif not self.serve(ready):
            self.channels.remove(ready)
            self.restricted.discard(ready)
            self.owing.discard(ready)
            ready.close()

    def lie(self):
        octets, source = self.liar.recvfrom(65535)
        at = 12
        while octets[at]:
            at += octets[at] + 1
        self.liar.sendto(octets[:2] + b"\x81\x80\0\1\0\1\0\0\0\0" + octets[12:at + 5] +
                         b"\xc0\x0c\0\1\0\1\0\0\0\x3c\0\4" + LIE, source)

    def serve(self, channel):
        try:
            octets = channel.recv(64)
            if not octets:
                return False
            wanted = Wanted(octets)
            if wanted.kind in (RESTRICT, UPSTREAM):
                self.restricted.add(channel)
                return True
            return self.give(channel, wanted) is not False
        except OSError:			# who asked has left
            return False

    def give(self, channel, wanted):
        mood = (self.directory / "mood").read_text() if channel in self.restricted else "good"
        kind = "udp" if wanted.kind == ASKING else "relay" if wanted.has_source else "tcp"
        self.counts[mood, kind] = self.counts.get((mood, kind), 0) + 1
        told = self.directory / "counts.new"
        told.write_text(json.dumps([[*key, n] for key, n in self.counts.items()]))
        told.rename(self.directory / "counts")
        self.now = channel
        if channel in self.owing and mood != "silent":
            return False
        if mood in SAYINGS:
            return SAYINGS[mood](self, channel, wanted)
        fds = GIFTS[mood](self, wanted)
        try:
            answer(channel, 0, fds)
        except OSError:
            if mood == "lingering":	# or we wait for an hour
                socket.socket(fileno=os.dup(fds[0])).setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
            raise
        finally:
            for fd in fds:
                os.close(fd)
        return True


if __name__ == "__main__":
    Stand(pathlib.Path(sys.argv[1])).run()

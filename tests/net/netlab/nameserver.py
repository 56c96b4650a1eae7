# SPDX-License-Identifier: GPL-2.0-or-later
"""Questions to nameservers, and nameservers that are this process."""
import contextlib
import socket
import threading
import time

import dnswire

from .outcome import WAIT_S, Failure


def family_of(address):
    return socket.AF_INET6 if ":" in address else socket.AF_INET


def ask(space, server, name, kind="A", timeout=3.0, **options):
    """One question over UDP, by a socket that is not connected: (answer, source)."""
    query = dnswire.query(name, kind, **options)
    with space.socket(family_of(server), socket.SOCK_DGRAM) as sock:
        sock.settimeout(timeout)
        with space.inside():
            target = socket.getaddrinfo(server, 53, type=socket.SOCK_DGRAM)[0][4]
        sock.sendto(query, target)
        octets, source = sock.recvfrom(65535)
    return dnswire.Message(octets), source


def wait_for_answer(space, server, process=None):
    """Until something answers there; the socket's own time-out is the pace."""
    deadline = time.monotonic() + WAIT_S
    while time.monotonic() < deadline:
        if process is not None and process.poll() is not None:
            error = process.stderr.read().decode(errors="replace") if process.stderr else ""
            raise Failure(f"nameserver ended with {process.returncode}: {error.strip()}")
        try:
            ask(space, server, "ready.invalid", timeout=0.1)
            return
        except (TimeoutError, OSError):
            pass
    raise Failure(f"nothing answers at {server} after {WAIT_S} s")


class Nameserver:
    """A nameserver in this process: answer(octets, source) gives octets or None."""

    def __init__(self, space, address, answer, port=53):
        self.answer = answer
        self.seen = []
        self.socket = space.socket(family_of(address), socket.SOCK_DGRAM)
        self.socket.setsockopt(socket.SOL_SOCKET, 33, 8 << 20)
        self.socket.bind((address, port))
        self.thread = threading.Thread(target=self._serve, daemon=True)
        self.thread.start()

    def _serve(self):
        while True:
            try:
                octets, source = self.socket.recvfrom(65535)
            except OSError:
                return
            if source is None:
                return
            self.seen.append(octets)
            reply = self.answer(octets, source)
            try:
                if reply is not None:
                    self.socket.sendto(reply, source)
            except OSError:		# it was closed, or the asker is unreachable
                if self.socket.fileno() < 0:
                    return

    def close(self):
        with contextlib.suppress(OSError):
            self.socket.shutdown(socket.SHUT_RDWR)
        self.socket.close()
        self.thread.join(5)

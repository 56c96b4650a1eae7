# SPDX-License-Identifier: GPL-2.0-or-later
"""A service manager that keeps a daemon's sockets: it speaks sd_notify(3)'s FDSTORE
and sd_listen_fds(3) as systemd does."""
import array
import fcntl
import os
import signal
import socket
import sys
import time

from .daemon import HAND_OVER
from .namespace import stop
from .outcome import WAIT_S, Closing, expect


class Manager(Closing):
    """Runs a Daemon as a unit with FileDescriptorStoreMax=."""

    def __init__(self, daemon):
        self.daemon = daemon
        self.stored = []		# (name, fd), high numbers
        path = daemon.directory / "manager"
        self.path = str(path)
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(self.path)
        path.chmod(0o666)

    def start(self):
        names = ":".join(name for name, _ in self.stored)
        fds = [fd for _, fd in self.stored]
        with open(self.daemon.log, "ab") as log:
            self.process = self.daemon.space.popen(
                [sys.executable, "-c", HAND_OVER, len(fds), *fds, self.daemon.programs / "nfdnsd",
                 "-c", self.daemon.config], stdout=log, stderr=log, pass_fds=fds,
                env=dict(os.environ, NOTIFY_SOCKET=self.path, NAMES_HERE=names),
                start_new_session=True)
        self.daemon.process = self.process
        self.daemon.lab.processes.append(self.process)
        self.listen("READY=1")

    def listen(self, wanted=None):
        """Takes messages until one has the line; without, those that are there."""
        deadline = time.monotonic() + WAIT_S
        while True:
            self.socket.settimeout(0.1)
            try:
                text, control, _, _ = self.socket.recvmsg(4096, socket.CMSG_SPACE(4))
            except TimeoutError:
                if wanted is None:
                    return
                expect(self.process.poll() is None,
                       f"nfdnsd ended with {self.process.returncode}: {self.daemon.said()}")
                expect(time.monotonic() < deadline, f"no {wanted}: {self.daemon.said()}")
                continue
            lines = text.decode().splitlines()
            self.take(lines, control)
            if wanted in lines:
                return

    def take(self, lines, control):
        name = next((l[7:] for l in lines if l.startswith("FDNAME=")), None)
        for _, _, data in control:
            for fd in array.array("i", data):
                expect("FDSTORE=1" in lines and "FDPOLL=0" in lines, "an fd with", lines)
                high = fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 200)
                os.close(fd)
                # One that is there already is not stored twice (same_fd()).
                if any(os.path.sameopenfile(high, other) for _, other in self.stored):
                    os.close(high)
                else:
                    self.stored.append((name, high))
        if "FDSTOREREMOVE=1" in lines:
            for item in [i for i in self.stored if i[0] == name]:
                os.close(item[1])
                self.stored.remove(item)

    def restart(self, how):
        self.process.send_signal(how)
        status = self.process.wait(20)
        expect(status == (6 if how == signal.SIGQUIT else -how), "exit status", status)
        self.listen()
        self.start()

    def close(self):
        if self.process.poll() is None:
            stop(self.process)
            self.listen()
        for _, fd in self.stored:
            os.close(fd)
        self.socket.close()

# SPDX-License-Identifier: GPL-2.0-or-later
"""nfdns-sockets, which opens sockets for nfdnsd; this process starts it when
somebody connects, as systemd does."""
import os
import pwd
import select
import shutil
import signal
import socket
import sys
import threading

from shared import BUILD

from .daemon import HAND_OVER, nobody


def as_user(name, *more):
    """Words that run a command as a user, without privilege but for "more"."""
    entry = pwd.getpwnam(name)
    return ("setpriv", "--reuid", str(entry.pw_uid), "--regid", str(entry.pw_gid),
            "--clear-groups", "--no-new-privs", "--pdeathsig", "KILL", *more)


class Sockets:
    """The socket unit and its service.  The program is copied: its user need not
    get at ours."""

    def __init__(self, lab, user=None, directory=BUILD):
        self.lab, self.user = lab, user or nobody()
        self.path = lab.directory / "sockets"
        self.command = self.prepare(directory)
        self.listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.listener.bind(str(self.path))
        self.path.chmod(0o666)
        self.listener.listen(16)
        self.process, self.starts = None, 0
        self.wake, self.end = os.pipe()
        self.thread = threading.Thread(target=self._serve, daemon=True)
        self.thread.start()

    def prepare(self, directory):
        """Words that run it."""
        return [shutil.copy(directory / "nfdns-sockets", self.lab.directory)]

    def _serve(self):
        while True:
            ready = select.select([self.listener, self.wake], [], [])[0]
            if self.wake in ready:
                return
            self._run()

    def _run(self):
        with open(self.lab.directory / "sockets.log", "ab") as log:
            self.process = self.lab.vm.popen(
                [sys.executable, "-c", HAND_OVER, 1, self.listener.fileno(),
                 *as_user(self.user), *self.command],
                pass_fds=[self.listener.fileno()], stdout=log, stderr=log,
                env=dict(os.environ, NAMES_HERE="nfdns-sockets.socket"))
        self.starts += 1
        self.process.wait()

    def said(self):
        return (self.lab.directory / "sockets.log").read_text()

    def kill(self, how=signal.SIGKILL):
        self.process.send_signal(how)

    def close(self):
        os.write(self.end, b"x")
        if self.process is not None and self.process.poll() is None:
            self.process.kill()
        self.thread.join(10)
        self.listener.close()
        os.close(self.end)
        os.close(self.wake)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

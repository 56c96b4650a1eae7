# SPDX-License-Identifier: GPL-2.0-or-later
"""nghttpx between the feed and a control plane."""
import contextlib
import random
import shutil
import signal
import socket
import subprocess
import tempfile

from netlab.namespace import stop
from netlab.outcome import Failure, Skip, wait_until
from .peer import popen


def free_port(host="127.0.0.1"):
    """One that the kernel gives nobody (ip_local_port_range), so a server can come back to it."""
    while True:
        port = random.randrange(20000, 32000)
        with contextlib.suppress(OSError), socket.socket() as sock:
            sock.bind((host, port))
            return port


class Nghttpx:
    """HTTP/2 in clear text on both sides."""

    def __init__(self, backend_port, port=None):
        if shutil.which("nghttpx") is None:
            raise Skip("nghttpx is not installed")
        self.host, self.port = "127.0.0.1", port or free_port()
        self.errors = tempfile.TemporaryFile()
        self.process = popen(
            ["nghttpx", "--conf=/dev/null", "--workers=1", "--no-ocsp",
             f"--frontend={self.host},{self.port};no-tls",
             f"--backend=127.0.0.1,{backend_port};;proto=h2", "--accesslog-file=/dev/null",
             "--errorlog-file=/dev/stderr", "--stream-read-timeout=0",
             "--stream-write-timeout=0", "--backend-read-timeout=1h"],
            stdin=subprocess.DEVNULL, stdout=self.errors, stderr=self.errors)
        wait_until(self._listens, "nghttpx listens")

    def _listens(self):
        if self.process.poll() is not None:
            self.errors.seek(0)
            raise Failure(f"nghttpx ended: {self.errors.read().decode(errors='replace')}")
        with socket.socket() as sock:
            return sock.connect_ex((self.host, self.port)) == 0

    def end(self, how=signal.SIGTERM):
        """SIGQUIT: it says GOAWAY and lets streams come to their end."""
        stop(self.process, how)

    def retire(self):
        """SIGQUIT, without waiting for its end."""
        self.process.send_signal(signal.SIGQUIT)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end()

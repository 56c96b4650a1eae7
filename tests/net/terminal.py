# SPDX-License-Identifier: GPL-2.0-or-later
"""A terminal for tests: a program runs in it, and what it shows is read as rows
of characters."""
import fcntl
import os
import pty
import select
import struct
import subprocess
import termios
import time

import pyte

WAIT_S = 60
TYPE = "linux"      # what pyte emulates


class Terminal:
    """popen: starts the program, as subprocess.Popen."""

    def __init__(self, command, rows=24, columns=80, popen=subprocess.Popen, **environment):
        self.master, self.slave = pty.openpty()
        self.screen = pyte.Screen(columns, rows)
        self.stream = pyte.ByteStream(self.screen)
        self.octets = b""
        self.resize(rows, columns)
        self.before = termios.tcgetattr(self.slave)
        self.process = popen(
            # Its controlling terminal: for signals of keys and of the size.
            ["setsid", "--ctty", "env", f"TERM={TYPE}", "LC_ALL=C.UTF-8", "TZ=UTC",
             *[f"{key}={value}" for key, value in environment.items()], *command],
            stdin=self.slave, stdout=self.slave, stderr=self.slave)

    def resize(self, rows, columns):
        fcntl.ioctl(self.slave, termios.TIOCSWINSZ, struct.pack("4H", rows, columns, 0, 0))
        self.screen.resize(rows, columns)

    def type(self, text):
        os.write(self.master, text.encode())

    def rows(self):
        """What is shown, without the rows and spaces at the end."""
        rows = [row.rstrip() for row in self.screen.display]
        while rows and not rows[-1]:
            rows.pop()
        return rows

    def has_colours(self):
        return any(cell.fg != "default" or cell.bg != "default"
                   for line in self.screen.buffer.values() for cell in line.values())

    def _read(self, wait):
        if not select.select([self.master], [], [], wait)[0]:
            return False
        octets = os.read(self.master, 65536)
        self.octets += octets
        self.stream.feed(octets)
        return True

    def wait(self, condition):
        """Until condition(rows) is true; the rows, or None when the time is over."""
        end = time.monotonic() + WAIT_S
        while time.monotonic() < end:
            if condition(self.rows()):
                return self.rows()
            if not self._read(0.2) and self.process.poll() is not None and not self._read(0):
                break
        return self.rows() if condition(self.rows()) else None

    def end(self):
        """The exit code, when the program has ended and all of it is read."""
        end = time.monotonic() + WAIT_S
        while self.process.poll() is None and time.monotonic() < end:
            self._read(0.1)
        while self._read(0):
            pass
        return self.process.poll()

    def is_restored(self):
        return termios.tcgetattr(self.slave) == self.before and not self.screen.cursor.hidden

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        os.close(self.master)
        os.close(self.slave)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

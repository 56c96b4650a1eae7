# SPDX-License-Identifier: GPL-2.0-or-later
"""The Kubernetes feed by itself, as a test sees it: build/tools/kubefeed."""
import pathlib
import re
import subprocess
import threading
import time

import shared
from netlab.outcome import WAIT_S, Failure, expect


class Feed:
    """wrapper: a command that runs the program it is given."""

    def __init__(self, kubeconfig, *options, table=None, wrapper=()):
        self.table = table or pathlib.Path(kubeconfig).with_name("table.json")
        self.table.unlink(missing_ok=True)
        self.lines = []
        self.changed = threading.Condition()
        self.process = subprocess.Popen(
            [*map(str, (*wrapper, shared.BUILD / "tools/kubefeed", kubeconfig, self.table,
                        *options))], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True)
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self):
        for line in self.process.stdout:
            with self.changed:
                self.lines.append(line.rstrip("\n"))
                self.changed.notify_all()
        with self.changed:
            self.lines.append("end")
            self.changed.notify_all()

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        if kind is not None:
            print("  kubefeed said:")
            for line in self.lines[-25:]:
                print("    " + line)
        self.process.stdin.close()
        try:
            ended = self.process.wait(5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            ended = "not at all"
        self.reader.join()
        self.process.stdout.close()
        if kind is None:
            expect(ended == 0, f"kubefeed ended with {ended}: {self.lines[-5:]}")

    def wait(self, pattern, start=0, timeout=WAIT_S):
        """The number of the first line from "start" on that matches."""
        at, until = start, time.monotonic() + timeout
        with self.changed:
            while True:
                for number in range(at, len(self.lines)):
                    if re.search(pattern, self.lines[number]):
                        return number
                at = len(self.lines)
                left = until - time.monotonic()
                if "end" in self.lines[-1:] or left <= 0 or not self.changed.wait(left):
                    raise Failure(f"no line /{pattern}/ from {start} on in {self.lines[start:]}")

    def here(self):
        """Lines from now on."""
        return len(self.lines)

    def count(self, pattern, start=0):
        return sum(re.search(pattern, line) is not None for line in self.lines[start:])

    def names(self, namespace="default"):
        """What the program itself makes of the table, {name: "type rdata ..."}."""
        return names_of(self.table, namespace)

    def wait_names(self, condition, what, start=0):
        """Waits for tables until one is as wanted."""
        while True:
            start = self.wait(r"^offer \d+ applied", start) + 1
            names = self.names()
            if condition(names):
                return names
            if self.count("^end$"):
                raise Failure(f"{what}: {sorted(names)}")

    def resident_kb(self):
        text = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmHWM:\s+(\d+)", text)[1])


def names_of(table, namespace="default"):
    done = shared.table_list("kubernetes", table, namespace)
    expect(done.returncode == 0, done.stderr)
    names = {}
    for line in done.stdout.splitlines():
        parts = line.split()
        if parts and not line.startswith(";"):
            names.setdefault(parts[0].rstrip("."), set()).add(" ".join(parts[1:]))
    return names

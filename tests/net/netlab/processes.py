# SPDX-License-Identifier: GPL-2.0-or-later
"""What /proc says of nfdnsd's processes, and how to get hold of a compiler."""
import contextlib
import os
import pathlib
import re
import signal

from .outcome import wait_until


def children(pid):
    with contextlib.suppress(OSError):
        text = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text()
        return {int(word) for word in text.split()}
    return set()


def field(pid, name):
    """A line of /proc/PID/status."""
    text = pathlib.Path(f"/proc/{pid}/status").read_text()
    return re.search(rf"^{name}:\s*(.*)$", text, re.M).group(1)


def cpu_s(pid):
    """Seconds of CPU that a process has used, the kernel's on its behalf included."""
    words = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def unhindered(pid):
    """Others do not keep this process waiting for a CPU: for tests of what the kernel
    drops from queues that are not read at once.  Where that is not allowed it stays
    as it is."""
    with contextlib.suppress(PermissionError):
        for task in os.listdir(f"/proc/{pid}/task"):
            # Its children are as all others are.
            os.sched_setscheduler(int(task), os.SCHED_FIFO | os.SCHED_RESET_ON_FORK,
                                  os.sched_param(1))


def big_table(path, lines=1_000_000):
    """Puts a table in place that leaves time to get at its compiler."""
    fresh = path.with_suffix(".new")
    with open(fresh, "w", encoding="ascii") as out:
        for n in range(lines):
            out.write(f"{11 + (n >> 16)}.{n >> 8 & 255}.{n & 255}.1 n{n}.mesh.example\n")
    os.replace(fresh, path)


def compiler_of(daemon):
    """The compiler of the reload that this begins, stopped once it is confined."""
    supervisor = daemon.process.pid
    before = children(supervisor)
    os.kill(supervisor, signal.SIGHUP)

    def confined():
        for pid in children(supervisor) - before:
            with contextlib.suppress(OSError, AttributeError):
                if int(field(pid, "Seccomp_filters")) > int(field(supervisor, "Seccomp_filters")):
                    return pid
        return None
    pid = wait_until(confined, "a compiler")
    os.kill(pid, signal.SIGSTOP)
    return pid

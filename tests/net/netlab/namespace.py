# SPDX-License-Identifier: GPL-2.0-or-later
"""Network namespaces without names, and processes in them."""
import contextlib
import ctypes
import os
import pathlib
import re
import signal
import socket
import subprocess

from .outcome import Failure, Skip

CLONE_NEWNS, CLONE_NEWNET = 0x00020000, 0x40000000
MS_BIND, MS_REC, MS_PRIVATE = 4096, 16384, 1 << 18
PR_SET_PDEATHSIG = 1

libc = ctypes.CDLL(None, use_errno=True)


def check(result, what):
    """For libc calls: an OSError when result is negative."""
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")


def setns(fd, kind):
    check(libc.setns(fd, kind), "setns")


def die_with_parent():
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


class Namespace:
    """A network and a mount namespace."""

    def __init__(self, name, directory):
        self.name = name
        self.resolv_conf = pathlib.Path(directory) / f"resolv.conf.{name}"
        self.resolv_conf.write_text("")
        self.holder = self._hold()
        self.net = os.open(f"/proc/{self.holder}/ns/net", os.O_RDONLY | os.O_CLOEXEC)
        self.mnt = os.open(f"/proc/{self.holder}/ns/mnt", os.O_RDONLY | os.O_CLOEXEC)
        self.sysctl("net/ipv6/conf/default/accept_dad", 0)
        self.sysctl("net/ipv6/conf/all/disable_ipv6", 0)
        self.ip("link", "set", "lo", "up")

    def _hold(self):
        readable, writable = os.pipe()
        pid = os.fork()
        if pid == 0:
            try:
                signal.signal(signal.SIGINT, signal.SIG_IGN)
                signal.signal(signal.SIGTERM, signal.SIG_DFL)
                die_with_parent()
                check(libc.unshare(CLONE_NEWNET | CLONE_NEWNS), "unshare")
                check(libc.mount(b"none", b"/", None, MS_REC | MS_PRIVATE, None), "mount")
                target = os.path.realpath("/etc/resolv.conf").encode()
                check(libc.mount(str(self.resolv_conf).encode(), target, None, MS_BIND,
                                 None), "bind resolv.conf")
                os.write(writable, b"ready")
                while True:
                    signal.pause()
            except OSError as error:
                os.write(writable, str(error).encode()[:200])
            finally:
                os._exit(1)
        os.close(writable)
        said = os.read(readable, 200)
        os.close(readable)
        if said != b"ready":
            os.waitpid(pid, 0)
            raise Skip(f"no network namespace: {said.decode()}")
        return pid

    def close(self):
        if self.holder is None:
            return
        os.kill(self.holder, signal.SIGKILL)
        os.waitpid(self.holder, 0)
        self.holder = None
        os.close(self.net)
        os.close(self.mnt)

    @contextlib.contextmanager
    def inside(self):
        """Sockets and /proc/thread-self/net of this thread are the namespace's."""
        before = os.open("/proc/thread-self/ns/net", os.O_RDONLY | os.O_CLOEXEC)
        try:
            setns(self.net, CLONE_NEWNET)
            yield
        finally:
            setns(before, CLONE_NEWNET)
            os.close(before)

    def socket(self, *arguments):
        with self.inside():
            return socket.socket(*arguments)

    def sysctl(self, name, value):
        with self.inside():
            pathlib.Path("/proc/sys", name).write_text(f"{value}\n")

    def read(self, path):
        """A file as a process in the namespace sees it."""
        return self.run(["cat", path]).stdout

    def popen(self, command, user=None, group=None, cgroup=None, die=True, **options):
        def enter():
            if die:
                die_with_parent()
            if cgroup is not None:
                with open(os.path.join(cgroup, "cgroup.procs"), "w") as file:
                    file.write("0\n")
            setns(self.net, CLONE_NEWNET)
            setns(self.mnt, CLONE_NEWNS)
            os.chdir("/")
            if user is not None or group is not None:
                os.setgroups([])
            if group is not None:
                os.setgid(group)
            if user is not None:
                os.setuid(user)
            if die:
                die_with_parent()	# a change of user forgets it
        options.setdefault("stdin", subprocess.DEVNULL)
        return subprocess.Popen([str(c) for c in command], preexec_fn=enter, **options)

    def run(self, command, timeout=60, ok=None, text=True, **options):
        """Runs it to its end.  ok: the exit status that is wanted, or None."""
        with self.popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                        text=text, **options) as process:
            try:
                out, err = process.communicate(timeout=timeout)
            except subprocess.TimeoutExpired:
                process.kill()
                process.communicate()
                raise Failure(f"{command[0]}: no end after {timeout} s") from None
        if ok is not None and process.returncode != ok:
            raise Failure(f"{' '.join(map(str, command))}: status {process.returncode},"
                          f" {ok} wanted: {err.strip() or out.strip()}")
        return subprocess.CompletedProcess(command, process.returncode, out, err)

    def ip(self, *words):
        return self.run(["ip", *words], ok=0)

    def nft(self, text):
        path = self.resolv_conf.with_suffix(".nft")
        path.write_text(text)
        return self.run(["nft", "-f", path], ok=0)

    def ruleset(self):
        return self.run(["nft", "list", "ruleset"], ok=0).stdout


def require_root():
    if os.geteuid() != 0:
        raise Skip("network namespaces need root")


def stop(process, how=signal.SIGTERM, timeout=10):
    """Ends a process and returns its status."""
    if process.poll() is None:
        process.send_signal(how)
        try:
            process.wait(timeout)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
    for stream in (process.stdout, process.stderr):
        if stream is not None:
            stream.close()
    return process.returncode


def without_counters(ruleset):
    return re.sub(r"packets \d+ bytes \d+", "", ruleset)

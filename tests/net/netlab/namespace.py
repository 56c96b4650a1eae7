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


def own_mounts():
    """What is mounted from here on is seen in this mount namespace only."""
    check(libc.mount(b"none", b"/", None, MS_REC | MS_PRIVATE, None), "mount")


def bind(source, target):
    check(libc.mount(os.fsencode(source), os.fsencode(target), None, MS_BIND | MS_REC, None),
          f"bind {target}")


def copy_of_directory(directory):
    """Has this mount namespace see a directory of its own there, with what there
    was in it, into which a file can be put that the machine does not have."""
    entries = list(os.scandir(directory))
    mode = os.stat(directory).st_mode & 0o7777
    before = os.open(directory, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    check(libc.mount(b"tmpfs", os.fsencode(directory), b"tmpfs", 0, b"mode=%o" % mode),
          f"tmpfs at {directory}")
    for entry in entries:
        here = os.path.join(directory, entry.name)
        there = f"/proc/self/fd/{before}/{entry.name}"
        if entry.is_symlink():
            os.symlink(os.readlink(there), here)
            continue
        if entry.is_dir():
            os.mkdir(here)
        else:
            pathlib.Path(here).touch()
        bind(there, here)
    os.close(before)


def bind_resolv_conf(file):
    """Has this mount namespace see that file at /etc/resolv.conf, which may be a
    link that leads nowhere, or not there at all."""
    target = os.path.realpath("/etc/resolv.conf")
    if not os.path.exists(target):
        there = os.path.dirname(target)
        while not os.path.isdir(there):
            there = os.path.dirname(there)
        copy_of_directory(there)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        pathlib.Path(target).touch()
    bind(file, target)


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
                # What other threads have open, which wait for its end: a Popen for one.
                os.closerange(3, writable)
                os.closerange(writable + 1, os.sysconf("SC_OPEN_MAX"))
                die_with_parent()
                check(libc.unshare(CLONE_NEWNET | CLONE_NEWNS), "unshare")
                os.write(writable, b"unshared ")
                own_mounts()
                bind_resolv_conf(self.resolv_conf)
                os.write(writable, b"ready")
                while True:
                    signal.pause()
            except OSError as error:
                os.write(writable, str(error).encode()[:200])
            finally:
                os._exit(1)
        os.close(writable)
        with open(readable, encoding="utf-8", errors="replace") as pipe:
            said = pipe.read(9)		# what there is to say, or its end
            said += pipe.read(5) if said == "unshared " else pipe.read()
            if said == "unshared ready":
                return pid
            said += pipe.read()
        os.waitpid(pid, 0)
        if said.startswith("unshared "):
            raise Failure(f"cannot set up a network namespace: {said.removeprefix('unshared ')}")
        raise Skip(f"no network namespace: {said}")

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

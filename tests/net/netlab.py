# SPDX-License-Identifier: GPL-2.0-or-later
"""A small laboratory: network namespaces without names, veth pairs, strict
firewalls, nameservers and nfdnsd in them.

A namespace lives as long as its holder process, and that dies with the test
(PR_SET_PDEATHSIG), so nothing outlives a test however it ends.  Each namespace
has a mount namespace too, with a resolv.conf of its own bound over the
machine's, so that nothing is written to /etc.
"""
import atexit
import contextlib
import ctypes
import ipaddress
import json
import os
import pathlib
import pwd
import re
import select
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
import traceback

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from shared import BUILD, TOP  # noqa: E402  (tests import both from here)
import dnswire  # noqa: E402

CLONE_NEWNS, CLONE_NEWNET = 0x00020000, 0x40000000
MS_BIND, MS_REC, MS_PRIVATE = 4096, 16384, 1 << 18
PR_SET_PDEATHSIG = 1
WAIT_S = 20			# how long anything may take to become ready

libc = ctypes.CDLL(None, use_errno=True)


class Skip(Exception):
    """This cannot be had here."""


class Failure(Exception):
    """What was to be shown is not so."""


def expect(condition, *words):
    if not condition:
        raise Failure(" ".join(str(w) for w in words))


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


# Accepts what comes from lo and what answers something; and the neighbour
# discovery without which IPv6 has no next hop.
STRICT_INPUT = """
table inet strict {
	chain input {
		type filter hook input priority 0; policy drop;
		iif lo accept
		ct state established accept
		icmpv6 type { nd-neighbor-solicit, nd-neighbor-advert } accept
	}
}
"""


class Lab:
    """Namespaces "vm" and "ns", joined by veth pairs vm0-ns0 (and vm1-ns1)."""
    VM4, NS4 = "192.0.2.1", "192.0.2.53"
    VM6, NS6 = "2001:db8::1", "2001:db8::53"
    VM4B, NS4B = "198.51.100.1", "198.51.100.53"
    VM6B, NS6B = "2001:db8:1::1", "2001:db8:1::53"
    REMOTE4, REMOTE6 = "203.0.113.53", "2001:db8:ffff::53"	# behind ns, on its lo

    def __init__(self, second_link=False, strict=True):
        require_root()
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="nfdns-lab-"))
        self.directory.chmod(0o755)
        self.processes = []
        self.closed = False
        self.vm = self.ns = None
        atexit.register(self.close)
        self.vm = Namespace("vm", self.directory)
        self.ns = Namespace("ns", self.directory)
        self.link(0, (self.VM4, 24), (self.NS4, 24), (self.VM6, 64), (self.NS6, 64))
        if second_link:
            self.link(1, (self.VM4B, 24), (self.NS4B, 24), (self.VM6B, 64), (self.NS6B, 64))
        for address in (self.REMOTE4 + "/32", self.REMOTE6 + "/128"):
            self.ns.ip("addr", "add", address, "dev", "lo")
        self.vm.ip("route", "add", "default", "via", self.NS4)
        self.vm.ip("-6", "route", "add", "default", "via", self.NS6)
        for name in ("all", "default", "vm0"):
            self.vm.sysctl(f"net/ipv4/conf/{name}/rp_filter", 1)
        if strict:
            try:
                self.vm.nft(STRICT_INPUT)
            except Failure as error:
                raise Skip(f"no nf_tables here: {error}") from None
        self.vm.resolv_conf.write_text(f"nameserver {self.NS4}\n")

    def link(self, n, vm4, ns4, vm6, ns6):
        self.vm.ip("link", "add", f"vm{n}", "type", "veth", "peer", "name", f"ns{n}",
                   "netns", str(self.ns.holder))
        for space, device, v4, v6 in ((self.vm, f"vm{n}", vm4, vm6),
                                      (self.ns, f"ns{n}", ns4, ns6)):
            space.sysctl(f"net/ipv6/conf/{device}/accept_dad", 0)
            space.ip("addr", "add", f"{v4[0]}/{v4[1]}", "dev", device)
            space.ip("addr", "add", f"{v6[0]}/{v6[1]}", "dev", device, "nodad")
            space.ip("link", "set", device, "up")

    def link_local(self, space, device):
        """Its fe80:: address, once the kernel has made it."""
        for found in json.loads(space.ip("-j", "-6", "addr", "show", "dev",
                                         device).stdout)[0]["addr_info"]:
            if found.get("scope") == "link":
                return found["local"]
        raise Failure(f"{device} has no link-local address")

    def start(self, space, command, **options):
        """A process that is ended with the lab."""
        process = space.popen(command, **options)
        self.processes.append(process)
        return process

    def load(self, server, names, seconds=10, rate=20000):
        """Starts dnsload on lines "name addressA [addressB]"; see load_result()."""
        path = self.directory / "names"
        path.write_text("".join(line + "\n" for line in names))
        return self.start(self.vm, [BUILD / "tools/dnsload", "-r", rate, "-s", seconds, server,
                                    path],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def close(self):
        if self.closed:
            return
        self.closed = True
        for process in reversed(self.processes):
            stop(process)
        for space in (self.vm, self.ns):
            if space is not None:
                space.close()
        shutil.rmtree(self.directory, ignore_errors=True)
        atexit.unregister(self.close)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def dnsmasq(self, space, listen, *options):
        """A real nameserver; returns when it answers."""
        if shutil.which("dnsmasq") is None:
            raise Skip("dnsmasq is not installed")
        listen = [listen] if isinstance(listen, str) else listen
        process = self.start(space, [
            "dnsmasq", "--keep-in-foreground", "--conf-file=/dev/null", "--no-resolv",
            "--no-hosts", "--no-poll", "--pid-file=", "--user=root", "--group=root",
            "--cache-size=0", "--bind-interfaces", "--local-ttl=7", "--log-facility=/dev/null",
            *(f"--listen-address={a}" for a in listen), *options],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        for address in listen:
            wait_for_answer(space, address, process)
        return process


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


def load_result(load):
    """What dnsload found; all that was to be asked must have been asked."""
    out, err = load.communicate(timeout=120)
    expect(load.returncode == 0, err)
    return json.loads(out)


def without_counters(ruleset):
    return re.sub(r"packets \d+ bytes \d+", "", ruleset)


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


def wait_until(condition, what, timeout=WAIT_S):
    """For states that have no event to wait for; looks at short intervals."""
    deadline = time.monotonic() + timeout
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > deadline:
            raise Failure(f"{what}: not so after {timeout} s")
        select.select([], [], [], 0.01)


class Capture:
    """Frames on a device of a namespace, from when this object is made."""

    def __init__(self, space, device, buffer=32 << 20):
        self.socket = space.socket(socket.AF_PACKET, socket.SOCK_DGRAM,
                                   socket.htons(0x0003))
        with space.inside():
            self.socket.bind((device, 0x0003))
        # SO_RCVBUFFORCE: thousands of packets may wait until they are looked at.
        self.socket.setsockopt(socket.SOL_SOCKET, 33, buffer)

    def packets(self, count=None, timeout=1.0, want=lambda packet: True):
        """IP packets that want() likes, until there are count or silence."""
        found = []
        self.socket.settimeout(timeout)
        while count is None or len(found) < count:
            try:
                octets, (_, protocol, _, _, _) = self.socket.recvfrom(65535)
            except TimeoutError:
                break
            if protocol in (0x0800, 0x86dd) and want(octets):
                found.append(octets)
        return found

    def close(self):
        self.socket.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def udp_of(packet):
    """(source port, destination port, payload) of a UDP packet without extension
    headers, or None."""
    if packet[0] >> 4 == 4:
        if packet[9] != 17 or struct.unpack_from("!H", packet, 6)[0] & 0x1fff:
            return None
        at = (packet[0] & 15) * 4
    else:
        if packet[6] != 17:
            return None
        at = 40
    source, destination, length = struct.unpack_from("!HHH", packet, at)
    return source, destination, packet[at + 8:at + length]


def to_port_53(packet):
    ports = udp_of(packet)
    return ports is not None and ports[1] == 53


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
            if reply is not None:
                self.socket.sendto(reply, source)

    def close(self):
        with contextlib.suppress(OSError):
            self.socket.shutdown(socket.SHUT_RDWR)
        self.socket.close()
        self.thread.join(5)


def nobody():
    """A user that every system has and no test runs as."""
    for name in ("nobody", "daemon"):
        with contextlib.suppress(KeyError):
            pwd.getpwnam(name)
            return name
    raise Skip("neither user nobody nor daemon is here")


class Daemon:
    """nfdnsd in a namespace, with a config and a table of the test's own."""

    def __init__(self, lab, hosts=None, nds=None, mesh="", capture="", queue="", more="",
                 tables=None, space=None):
        self.lab = lab
        self.space = space or lab.vm
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="d-", dir=lab.directory))
        self.directory.chmod(0o755)
        self.run_dir = self.directory / "run"
        self.run_dir.mkdir()
        self.config = self.directory / "nfdnsd.conf"
        self.table = self.directory / "table"
        self.log = self.directory / "log"
        self.process = None
        if tables is None:
            kind = "nds" if nds is not None else "hosts"
            self.table.write_text(json.dumps(nds) if nds is not None else hosts or "")
            tables = f'{{ format = "{kind}"; path = "{self.table}"; }}'
        self.config.write_text(f"""
run_dir = "{self.run_dir}";
user = "{nobody()}";
capture = {{ {capture} }};
queue = {{ number = 5300; {queue} }};
mesh = {{ {mesh}
  tables = ( {tables} );
}};
{more}
""")

    def start(self, wanted="READY=1"):
        """Starts it and waits for its READY=1."""
        path = str(self.directory / "notify")
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)
        self.notify = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.notify.bind(path)
        os.chmod(path, 0o666)
        with open(self.log, "ab") as log:
            self.process = self.space.popen(
                [BUILD / "nfdnsd", "-c", self.config], stdout=log, stderr=log,
                env=dict(os.environ, NOTIFY_SOCKET=path), start_new_session=True)
        self.lab.processes.append(self.process)
        self.wait_notify(wanted)
        return self

    def wait_notify(self, wanted):
        deadline = time.monotonic() + WAIT_S
        self.notify.settimeout(0.05)
        while time.monotonic() < deadline:
            with contextlib.suppress(TimeoutError):
                said = self.notify.recv(4096).decode(errors="replace")
                if wanted in said.splitlines():
                    return
            if self.process.poll() is not None:
                raise Failure(f"nfdnsd ended with {self.process.returncode}: {self.said()}")
        raise Failure(f"nfdnsd did not say {wanted}: {self.said()}")

    def said(self):
        return self.log.read_text(errors="replace").strip() if self.log.exists() else ""

    def stop(self):
        """SIGTERM; its exit status."""
        status = stop(self.process)
        self.notify.close()
        return status

    def nfdns(self, *words, ok=None):
        return self.space.run([BUILD / "nfdns", "-c", self.config, *words], ok=ok)

    def status(self):
        return json.loads(self.nfdns("status", "--json").stdout)

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        if self.process is not None and self.process.poll() is None:
            self.stop()


def queues(space):
    """The rows of nfnetlink_queue: dicts of the columns' names."""
    names = ("number", "portid", "waiting", "copy_mode", "copy_range", "dropped",
             "user_dropped", "last_id", "one")
    text = space.read("/proc/net/netfilter/nfnetlink_queue")
    return [dict(zip(names, map(int, line.split()))) for line in text.splitlines()]


def require_queue(space):
    """Skip where this kernel has no nfnetlink_queue: binds one and lets it go."""
    with space.socket(socket.AF_NETLINK, socket.SOCK_RAW, 12) as sock:
        sock.bind((0, 0))
        bind = struct.pack("=HHBBH", 8, 1, 1, 0, 0)		# NFQA_CFG_CMD: BIND
        body = struct.pack("!BBH", 0, 0, 65000) + bind
        sock.send(struct.pack("=IHHII", 16 + len(body), 3 << 8 | 2, 5, 1, 0) + body)
        sock.settimeout(5)
        answer = sock.recv(4096)
        (error,) = struct.unpack_from("=i", answer, 16)
    if error != 0:
        raise Skip(f"no netfilter queue in this kernel: {os.strerror(-error)}")


def main(*cases):
    """Runs functions, each under its name; prints a line for each."""
    # A signal ends the test as an exception does: everything is taken down.
    def end(number, _frame):
        raise SystemExit(128 + number)
    signal.signal(signal.SIGTERM, end)
    signal.signal(signal.SIGINT, end)
    # In the background of a shell SIGINT may have been ignored; children too.
    failed = False
    for case in cases:
        name = case.__name__
        try:
            case()
            print(f"PASS {name}", flush=True)
        except Skip as why:
            print(f"SKIP {name}: {why}", flush=True)
        except Failure as why:
            failed = True
            print(f"FAIL {name}: " + str(why).replace("\n", "\n  "), flush=True)
        except Exception as error:	# noqa: BLE001  a fault of the test's own
            failed = True
            traceback.print_exc(file=sys.stdout)
            print(f"FAIL {name}: {type(error).__name__}: {error}", flush=True)
    sys.exit(1 if failed else 0)


def address_octets(text):
    return ipaddress.ip_address(text).packed

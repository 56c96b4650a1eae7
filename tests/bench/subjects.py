# SPDX-License-Identifier: GPL-2.0-or-later
"""What is measured: nfdns, a bare echo, and the servers that a user would
otherwise run.  Each has namespaces of its own and stands ready from the first
round to the last, so that a round is nothing but questions.

A rival serves the names at 127.0.0.1, behind the rules that Istio installs: a
question to port 53 has its destination rewritten unless it is the server's own
user who asks.  Two conntrack zones keep the server's own questions apart from
those with the same ports that were rewritten.
"""
import contextlib
import os
import pathlib
import pwd
import shutil
import socket
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "net"))
import dnswire  # noqa: E402
from netlab import BUILD, Daemon, Failure, Lab, nobody, wait_until  # noqa: E402

PORT = 15053
CACHED = 10000		# answers that a cache has room for
LOCAL = "127.0.0.1"
CPUS = sorted(os.sched_getaffinity(0))

ISTIO_RULES = """
table ip raw {
	chain output {
		type filter hook output priority -300;
		meta skuid UID udp dport 53 ct zone set 1 return
		meta skuid UID udp sport PORT ct zone set 2 return
		udp dport 53 ct zone set 2
	}
	chain prerouting {
		type filter hook prerouting priority -300;
		udp sport 53 ct zone set 1
	}
}
table ip nat {
	chain output {
		type nat hook output priority -100;
		meta skuid UID return
		udp dport 53 dnat to LOCAL:PORT
	}
}
""".replace("LOCAL", LOCAL).replace("PORT", str(PORT))


class Mesh:
    """The names that are served, and files of them in the forms that servers read."""

    def __init__(self, directory, count):
        self.directory = pathlib.Path(directory) / f"names-{count}"
        self.directory.mkdir(exist_ok=True)
        self.directory.chmod(0o755)
        self.count = count
        self.questions = self._write("questions", (name for name, _ in self.entries()))

    def entries(self):
        for n in range(self.count):
            yield (f"svc-{n}.ns-{n % 50}.svc.cluster.local",
                   f"10.{n >> 16 & 255}.{n >> 8 & 255}.{n & 255}")

    def _write(self, name, lines):
        path = self.directory / name
        if not path.exists():
            with open(path, "w") as file:
                file.writelines(line + "\n" for line in lines)
        return path

    def hosts(self):
        return self._write("hosts", (f"{address} {name}" for name, address in self.entries()))

    def part(self, n, parts):
        """One of several tables, each with its share of the names."""
        return self._write(f"hosts-{n}-{parts}", (
            f"{address} {name}" for i, (name, address) in enumerate(self.entries())
            if i % parts == n))

    def searched(self):
        """The questions as a resolver with a search list asks them first."""
        return self._write("searched", (f"{name}.shop.svc.cluster.local"
                                        for name, _ in self.entries()))

    def blocked(self, count):
        """Names of rules, none of which is asked for."""
        return self._write(f"blocked-{count}", (f"host{n}.ads{n % 1000}.example"
                                                for n in range(count)))

    def zone(self):
        head = ["$ORIGIN cluster.local.", "$TTL 30",
                "@ SOA ns hostmaster 1 7200 1800 86400 5", "@ NS ns", "ns A 10.255.0.1"]
        return self._write("zone", [*head, *(f"{name}. A {address}"
                                             for name, address in self.entries())])

    def unbound(self):
        return self._write("unbound", ["server:", 'local-zone: "cluster.local." static', *(
            f'local-data: "{name}. 30 A {address}"' for name, address in self.entries())])

    def lua(self):
        return self._write("lua", ["names = {", *(
            f'["{name}."]="{address}",' for name, address in self.entries()), "}"])


class Subject:
    """One server, ready to be asked at (address, port)."""
    label = None

    def __init__(self, mesh, passing=False, cached=False):
        """passing: what it is asked is the real nameserver's to answer; cached: it
        may keep those answers."""
        self.mesh, self.passing, self.cached = mesh, passing, cached
        self.lab = Lab(strict=False)
        self.process = self.nameserver = None
        self.address, self.port = self.lab.NS4, 53
        self.error_log = self.lab.directory / "log"

    def start(self):
        if self.passing:
            # The real nameserver: as fast as one can be.
            self.nameserver = self.lab.start(
                self.lab.ns, [BUILD / "tools/echo", self.lab.NS4, 53])
        self.launch()
        wait_until(self.answers, f"{self.label} answers", 30)
        return self

    def launch(self):
        """Starts the process."""

    def popen(self, command, **options):
        with open(self.error_log, "ab") as log:
            self.process = self.lab.start(self.lab.vm, command, stdout=log, stderr=log,
                                          **options)

    def answers(self):
        if self.process is not None and self.process.poll() is not None:
            raise Failure(f"{self.label} ended: {self.error_log.read_text(errors='replace')[-500:]}")
        name = "www.real.example" if self.passing else next(self.mesh.entries())[0]
        query = dnswire.query(name, "A")
        with self.lab.vm.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
            sock.settimeout(0.2)
            with contextlib.suppress(OSError):
                sock.sendto(query, (self.address, self.port))
                message = dnswire.Message(sock.recv(4096))
                return bool(message.answer)
        return False

    def pids(self):
        return [self.process.pid] if self.process else []

    def place(self, cpus, nameserver_cpus):
        """Where its threads may run, and where the real nameserver may."""
        places = [(pid, cpus) for pid in self.pids()]
        if self.nameserver is not None:
            places.append((self.nameserver.pid, nameserver_cpus))
        for pid, where in places:
            subprocess.run(["taskset", "-acp", ",".join(map(str, where)), str(pid)],
                           stdout=subprocess.DEVNULL, check=False)

    def cpu(self):
        """(nanoseconds on a CPU, ticks in user space, ticks in the kernel) so far."""
        total = user = system = 0
        for pid in self.pids():
            with contextlib.suppress(OSError):
                for task in os.listdir(f"/proc/{pid}/task"):
                    total += int(pathlib.Path(f"/proc/{pid}/task/{task}/schedstat")
                                 .read_text().split()[0])
                fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
                user, system = user + int(fields[11]), system + int(fields[12])
        return total, user, system

    def rss_kib(self):
        total = 0
        for pid in self.pids():
            for line in pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
                if line.startswith("Rss:"):
                    total += int(line.split()[1])
        return total

    def stop(self):
        self.lab.close()


class Nfdns(Subject):
    label = "nfdns"
    programs = BUILD		# where nfdnsd is

    def __init__(self, mesh, passing=False, config=None):
        super().__init__(mesh, passing)
        self.config = {key: value.replace('path = "@', f'path = "{self.lab.directory}')
                       for key, value in (config or {}).items()}
        self.config.setdefault(
            "tables", f'{{ format = "hosts"; path = "{mesh.hosts()}"; }}')
        self.daemon = None

    def launch(self):
        # As the package leaves a machine: for users that /etc/passwd does not have,
        # libc loads other sources of them, which would count as nfdnsd's memory.
        users = self.lab.directory / "passwd"
        users.write_text(pathlib.Path("/etc/passwd").read_text() +
                         "nfdns:x:990:990::/:/bin/false\nnfdns-feed:x:989:989::/:/bin/false\n")
        users.chmod(0o644)
        self.lab.vm.run(["mount", "--bind", users, "/etc/passwd"], ok=0)
        self.daemon = Daemon(self.lab, **self.config)
        self.daemon.programs = self.programs
        self.daemon.start()
        self.process = self.daemon.process

    def pids(self):
        return [self.daemon.process.pid, self.worker()]

    def worker(self):
        return self.daemon.status()["worker_pid"]

    def stop(self):
        if self.daemon is not None and self.daemon.process is not None:
            self.daemon.stop()
        super().stop()


def before(kind, programs):
    """The same of another build, with its own label."""
    return type(kind.__name__, (kind,), {"label": "nfdns before", "programs": programs})


class Forwarding(Nfdns):
    """What is not the mesh's is asked of the real nameserver, for the client."""

    def __init__(self, mesh, passing=True, cached=False, more=""):
        super().__init__(mesh, passing, config={"more": f"""
forward = {{ domains = ( {{
	name = "."; upstreams = [ "{Lab.NS4}" ]; cache = {str(cached).lower()};
}} ); {more} }};"""})


class Workers(Nfdns):
    """Several worker threads, to be put on one CPU each."""

    def __init__(self, mesh, workers):
        super().__init__(mesh, config={"queue": f"workers = {workers};",
                                       "capture": "tcp = false;"})
        self.label = f"workers = {workers}"
        self.targets = [(self.address, self.port)] * workers

    def place_threads(self, cpus):
        """Without TCP, the threads that read queues are the last that were made."""
        tasks = sorted(map(int, os.listdir(f"/proc/{self.worker()}/task")))
        for task, cpu in zip(tasks[-len(self.targets):], cpus):
            os.sched_setaffinity(task, [cpu])


class Echoes(Subject):
    """Echoes that share nothing, one for each CPU: how far the machine goes."""

    def __init__(self, mesh, count):
        super().__init__(mesh)
        self.label = f"echoes = {count}"
        self.targets = [(LOCAL, PORT + n) for n in range(count)]
        self.echoes = []

    def launch(self):
        self.address, self.port = self.targets[0]
        for target in self.targets:
            self.popen([BUILD / "tools/echo", *target])
            self.echoes.append(self.process)

    def place_threads(self, cpus):
        for echo, cpu in zip(self.echoes, cpus):
            os.sched_setaffinity(echo.pid, [cpu])


class Nothing(Subject):
    """No interception; only questions that pass can be asked."""
    label = "none"


class Direct(Subject):
    """The echo, asked at its own address."""
    label = "echo direct"

    def launch(self):
        self.address, self.port = LOCAL, PORT
        self.popen([BUILD / "tools/echo", LOCAL, PORT])


class Behind(Subject):
    """A server behind Istio's rule."""
    program = None

    def start(self):
        if self.program and shutil.which(self.program) is None:
            raise Failure(f"{self.program} is not installed: packaging/install-deps --bench")
        user = pwd.getpwnam(nobody())
        self.uid = user.pw_uid
        self.lab.vm.nft(ISTIO_RULES.replace("UID", str(self.uid)))
        self.lab.vm.sysctl("net/ipv4/conf/all/route_localnet", 1)
        self.state = self.lab.directory / "state"
        self.state.mkdir()
        os.chown(self.state, user.pw_uid, user.pw_gid)
        return super().start()

    def popen(self, command):
        """As its own user from the start: the rules look at who opened a socket."""
        super().popen(command, user=self.uid)

    def write(self, text):
        path = self.lab.directory / "conf"
        path.write_text(text)
        return path


class Echo(Behind):
    label = "echo DNAT"

    def launch(self):
        self.popen([BUILD / "tools/echo", LOCAL, PORT])


class Dnsmasq(Behind):
    label, program = "dnsmasq", "dnsmasq"

    def launch(self):
        what = [f"--server={self.lab.NS4}", f"--cache-size={CACHED if self.cached else 0}"] \
            if self.passing else [f"--addn-hosts={self.mesh.hosts()}", "--local-ttl=30"]
        self.popen(["dnsmasq", "--keep-in-foreground", "--conf-file=/dev/null", "--no-resolv",
                    "--no-hosts", "--no-poll", "--pid-file=", "--user=",
                    "--bind-interfaces", f"--listen-address={LOCAL}", f"--port={PORT}",
                    "--log-facility=/dev/null", "--dns-forward-max=5000", *what])


class Unbound(Behind):
    label, program = "unbound", "unbound"

    def launch(self):
        what = f'forward-zone:\n name: "."\n forward-addr: {self.lab.NS4}\n' if self.passing \
            else f"include: {self.mesh.unbound()}\n"
        # A forwarder that answers from its cache passes nothing.
        caches = "" if self.cached else "cache-max-ttl: 0\n cache-max-negative-ttl: 0"
        self.popen(["unbound", "-d", "-c", self.write(f"""
server:
 interface: {LOCAL}@{PORT}
 access-control: 0.0.0.0/0 allow
 use-syslog: no
 logfile: ""
 pidfile: ""
 chroot: ""
 username: ""
 directory: {self.state}
 num-threads: 1
 module-config: "iterator"
 so-rcvbuf: 0
 outgoing-range: 4096
 num-queries-per-thread: 2048
 do-tcp: no
 {caches}
remote-control:
 control-enable: no
{what}""")])


class Knot(Behind):
    label, program = "knot", "knotd"

    def launch(self):
        if self.passing:
            what = f"""
remote:
 - id: real
   address: {self.lab.NS4}
mod-dnsproxy:
 - id: proxy
   remote: real
   fallback: off
template:
 - id: default
   global-module: mod-dnsproxy/proxy
"""
        else:
            what = f"""
zone:
 - domain: cluster.local
   file: {self.mesh.zone()}
   zonefile-sync: -1
   journal-content: none
"""
        self.popen(["knotd", "-c", self.write(f"""
server:
 rundir: {self.state}
 listen: {LOCAL}@{PORT}
 udp-workers: 1
 tcp-workers: 1
 background-workers: 1
database:
 storage: {self.state}
log:
 - target: stderr
   any: warning
{what}""")])


class Dnsdist(Behind):
    label, program = "dnsdist", "dnsdist"

    def launch(self):
        what = "" if self.passing else f"""
dofile("{self.mesh.lua()}")
addAction(AllRule(), LuaAction(function(dq)
	local address = names[dq.qname:toString()]
	if address then return DNSAction.Spoof, address end
	return DNSAction.None, ""
end))
"""
        self.popen(["dnsdist", "--supervised", "--disable-syslog", "-C", self.write(f"""
setLocal("{LOCAL}:{PORT}")
setACL("0.0.0.0/0")
setSecurityPollSuffix("")
newServer({{address="{self.lab.NS4}:53", healthCheckMode="up"}})
{f"getPool(''):setCache(newPacketCache({CACHED}))" if self.cached else ""}
{what}""")])


class GoForward(Behind):
    """What CoreDNS does, on its library: goforward/main.go."""
    label, program = "goforward", "go"
    library = pathlib.Path("/usr/share/gocode/src/github.com/miekg/dns")

    def build(self):
        if not self.library.is_dir():
            raise Failure("miekg/dns is not installed, which CoreDNS is built on: packaging/install-deps --bench")
        here = BUILD / "bench/go"
        here.mkdir(parents=True, exist_ok=True)
        done = subprocess.run(
            ["go", "build", "-o", str(here / "goforward"), "."], text=True, check=False,
            cwd=pathlib.Path(__file__).resolve().parent / "goforward",
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            env=dict(os.environ, GO111MODULE="off", GOPATH=f"{here}:{self.library.parents[3]}",
                     GOCACHE=f"{here}/cache", GOFLAGS="", CGO_ENABLED="0"))
        if done.returncode != 0:
            raise Failure(f"goforward does not build: {done.stdout}")
        # The server's user need not be allowed to read the directory of the build.
        program = self.lab.directory / "goforward"
        shutil.copy(here / "goforward", program)
        program.chmod(0o755)
        return program

    def launch(self):
        self.popen([self.build(), f"{LOCAL}:{PORT}", f"{self.lab.NS4}:53",
                    CACHED if self.cached else 0])


ANSWERING = (Nfdns, Echo, Direct, Dnsmasq, Unbound, Knot, Dnsdist)
PASSING = (Nfdns, Nothing, Dnsmasq, Unbound, Knot, Dnsdist)
FORWARDING = (Forwarding, Dnsmasq, Unbound, Dnsdist, GoForward)

# SPDX-License-Identifier: GPL-2.0-or-later
"""Nameservers that fail in every way, and those who forward to them: nfdnsd, and
others that a user would run behind a DNAT rule instead."""
import contextlib
import shutil
import signal
import subprocess

from netlab import *

PORT, SPARE = 5353, 5354		# of the nameserver that fails, and of another
ANSWER, LIE = "192.0.2.99", "6.6.6.6"
LOCAL_PORT = 15053
HOSTS = "10.1.2.3 web.mesh.example\n"
DNAT = f"""
table ip nat {{
	chain output {{
		type nat hook output priority -100;
		udp dport 53 dnat to 127.0.0.1:{LOCAL_PORT}
	}}
}}
"""


class BadServer:
    """tests/tools/badserver, in the namespace of nameservers."""

    def __init__(self, lab, port, address=ANSWER):
        self.lab, self.port, self.address = lab, port, address
        self.start()

    def start(self):
        self.process = self.lab.start(
            self.lab.ns, [BUILD / "tools/badserver", self.lab.NS4, self.port, self.address],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        expect(self.process.stdout.readline() == "ready\n", "badserver does not start")

    def do(self, what):
        self.process.stdin.write(what + "\n")
        self.process.stdin.flush()
        expect(self.process.stdout.readline() == "done\n", "badserver ended")

    def kill(self):
        stop(self.process, signal.SIGKILL)


class Nfdns:
    """The daemon; "transport" is what stands before an upstream's address."""
    label = "nfdnsd"

    def __init__(self, lab, transport="", more="", domain=""):
        self.lab = lab
        self.text = f"""forward = {{
    domains = ( {{ name = "corp.example"; select = "ordered"; {domain}
                  upstreams = [ "{transport}{lab.NS4}@{PORT}", "{transport}{lab.NS4}@{SPARE}" ]; }} );
    cache = {{ size = 0; }}; {more}
}};"""
        self.daemon = Daemon(lab, hosts=HOSTS, more=self.text).start()

    def kill(self):
        """Its worker; returns when another one reads."""
        status = self.daemon.status()
        os.kill(status["worker_pid"], signal.SIGKILL)
        wait_until(lambda: (s := self.daemon.status())["worker_pid"] not in
                   (0, status["worker_pid"]) and s["ready"], "a new worker is there")

    def reload(self, n):
        """Its upstreams change places."""
        one, two = (PORT, SPARE) if n % 2 == 0 else (SPARE, PORT)
        text = self.daemon.config.read_text()
        head, _, tail = text.partition("upstreams = [")
        _, _, tail = tail.partition("]")
        self.daemon.config.write_text(f'{head}upstreams = [ "{self.lab.NS4}@{one}",'
                                      f' "{self.lab.NS4}@{two}" ]{tail}')
        self.daemon.nfdns("reload", ok=0)

    def forward(self):
        """Its counters; what the queues' threads refuse for want of room, too; and packets
        that were gone when their verdicts came."""
        status = self.daemon.status()
        full = status["reasons"].get("forward-full", 0)
        return {**status["forward"], "refused": status["forward"]["refused"] + full,
                "gone": status["counters"]["verdict_errors"]}

    def close(self):
        expect(self.daemon.process.poll() is None, "nfdnsd ended:", self.daemon.said()[-2000:])
        self.daemon.stop()


class Rival:
    """A forwarder at 127.0.0.1 behind DNAT."""

    def __init__(self, lab, transport=""):
        if shutil.which(self.program) is None:
            raise Skip(f"{self.program} is not installed")
        self.lab, self.transport, self.order = lab, transport, (PORT, SPARE)
        lab.vm.nft(DNAT)
        self.launch()

    def launch(self):
        with open(self.lab.directory / f"{self.label}.log", "ab") as log:
            self.process = self.lab.start(self.lab.vm, self.command(), stdout=log, stderr=log)
        wait_until(self.answers, f"{self.label} answers")

    def answers(self):
        """That it runs: whether its upstreams do is another question."""
        expect(self.process.poll() is None, self.label, "ended")
        with contextlib.suppress(OSError):
            ask(self.lab.vm, self.lab.NS4, "ready.corp.example", timeout=0.2)
            return True

    def kill(self):
        stop(self.process, signal.SIGKILL)
        self.launch()

    def reload(self, n):
        """None of them takes other upstreams without a restart."""
        self.order = (PORT, SPARE) if n % 2 == 0 else (SPARE, PORT)
        self.kill()

    def forward(self):
        return {}

    def close(self):
        stop(self.process)
        self.lab.vm.nft("delete table ip nat")


class Dnsmasq(Rival):
    label = program = "dnsmasq"

    def command(self):
        return ["dnsmasq", "--keep-in-foreground", "--conf-file=/dev/null", "--no-resolv",
                "--no-hosts", "--no-poll", "--pid-file=", "--user=root", "--group=root",
                "--cache-size=0", "--bind-interfaces", "--listen-address=127.0.0.1",
                f"--port={LOCAL_PORT}", "--dns-forward-max=5000", "--log-facility=/dev/null",
                *(f"--server=/corp.example/{self.lab.NS4}#{port}" for port in self.order)]


class Unbound(Rival):
    label = program = "unbound"

    def command(self):
        path = self.lab.directory / "unbound.conf"
        path.write_text(f"""
server:
 interface: 127.0.0.1@{LOCAL_PORT}
 access-control: 0.0.0.0/0 allow
 use-syslog: no
 pidfile: ""
 chroot: ""
 username: ""
 directory: {self.lab.directory}
 num-threads: 1
 module-config: "iterator"
 do-not-query-localhost: no
 outgoing-range: 8000
 num-queries-per-thread: 4000
 outgoing-num-tcp: 500
 msg-cache-size: 0
 tcp-upstream: {"yes" if self.transport == "tcp://" else "no"}
remote-control:
 control-enable: no
forward-zone:
 name: "corp.example"
 forward-no-cache: yes
""" + "".join(f" forward-addr: {self.lab.NS4}@{port}\n" for port in self.order))
        return ["unbound", "-d", "-c", path]



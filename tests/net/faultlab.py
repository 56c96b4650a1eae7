# SPDX-License-Identifier: GPL-2.0-or-later
"""Nameservers that fail in every way, and a daemon that forwards to them."""
import signal
import subprocess

from netlab import *

PORT, SPARE = 5353, 5354		# of the nameserver that fails, and of another
ANSWER, LIE = "192.0.2.99", "6.6.6.6"
HOSTS = "10.1.2.3 web.mesh.example\n"


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

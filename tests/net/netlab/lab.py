# SPDX-License-Identifier: GPL-2.0-or-later
"""The laboratory: two namespaces, joined, and what runs in them."""
import atexit
import json
import pathlib
import shutil
import subprocess
import tempfile

from shared import BUILD

from .nameserver import wait_for_answer
from .namespace import Namespace, require_root, stop
from .outcome import Closing, Failure, Skip, expect

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


class Lab(Closing):
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

    def load(self, server, names, seconds=10, rate=20000, wait=0, *options):
        """Starts dnsload on lines "name addressA [addressB]"; see load_result().
        It waits so many seconds longer for answers that are late."""
        path = self.directory / "names"
        path.write_text("".join(line + "\n" for line in names))
        return self.start(self.vm, [BUILD / "tools/dnsload", "-r", rate, "-s", seconds,
                                    *(["-w", wait] if wait else []), *options, server, path],
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


def end_load(load):
    """Ends its asking, and what it found.  So a test decides how long a load takes,
    and the seconds that it was given are only a bound."""
    expect(load.poll() is None, "the load ended before its time")
    load.terminate()
    return load_result(load)


def load_result(load):
    """What dnsload found; all that was to be asked must have been asked."""
    out, err = load.communicate(timeout=120)
    expect(load.returncode == 0, err)
    return json.loads(out)

# SPDX-License-Identifier: GPL-2.0-or-later
"""Containers behind the machine, as namespaces: two on a bridge, one by an interface of its own."""
from netlab import Daemon, Lab, Namespace, require_queue

HOSTS = "10.1.2.3 web.mesh.example\n2001:db8:9::3 web.mesh.example\n"
BRIDGE4, BRIDGE6 = "172.17.0.1", "fd88::1"	# the gateway's own addresses
POINT4, POINT6 = "10.244.0.1", "fd99::1"


class Container:
    """A namespace behind the machine, by a bridge or by an interface of its own."""

    def __init__(self, lab, name, v4, v6, bridge=None):
        self.lab, self.name, self.v4, self.v6 = lab, name, v4, v6
        self.space = Namespace(name, lab.directory)
        self.device = f"h-{name}"
        lab.vm.ip("link", "add", self.device, "type", "veth", "peer", "name", "eth0", "netns",
                  str(self.space.holder))
        lab.vm.sysctl(f"net/ipv6/conf/{self.device}/accept_dad", 0)
        if bridge is not None:
            lab.vm.ip("link", "set", self.device, "master", bridge)
        lab.vm.ip("link", "set", self.device, "up")
        self.space.ip("link", "set", "eth0", "up")
        for address, bits, gateway, via in ((v4, "16" if bridge else "32", BRIDGE4, POINT4),
                                            (v6, "64" if bridge else "128", BRIDGE6, POINT6)):
            family = "-6" if ":" in address else "-4"
            self.space.ip(family, "addr", "add", f"{address}/{bits}", "dev", "eth0",
                          *(["nodad"] if family == "-6" else []))
            if bridge is None:
                lab.vm.ip(family, "addr", "add", f"{via}/{bits}", "dev", self.device,
                          *(["nodad"] if family == "-6" else []))
                lab.vm.ip(family, "route", "add", f"{address}/{bits}", "dev", self.device)
                self.space.ip(family, "route", "add", f"{via}/{bits}", "dev", "eth0")
            self.space.ip(family, "route", "add", "default", "via", via if bridge is None else gateway)

    def close(self):
        self.space.close()


class World(Lab):
    """A machine with a bridge of two containers, and one that is alone."""

    def __init__(self, containers='( { interfaces = [ "br0", "h-alone" ]; } )', more="", forwarding=1, hosts=HOSTS, **options):
        super().__init__(strict=False)
        require_queue(self.vm)
        self.vm.sysctl("net/ipv4/ip_forward", forwarding)
        self.vm.sysctl("net/ipv6/conf/all/forwarding", forwarding)
        self.vm.ip("link", "add", "br0", "type", "bridge")
        self.vm.ip("addr", "add", f"{BRIDGE4}/16", "dev", "br0")
        self.vm.ip("-6", "addr", "add", f"{BRIDGE6}/64", "dev", "br0", "nodad")
        self.vm.ip("link", "set", "br0", "up")
        self.one = Container(self, "one", "172.17.0.2", "fd88::2", "br0")
        self.two = Container(self, "two", "172.17.0.3", "fd88::3", "br0")
        self.alone = Container(self, "alone", "10.244.0.5", "fd99::5")
        for prefix, via in (("10.244.0.0/16", self.VM4), ("fd99::/64", self.VM6), ("fd88::/64", self.VM6)):
            self.ns.ip("-6" if ":" in prefix else "-4", "route", "add", prefix, "via", via)
        self.vm.nft("table ip nat { chain out { type nat hook postrouting priority 100; "
                    "ip saddr 172.17.0.0/16 oifname \"vm0\" masquerade; }; }")
        self.server = self.dnsmasq(self.ns, [self.NS4, self.NS6, self.REMOTE4],
                                   "--address=/public.example/198.51.100.9", "--address=/web.mesh.example/",
                                   "--address=/git.corp.example/10.9.9.9")
        self.daemon = Daemon(self, hosts=hosts, **options, more=f"containers = {containers};\n{more}")

    def __enter__(self):
        self.daemon.start()
        return self

    def close(self):
        for container in ("one", "two", "alone"):
            if hasattr(self, container):
                getattr(self, container).close()
        super().close()

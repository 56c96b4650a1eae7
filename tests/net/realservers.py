# SPDX-License-Identifier: GPL-2.0-or-later
"""dnsmasq, unbound, knot and nsd as nameservers of the zone "example"."""
import shutil
import subprocess

from netlab import Skip, wait_for_answer

ADDRESS = "203.0.113.77"		# of every name that is looked for
TEXT = "found-in-the-zone"		# and its TXT record
NAMES = ("denied.example", "ok.example", "sub.denied.example")
SERVERS = ("dnsmasq", "unbound", "knot", "nsd")
ADDRESSES = {"dnsmasq": "192.0.2.61", "unbound": "192.0.2.62", "knot": "192.0.2.63",
             "nsd": "192.0.2.64"}
ADDRESSES6 = {name: "2001:db8::" + ADDRESSES[name][-2:] for name in SERVERS}


def zone():
    return ("$ORIGIN example.\n@ 60 SOA ns hostmaster 1 7200 1800 86400 60\n@ 60 NS ns\n"
            "ns 60 A 192.0.2.53\n" + "".join(
                f'{name}. 60 A {ADDRESS}\n{name}. 60 TXT "{TEXT}"\n' for name in NAMES))


class RealServers:
    def __init__(self, lab, space):
        self.lab, self.space = lab, space
        self.directory = lab.directory / "servers"
        self.directory.mkdir(mode=0o755)
        (self.directory / "zone").write_text(zone())
        for name in SERVERS:
            if shutil.which({"knot": "knotd"}.get(name, name)) is None:
                raise Skip(f"{name} is not installed")
            space.ip("addr", "add", ADDRESSES[name] + "/32", "dev", "lo")
            # Not at lo: the VM looks for it with neighbour discovery.
            space.ip("addr", "add", ADDRESSES6[name] + "/128", "dev", "ns0", "nodad")
            getattr(self, name)(ADDRESSES[name], ADDRESSES6[name])

    def run(self, address, *command):
        process = self.lab.start(self.space, command, stdout=subprocess.DEVNULL,
                                 stderr=subprocess.PIPE)
        wait_for_answer(self.space, address, process)

    def write(self, name, text):
        path = self.directory / name
        path.write_text(text)
        return path

    def dnsmasq(self, address, address6):
        self.lab.dnsmasq(self.space, [address, address6], "--local=/#/", *(
            f"--host-record={name},{ADDRESS}" for name in NAMES), *(
            f"--txt-record={name},{TEXT}" for name in NAMES))

    def unbound(self, address, address6):
        data = "".join(f"local-data: '{name}. 60 A {ADDRESS}'\n"
                       f"local-data: '{name}. 60 TXT \"{TEXT}\"'\n" for name in NAMES)
        self.run(address, "unbound", "-d", "-c", self.write("unbound.conf", f"""
server:
  interface: {address}
  interface: {address6}
  access-control: 0.0.0.0/0 allow
  access-control: ::/0 allow
  do-daemonize: no
  username: ""
  chroot: ""
  directory: "{self.directory}"
  pidfile: ""
  use-syslog: no
  logfile: "/dev/null"
  num-threads: 1
  incoming-num-tcp: 200
  root-hints: ""
  module-config: "iterator"
  local-zone: "." static
  local-zone: "example." static
{data}
remote-control:
  control-enable: no
"""))

    def knot(self, address, address6):
        place = self.directory / "knot"
        place.mkdir()
        self.run(address, "knotd", "-c", self.write("knot.conf", f"""
server:
    rundir: {place}
    listen: [{address}@53, {address6}@53]
    user: root
    udp-workers: 1
    tcp-workers: 1
    background-workers: 1
database:
    storage: {place}
acl:
  - id: anybody
    action: transfer
zone:
  - domain: example
    file: {self.directory}/zone
    acl: anybody
    journal-content: none
    zonefile-sync: -1
"""))

    def nsd(self, address, address6):
        self.run(address, "nsd", "-d", "-c", self.write("nsd.conf", f"""
server:
    ip-address: {address}
    ip-address: {address6}
    server-count: 1
    username: ""
    chroot: ""
    zonesdir: "{self.directory}"
    zonelistfile: "{self.directory}/zone.list"
    xfrdfile: ""
    xfrdir: "{self.directory}"
    cookie-secret-file: ""
    pidfile: ""
    logfile: "/dev/null"
    tcp-count: 200
remote-control:
    control-enable: no
zone:
    name: example
    zonefile: {self.directory}/zone
    provide-xfr: 0.0.0.0/0 NOKEY
    provide-xfr: ::/0 NOKEY
"""))

# SPDX-License-Identifier: GPL-2.0-or-later
"""Steps of tests/vm/guest in a machine with container engines, each as Debian packages
it: what they start gets the mesh's names, and the others, by its own nameserver."""
import json, os, pathlib, shutil, time

from __main__ import (MEDIA, NAMESERVER, Load, configured, expect, no_denials, run, say, show, signal, status,
                      try_run, until)

ENTRY = ('containers = ( );', 'containers = ( { interfaces = [ "docker0", "br-*", "podman*", "virbr*", "lxcbr0", '
         '"cni0", "ve-*", "veth*" ]; } );')
MESH, PUBLIC = ("reviews.default.svc.cluster.local", "198.51.100.7"), ("public.example", "192.0.2.80")
BOX = pathlib.Path("/var/lib/box")		# what all of them run
RESTARTS = 50 if (MEDIA / "steps").exists() else 10		# asked for by name: often
LEASE = """#!/bin/sh
[ "$1" = bound ] || exit 0
ip address add "$ip/$mask" dev "$interface"
ip route add default via "${router%% *}"
for server in $dns; do echo "nameserver $server"; done >/etc/resolv.conf
"""

def the_box():
    """A system of busybox alone."""
    for name in ("bin", "dev", "etc/udhcpc", "proc", "sys", "tmp", "run", "root", "usr", "var", "sbin"):
        (BOX / name).mkdir(parents=True)
    shutil.copy("/bin/busybox", BOX / "bin")
    for name in ("sh", "ip", "sleep", "nslookup", "udhcpc", "cat", "true"):
        (BOX / "bin" / name).symlink_to("busybox")
    (BOX / "etc/os-release").write_text("ID=box\n")
    (BOX / "etc/passwd").write_text("root:x:0:0::/root:/bin/sh\n")
    (BOX / "etc/resolv.conf").write_text("")
    (BOX / "etc/udhcpc/default.script").write_text(LEASE)
    (BOX / "etc/udhcpc/default.script").chmod(0o755)
    run("tar", "-C", str(BOX), "-cf", "/tmp/box.tar", ".")
    os.chmod("/tmp/box.tar", 0o644)
    # As an administrator of containers has it.
    run("sysctl", "-q", "net.ipv4.ip_forward=1")

def asks(*inside, server=()):
    """nslookup of a name of the mesh, and of another."""
    for name, address in (MESH, PUBLIC):
        _, said = try_run(*inside, "nslookup", name, *server, timeout=300)
        expect(f"Address: {address}" in said, *inside[:6], name, said)

def counted():
    """Questions of containers that were answered, by interface."""
    return {of["interface"]: of["answered"] for of in status()["containers"]}

def engine(kind):
    """docker's and podman's commands are the same."""
    run(kind, "import", "/tmp/box.tar", "box", timeout=300)
    asks(kind, "run", "--rm", "box")
    run(kind, "network", "create", "own")
    asks(kind, "run", "--rm", "--network", "own", "box")
    asks(kind, "run", "--rm", "--network", "host", "box")

def docker():
    run("systemctl", "start", "docker", timeout=300)
    before = counted()
    engine("docker")
    after = counted()
    expect(after.get("docker0", 0) > before.get("docker0", 0), "docker0:", after)
    own = any(name.startswith("br-") for name in after)
    say(f"figure: docker's resolver (127.0.0.11) asks from the {'container' if own else 'machine'}")

def docker_restarts_under_load():
    """One container asks all the time, another is started again and again."""
    for name in ("asks", "again"):
        run("docker", "run", "-d", "--name", name, "box", "sleep", "100000", timeout=300)
    process = run("docker", "inspect", "-f", "{{.State.Pid}}", "asks")
    with Load(("nsenter", f"--net=/proc/{process}/ns/net")) as load:
        load.flow()
        began = time.monotonic()
        for n in range(RESTARTS):
            run("docker", "restart", "-t", "0", "again", timeout=300)
            _, said = try_run("docker", "exec", "again", "nslookup", MESH[0], timeout=300)
            expect(f"Address: {MESH[1]}" in said, f"restart {n}:", said)
        say(f"figure: a container was started again {RESTARTS} times in {time.monotonic() - began:.0f} s")
        load.end("another one meanwhile")
    run("docker", "rm", "-f", "asks", "again", timeout=300)

def upgrade_with_containers():
    """The next package takes over while a container asks."""
    run("docker", "run", "-d", "--name", "asks", "box", "sleep", "100000", timeout=300)
    process = run("docker", "inspect", "-f", "{{.State.Pid}}", "asks")
    with Load(("nsenter", f"--net=/proc/{process}/ns/net")) as load:
        load.flow()
        before = show("MainPID")
        run("dpkg", "--force-confdef", "--force-confold", "-i", str(MEDIA / "next.deb"), timeout=600)
        expect(show("MainPID") not in ("0", before), "the old daemon still runs")
        load.flow()
        os.kill(int(show("MainPID")), signal.SIGKILL)
        load.flow()
        load.end("a container, upgrade and kill -9")
    run("docker", "rm", "-f", "asks", timeout=300)

def podman():
    before = counted()
    engine("podman")
    after = counted()
    expect(sum(after[n] - before.get(n, 0) for n in after if n.startswith(("podman", "cni"))) > 0, after)

def podman_without_root():
    """Its packets are those of a process of the user: no entry."""
    run("useradd", "-m", "box")
    run("loginctl", "enable-linger", "box")
    user = run("id", "-u", "box")
    until(lambda: pathlib.Path("/run/user", user, "bus").exists(), "the user's manager")
    own = ("runuser", "-u", "box", "--", "env", "-C", "/home/box", f"XDG_RUNTIME_DIR=/run/user/{user}", "podman")
    run(*own, "import", "/tmp/box.tar", "box", timeout=300)
    asks(*own, "run", "--rm", "box")

def nspawn():
    """Its network is systemd-networkd's: addresses by DHCP, masquerade."""
    run("systemctl", "start", "systemd-networkd")
    for name, address in (MESH, PUBLIC):
        _, said = try_run("systemd-nspawn", "-q", "-D", str(BOX), "--machine=box", "--network-veth", "--resolv-conf=off",
                          "--as-pid2", "sh", "-c", "ip link set host0 up; udhcpc -q -n -t 60 -i host0; "
                          f"nslookup {name} {NAMESERVER}", timeout=300)
        expect(f"Address: {address}" in said, name, said)

def lxc():
    run("systemctl", "start", "lxc-net", timeout=300)
    folder = pathlib.Path("/var/lib/lxc/box")
    folder.mkdir(parents=True)
    (folder / "config").write_text(
        f"lxc.uts.name = box\nlxc.rootfs.path = dir:{BOX}\nlxc.apparmor.profile = unconfined\n"
        "lxc.net.0.type = veth\nlxc.net.0.link = lxcbr0\nlxc.net.0.flags = up\nlxc.init.cmd = /bin/sleep 100000\n")
    run("lxc-start", "-n", "box", timeout=300)
    inside = ("lxc-attach", "-n", "box", "--clear-env", "-v", "PATH=/bin", "--")
    run(*inside, "udhcpc", "-q", "-n", "-t", "60", "-i", "eth0")
    asks(*inside)				# lxc-net's dnsmasq
    asks(*inside, server=(NAMESERVER,))
    run("lxc-stop", "-k", "-n", "box")

def libvirt():
    """Its network; the guest is a namespace with an address by DHCP."""
    run("systemctl", "start", "libvirtd", timeout=300)
    try_run("virsh", "net-start", "default", timeout=300)
    until(lambda: pathlib.Path("/sys/class/net/virbr0").exists(), "virbr0")
    with namespace("guest"):
        for words in ("link add vnet0 type veth peer name eth0 netns guest", "link set vnet0 master virbr0",
                      "link set vnet0 up", "-n guest link set eth0 up"):
            run("ip", *words.split())
        script = pathlib.Path("/tmp/lease")
        script.write_text(LEASE)
        script.chmod(0o755)
        run("ip", "netns", "exec", "guest", "busybox", "udhcpc", "-q", "-n", "-t", "60", "-i", "eth0", "-s", str(script))
        inside = ("ip", "netns", "exec", "guest", "busybox")
        gateway = run("ip", "-n", "guest", "route", "show", "default").split()[2]
        asks(*inside, server=(gateway,))
        asks(*inside, server=(NAMESERVER,))

class namespace:
    """With a file of its own for /etc/resolv.conf, which what runs in it may write."""
    def __init__(self, name):
        self.name = name

    def __enter__(self):
        folder = pathlib.Path("/etc/netns", self.name)
        folder.mkdir(parents=True)
        (folder / "resolv.conf").write_text(f"nameserver {NAMESERVER}\n")
        run("ip", "netns", "add", self.name)

    def __exit__(self, *_):
        run("ip", "netns", "delete", self.name)
        shutil.rmtree(f"/etc/netns/{self.name}")

def plugin(config, **more):
    """A CNI plugin, called as a runtime calls it; its result."""
    binary = pathlib.Path("/usr/lib/cni", config["type"])
    environment = dict(CNI_COMMAND="ADD", CNI_CONTAINERID="box", CNI_NETNS="/run/netns/pod", CNI_IFNAME="eth0",
                       CNI_PATH="/usr/lib/cni")
    conf = dict(config, cniVersion="0.4.0", name="net", **more)
    return json.loads(run("env", *(f"{k}={v}" for k, v in environment.items()), "sh", "-c", f"echo '{json.dumps(conf)}' | {binary}"))

def cni_plugins():
    ipam = {"type": "host-local", "subnet": "10.88.7.0/24", "routes": [{"dst": "0.0.0.0/0"}]}
    for config in ({"type": "bridge", "bridge": "cni0", "isGateway": True, "ipMasq": True, "ipam": ipam},
                   {"type": "ptp", "ipMasq": True, "ipam": ipam}):
        with namespace("pod"):
            result = plugin(config)
            plugin({"type": "portmap"}, prevResult=result, capabilities={"portMappings": True}, runtimeConfig={
                "portMappings": [{"hostPort": 8053, "containerPort": 53, "protocol": "udp"}]})
            asks("ip", "netns", "exec", "pod", "busybox")
        shutil.rmtree("/var/lib/cni", ignore_errors=True)

def all_of_them():
    said = run("nfdns", "status")
    for line in said.splitlines():
        say("figure: " + line)
    run("nfdns", "rules", "verify")
    code, said = try_run("nfdns", "doctor")
    expect(code == 0, "doctor finds something bad beside all of them:", said)

def with_entry(step):
    """It runs while the entry is in force."""
    def whole():
        with configured("reload", ENTRY):
            step()
    whole.__name__ = step.__name__
    return whole

STEPS = [podman_without_root, *map(with_entry, (
    docker, docker_restarts_under_load, podman, nspawn, lxc, libvirt, cni_plugins, all_of_them, upgrade_with_containers)),
    no_denials]

def steps(names):
    """Those of these names; of none, all."""
    return [the_box, *(step for step in STEPS if not names or step.__name__ in names)]

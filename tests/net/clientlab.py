# SPDX-License-Identifier: GPL-2.0-or-later
"""A mesh, and a nameserver for what is outside, for libraries that resolve names:
each looks the same names up, and says what it has."""
import collections
import contextlib

from netlab import *

MANY = 40		# addresses; UDP without EDNS has room for 29 of them
PART = 29
OUTSIDE = "192.0.2.66"
ZONE = """
@ 300 IN SOA ns hostmaster 1 2 3 4 5
web 30 IN A 10.1.2.3
alias 30 IN CNAME www.outside.example.
lost 30 IN CNAME nx.outside.example.
""" + "".join(f"many 30 IN A 10.2.0.{n}\n" for n in range(MANY))

# What a client can do, and so has of "many": one that asks over TCP has all.
Trial = collections.namedtuple("Trial", "name command has_tcp")


@contextlib.contextmanager
def outside(**options):
    """A lab whose machine has a mesh, and a nameserver without it."""
    with Lab() as lab:
        require_queue(lab.vm)
        path = lab.directory / "mesh.zone"
        path.write_text(ZONE)
        lab.directory.chmod(0o755)
        lab.vm.resolv_conf.write_text(f"nameserver {lab.NS4}\noptions timeout:2 attempts:1\n")
        lab.dnsmasq(lab.ns, lab.NS4, f"--address=/www.outside.example/{OUTSIDE}",
                    "--address=/www.outside.example/2001:db8::66", "--address=/nx.outside.example/",
                    "--address=/mesh.example/")
        tables = f'{{ format = "zone"; path = "{path}"; origin = "mesh.example."; }}'
        with Daemon(lab, tables=tables, **options) as daemon:
            yield lab, daemon


def addresses(lab, trial, name):
    """What it prints of IPv4 addresses, one a line; [] if it fails."""
    done = lab.vm.run([*trial.command, name])
    return done.stdout.split() if done.returncode == 0 else []


def try_client(lab, trial):
    """Truncated answers and CNAMEs that leave the table."""
    expect(addresses(lab, trial, "web.mesh.example") == ["10.1.2.3"], trial.name, "has not the mesh")
    wanted, seen = MANY if trial.has_tcp else PART, set()
    for _ in range(3):
        found = addresses(lab, trial, "many.mesh.example")
        expect(len(set(found)) == wanted, f"{trial.name} has {len(set(found))} of {MANY},"
               f" {wanted} wanted")
        seen.update(found)
    expect(len(seen) > PART, f"{trial.name}: the same {len(seen)} of {MANY} each time")
    found = addresses(lab, trial, "alias.mesh.example")
    expect(found == [OUTSIDE], f"{trial.name} has {found} of the CNAME")
    expect(addresses(lab, trial, "lost.mesh.example") == [], trial.name, "has what there is not")
    print(f"figure: {trial.name}: {wanted} of {MANY} addresses")

# SPDX-License-Identifier: GPL-2.0-or-later
"""The features whose cost is measured, a line each: the name; what the config
has (keywords of netlab.Daemon; a path of "@" is a directory of the run's own); options
of dnsrate; which names are asked; over which address."""
from measure import Load


class Feature:
    def __init__(self, name, config=None, options=(), names="questions", ipv6=False, parts=0,
                 rules=0, listed=0):
        self.name, self.settings, self.options = name, config or {}, options
        self.names, self.ipv6, self.parts = names, ipv6, parts
        self.rules, self.listed = rules, listed		# rules of a name each; names of one rule

    def config(self, mesh):
        found = dict(self.settings)
        if self.parts:
            found["tables"] = ", ".join(
                f'{{ format = "hosts"; path = "{mesh.part(n, self.parts)}"; }}'
                for n in range(self.parts))
        if self.rules:
            names = mesh.blocked(self.rules).read_text().split()
            found["more"] = "policy = (" + ",\n".join(
                f'{{ match = {{ names = ( "{name}" ); }}; action = "nxdomain"; }}'
                for name in names) + ");"
        if self.listed:
            found["more"] = (f'policy = ( {{ match = {{ names = ( "@{mesh.blocked(self.listed)}" ); }};'
                             ' action = "nxdomain"; } );')
        return found

    def load(self, mesh, lab):
        questions = mesh.searched() if self.names == "searched" else mesh.questions
        return Load(questions, *self.options, address=lab.NS6 if self.ipv6 else None)


FEATURES = (
    Feature("plain"),
    Feature("audit json", {"more": 'audit = ( { format = "json"; path = "@/audit.json"; } );'}),
    Feature("audit pcapng", {"more": 'audit = ( { format = "pcapng"; path = "@/audit.pcapng"; } );'}),
    Feature("audit dnstap", {"more": 'audit = ( { format = "dnstap"; path = "@/audit.dnstap"; } );'}),
    Feature("search list", {"mesh": 'search = [ "shop.svc.cluster.local" ];'}, names="searched"),
    Feature("EDNS", options=("-e",)),
    Feature("IPv6", ipv6=True),
    Feature("AAAA, no data", options=("-t", 28)),
    Feature("8 table sources", parts=8),
    Feature("100 rules", rules=100),
    Feature("10,000 rules", rules=10000),
    Feature("rule of 1,000,000 names", listed=1000000),
    Feature("without TCP", {"capture": "tcp = false;"}),
    Feature("workers = 2", {"queue": "workers = 2;"}),
    Feature("workers = 4", {"queue": "workers = 4;"}),
)

# SPDX-License-Identifier: GPL-2.0-or-later
"""The features whose cost is measured, a line each: the name; what the config
has (keywords of netlab.Daemon; "@" is a directory of the run's own); options
of dnsrate; which names are asked; over which address."""
from measure import Load


class Feature:
    def __init__(self, name, config=None, options=(), names="questions", ipv6=False, parts=0):
        self.name, self.settings, self.options = name, config or {}, options
        self.names, self.ipv6, self.parts = names, ipv6, parts

    def config(self, mesh):
        found = dict(self.settings)
        if self.parts:
            found["tables"] = ", ".join(
                f'{{ format = "hosts"; path = "{mesh.part(n, self.parts)}"; }}'
                for n in range(self.parts))
        return found

    def load(self, mesh, lab):
        questions = mesh.searched() if self.names == "searched" else mesh.questions
        return Load(questions, *self.options, address=lab.NS6 if self.ipv6 else None)


FEATURES = (
    Feature("plain"),
    Feature("audit json", {"more": 'audit = ( { format = "json"; path = "@/audit.json"; } );'}),
    Feature("audit pcapng", {"more": 'audit = ( { format = "pcapng"; path = "@/audit.pcapng"; } );'}),
    Feature("search list", {"mesh": 'search = [ "shop.svc.cluster.local" ];'}, names="searched"),
    Feature("EDNS", options=("-e",)),
    Feature("IPv6", ipv6=True),
    Feature("AAAA, no data", options=("-t", 28)),
    Feature("8 table sources", parts=8),
    Feature("without TCP", {"capture": "tcp = false;"}),
    Feature("workers = 2", {"queue": "workers = 2;"}),
    Feature("workers = 4", {"queue": "workers = 4;"}),
)

# SPDX-License-Identifier: GPL-2.0-or-later
"""What it takes from a rewritten table of a feed until the changed name is
answered, under other questions: for test_push and the benchmark."""
import json

from netlab import BUILD, Daemon, end_load

ASKED = 10			# services that the other questions are for; never changed
NAMES_EACH = 3			# of a service: its host and two short names


def host(service):
    return f"s{service:08}.ns-{service % 100}.svc.cluster.local"


def address(service):
    return f"110.{100 + service // 10000 % 100}.{100 + service // 100 % 100}.{100 + service % 100}"


def services(names):
    return max(2 * ASKED, names // NAMES_EACH)


class Pushed:
    """nfdnsd with a feed's table of so many names (about: whole services)."""

    def __init__(self, lab, names, more="", **options):
        self.lab = lab
        self.services = services(names)
        state = lab.directory / "state"
        state.mkdir()
        self.path = state / "mesh.table"
        self.tool("write")
        self.daemon = Daemon(lab, tables='{ format = "feed"; feed = "mesh"; }',
                             more=f'state_dir = "{state}"; {more}',
                             **options)

    def tool(self, what, *more, timeout=120):
        done = self.lab.vm.run([BUILD / "tools/push", what, self.services, self.path,
                                *more], ok=0, timeout=timeout)
        return json.loads(done.stdout) if done.stdout else None

    def run(self, pushes, seconds, rate, pause=None):
        """The tool's result, and of the load beside it: dicts.  "pause": milliseconds
        between an answer and the next push."""
        lines = [f"{host(n)} {address(n)}" for n in range(ASKED)]
        load = self.lab.load(self.lab.NS4, lines, seconds + 70, rate)
        found = self.tool("run", self.lab.NS4, pushes, seconds, *([pause] if pause else []),
                          timeout=seconds + 60)
        return found, end_load(load)


def percentile(values, share):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]

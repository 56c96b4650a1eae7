# SPDX-License-Identifier: GPL-2.0-or-later
"""What the units in packaging/systemd allow."""
import re
import shutil
import subprocess

from .outcome import expect


def expanded(name):
    """The calls of a set of systemd's, with those of the sets in it."""
    if not name.startswith("@"):
        return {name}
    done = subprocess.run(["systemd-analyze", "syscall-filter", "--no-pager", name],
                          capture_output=True, text=True, check=True)
    words = [line.split("#")[0].strip() for line in done.stdout.splitlines()[1:]]
    return set().union(*(expanded(word) for word in words if word))


def calls_of_unit(unit):
    """What SystemCallFilter= lines of a unit's file come to, as systemd.exec(5) has
    them; for with_calls."""
    lines = re.findall(r"^SystemCallFilter=(.*)$", unit.read_text(), re.M)
    expect(not lines[0].startswith("~"), "the unit names what is forbidden, not what is allowed")
    if shutil.which("systemd-analyze") is None:
        return ["~", "setpriority"]
    allowed = expanded("@default")
    for line in lines:
        named = set().union(*(expanded(word) for word in line.lstrip("~").split()))
        allowed = allowed - named if line.startswith("~") else allowed | named
    expect(allowed.isdisjoint({"setpriority", "setuid"}), lines)
    return sorted(allowed)

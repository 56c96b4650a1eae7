# SPDX-License-Identifier: GPL-2.0-or-later
"""A small laboratory: network namespaces without names, veth pairs, strict
firewalls, nameservers and nfdnsd in them.

A namespace lives as long as its holder process, and that dies with the test
(PR_SET_PDEATHSIG), so nothing outlives a test however it ends.  Each namespace
has a mount namespace too, with a resolv.conf of its own bound over the
machine's, so that nothing is written to /etc.

Tests take all of it: "from netlab import *".
"""
import pathlib
import sys

# Where shared.py is, and dnswire.py.
sys.path[:0] = [str(directory) for directory in
                list(pathlib.Path(__file__).resolve().parents)[1:3]]
from shared import BUILD, TOP  # noqa: E402,F401
from .outcome import *  # noqa: E402,F401,F403
from .namespace import *  # noqa: E402,F401,F403
from .packets import *  # noqa: E402,F401,F403
from .nameserver import *  # noqa: E402,F401,F403
from .lab import *  # noqa: E402,F401,F403
from .daemon import *  # noqa: E402,F401,F403
from .manager import *  # noqa: E402,F401,F403
from .processes import *  # noqa: E402,F401,F403

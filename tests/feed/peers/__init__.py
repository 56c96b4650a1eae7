# SPDX-License-Identifier: GPL-2.0-or-later
"""What the feed talks to in its tests: control planes on other people's gRPC
and HTTP stacks, certificates, proxies between, and nfdns-feed itself."""
import pathlib
import sys

PEERS = pathlib.Path(__file__).resolve().parent
# Where shared.py is, and netlab.
sys.path[:0] = [str(PEERS.parents[1]), str(PEERS.parents[1] / "net")]

# SPDX-License-Identifier: GPL-2.0-or-later
"""Where the data is that several tests read but that is not in the repository.

A clone of a user has none: the tests that need it say SKIP there.
"""
import os
import pathlib
import struct

TOP = pathlib.Path(__file__).resolve().parent.parent
SHARED = pathlib.Path(os.environ.get("NFDNS_SHARED", TOP.parent / "shared"))
BUILD = TOP / os.environ.get("BUILD", "build")


def shared_file(name):
    """The path of SHARED/name, or None where it is not there."""
    path = SHARED / name
    return path if path.exists() else None


def framed(path):
    """The messages of a file that has a 16-bit length before each of them."""
    octets = path.read_bytes()
    at = 0
    while at < len(octets):
        (length,) = struct.unpack_from("!H", octets, at)
        yield octets[at + 2:at + 2 + length]
        at += 2 + length

# SPDX-License-Identifier: GPL-2.0-or-later
"""Files as nfdns-feed leaves them for nfdnsd, written by a test."""
import ctypes
import ctypes.util
import functools
import json
import os
import time

from . import messages


class _Hash(ctypes.Structure):
    _fields_ = [("low", ctypes.c_uint64), ("high", ctypes.c_uint64)]


@functools.cache
def _xxh3():
    function = ctypes.CDLL(ctypes.util.find_library("xxhash")).XXH3_128bits
    function.restype, function.argtypes = _Hash, [ctypes.c_char_p, ctypes.c_size_t]
    return function


def kept(names, format="nds-proto", body=None, **lines):
    """A kept table of {name: [address]}; lines of the header may be others."""
    body = messages.table(names) if body is None else body
    digest = _xxh3()(body, len(body))
    header = {"format": format, "version": "test", "time": int(time.time()),
              "source": "192.0.2.1:15012", "names": len(names),
              "length": len(body),
              "hash": f"{digest.high:016x}{digest.low:016x}", **lines}
    return b"nfdns-feed 1\n" + "".join(
        f"{key} {value}\n" for key, value in header.items()).encode() + b"\n" + body


def put(path, octets):
    """By rename, as nfdns-feed does."""
    fresh = path.with_name(path.name + ".new")
    fresh.write_bytes(octets)
    os.replace(fresh, path)


def report(path, **fields):
    """A feed's status file: connected, current and well unless fields differ."""
    now = int(time.time())
    reconnects = dict.fromkeys((f"reconnects_{cause}" for cause in (
        "planned", "connect", "tls", "reset", "timeout", "status", "protocol", "content")), 0)
    put(path, json.dumps({
        "type": "xds", "written": now, "running": True, "restarts": 0, "current": now,
        "connected": True, "since": now - 7200, "last_life": now, "attempted": now - 7200,
        "attempts": 1, "peer": "192.0.2.1:15012", "error": "", "version": "2026/311",
        "pushes": 12, "same": 3, "nacks": 0, **reconnects, "cert_begin": 0, "cert_end": 0,
        "table_time": now - 60, "table_names": 2, "table_octets": 100,
        "keep_error": "", **fields}).encode())

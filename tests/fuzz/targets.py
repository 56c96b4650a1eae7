#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The fuzz targets: how they are built and what seeds each begins with.

As a program: builds what several tests run under ASan and UBSan, before they begin."""
import fcntl
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import shared

TOP = shared.TOP
# Which messages of the corpus each target takes; the others begin with the
# committed seeds alone.
FRAMED = {
    "question": ("hostile", "queries", "responses"),
    "packet": ("packets", "hostile", "queries"),
    "held": ("packets",),
    "stream": ("hostile", "queries"),
}
HERE = TOP / "tests/fuzz"


def names():
    return sorted(re.sub(r"^fuzz_", "", p.stem) for p in HERE.glob("fuzz_*.c"))


def committed(name):
    return sorted(p for p in (HERE / "seeds" / name).glob("*") if p.is_file())


def corpus(name):
    """Paths of the framed files for a target."""
    return [path for part in FRAMED.get(name, ()) for path in shared.corpus(part)]


def wire_questions():
    """The hand-written questions of the conformance data, as octets."""
    return [bytes.fromhex(c["wire_hex"]) for path in shared.conformance("wire/queries.json")
            for c in json.loads(path.read_text())["cases"]]


def unpack(name, directory):
    """Writes all seeds of a target as files, as libFuzzer wants them."""
    directory.mkdir(parents=True, exist_ok=True)
    messages = [p.read_bytes() for p in committed(name)]
    for path in corpus(name):
        messages += shared.framed(path)
    if name == "question":
        messages += wire_questions()
    for message in messages:
        path = directory / hashlib.sha1(message).hexdigest()
        if not path.exists():
            path.write_bytes(message)
    return len(messages)


def make(build, compiler, sanitize, *goals, optimize="-O0 -g1"):
    """Builds goals with sanitizers (None: to count what runs) into a directory of its own.
    Optimizing them takes three times as long: for what runs long."""
    flags = "-fsanitize-coverage=trace-pc" if sanitize is None else (
        f"-fsanitize={sanitize} -fno-sanitize-recover=all")
    build.mkdir(parents=True, exist_ok=True)
    with open(build / "lock", "w", encoding="ascii") as lock:
        # Another test may make something there at this time.
        fcntl.flock(lock, fcntl.LOCK_EX)
        # _FORTIFY_SOURCE hides reads from the address sanitizer: no hardening here.
        return subprocess.run(
            ["make", "-s", "-j2", "-C", str(TOP), f"BUILD={build}", f"CC={compiler}",
             f"SANITIZE={flags}",
             f"CFLAGS={optimize} -fno-omit-frame-pointer", "HARDEN=", "HARDEN_LD=", "WARN=", *goals],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            text=True, errors="replace")


def make_sanitized(sanitizer):
    """(where, how it went): the programs under TSan ("thread"), or ("address") under ASan and
    UBSan, and with them the one that replays."""
    build = shared.BUILD / f"sanitized-{sanitizer}"
    goals = ["nfdnsd", "nfdns", "nfdns-tls"] + ["replay/replay"] * (sanitizer == "address")
    kinds = "address,undefined" if sanitizer == "address" else sanitizer
    return build, make(build, os.environ.get("CC", "gcc"), kinds, *(build / goal for goal in goals))


if __name__ == "__main__":
    done = make_sanitized("address")[1]
    sys.exit(done.stdout if done.returncode != 0 else 0)

# SPDX-License-Identifier: GPL-2.0-or-later
"""Data that several tests read.

Messages and packets are made (corpus.py).  More of them, and cases of others, may lie
in SHARED beside the repository: they are played in addition.
"""
import collections
import json
import os
import pathlib
import struct
import subprocess
import tempfile

TOP = pathlib.Path(__file__).resolve().parent.parent
SHARED = pathlib.Path(os.environ.get("NFDNS_SHARED", TOP.parent / "shared"))
BUILD = TOP / os.environ.get("BUILD", "build")


def shared_file(name):
    """The path of SHARED/name, or None where it is not there."""
    path = SHARED / name
    return path if path.exists() else None


def conformance(name):
    """The paths of our own file of cases of that name, and of SHARED's where it is there."""
    given = shared_file(f"conformance/{name}")
    return [TOP / "tests/conformance" / name] + ([] if given is None else [given])


def corpus(part):
    """Paths of files with messages: "queries", "responses", "hostile" or "packets"."""
    import corpus as maker
    made = BUILD / "corpus" / f"{part}.framed"
    made.parent.mkdir(parents=True, exist_ok=True)
    fresh = made.with_suffix(f".{os.getpid()}")	# several tests may want it at a time
    fresh.write_bytes(b"".join(struct.pack("!H", len(octets)) + octets
                               for _, octets in maker.make(part)))
    fresh.replace(made)
    given = shared_file(f"corpus/{part}.framed")
    return [made] if given is None else [made, given]


def corpus_messages(part):
    return [octets for path in corpus(part) for octets in framed(path)]


def framed(path):
    """The messages of a file that has a 16-bit length before each of them."""
    octets = path.read_bytes()
    at = 0
    while at < len(octets):
        (length,) = struct.unpack_from("!H", octets, at)
        yield octets[at + 2:at + 2 + length]
        at += 2 + length


def table_list(kind, path, namespace, *words, mesh=""):
    """What "nfdns table list" says of one source: subprocess.CompletedProcess."""
    with tempfile.TemporaryDirectory() as directory:
        config = pathlib.Path(directory) / "nfdnsd.conf"
        config.write_text(f"""user = "{os.getuid()}"; state_dir = "{directory}";
mesh = {{ namespace = "{namespace}"; {mesh}
  tables = ( {{ format = "{kind}"; path = "{pathlib.Path(path).resolve()}"; }} ); }};
""")
        return subprocess.run([BUILD / "nfdns", "-c", config, "table", "list", *words], text=True,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def main():
    """Says how many cases of whose behaviour tests/conformance has."""
    for path in sorted((TOP / "tests/conformance").glob("*/*cases.json")) + \
            [TOP / "tests/conformance/wire/queries.json"]:
        data = json.loads(path.read_text())
        if isinstance(data, list):		# groups of rules
            counts = collections.Counter()
            for group in data:
                counts[group["source"]] += sum(len(step["cases"]) for step in group["steps"])
        else:
            whose = data.get("whose", "")
            cases = [c for key, value in data.items() for c in
                     (value.get("cases", []) if isinstance(value, dict) else value
                      if isinstance(value, list) else [])]
            counts = collections.Counter(
                whose[c["suite"]] if isinstance(whose, dict) else whose or c["from"] for c in cases)
        for name, count in counts.most_common():
            print(f"{path.relative_to(TOP)}: {count} {name}")


if __name__ == "__main__":
    main()

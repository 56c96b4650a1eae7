# SPDX-License-Identifier: GPL-2.0-or-later
"""The rooms of the house, and what each may use.

A room is one stage of a packet's way or one process; a folder of the shelves.
ROOMS is the whole of the contract: a room may include headers of, and call
functions in, the rooms that its row names, and no others.  Includes are read
from the sources; calls from the object files, since a declaration written by
hand needs no include."""
import collections
import pathlib
import re
import subprocess

SHELVES = ("resolver", "policy", "rules", "nfq")		# low to high

# Room: what it may use.  "nfq" alone is the programs' main().
ROOMS = {
    "resolver/clock": "",
    "resolver/checksum": "",
    "resolver/fds": "",
    "resolver/replace": "",
    "resolver/version": "",
    "resolver/dns": "",
    "resolver/text": "",
    "resolver/small_file": "resolver/fds resolver/text",
    # Never in the packet path.
    "resolver/idn": "resolver/dns",
    "resolver/image": "resolver/dns resolver/text",
    "resolver/answer": "resolver/dns resolver/image",
    "resolver/sources": "resolver/fds resolver/idn resolver/dns resolver/text resolver/image",
    "resolver/kubernetes": "resolver/dns resolver/text resolver/image resolver/sources",
    "resolver/compile": "resolver/version resolver/dns resolver/text resolver/image resolver/sources"
                        " resolver/kubernetes",
    "resolver/listing": "resolver/dns resolver/text resolver/image",
    # Nothing of the table: it only keeps the files that others compile.
    "resolver/feed": "resolver/clock resolver/fds resolver/replace resolver/small_file resolver/version resolver/dns resolver/text resolver/sources",

    "policy/log": "resolver/text",
    "policy/rule": "",
    "policy/config": "policy/log resolver/fds resolver/small_file resolver/idn resolver/dns resolver/text resolver/image resolver/answer"
                     " resolver/sources resolver/compile resolver/feed policy/audit policy/decide policy/rule",
    "policy/decide": "policy/rule resolver/clock resolver/dns resolver/image resolver/answer",
    "policy/match": "policy/config policy/decide policy/rule resolver/clock resolver/dns resolver/text"
                    " resolver/image resolver/sources",
    "policy/audit": "policy/rule resolver/clock resolver/checksum resolver/version policy/decide resolver/dns"
                    " resolver/text",
    "policy/status": "policy/match policy/rule resolver/clock resolver/fds resolver/replace resolver/small_file resolver/version policy/decide policy/config policy/log resolver/dns resolver/text resolver/image"
                     " resolver/feed",

    "rules/netlink": "",
    "rules": "rules/netlink policy/config resolver/dns resolver/text",

    "nfq/queue": "resolver/clock",
    "nfq/tls": "resolver/fds resolver/dns resolver/text nfq/process",
    "nfq/packet": "resolver/clock resolver/checksum resolver/version resolver/dns resolver/image resolver/answer"
                  " policy/decide policy/match policy/rule policy/config",
    "nfq/process": "resolver/clock resolver/fds resolver/replace resolver/dns resolver/text resolver/image resolver/sources"
                   " resolver/compile policy/config policy/match policy/audit policy/status policy/log",
    "nfq/handover": "resolver/clock resolver/fds resolver/dns nfq/queue nfq/process policy/config policy/audit policy/status",
    # Opens them; knows nothing of what goes by them.
    "nfq/sockets": "",
    "nfq/thread": "resolver/clock resolver/dns resolver/image resolver/answer policy/audit policy/decide policy/match policy/rule policy/status"
                  " policy/config policy/log nfq/queue nfq/process",
    "nfq/stream": "resolver/clock resolver/dns resolver/image resolver/answer policy/decide policy/match policy/rule policy/audit"
                  " policy/status policy/config policy/log nfq/packet nfq/process"
                  " nfq/handover nfq/sockets nfq/thread nfq/cache nfq/ask nfq/upstream",
    # Shared memory; readers take no lock.
    "nfq/cache": "resolver/clock resolver/fds resolver/replace resolver/dns policy/config",
    # Time, random numbers and all that is sent are the host's: see PURE.
    "nfq/ask": "resolver/clock resolver/dns resolver/answer policy/config policy/status nfq/cache",
    # Knows no packet.
    "nfq/upstream": "resolver/clock resolver/dns policy/config policy/status policy/log nfq/sockets nfq/process nfq/tls nfq/thread"
                    " nfq/cache nfq/ask",
    "nfq/held": "resolver/clock resolver/dns resolver/image resolver/answer policy/audit policy/decide policy/match policy/rule nfq/queue nfq/packet"
                " nfq/thread nfq/ask nfq/upstream",
    # Runs the interception for a question that nobody sends; no queue, no socket.
    "nfq/cli/explain": "resolver/clock resolver/dns resolver/text resolver/image resolver/answer policy/config policy/decide"
                   " policy/match policy/rule policy/status rules nfq/packet nfq/process nfq/ask nfq/cache",
    # Nothing of the sources, and of the configuration only its values.
    "nfq/worker": "resolver/clock resolver/dns resolver/image policy/audit policy/status policy/config policy/log"
                  " policy/decide policy/match policy/rule nfq/queue nfq/packet nfq/process nfq/handover"
                  " nfq/thread nfq/stream nfq/cache nfq/ask nfq/upstream nfq/held nfq/tls",
    # Nothing of the packet, and no questions are parsed.
    "nfq/supervisor": "resolver/fds resolver/small_file resolver/clock resolver/dns resolver/text resolver/image resolver/sources policy/config"
                      " policy/audit policy/status policy/log policy/decide rules nfq/queue"
                      " nfq/process nfq/handover nfq/sockets nfq/tls nfq/stream nfq/cache nfq/held nfq/worker",
    "nfq/feed": "resolver/clock resolver/fds resolver/replace resolver/text resolver/sources resolver/feed policy/config policy/log"
                " policy/status nfq/process",
    # Files of others, read and written; no process but systemctl.
    "nfq/cli/join": "resolver/fds resolver/replace resolver/small_file resolver/text resolver/sources resolver/feed policy/config",
    # Files that anybody may have written, read back.
    "nfq/cli/logs": "resolver/fds resolver/dns resolver/text policy/audit policy/decide nfq/process",
    # The daemon's page as rows and cells; one file knows of a terminal.
    "nfq/cli/doctor": "resolver/clock resolver/version resolver/dns resolver/text resolver/image policy/config policy/decide policy/status"
                  " rules nfq/cli/join nfq/sockets",
    "nfq/cli": "resolver/clock resolver/fds resolver/idn resolver/dns resolver/text resolver/image resolver/sources resolver/listing"
               " policy/config policy/decide policy/match policy/status policy/log policy/audit rules nfq/process nfq/handover nfq/sockets nfq/cache nfq/ask nfq/cli/explain nfq/cli/doctor nfq/cli/logs nfq/supervisor nfq/cli/join",
    "nfq": "resolver/version resolver/text policy/config policy/log nfq/process nfq/tls nfq/supervisor nfq/feed"
           " nfq/cli",
}
# What each holds, and what it may not do: the table in CONTRIBUTING.md (rooms.py --write).
HOLDS = {
    "resolver/clock": "the two clocks and their types. Only event loops read a clock.",
    "resolver/checksum": "the Internet checksum (RFC 1071).",
    "resolver/fds": "descriptors: passed between processes, read and written whole.",
    "resolver/replace": "files that are replaced at one go. It knows nothing of what they hold.",
    "resolver/small_file": "files that are read whole, and what is wrong with them.",
    "resolver/version": "the version, for all programs.",
    "resolver/dns": "names, wire format, records, the question. It uses only libc and knows nothing of "
        "the mesh.",
    "resolver/text": "diagnostics, readers of JSON, YAML, numbers and addresses, the writer of JSON, "
        "suggestions for misspelt words. It knows no DNS.",
    "resolver/idn": "names in UTF-8 to A-labels (libidn2). What reads configurations, sources and "
        "arguments uses it, never the packet path.",
    "resolver/image": "the builder and the flat table image, its check and its look-up. It reads no source "
        "format.",
    "resolver/answer": "the octets of an answer from a look-up. It takes no decision and knows no packet.",
    "resolver/sources": "readers of text and protocol buffers, one file for each format. A reader gets text: "
        "it opens no file and knows nothing of `nfq/`.",
    "resolver/kubernetes": "Kubernetes and Istio objects to names. It reads the JSON that it is given, never the "
        "network.",
    "resolver/compile": "from sources to an image. It logs nothing; errors go into a `diag`.",
    "resolver/listing": "list, get, diff of images. It compiles nothing.",
    "resolver/feed": "the protocols of control planes, from connection to table. It knows no packet, no "
        "image and nothing of `nfq/`.",
    "policy/log": "lines of the log. It uses nothing.",
    "policy/rule": "the values of a rule.",
    "policy/config": "the option table and the reader of the configuration. Only supervisor and commands "
        "read the file.",
    "policy/decide": "facts in; decision and reason out. A pure function: no I/O, no clock.",
    "policy/match": "rules compiled into a section of the image, and matched; rates. Matching is pure: no "
        "system call, no clock, no memory.",
    "policy/audit": "audit records and their files. It takes no decision.",
    "policy/status": "the status page and its printers. It takes no decision.",
    "rules/netlink": "netlink messages. It sees no packet.",
    "rules": "the rule set: build, print, install, verify. It sees no packet.",
    "nfq/queue": "the kernel's packet queue: open, receive, verdicts. It parses no DNS.",
    "nfq/tls": "the program that speaks TLS with upstreams, and its messages. It opens no file and "
        "no socket, and does not read DNS.",
    "nfq/packet": "packet view, checksums, the interception: bytes in, step and reply out. It makes no "
        "system call.",
    "nfq/process": "fork, sandbox, the compiler, printing of diagnostics. It knows no packet and no "
        "rule.",
    "nfq/handover": "what a worker leaves to the next one. It opens no file.",
    "nfq/sockets": "opens IP sockets: relays, upstreams, listeners, the canary. It parses no DNS.",
    "nfq/thread": "what every answering thread shares. It opens no file.",
    "nfq/stream": "DNS over TCP: connections, relay.",
    "nfq/cache": "the cache of what nameservers answered: shared memory, its file. It knows no packet.",
    "nfq/ask": "the engine that asks other nameservers: questions, attempts, probes, answers, what "
        "is known of upstreams. It makes no system call.",
    "nfq/upstream": "what a thread asks upstreams with: UDP ports, connections (TCP, TLS), and an engine "
        "above them. It knows no packet.",
    "nfq/held": "packets that wait in a queue for answers of upstreams.",
    "nfq/cli/explain": "the way of a question that nobody sends, in words and as JSON. It runs the "
        "interception and sends nothing.",
    "nfq/worker": "the worker process: its queue threads, and the main thread, which probes upstreams. "
        "It reads no configuration file and no source.",
    "nfq/supervisor": "start, stop, reload, the worker's life, monitoring, watching files. It parses no "
        "packet.",
    "nfq/feed": "the process of `nfdns-feed`: keeping its table, its status file. It touches no queue and "
        "no rule.",
    "nfq/cli/join": "what `nfdns join` reads, plans and writes. It prints nothing, and runs nothing but "
        "systemctl.",
    "nfq/cli/logs": "packet logs read back for `nfdns log`. Anybody may have written them.",
    "nfq/cli/doctor": "what `nfdns doctor` looks at on a machine. It changes nothing but for a table that "
        "traces its own packets meanwhile.",
    "nfq/cli": "the subcommands of `nfdns`, rows of one table. It parses no source and no packet.",
    "nfq": "`main` of the programs: options and one call.",
}
LEVELS = {"nfq": 8, "resolver": 6}		# rooms above each other, at most

# Functions that a room may not use although it may use theirs.
NEVER = {
    "nfq/worker": {"config_load", "config_parse", "config_again", "config_free"},
    "nfq/supervisor": {"question_parse"},
}

# Rooms that make no system call: what of other libraries they may call.
PURE = {
    "nfq/ask": {"abort", "calloc", "free", "memchr", "memcmp", "memcpy", "memmove", "memset", "strcmp",
                "XXH3_64bits_withSeed"},
}
# What compilers put in by themselves, for hardening and sanitizers.
BUILT_IN = re.compile(r"__|_GLOBAL_OFFSET_TABLE_$")

def room_of(name):
    """The room of resolver/dns/name.c; None outside the shelves."""
    parts = pathlib.PurePosixPath(name).parts
    if parts[0] not in SHELVES or len(parts) < 2:
        return None
    room = "/".join(parts[:-1])
    if room in ROOMS:
        return room
    # A file at the top of a shelf may be a room of its own.
    return f"{room}/{pathlib.PurePosixPath(parts[-1]).stem}"

def circles(graph):
    """The strongly connected parts of a graph that are more than one node (Tarjan)."""
    index, low, stack, on, found = {}, {}, [], set(), []
    def visit(node):
        index[node] = low[node] = len(index)
        stack.append(node)
        on.add(node)
        for other in sorted(graph.get(node, ())):
            if other not in index:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in on:
                low[node] = min(low[node], index[other])
        if low[node] == index[node]:
            part = set()
            while node not in part:
                part.add(stack.pop())
            on.difference_update(part)
            if len(part) > 1:
                found.append(sorted(part))
    for node in sorted(graph):
        if node not in index:
            visit(node)
    return found

def symbols(objects):
    """({symbol: file that defines it}, {file: symbols it uses}) of {file: object}."""
    defined, used = {}, collections.defaultdict(set)
    source = {str(path): name for name, path in objects.items()}
    done = subprocess.run(["nm", "-A", "-P", *source], text=True, check=True,
                          stdout=subprocess.PIPE)
    for line in done.stdout.splitlines():
        path, symbol, kind = line.split()[:3]
        name = source[path.removesuffix(":")]
        if kind == "U":
            used[name].add(symbol)
        elif kind in "TDBRC":
            defined[symbol] = name
    return defined, used

def calls(defined, used):
    """{file: {file: names}}: what each takes from the others."""
    graph = collections.defaultdict(lambda: collections.defaultdict(set))
    for name, wanted in used.items():
        for symbol in wanted & defined.keys():
            if defined[symbol] != name:
                graph[name][defined[symbol]].add(symbol)
    return graph

def levels(graph):
    """How many rooms of a shelf stand above each other, {shelf: levels}."""
    def height(room):
        return 1 + max((height(other) for other in graph.get(room, ())
                        if other != room and other.split("/")[0] == room.split("/")[0]),
                       default=0)
    rooms = {room for room in graph if room in ROOMS}
    return {shelf: max((height(room) for room in rooms if room.split("/")[0] == shelf),
                       default=0) for shelf in SHELVES}

def check(includes, objects):
    """Faults, and figures worth printing.

    includes: {source or header: headers that it includes}; objects: {source:
    object file}."""
    faults, figures, between = [], [], collections.defaultdict(set)
    defined, used = symbols(objects)
    called = calls(defined, used)
    uses = {name: {(header, "includes " + header) for header in headers}
            for name, headers in includes.items()}
    for name, others in called.items():
        for other, wanted in others.items():
            uses.setdefault(name, set()).add((other, f"calls {', '.join(sorted(wanted))} of {other}"))
    for name in sorted(uses):
        here = room_of(name)
        if here is None:
            continue
        if here not in ROOMS:
            faults.append(f"{name}: {here} is no room: tests/lint/rooms.py names all")
            continue
        for other, how in sorted(uses[name]):
            there = room_of(other)
            if there is None or there == here:
                continue
            between[here].add(there)
            if there not in ROOMS[here].split():
                faults.append(f"{name}: {how}; {here} may not use {there}")
    for name, others in called.items():
        forbidden = NEVER.get(room_of(name), set())
        for other, wanted in others.items():
            faults += [f"{name}: calls {symbol}, which {room_of(name)} may not"
                       for symbol in sorted(wanted & forbidden)]
    for name, wanted in used.items():
        if room_of(name) in PURE:
            faults += [f"{name}: calls {symbol}; {room_of(name)} makes no system call"
                       for symbol in sorted(wanted - defined.keys() - PURE[room_of(name)])
                       if not BUILT_IN.match(symbol)]
    rings = circles({name: set(others) for name, others in called.items()})
    faults += ["files call each other in a circle: " + ", ".join(ring) for ring in rings]
    figures.append(f"circles between files: {len(rings)}")
    rings = circles(between)
    faults += ["rooms use each other in a circle: " + ", ".join(ring) for ring in rings]
    figures.append(f"circles between rooms: {len(rings)}")
    if not rings:
        height = levels(between)
        figures.append("levels of rooms: " +
                       ", ".join(f"{shelf} {height[shelf]}" for shelf in SHELVES))
        faults += [f"{shelf}: {height[shelf]} levels of rooms, {most} at most"
                   for shelf, most in LEVELS.items() if height[shelf] > most]
    return faults, figures

def table():
    """HOLDS, as CONTRIBUTING.md has it."""
    return "| room | holds, and what it may not do |\n|---|---|\n" + \
        "".join(f"| `{room}` | {HOLDS[room]} |\n" for room in ROOMS)

def written(text):
    """CONTRIBUTING.md with the table as it is now."""
    return re.sub(r"\| room \|.*\n(\|.*\n)+", lambda _: table(), text)

if __name__ == "__main__":
    page = pathlib.Path(__file__).resolve().parents[2] / "CONTRIBUTING.md"
    page.write_text(written(page.read_text()))

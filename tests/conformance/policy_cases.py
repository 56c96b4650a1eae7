# SPDX-License-Identifier: GPL-2.0-or-later
"""What test_policy_cases needs: names and records as octets, the nameserver behind, and a
daemon with a group's zones and rules."""
import atexit
import contextlib
import functools
import pathlib
import re
import sys

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent.parent / part) for part in ("net", "")]
import shared  # noqa: E402,F401
from streamlab import *  # noqa: E402,F401,F403
from streamlab import (Daemon, Lab, Nameserver, StreamNameserver,  # noqa: F401
                       address_octets, dnswire, require_queue)

CLIENTS, SERVER, UPSTREAM_PORT = ("10.99.0.1", "10.99.0.11"), "10.99.0.2", 5300
HEAD = "$TTL 300\n@ SOA localhost. root.localhost. 7 3600 600 86400 60\n@ NS localhost.\n"
NUMBERS = {**dnswire.TYPES, "DS": 43}


def labels_of(text):
    """Octets of labels of a name with the escapes of RFC 1035 section 5.1."""
    labels, label = [], b""
    for part in re.findall(r"\\\d{3}|\\.|.", text):
        if part == ".":
            labels.append(label)
            label = b""
        else:
            label += bytes([int(part[1:])]) if len(part) == 4 else part[-1:].encode("latin-1")
    return [one for one in (*labels, label) if one]


def name_octets(text):
    return b"".join(bytes([len(one)]) + one for one in labels_of(text)) + b"\0"


def number_of(kind):
    return NUMBERS[kind] if kind in NUMBERS else int(kind.removeprefix("TYPE"))


def rdata_octets(kind, text):
    words = text.split()
    if kind in ("A", "AAAA"):
        return address_octets(text)
    if kind in ("CNAME", "NS", "PTR"):
        return name_octets(text).lower()
    if kind == "TXT":
        text = text.strip('"').encode()
        return bytes([len(text)]) + text
    if kind == "MX":
        return struct.pack("!H", int(words[0])) + name_octets(words[1])
    if kind == "SRV":
        return struct.pack("!3H", *map(int, words[:3])) + name_octets(words[3])
    if (kind, text) == ("HTTPS", '1 . alpn="h2"'):
        return b"\0\1\0\0\1\0\3\2h2"
    raise ValueError(f"{kind} {text}")


def record_octets(owner, kind, text):
    """(owner, number of the type, data), comparable with Answer's records."""
    return name_octets(owner).lower(), number_of(kind), rdata_octets(kind, text)


class Answer(dnswire.Message):
    """A message whose records have names as octets, too: wire_name, plain (the data)."""

    def __init__(self, octets):
        super().__init__(octets)
        for record in (*self.answer, *self.authority):
            record.number = NUMBERS.get(record.type) or int(record.type.removeprefix("TYPE"))
            record.wire_name = self._lower(record.name)
            record.plain = self._lower(record.data) if record.type in ("CNAME", "NS", "PTR") else \
                record.octets

    @staticmethod
    def _lower(name):
        # The names of these cases have no dot within a label but "a\.b", asked as it is.
        return dnswire.name_octets(name).lower()

    def records(self):
        return sorted((r.wire_name, r.number, r.plain) for r in self.answer)

    def is_real(self):
        """Whether it is the nameserver's, which has all its answers with this record."""
        return any(r.type == "SOA" and r.data[0] == "real." for r in self.authority)

    def ede(self):
        octets = self.opt.octets if self.opt is not None else b""
        while octets:
            code, length = struct.unpack_from("!2H", octets)
            if code == 15:
                return struct.unpack_from("!H", octets, 4)[0]
            octets = octets[4 + length:]
        return None

    def said(self):
        return f"{self.rcode_name}{' TC' if self.flag(dnswire.TC) else ''} {self.answer[:4]}" \
               f"{' of the nameserver' if self.is_real() else ''}"


def question_of(case):
    flags = (dnswire.RD if case.get("rd", True) else 0) | (dnswire.CD if case.get("cd") else 0) | \
        (dnswire.AD if case.get("ad") else 0)
    edns = case.get("edns") or (1232 if case.get("do") else None)
    octets = struct.pack("!6H", 0x4e46, flags, 1, 0, 0, edns is not None)
    octets += name_octets(case["q"]) + struct.pack("!2H", number_of(case["t"]), 1)
    if edns is not None:
        octets += b"\0" + struct.pack("!HHIH", 41, edns, 0x8000 if case.get("do") else 0, 0)
    return octets


class Real:
    """The nameserver behind: a group's records, wildcards, CNAMEs followed."""

    def __init__(self, lines):
        self.records = {}
        for line in lines:
            owner, ttl, kind, data = line.split(None, 3)
            self.records.setdefault(name_octets(owner).lower(), []).append(
                (number_of(kind), int(ttl), rdata_octets(kind, data)))

    def at(self, name):
        if name in self.records:
            return self.records[name]
        if any(other.endswith(name) and other != name for other in self.records):
            return []
        while len(name) > 1:
            name = name[1 + name[0]:]
            if b"\1*" + name in self.records:
                return self.records[b"\1*" + name]
        return None

    def answer(self, octets, _source=None):
        end = 12
        while octets[end]:
            end += 1 + octets[end]
        name, (kind,) = octets[12:end + 1], struct.unpack_from("!H", octets, end + 1)
        out, count, seen = b"", 0, set()
        while name.lower() not in seen:
            seen.add(name.lower())
            found = self.at(name.lower())
            chosen = [r for r in found or () if kind in (r[0], 255)] or \
                [r for r in found or () if r[0] == 5]
            for number, ttl, data in chosen:
                out += name + struct.pack("!HHIH", number, 1, ttl, len(data)) + data
                count += 1
            if not chosen or chosen[0][0] != 5 or kind in (5, 255):
                break
            name = chosen[0][2]
        soa = b"\4real\0\0" + struct.pack("!5I", 1, 2, 3, 4, 5)
        flags = dnswire.QR | dnswire.RA | octets[2] << 8 & dnswire.RD | (3 if found is None else 0)
        return octets[:2] + struct.pack("!5H", flags, 1, count, 1, 0) + octets[12:end + 5] + out + \
            b"\0" + struct.pack("!HHIH", 6, 1, 5, len(soa)) + soa


def zone_text(zone):
    if "text" in zone:
        return zone["text"]
    if "file" in zone:
        return (shared.TOP / "packaging" / zone["file"]).read_text()
    if "generate" in zone:
        made = zone["generate"]
        return HEAD + "".join(made["line"] % n + "\n" for n in range(made["count"]))
    return "\n".join(zone["lines"]) + "\n"


class Laboratory:
    """One for all groups, with what they share."""

    def __init__(self):
        self.lab = Lab()
        atexit.register(self.lab.close)
        require_queue(self.lab.vm)
        for address in CLIENTS:
            self.lab.vm.ip("addr", "add", f"{address}/24", "dev", "vm0")
        self.lab.ns.ip("addr", "add", f"{SERVER}/24", "dev", "ns0")
        self.real = Real([])
        for port in (53, UPSTREAM_PORT):
            Nameserver(self.lab.ns, SERVER, lambda *given: self.real.answer(*given), port)
            StreamNameserver(self.lab.ns, SERVER, lambda octets: self.real.answer(octets),
                             port=port)


laboratory = functools.cache(Laboratory)


class Scene:
    """A daemon for a group, which load() begins or reloads."""

    def __init__(self, group):
        self.shared = laboratory()
        self.lab = self.shared.lab
        self.real = self.shared.real = Real(group["real"]["records"])
        self.daemon = Daemon(self.lab, tables="")
        self.base = self.daemon.config.read_text()
        for name, text in group.get("plain", {}).items():
            (self.daemon.directory / name).write_text(text)

    def load(self, group, step):
        """(whether it loads, what was said)"""
        rules, zones = [], step.get("zones", group.get("zones", []))
        if "policy_defaults" in group.get("conf", ""):		# today these are zones
            group = {**group, "conf": ""}
            zones = [{"name": name, "origin": "rpz", "file": f"{name}-names.rpz"}
                     for name in ("special", "private")]
        for zone in zones:
            path = self.daemon.directory / f"{zone['name']}.rpz"
            path.write_bytes(zone_text(zone).encode())
            rules.append(f'{{ name = "{zone["name"]}"; format = "rpz"; path = "{path}"; origin ='
                         f' "{zone["origin"]}"; {zone.get("options", "")} }}')
        rules += step.get("rules", group.get("rules", []))
        config = self.base.replace("tables = (  );", f"tables = ( {group.get('tables', '')} );")
        config += f"{group.get('conf', '')}\npolicy = ( {', '.join(rules)} );\n"
        self.daemon.config.write_text(config.replace("@D@", str(self.daemon.directory)))
        checked = self.daemon.nfdns("check")
        if checked.returncode != 0:
            return False, checked.stdout + checked.stderr
        if self.daemon.process is None:
            self.daemon.start()
        else:
            self.daemon.nfdns("reload", ok=0)
        return True, checked.stdout + checked.stderr

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.daemon.process is not None:
            with contextlib.suppress(OSError):
                self.daemon.stop()

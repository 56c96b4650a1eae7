# SPDX-License-Identifier: GPL-2.0-or-later
"""As much of the DNS's wire format as the tests need, written apart from the
program's own so that both do not err alike."""
import ipaddress
import random
import struct

TYPES = {"A": 1, "NS": 2, "CNAME": 5, "SOA": 6, "PTR": 12, "MX": 15, "TXT": 16,
         "AAAA": 28, "SRV": 33, "OPT": 41, "SVCB": 64, "HTTPS": 65, "ANY": 255,
         "HINFO": 13}
TYPE_NAMES = {number: name for name, number in TYPES.items()}
RCODES = {0: "NOERROR", 1: "FORMERR", 2: "SERVFAIL", 3: "NXDOMAIN", 4: "NOTIMP",
          5: "REFUSED", 16: "BADVERS"}
QR, AA, TC, RD, RA, Z, AD, CD = (0x8000, 0x0400, 0x0200, 0x0100, 0x0080, 0x0040,
                                 0x0020, 0x0010)


def name_octets(name):
    out = b""
    for label in name.rstrip(".").split("."):
        if label:
            octets = label.encode("latin-1")
            out += bytes([len(octets)]) + octets
    return out + b"\0"


def query(name, kind="A", ident=None, flags=RD, edns=None, dnssec=False, klass=1):
    """edns: the client's UDP size, or None for a question without OPT."""
    if ident is None:
        ident = random.randrange(65536)
    number = TYPES[kind] if isinstance(kind, str) else kind
    octets = struct.pack("!6H", ident, flags, 1, 0, 0, 0 if edns is None else 1)
    octets += name_octets(name) + struct.pack("!2H", number, klass)
    if edns is not None:
        octets += b"\0" + struct.pack("!HHIH", 41, edns, 0x8000 if dnssec else 0, 0)
    return octets


class Record:
    def __init__(self, name, kind, klass, ttl, data, octets):
        self.name, self.type, self.klass, self.ttl = name, kind, klass, ttl
        self.data, self.octets = data, octets

    def __repr__(self):
        return f"{self.name} {self.ttl} {self.type} {self.data}"


class Message:
    """A parsed message; ValueError or struct.error where it is none."""

    def __init__(self, octets):
        self.octets = octets
        (self.id, self.flags, questions, *counts) = struct.unpack_from("!6H", octets)
        self.rcode = self.flags & 15
        at = 12
        self.questions = []
        for _ in range(questions):
            name, at = self._name(at)
            kind, klass = struct.unpack_from("!2H", octets, at)
            at += 4
            self.questions.append((name, TYPE_NAMES.get(kind, f"TYPE{kind}"), klass))
        self.question_end = at
        sections = []
        for count in counts:
            records = []
            for _ in range(count):
                record, at = self._record(at)
                records.append(record)
            sections.append(records)
        self.end = at
        self.answer, self.authority, self.additional = sections
        opts = [r for r in self.additional if r.type == "OPT"]
        self.opt = opts[0] if opts else None
        if self.opt is not None:
            self.rcode |= self.opt.ttl >> 24 << 4

    @property
    def rcode_name(self):
        return RCODES.get(self.rcode, str(self.rcode))

    def flag(self, bit):
        return bool(self.flags & bit)

    def data(self, kind):
        """The rdata of the answers of one type, in their order."""
        return [r.data for r in self.answer if r.type == kind]

    def _name(self, at):
        labels, end, hops = [], None, 0
        while True:
            length = self.octets[at]
            if length & 0xc0 == 0xc0:
                hops += 1
                if hops > 127:
                    raise ValueError("a loop of pointers")
                if end is None:
                    end = at + 2
                at = struct.unpack_from("!H", self.octets, at)[0] & 0x3fff
                continue
            if length & 0xc0:
                raise ValueError("a label type that does not exist")
            at += 1
            if length == 0:
                break
            if at + length > len(self.octets):
                raise ValueError("a name that is cut off")
            labels.append(self.octets[at:at + length].decode("latin-1"))
            at += length
        return ".".join(labels) + ".", end if end is not None else at

    def _record(self, at):
        name, at = self._name(at)
        number, klass, ttl, length = struct.unpack_from("!HHIH", self.octets, at)
        at += 10
        octets = self.octets[at:at + length]
        if len(octets) != length:
            raise ValueError("a record that is cut off")
        kind = TYPE_NAMES.get(number, f"TYPE{number}")
        if kind in ("A", "AAAA"):
            data = str(ipaddress.ip_address(octets))
        elif kind in ("CNAME", "NS", "PTR"):
            data = self._name(at)[0]
        elif kind == "SOA":
            mname, after = self._name(at)
            rname, after = self._name(after)
            data = (mname, rname, *struct.unpack_from("!5I", self.octets, after))
        elif kind == "SRV":
            data = (*struct.unpack_from("!3H", octets), self._name(at + 6)[0])
        elif kind == "TXT":
            data = octets[1:1 + octets[0]].decode("latin-1") if octets else ""
        else:
            data = octets
        return Record(name, kind, klass, ttl, data, octets), at + length


def reply(octets, records=(), rcode=0, flags=0, answers_owner=None):
    """A reply as miekg/dns SetReply makes it: RD copied, no OPT, no compression.

    records: (type, ttl, rdata octets[, owner]); owner is the question's name unless given.
    """
    message = Message(octets)
    out = struct.pack("!6H", message.id, QR | message.flags & (RD | 0x7800) | flags | rcode,
                      len(message.questions), len(records), 0, 0)
    out += octets[12:message.question_end]
    for kind, ttl, rdata, *own in records:
        given = own[0] if own else answers_owner
        owner = name_octets(given) if given else b"\xc0\x0c"
        out += owner + struct.pack("!HHIH", TYPES[kind], 1, ttl, len(rdata)) + rdata
    return out

# SPDX-License-Identifier: GPL-2.0-or-later
"""Records between master-file text and wire format, for the forwarding cases."""
import base64
import calendar
import ipaddress
import re
import struct
import time

TYPES = {"A": 1, "NS": 2, "CNAME": 5, "SOA": 6, "PTR": 12, "HINFO": 13, "MX": 15, "TXT": 16,
         "SIG": 24, "AAAA": 28, "SRV": 33, "NAPTR": 35, "DNAME": 39, "OPT": 41, "DS": 43,
         "RRSIG": 46, "NSEC": 47, "DNSKEY": 48, "NSEC3": 50, "SVCB": 64, "HTTPS": 65, "SPF": 99,
         "IXFR": 251, "AXFR": 252, "ANY": 255, "CAA": 257}
CLASSES = {"IN": 1, "CH": 3, "HS": 4, "ANY": 255}
RCODES = {"NOERROR": 0, "FORMERR": 1, "SERVFAIL": 2, "NXDOMAIN": 3, "NOTIMP": 4, "REFUSED": 5,
          "YXDOMAIN": 6, "YXRRSET": 7, "NXRRSET": 8, "NOTAUTH": 9, "NOTZONE": 10, "BADVERS": 16}
FLAGS = {"qr": 0x8000, "aa": 0x0400, "tc": 0x0200, "rd": 0x0100, "ra": 0x0080, "ad": 0x0020,
         "cd": 0x0010}
# Fields of the types whose data hold names: N a name, digits octets of a number.
LAYOUT = {2: "N", 5: "N", 12: "N", 39: "N", 6: "NN44444", 15: "2N", 33: "222N",
          46: "*18N*", 47: "N*"}


def number_of(table, text):
    text = text.upper()
    if text in table:
        return table[text]
    if re.fullmatch(r"(TYPE|CLASS|RCODE)\d+", text):
        return int(re.sub(r"\D", "", text))
    return int(text)


def name_octets(text):
    out = b""
    for label in re.findall(r"(?:[^.\\]|\\\d\d\d|\\.)+", text.rstrip(".")):
        octets = re.sub(r"\\(\d\d\d|.)", lambda m: chr(int(m[1])) if len(m[1]) == 3 else m[1], label)
        out += bytes([len(octets)]) + octets.encode("latin-1")
    return out + b"\0"


def moment(text):
    return calendar.timegm(time.strptime(text, "%Y%m%d%H%M%S")) if len(text) == 14 else int(text)


def strings(words):
    return b"".join(bytes([len(w)]) + w for w in
                    (word.strip('"').encode("latin-1") for word in words))


def rdata_octets(kind, words):
    """Wire data, names uncompressed, of a type's words."""
    if words and words[0] == "\\#":
        return bytes.fromhex("".join(words[2:]))
    if kind == 1:
        return ipaddress.IPv4Address(words[0]).packed
    if kind == 28:
        return ipaddress.IPv6Address(words[0]).packed
    if kind in (16, 13, 99):
        return strings(words)
    if kind == 46:
        return (struct.pack("!HBBIIIH", number_of(TYPES, words[0]), int(words[1]), int(words[2]),
                            int(words[3]), moment(words[4]), moment(words[5]), int(words[6])) +
                name_octets(words[7]) + base64.b64decode("".join(words[8:]) + "=="))
    if kind == 47:
        out = name_octets(words[0])
        bits = bytearray(32)
        for word in words[1:]:
            number = number_of(TYPES, word)
            if number < 256:
                bits[number // 8] |= 0x80 >> number % 8
        return out + b"\0\x20" + bytes(bits)
    if kind in LAYOUT:
        out = b""
        for field, word in zip(LAYOUT[kind], words):
            out += name_octets(word) if field == "N" else int(word).to_bytes(int(field), "big")
        return out
    if kind in (64, 65):
        return struct.pack("!H", int(words[0])) + name_octets(words[1])
    if kind == 257:
        return bytes([int(words[0]), len(words[1])]) + words[1].encode() + words[2].strip('"').encode()
    if kind == 43:
        return struct.pack("!HBB", *map(int, words[:3])) + bytes.fromhex("".join(words[3:]))
    return b" ".join(w.encode("latin-1") for w in words)


class Record:
    """A record: name and data as octets, names in them in lower case."""

    def __init__(self, name, kind, klass, ttl, data):
        self.name, self.type, self.klass, self.ttl, self.data = name, kind, klass, ttl, data

    @classmethod
    def text(cls, line):
        words = re.findall(r'"(?:[^"\\]|\\.)*"|\S+', line)
        name = words.pop(0)
        ttl = int(words.pop(0)) if words[0].isdigit() else 0
        klass = CLASSES[words.pop(0)] if words[0] in CLASSES else 1
        kind = number_of(TYPES, words.pop(0))
        return cls(name_octets(name), kind, klass, ttl, rdata_octets(kind, words))

    def octets(self):
        return (self.name + struct.pack("!HHIH", self.type, self.klass, self.ttl, len(self.data)) +
                self.data)

    def key(self, ttl=True):
        return (self.name.lower(), self.type, self.klass, self.ttl if ttl else None,
                lower_names(self.type, self.data))

    def __repr__(self):
        kind = {v: k for k, v in TYPES.items()}.get(self.type, self.type)
        return f"{text_of(self.name)} {self.ttl} {kind} {self.data.hex()}"


def lower_names(kind, data):
    return data.lower() if kind in LAYOUT else data


def text_of(name):
    out, at = [], 0
    while name[at]:
        out.append(name[at + 1:at + 1 + name[at]].decode("latin-1"))
        at += 1 + name[at]
    return ".".join(out) + "."


class Message:
    """A parsed message; ValueError where it is none."""

    def __init__(self, octets):
        if len(octets) < 12:
            raise ValueError("shorter than a header")
        self.octets = octets
        self.id, self.flags, *counts = struct.unpack_from("!6H", octets)
        self.rcode = self.flags & 15
        self.question, self.type, self.klass, self.opt, self.opts = None, None, None, None, 0
        at = 12
        for _ in range(counts[0]):
            self.question, at = self.name(at)
            self.type, self.klass = self.unpack("!2H", at)
            at += 4
        self.answer, self.authority, self.additional = [], [], []
        for section, count in zip((self.answer, self.authority, self.additional), counts[1:]):
            for _ in range(count):
                at = self.record(section, at)

    def unpack(self, form, at):
        if at + struct.calcsize(form) > len(self.octets):
            raise ValueError("cut off")
        return struct.unpack_from(form, self.octets, at)

    def name(self, at):
        out, end, first = b"", None, at
        while True:
            (length,) = self.unpack("!B", at)
            if length >= 0xc0:
                target = self.unpack("!H", at)[0] & 0x3fff
                end = at + 2 if end is None else end
                if target >= first:
                    raise ValueError("a pointer that does not point back")
                at = first = target
                continue
            if at + 1 + length > len(self.octets):
                raise ValueError("a name that does not end")
            out += self.octets[at:at + 1 + length]
            at += 1 + length
            if not length:
                return out, at if end is None else end

    def record(self, section, at):
        name, at = self.name(at)
        kind, klass, ttl, length = self.unpack("!HHIH", at)
        at += 10
        if at + length > len(self.octets):
            raise ValueError("data cut off")
        if kind == 41:
            self.opts += 1
            self.opt = {"size": klass, "version": ttl >> 16 & 255, "do": bool(ttl & 0x8000),
                        "options": {}}
            self.rcode |= ttl >> 24 << 4
            self.options(self.octets[at:at + length])
        else:
            section.append(Record(name, kind, klass, ttl, self.data(kind, at, length)))
        return at + length

    def options(self, octets):
        at = 0
        while at + 4 <= len(octets):
            code, length = struct.unpack_from("!2H", octets, at)
            self.opt["options"][code] = octets[at + 4:at + 4 + length]
            at += 4 + length

    def data(self, kind, at, length):
        """The data with its names in full."""
        out, end = b"", at + length
        for field in LAYOUT.get(kind, "*").replace("*18", "R"):
            if field == "N":
                name, at = self.name(at)
                out += name
            else:
                n = 18 if field == "R" else end - at if field == "*" else int(field)
                out += self.octets[at:at + n]
                at += n
        return out

    def ede(self):
        option = self.opt and self.opt["options"].get(15)
        return struct.unpack_from("!H", option)[0] if option else None


def opt_octets(size, do=False, options=(), rcode=0):
    data = b"".join(struct.pack("!2H", code, len(value)) + value for code, value in options)
    return b"\0" + struct.pack("!HHIH", 41, size, rcode >> 4 << 24 | 0x8000 * bool(do),
                               len(data)) + data

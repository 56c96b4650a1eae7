# SPDX-License-Identifier: GPL-2.0-or-later
"""Forms of a question: messages in which some nameserver may find the question for a
name, whatever stands around it.  Each form is a function (name, type) that gives the
octets of a message; names of functions are names of forms."""
import struct

from dnswire import TYPES, name_octets

PAD = 8300			# octets, more than the queue copies of a packet
ALLOWED = "ok.example"		# that a form may need beside the name


def header(flags=0x0100, qd=1, an=0, ns=0, ar=0, ident=0x4a4a):
    return struct.pack("!6H", ident, flags, qd, an, ns, ar)


def question(name, kind, klass=1):
    return name_octets(name) + struct.pack("!2H", TYPES[kind], klass)


def record(kind, data, owner=b"\0", klass=1, ttl=0, length=None):
    return owner + struct.pack("!HHIH", kind, klass, ttl,
                               len(data) if length is None else length) + data


def option(code, data, length=None):
    return struct.pack("!2H", code, len(data) if length is None else length) + data


def opt(options=b"", owner=b"\0", version=0, size=1232, length=None):
    return record(41, options, owner, size, version << 16, length)


KEY = name_octets("key.example")
TSIG = record(250, name_octets("hmac-sha256") + struct.pack("!HIHH", 0, 0x60000000, 300, 16) +
              bytes(16) + struct.pack("!3H", 0x4a4a, 0, 0), KEY, 255)
SIG0 = record(24, struct.pack("!HBBIIIH", 0, 5, 0, 0, 0x7fffffff, 0, 1) + KEY + bytes(64),
              b"\0", 255)
A = record(1, b"\xc0\0\2\7", b"\xc0\x0c", 1, 9)


def made(flags=0x0100, behind=b"", klass=1, **counts):
    return lambda name, kind: header(flags, **counts) + question(name, kind, klass) + behind


def cut_after_name(name, kind):
    return header() + question(name, kind)[:-2]


def pointer_back(name, kind):
    """The name ends with a pointer to a zero octet of the header."""
    return header() + name_octets(name)[:-1] + b"\xc0\x08" + struct.pack("!2H", TYPES[kind], 1)


def pointer_ahead(name, kind):
    """All of the name stands behind the question."""
    return header() + b"\xc0\x12" + struct.pack("!2H", TYPES[kind], 1) + name_octets(name)


def pointer_middle(name, kind):
    """The first label, then a pointer to the rest behind the question."""
    octets = name_octets(name)
    first = octets[:1 + octets[0]]
    at = 12 + len(first) + 2 + 4
    return (header() + first + struct.pack("!H", 0xc000 | at) + struct.pack("!2H", TYPES[kind], 1) +
            octets[len(first):])


def pointer_twice(name, kind):
    octets = name_octets(name)
    first = octets[:1 + octets[0]]
    at = 12 + len(first) + 2 + 4
    return (header() + first + struct.pack("!H", 0xc000 | at) + struct.pack("!2H", TYPES[kind], 1) +
            struct.pack("!H", 0xc000 | at + 2) + octets[len(first):])


def second_question(name, kind):
    return header(qd=2) + question(ALLOWED, kind) + question(name, kind)


def two_questions(name, kind):
    return header(qd=2) + question(name, kind) + question(ALLOWED, kind)


def upper_case(name, kind):
    return header() + question(name.upper(), kind)


def dot_in_label(name, kind):
    octets = name.encode()
    return header() + bytes([len(octets)]) + octets + b"\0" + struct.pack("!2H", TYPES[kind], 1)


FORMS = {
    "plain": made(),
    "plain-edns": made(behind=opt(), ar=1),
    "class-any": made(klass=255),
    "class-none": made(klass=254),
    "class-ch": made(klass=3),
    "class-hs": made(klass=4),
    "class-0": made(klass=0),
    "class-any-edns": made(klass=255, behind=opt(), ar=1),
    "tsig": made(behind=TSIG, ar=1),
    "opt-tsig": made(behind=opt() + TSIG, ar=2),
    "tsig-not-last": made(behind=TSIG + opt(), ar=2),
    "tsig-in-answer": made(behind=TSIG, an=1),
    "sig0": made(behind=SIG0, ar=1),
    "opt-sig0": made(behind=opt() + SIG0, ar=2),
    "opt-with-owner": made(behind=opt(owner=KEY), ar=1),
    "opt-in-answer": made(behind=opt(), an=1),
    "opt-in-authority": made(behind=opt(), ns=1),
    "opt-twice": made(behind=opt() * 2, ar=2),
    "opt-option-overruns": made(behind=opt(option(10, b"12345678", 99)), ar=1),
    "opt-option-cut": made(behind=opt(b"\0\x0a"), ar=1),
    "opt-rdlength-overruns": made(behind=opt(length=77), ar=1),
    "opt-rdlength-cut": made(behind=opt()[:-1], ar=1),
    "opt-version-1": made(behind=opt(version=1), ar=1),
    "opt-version-255": made(behind=opt(version=255), ar=1),
    "opt-bad-cookie": made(behind=opt(option(10, b"123")), ar=1),
    "opt-bad-subnet": made(behind=opt(option(8, b"\0\1\xff\xff\1")), ar=1),
    "opt-keepalive": made(behind=opt(option(11, b"")), ar=1),
    "opt-bad-keepalive": made(behind=opt(option(11, b"1")), ar=1),
    "opt-40-options": made(behind=opt(option(65001, b"x") * 40), ar=1),
    "opt-padded": made(behind=opt(option(12, bytes(PAD))), ar=1),
    "opt-padded-4000": made(behind=opt(option(12, bytes(4000))), ar=1),
    "additional-40": made(behind=A * 40, ar=40),
    "additional-20-opt": made(behind=A * 20 + opt(), ar=21),
    "answer-record": made(behind=A, an=1),
    "authority-record": made(behind=A, ns=1),
    "arcount-too-many": made(ar=1),
    "arcount-too-many-opt": made(behind=opt(), ar=2),
    "arcount-too-few": made(behind=opt(), ar=0),
    "ancount-too-many": made(an=1),
    "nscount-too-many": made(ns=1),
    "counts-65535": made(an=65535, ns=65535, ar=65535),
    "record-cut": made(behind=A[:-2], ar=1),
    "record-loops": made(behind=record(1, b"\1\2\3\4", b"\xc0\x21"), ar=1),
    "record-bad-label": made(behind=record(1, b"\1\2\3\4", b"\x80\0"), ar=1),
    "trailing-octet": made(behind=b"\0"),
    "trailing-octets": made(behind=b"\xff" * 700),
    "trailing-8300": made(behind=b"\0" * PAD),
    "qdcount-2": two_questions,
    "qdcount-2-second": second_question,
    "qdcount-2-one": made(qd=2),
    "qdcount-65535": made(qd=65535),
    "qdcount-0": made(qd=0),
    "opcode-iquery": made(0x0900),
    "opcode-status": made(0x1100),
    "opcode-notify": made(0x2100),
    "opcode-update": made(0x2900),
    "opcode-dso": made(0x3100),
    "opcode-15": made(0x7900),
    "qr": made(0x8100),
    "qr-opt": made(0x8100, behind=opt(), ar=1),
    "all-flags": made(0x07ff & ~0x000f),
    "rcode": made(0x010f),
    "tc": made(0x0300),
    "no-rd": made(0),
    "pointer-back": pointer_back,
    "pointer-ahead": pointer_ahead,
    "pointer-middle": pointer_middle,
    "pointer-twice": pointer_twice,
    "upper-case": upper_case,
    "dot-in-label": dot_in_label,
    "cut-after-name": cut_after_name,
}


def framed(message):
    return struct.pack("!H", len(message)) + message

# SPDX-License-Identifier: GPL-2.0-or-later
"""Messages and packets, good and hostile, made from a seed: the same on every machine.

Each is of a kind, which its name says.  "queries" are questions that some nameserver
answers, "responses" are answers, "hostile" is what a strict parser rejects, "packets"
are IPv4 and IPv6 packets to a DNS port or near one.  tests/shared.py writes them as
files with a 16-bit length before each; "python3 tests/corpus.py" counts the kinds.
"""
import collections
import random
import struct

SEED = 53
EACH = {"queries": 60, "responses": 60, "hostile": 40, "packets": 40}	# of a kind
A, NS, CNAME, SOA, PTR, MX, TXT, AAAA, SRV, OPT, HTTPS, TSIG, SIG = (
    1, 2, 5, 6, 12, 15, 16, 28, 33, 41, 65, 250, 24)
TYPES = {"a": A, "ns": NS, "cname": CNAME, "soa": SOA, "ptr": PTR, "mx": MX, "txt": TXT,
         "aaaa": AAAA, "srv": SRV, "naptr": 35, "ds": 43, "dnskey": 48, "tlsa": 52,
         "svcb": 64, "https": HTTPS, "caa": 257, "any": 255, "axfr": 252, "unknown": 65280}
LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789-_"


class Maker:
    def __init__(self, seed=SEED):
        self.random = random.Random(seed)

    def octets(self, count):
        return self.random.randbytes(count)

    def label(self, length=None):
        length = length or self.random.randint(1, 12)
        return "".join(self.random.choice(LETTERS) for _ in range(length)).encode()

    def name(self, labels=None):
        zone = self.random.choice((b"mesh.example", b"svc.cluster.local", b"corp.example", b"test"))
        return [*(self.label() for _ in range(labels or self.random.randint(1, 4))),
                *zone.split(b".")]

    # Parts of messages.

    @staticmethod
    def wire(labels):
        return b"".join(bytes([len(label)]) + label for label in labels) + b"\0"

    def header(self, flags=0x0100, qd=1, an=0, ns=0, ar=0):
        return struct.pack("!6H", self.random.randrange(65536), flags, qd, an, ns, ar)

    def question(self, labels=None, kind=A, klass=1):
        return self.wire(self.name() if labels is None else labels) + struct.pack("!2H", kind, klass)

    @staticmethod
    def record(kind, data, owner=b"\xc0\x0c", klass=1, ttl=60, length=None):
        return owner + struct.pack("!2HIH", kind, klass, ttl, len(data) if length is None else length) + data

    @staticmethod
    def option(code, data, length=None):
        return struct.pack("!2H", code, len(data) if length is None else length) + data

    def opt(self, options=b"", ttl=0, owner=b"\0", length=None):
        return self.record(OPT, options, owner, self.random.choice((512, 1232, 4096)), ttl, length)

    def query(self, labels=None, kind=A, klass=1, flags=0x0100, behind=b"", **counts):
        return self.header(flags, **counts) + self.question(labels, kind, klass) + behind

    # Questions.

    def queries(self):
        for word, kind in TYPES.items():
            yield f"type-{word}", lambda kind=kind: self.query(kind=kind)
        for word, klass in (("chaos", 3), ("hesiod", 4), ("none", 254), ("any", 255)):
            yield f"class-{word}", lambda klass=klass: self.query(klass=klass)
        for word, flags in (("no-rd", 0), ("cd", 0x0110), ("ad", 0x0120), ("z", 0x0140), ("aa", 0x0500)):
            yield f"flags-{word}", lambda flags=flags: self.query(flags=flags)
        for word, labels in (
                ("root", lambda: []), ("one-label", lambda: [self.label()]),
                ("label-63", lambda: [self.label(63), b"test"]),
                ("name-255", lambda: [self.label(61), self.label(63), self.label(63), self.label(63)]),
                ("labels-127", lambda: [self.label(1) for _ in range(127)]),
                ("mixed-case", lambda: [self.label().title(), b"MESH", b"eXample"]),
                ("underscores", lambda: [b"_http", b"_tcp", *self.name(1)]),
                ("punycode", lambda: [b"xn--" + self.label(9), b"example"]),
                ("octets", lambda: [self.octets(9), b"example"]),
                ("dot-in-label", lambda: [b"a.b", b"example"]),
                ("reverse4", lambda: [*(str(n).encode() for n in self.octets(4)), b"in-addr", b"arpa"]),
                ("reverse6", lambda: [*(f"{n & 15:x}".encode() for n in self.octets(32)), b"ip6", b"arpa"]),
                ("search-list", lambda: [*self.name(2), b"shop", b"svc", b"cluster", b"local"])):
            yield f"name-{word}", lambda labels=labels: self.query(labels())
        for word, options in (
                ("none", lambda: b""), ("cookie", lambda: self.option(10, self.octets(8))),
                ("cookies", lambda: self.option(10, self.octets(24))),
                ("subnet4", lambda: self.option(8, b"\0\1\x18\0" + self.octets(3))),
                ("subnet6", lambda: self.option(8, b"\0\2\x38\0" + self.octets(7))),
                ("padding", lambda: self.option(12, bytes(self.random.randrange(300)))),
                ("nsid", lambda: self.option(3, b"")), ("keepalive", lambda: self.option(11, b"")),
                ("unknown", lambda: self.option(65001, self.octets(5))),
                ("several", lambda: self.option(3, b"") + self.option(10, self.octets(8)) +
                    self.option(12, bytes(32)))):
            yield f"edns-{word}", lambda options=options: self.query(behind=self.opt(options()), ar=1)
        yield "edns-do", lambda: self.query(behind=self.opt(ttl=0x8000), ar=1)
        yield "edns-version", lambda: self.query(behind=self.opt(ttl=0x10000), ar=1)
        yield "two-questions", lambda: self.query(behind=self.question(), qd=2)
        yield "two-opt", lambda: self.query(behind=self.opt() + self.opt(), ar=2)
        yield "tsig", lambda: self.query(behind=self.signature(TSIG), ar=1)
        yield "sig0", lambda: self.query(behind=self.signature(SIG), ar=1)
        yield "ixfr", lambda: self.query(kind=251, behind=self.record(SOA, self.soa()), ns=1)
        yield "notify", lambda: self.query(kind=SOA, flags=0x2400, behind=self.record(SOA, self.soa()), an=1)
        yield "update", lambda: self.query(kind=SOA, flags=0x2800, behind=self.record(A, self.octets(4)), ns=1)
        yield "records", lambda: self.query(behind=self.record(A, self.octets(4)) * 3, ar=3)
        yield "chaos-signed", lambda: self.query(klass=3, behind=self.signature(TSIG), ar=1)
        yield "known", lambda: self.query(self.known(), self.random.choice((A, A, AAAA, TXT, MX, 255)))
        yield "known-edns", lambda: self.query(self.known(), self.random.choice((A, AAAA, HTTPS)), behind=self.opt(
            self.random.choice((b"", self.option(12, bytes(9)))), self.random.choice((0, 0x8000))), ar=1)

    def known(self):
        """A name of the table in tests/packets.h, and its neighbours."""
        return self.random.choice((
            b"reviews.default.svc.cluster.local", b"reviews", b"www.example.com", b"www.mesh.test",
            b"www.example.com.default.svc.cluster.local", b"deep.in.mesh.test", b"in.mesh.test",
            b"many.mesh.test", b"a.wild.test", b"a.b.wild.test", *[b"out.mesh.test"] * 9,
            b"none.mesh.test")).split(b".")

    def soa(self):
        return (self.wire([b"ns", b"test"]) + self.wire([b"hostmaster", b"test"]) +
                struct.pack("!5I", 1, 7200, 1800, 86400, 60))

    def signature(self, kind):
        if kind == TSIG:
            data = self.wire([b"hmac-sha256"]) + bytes(6) + b"\1\x2c\0\x20" + self.octets(32) + bytes(6)
            return self.record(TSIG, data, self.wire([b"key"]), 255, 0)
        return self.record(SIG, struct.pack("!HBBIIIH", 0, 8, 0, 0, 0, 0, 1) + self.wire([b"key"]) +
                           self.octets(64), b"\0", 255, 0)

    # Answers.

    def data_of(self, kind):
        host = self.wire(self.name())
        return {A: self.octets(4), AAAA: self.octets(16), MX: b"\0\x0a" + host, SOA: self.soa(),
                SRV: struct.pack("!3H", 0, 5, 443) + host, TXT: b"\7" + self.octets(7),
                HTTPS: b"\0\1\0" + struct.pack("!2H", 4, 4) + self.octets(4)}.get(
                    kind, host if kind in (NS, CNAME, PTR) else self.octets(self.random.randrange(1, 60)))

    def answer(self, kind=A, count=1, flags=0x8180, behind=b"", **counts):
        return (self.header(flags, an=count, **counts) + self.question(kind=kind) +
                b"".join(self.record(kind, self.data_of(kind)) for _ in range(count)) + behind)

    def responses(self):
        for word, kind in TYPES.items():
            yield f"answer-{word}", lambda kind=kind: self.answer(kind, self.random.randint(1, 6))
        for word, rcode in (("nxdomain", 3), ("servfail", 2), ("refused", 5), ("formerr", 1), ("notimp", 4)):
            yield word, lambda rcode=rcode: (self.header(0x8180 | rcode, ns=1) + self.question() +
                                             self.record(SOA, self.soa()))
        yield "nodata", lambda: self.header(0x8180, ns=1) + self.question() + self.record(SOA, self.soa())
        yield "referral", lambda: self.header(0x8000, ns=2, ar=1) + self.question() + self.record(
            NS, self.wire([b"ns1", b"test"])) * 2 + self.record(A, self.octets(4))
        yield "truncated", lambda: self.answer(count=0, flags=0x8380)
        yield "chain", lambda: self.chain()
        yield "compressed", lambda: self.header(0x8180, an=2) + self.question([b"a", b"b", b"test"]) + \
            self.record(CNAME, b"\1c\xc0\x0e") + self.record(A, self.octets(4), b"\xc0\x26")
        yield "edns", lambda: self.answer(behind=self.opt(self.option(15, b"\0\x12why")), ar=1)
        yield "signed", lambda: self.answer(46, 2)
        yield "cache-flush", lambda: self.header(0x8400, 0, 1) + self.record(
            A, self.octets(4), self.wire([self.label(), b"local"]), 0x8001)
        yield "large", lambda: self.answer(TXT, 150)

    def chain(self):
        names = [self.wire(self.name(1)) for _ in range(self.random.randint(2, 8))]
        records = [self.record(CNAME, to, owner) for owner, to in zip(names, names[1:])]
        return (self.header(0x8180, an=len(records) + 1) + names[0] + b"\0\1\0\1" + b"".join(records) +
                self.record(A, self.octets(4), names[-1]))

    # What a strict parser rejects.

    def hostile(self):
        whole = lambda: self.query(behind=self.opt(self.option(10, self.octets(8))), ar=1)
        yield "empty", lambda: b""
        yield "header-cut", lambda: self.octets(self.random.randrange(1, 12))
        yield "question-cut", lambda: (m := self.query())[:self.random.randrange(12, len(m))]
        yield "record-cut", lambda: (m := whole())[:len(m) - self.random.randrange(1, 20)]
        yield "pointer-self", lambda: self.header() + b"\xc0\x0c" + bytes(4)
        yield "pointer-loop", lambda: self.header() + b"\1a\xc0\x10\1b\xc0\x0c" + bytes(4)
        yield "pointer-ahead", lambda: self.header() + b"\xc0\x12\0\1\0\1" + self.wire(self.name())
        yield "pointer-outside", lambda: self.header() + b"\xff\xff" + bytes(4)
        yield "owner-loop", lambda: self.query(behind=self.record(A, self.octets(4), b"\xc0\xff"), ar=1)
        yield "label-type-40", lambda: self.header() + b"\x41" + self.octets(40)
        yield "label-type-80", lambda: self.header() + b"\x81" + self.octets(40)
        yield "label-overruns", lambda: self.header() + b"\x3fabc"
        yield "name-256", lambda: self.header() + self.wire([self.label(63)] * 4) + b"\0\1\0\1"
        yield "name-endless", lambda: self.header() + b"\1a" * self.random.randrange(130, 900)
        for word, counts in (("an", {"an": 1}), ("ns", {"ns": 9}), ("ar", {"ar": 65535})):
            yield f"count-{word}", lambda counts=counts: self.query(**counts)
        yield "count-qd-0", lambda: self.query(qd=0)
        yield "count-qd-65535", lambda: self.query(qd=65535)
        yield "opt-owner", lambda: self.query(behind=self.opt(owner=self.wire([b"x"])), ar=1)
        yield "opt-rdlength", lambda: self.query(behind=self.opt(length=77), ar=1)
        yield "opt-option-overruns", lambda: self.query(
            behind=self.opt(self.option(10, self.octets(8), 99)), ar=1)
        yield "opt-in-answer", lambda: self.query(behind=self.opt(), an=1)
        yield "tsig-not-last", lambda: self.query(behind=self.signature(TSIG) + self.opt(), ar=2)
        yield "noise", lambda: b"\0\0\xff\xff" + self.octets(self.random.randrange(1, 1400))
        yield "zeros", lambda: bytes(self.random.randrange(12, 4000))
        yield "ones", lambda: b"\xff" * self.random.randrange(12, 65512)
        yield "many-records", lambda: self.query(
            behind=self.record(A, self.octets(4)) * 2000 + b"\xc0", ar=2001)
        yield "chaos-cut", lambda: self.query(klass=3, behind=self.opt()[:-3], ar=1)

    # Packets.

    def udp(self, payload, sport=None, dport=53, length=None):
        return struct.pack("!4H", self.random.randint(1024, 65535) if sport is None else sport, dport,
                           8 + len(payload) if length is None else length, 0) + payload

    def tcp(self, flags, dport=53, payload=b"", words=5):
        return struct.pack("!2H2I2B3H", self.random.randint(1024, 65535), dport, 1, 0, words << 4, flags,
                           64240, 0, 0) + bytes(max(0, 4 * words - 20)) + payload

    def ip4(self, payload, protocol=17, options=b"", total=None, fragment=0, ihl=None,
            source=b"\xc0\0\2\1", to=b"\xc0\0\2\x35"):
        header = 20 + len(options)
        return struct.pack("!2B3H2BH", 0x40 | (header // 4 if ihl is None else ihl), 0,
                           header + len(payload) if total is None else total,
                           self.random.randrange(65536), fragment, 64, protocol, 0) + source + to + options + payload

    def ip6(self, payload, following=17, length=None, source=b"\x20\1\x0d\xb8" + bytes(11) + b"\1",
            to=b"\x20\1\x0d\xb8" + bytes(11) + b"\x35"):
        return struct.pack("!IH2B", 6 << 28, len(payload) if length is None else length, following,
                           64) + source + to + payload

    def packets(self):
        dns = lambda: self.udp(self.query())
        for word, ip, icmp in (("ip4", self.ip4, 1), ("ip6", self.ip6, 58)):
            yield f"{word}-udp", lambda ip=ip: ip(dns())
            yield f"{word}-response", lambda ip=ip: ip(self.udp(self.answer(), 53, 40000))
            yield f"{word}-other-port", lambda ip=ip: ip(self.udp(self.query(), dport=5353))
            yield f"{word}-source-0", lambda ip=ip: ip(self.udp(self.query(), 0))
            yield f"{word}-udp-length", lambda ip=ip: ip(self.udp(self.query(), length=self.random.randrange(9)))
            yield f"{word}-udp-cut", lambda ip=ip: ip(dns()[:self.random.randrange(8)])
            yield f"{word}-hostile", lambda ip=ip: ip(self.udp(self.octets(self.random.randrange(200))))
            for name, flags in (("syn", 2), ("syn-ecn", 0xc2), ("ack", 16), ("psh", 24), ("fin", 17), ("rst", 4)):
                yield f"{word}-tcp-{name}", lambda ip=ip, flags=flags: ip(self.tcp(flags), 6)
            yield f"{word}-tcp-options", lambda ip=ip: ip(self.tcp(2, words=10), 6)
            yield f"{word}-tcp-header", lambda ip=ip: ip(self.tcp(2, words=15)[:30], 6)
            yield f"{word}-tcp-data", lambda ip=ip: ip(self.tcp(2, payload=self.query()), 6)
            yield f"{word}-icmp", lambda ip=ip, icmp=icmp: ip(b"\3\3" + bytes(6) + dns(), icmp)
            yield f"{word}-too-long", lambda ip=ip: ip(dns(), **{"total" if ip == self.ip4 else "length": 9000})
            yield f"{word}-cut", lambda ip=ip: ip(dns())[:self.random.randrange(1, 28)]
        yield "ip4-options", lambda: self.ip4(dns(), options=b"\1\1\1\0")
        yield "ip4-router-alert", lambda: self.ip4(dns(), options=b"\x94\4\0\0")
        yield "ip4-source-route", lambda: self.ip4(dns(), options=b"\x83\7\4\xc0\0\2\x09\0")
        yield "ip4-option-overruns", lambda: self.ip4(dns(), options=b"\x07\x28\4\0")
        yield "ip4-fragment", lambda: self.ip4(dns(), fragment=self.random.choice((0x2000, 1, 185)))
        yield "ip4-ihl", lambda: self.ip4(dns(), ihl=self.random.choice((0, 4, 15)))
        yield "ip4-multicast", lambda: self.ip4(dns(), to=b"\xe0\0\0\xfb")
        yield "ip4-broadcast", lambda: self.ip4(dns(), to=b"\xff" * 4)
        yield "ip4-unspecified", lambda: self.ip4(dns(), source=bytes(4))
        yield "ip6-multicast", lambda: self.ip6(dns(), to=b"\xff\2" + bytes(13) + b"\xfb")
        yield "ip6-unspecified", lambda: self.ip6(dns(), source=bytes(16))
        yield "ip6-hop-by-hop", lambda: self.ip6(b"\x11\0\1\4" + bytes(4) + dns(), 0)
        yield "ip6-destination", lambda: self.ip6(b"\x11\0\1\4" + bytes(4) + dns(), 60)
        yield "ip6-home-address", lambda: self.ip6(b"\x11\2\xc9\x10" + bytes(20) + dns(), 60)
        yield "ip6-routing", lambda: self.ip6(b"\x11\2\4\1" + bytes(20) + dns(), 43)
        yield "ip6-fragment", lambda: self.ip6(b"\x11\0\0\1" + self.octets(4) + dns(), 44)
        yield "ip6-headers", lambda: self.ip6((b"\x3c\0\1\4" + bytes(4)) * 6 + dns(), 60)
        yield "ip6-header-overruns", lambda: self.ip6(b"\x11\xff\1\4" + bytes(4), 60)
        yield "version", lambda: bytes([self.random.choice((0, 5, 15)) << 4]) + self.octets(60)
        for all_headers in (504, 512):		# the most that are kept, and one header more
            yield f"ip6-headers-{all_headers}", lambda n=all_headers - 40: self.ip6(
                bytes([17, n // 8 - 1, 1, 255]) + bytes(255) + bytes([1, n - 261]) + bytes(n - 261) + dns(), 60)


def make(part):
    """(kind, octets) of every message of "queries", "responses", "hostile" or "packets"."""
    for kind, once in getattr(Maker(), part)():
        for _ in range(EACH[part]):
            yield kind, once()


def main():
    for part in EACH:
        kinds = collections.Counter(kind for kind, _ in make(part))
        print(f"{part}: {sum(kinds.values())} of {len(kinds)} kinds: {', '.join(kinds)}")


if __name__ == "__main__":
    main()

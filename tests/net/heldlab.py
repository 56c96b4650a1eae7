# SPDX-License-Identifier: GPL-2.0-or-later
"""Nameservers that do what the name of a question says, with a record of all that they
were asked, and clients that look at every field of their answers."""
import collections
import contextlib
import heapq
import itertools
import re
import threading

from streamlab import *

PORT, SPARE = 5353, 5354	# of the nameserver that does so, and of one that is good
ZONE = "corp.example"
PASSED = "198.18.0.1"		# what the nameserver says that the client addressed
HOSTS = "10.1.2.3 web.mesh.example\n"
SO_TIMESTAMPNS, SO_RCVBUFFORCE, TIMESPEC = 35, 33, struct.Struct("@qq")
DO = 0x8000			# of the flags in OPT's TTL
MANY = [("A", 60, address_octets(f"10.9.8.{n}")) for n in range(60)]

Asked = collections.namedtuple("Asked", "name type id port at message")


def records(kind, prefix, message):
    """What there is of a type; addresses say which of the client's bits came here."""
    secure = message.opt is not None and bool(message.opt.ttl & DO)
    host = f"{int(secure)}.{int(message.flag(dnswire.CD))}"
    target = dnswire.name_octets("target.example")
    found = {"A": address_octets(f"10.{prefix}.{host}"),
             "AAAA": address_octets(f"2001:db8::{prefix}.{host}.0".replace(".", ":")),
             "MX": struct.pack("!H", 10) + target, "NS": target,
             "SRV": struct.pack("!3H", 1, 2, 80) + target,
             "HTTPS": struct.pack("!H", 1) + b"\0"}
    return [(kind, 60, found[kind])] if kind in found else []


def with_opt(octets, message):
    """A reply has OPT if the question has, with the same DO."""
    if message.opt is None:
        return octets
    counts = struct.pack("!H", 1)
    return octets[:10] + counts + octets[12:] + b"\0" + struct.pack("!HHIH", 41, 1232, message.opt.ttl & DO, 0)


def good(octets, prefix):
    message = dnswire.Message(octets)
    name, kind, _ = message.questions[0]
    if name.lower().startswith("nx"):
        return with_opt(dnswire.reply(octets, rcode=3, flags=dnswire.RA), message)
    return with_opt(dnswire.reply(octets, records(kind, prefix, message), flags=dnswire.RA), message)


def changed(octets, at, bit=1):
    return octets[:at] + bytes([octets[at] ^ bit]) + octets[at + 1:]


def referral(octets):
    """As a nameserver that does not serve the name: no record but NS of others."""
    reply = dnswire.reply(octets, [("NS", 60, dnswire.name_octets("ns.other.example"))])
    return reply[:6] + struct.pack("!3H", 0, 1, 0) + reply[12:]


# What the first label of a name has the nameserver do: (delay in s, octets) of each
# datagram.  "gate" waits until the test says so; "late" has its milliseconds in it.
MOODS = {
    "servfail": lambda o, r: [(0, dnswire.reply(o, rcode=2))],
    "refused": lambda o, r: [(0, dnswire.reply(o, rcode=5))],
    "notimp": lambda o, r: [(0, dnswire.reply(o, rcode=4))],
    "truncated": lambda o, r: [(0, dnswire.reply(o, flags=dnswire.TC))],
    "lame": lambda o, r: [(0, referral(o))],
    "garbage": lambda o, r: [(0, b"\xff" * 40)],
    "short": lambda o, r: [(0, r[:7])],
    "cut": lambda o, r: [(0, r[:-3])],
    "empty": lambda o, r: [(0, b"")],
    "echo": lambda o, r: [(0, o)],
    "otherid": lambda o, r: [(0, changed(r, 1, 0x55))],
    "othername": lambda o, r: [(0, changed(r, 13))],
    "othertype": lambda o, r: [(0, changed(r, len(dnswire.name_octets(dnswire.Message(o).questions[0][0])) + 13))],
    "mute": lambda o, r: [],
    "liesfirst": lambda o, r: [(0, changed(r, 1, 0x55)), (0.03, r)],
    "twice": lambda o, r: [(0, r), (0, r)],
}


class Upstream(Closing):
    """A nameserver over UDP and TCP in this process; without moods it is always good, but
    for being late."""

    def __init__(self, lab, port=PORT, prefix=1, moods=MOODS):
        self.prefix, self.moods, self.lock = prefix, moods, threading.Lock()
        self.asked, self.received, self.replied = [], 0, 0
        self.waiting, self.later, self.number = [], [], itertools.count()
        self.open = False		# the gate
        self.socket = lab.ns.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 8 << 20)
        self.socket.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
        self.socket.bind((lab.NS4, port))
        self.stream = StreamNameserver(lab.ns, lab.NS4, self.over_tcp, port=port)
        self.wake, self.waker = os.pipe()
        self.thread = threading.Thread(target=self.serve, daemon=True)
        self.thread.start()

    def over_tcp(self, octets):
        """Only what is truncated over UDP: it is not to be taken for one that has TCP alone."""
        message = dnswire.Message(octets)
        if not message.questions[0][0].startswith("truncated"):
            return None
        return with_opt(dnswire.reply(octets, MANY, flags=dnswire.RA), message)

    def serve(self):
        while True:
            wait = max(0, self.later[0][0] - time.monotonic()) if self.later else None
            ready = select.select([self.socket, self.wake], [], [], wait)[0]
            if self.wake in ready and os.read(self.wake, 1) == b"e":
                return
            with self.lock:
                if self.socket in ready:
                    self.take()
                while self.later and self.later[0][0] <= time.monotonic():
                    self.give(*heapq.heappop(self.later)[2:])

    def take(self):
        """The kernel notes when a question came: this thread may have had to wait."""
        try:
            octets, control, _, source = self.socket.recvmsg(65535, socket.CMSG_SPACE(TIMESPEC.size))
        except ConnectionError:		# nobody waits for a reply any more
            return
        seconds, nanoseconds = TIMESPEC.unpack(control[0][2])
        message = dnswire.Message(octets)
        name, kind, _ = message.questions[0]
        self.received += 1
        reply = good(octets, self.prefix)
        mood = re.match(r"[a-z]*", name)[0]
        if kind == "TXT" or name == ".":	# nfdnsd looks for loops, and for life
            self.give(reply, source)
            return
        self.asked.append(Asked(name.lower(), kind, message.id, source[1], seconds + nanoseconds / 1e9, message))
        if mood == "gate" and not self.open:
            self.waiting.append((reply, source))
        elif mood == "late":
            self.delay(int(re.match(r"late(\d+)", name)[1]) / 1000, reply, source)
        else:
            for delay, datagram in self.moods.get(mood, lambda o, r: [(0, r)])(octets, reply):
                self.delay(delay, datagram, source)

    def delay(self, seconds, octets, source):
        heapq.heappush(self.later, (time.monotonic() + seconds, next(self.number), octets, source))

    def give(self, octets, source):
        with contextlib.suppress(OSError):
            self.socket.sendto(octets, source)
            self.replied += 1

    def open_gate(self):
        """All that waits at the gate, and all that comes until it is closed."""
        with self.lock:
            self.open = True
            for reply in self.waiting:
                self.give(*reply)
            self.waiting.clear()

    def close_gate(self):
        with self.lock:
            self.open = False

    def of(self, start):
        """The questions for names that begin so."""
        with self.lock:
            return [asked for asked in self.asked if asked.name.startswith(start)]

    def names(self):
        with self.lock:
            return {asked.name for asked in self.asked}

    def close(self):
        if self.thread.is_alive():
            os.write(self.waker, b"e")
            self.thread.join(10)
            self.socket.close()
            self.stream.close()
            os.close(self.wake)
            os.close(self.waker)


class Question:
    """One that was sent, by a socket of its own."""
    sent = 0			# of all, for names of the domain

    def __init__(self, lab, server, name, kind="A", connected=False, timeout=15, **options):
        Question.sent += name.lower().endswith(f".{ZONE}")
        self.name, self.kind, self.server, self.options = name, kind, server, options
        self.query = dnswire.query(name, kind, **options)
        self.socket = lab.vm.socket(family_of(server), socket.SOCK_DGRAM)
        self.socket.settimeout(timeout)
        if connected:
            with lab.vm.inside():
                self.socket.connect((server, 53))
            self.socket.send(self.query)
        else:
            self.socket.sendto(self.query, (server, 53))

    def answer(self):
        """It has the client's id, letters, and OPT if the question had; it comes from
        the nameserver that was asked."""
        try:
            octets, source = self.socket.recvfrom(65535)
        except TimeoutError:
            raise Failure(f"{self.name} {self.kind} {self.options} to {self.server}: no answer") from None
        message = dnswire.Message(octets)
        expect(source[:2] == (self.server, 53), self.name, "from", source)
        expect(octets[:2] == self.query[:2], self.name, "another id")
        end = len(dnswire.name_octets(self.name)) + 16
        expect(octets[12:end] == self.query[12:end], self.name, "another question:", octets[12:end])
        expect(message.flag(dnswire.QR), self.name, "is a question")
        expect((message.opt is not None) == (self.options.get("edns") is not None), self.name, message.opt)
        return message

    def is_answered(self):
        """Whether an answer came, which is right then."""
        readable = bool(select.select([self.socket], [], [], 6)[0])
        if readable:
            check(self)
        return readable

    def end(self):
        """There was one answer and no other."""
        self.socket.setblocking(False)
        try:
            octets = self.socket.recv(65535)
            raise Failure(f"{self.name}: one more answer: {octets}")
        except BlockingIOError:
            pass
        self.socket.close()


def expected(question, prefix):
    """The data that the nameserver has for it."""
    secure = question.options.get("dnssec", False)
    flags = question.options.get("flags", dnswire.RD)
    octets = dnswire.query(question.name, question.kind, flags=flags, edns=1232, dnssec=secure)
    return dnswire.Message(good(octets, prefix))


def check(question, prefixes=(1,)):
    """Its answer is one of those nameservers'."""
    message = question.answer()
    wanted = [expected(question, prefix) for prefix in prefixes]
    found = (message.rcode, [(r.type, r.data) for r in message.answer])
    expect(found in [(w.rcode, [(r.type, r.data) for r in w.answer]) for w in wanted],
           question.name, question.kind, question.options, found)
    return message


def ask_one(lab, server, name, prefixes=(1,), **options):
    question = Question(lab, server, name, **options)
    message = check(question, prefixes)
    question.end()
    return message


def domain(name, *ports, more=""):
    listed = ", ".join(f'"{Lab.NS4}@{port}"' for port in ports)
    return f'{{ name = "{name}"; upstreams = [ {listed} ]; cache = false; {more} }}'


def forward(*domains):
    return f"forward = {{ domains = ( {', '.join(domains)} ); }};"


class RealNameserver(Nameserver):
    """The one that clients address: it knows nothing of the domain."""

    def __init__(self, space, address):
        super().__init__(space, address, lambda octets, _: dnswire.reply(
            octets, [("A", 60, address_octets(PASSED))]))

    def names(self):
        return {dnswire.Message(octets).questions[0][0].lower() for octets in self.seen}


class Scene:
    """A daemon with such a domain, the nameservers, and the one that clients address."""

    def __init__(self, lab, daemon, bad, spare, real):
        self.lab, self.daemon, self.bad, self.spare, self.real = lab, daemon, bad, spare, real
        self.fresh, self.before = itertools.count(), Question.sent

    def sent(self):
        """How many questions there were for names of the domain."""
        return Question.sent - self.before

    def forward(self):
        return self.daemon.status()["forward"]

    def answered(self):
        return self.forward()["answered"]

    def ask(self, count, prefixes=(1,)):
        """So many, one after the other."""
        for _ in range(count):
            ask_one(self.lab, self.lab.NS4, f"fast{next(self.fresh)}.{ZONE}", prefixes)

    def warm(self, prefixes=(1,)):
        """Until what is known of upstreams is of their answers."""
        before = self.answered()
        wait_until(lambda: self.ask(5, prefixes) or self.answered() > before, "they are answered")

    def restore(self):
        """After something went wrong: until the first upstream is asked first again."""
        def asked():
            before = len(self.bad.asked)
            self.ask(5, (1, 2))
            return len(self.bad.asked) >= before + 5
        wait_until(asked, "the first upstream is asked again")

    def agree(self):
        """Whether the numbers of the daemon's page are those of clients and upstreams."""
        f, count = self.forward(), self.sent()
        (of_domain,) = f["domains"]
        ups = [(int(up["address"].partition("@")[2]), up) for up in f["upstreams"]]
        own = {PORT: self.bad, SPARE: self.spare}
        return (f["questions"] == f["answered"] == of_domain["questions"] == of_domain["answered"] == count and
                f["held"] == of_domain["waiting"] == f["failed"] == 0 and
                f["attempts"] == sum(up["sent"] for _, up in ups) and
                all(up["sent"] - up["sent_tcp"] == own[port].received for port, up in ups))

    def must_agree(self):
        """A moment later."""
        try:
            wait_until(self.agree, "the counters agree")
        except Failure:
            raise Failure("the counters differ:", self.forward(), self.sent(), "questions;",
                          self.bad.received, self.bad.replied, "and", self.spare.received, self.spare.replied) from None

    def held(self):
        """How many packets the kernel holds, in all queues."""
        return sum(row["waiting"] for row in queues(self.lab.vm))

    def hold(self, count, mood="gate", servers=None):
        """So many questions, which the nameserver has got and not answered."""
        servers = servers or (self.lab.NS4, self.lab.NS6, "127.0.0.53")
        label = f"{mood}-{next(self.fresh)}-"
        questions = [Question(self.lab, servers[n % len(servers)], f"{label}{n}.{ZONE}") for n in range(count)]
        wait_until(lambda: len({a.name for u in (self.bad, self.spare) for a in u.of(label)}) == count,
                   f"{count} questions are asked")
        return questions

    def no_leak(self):
        """Nothing of the domain came to the nameservers that clients address."""
        seen = {name for server in self.real for name in server.names() if name.endswith(f".{ZONE}.")}
        expect(not seen, "the nameserver was asked for", sorted(seen)[:5])

    def reload(self, old, new):
        text = self.daemon.config.read_text()
        expect(old in text, old)
        self.daemon.config.write_text(text.replace(old, new))
        self.daemon.nfdns("reload", ok=0)


@contextlib.contextmanager
def scene(*ports, more="", select="ordered", managed=False, strict=True, **options):
    with contextlib.ExitStack() as stack:
        lab = stack.enter_context(Lab(strict=strict))
        require_queue(lab.vm)
        bad = stack.enter_context(Upstream(lab))
        spare = stack.enter_context(Upstream(lab, SPARE, 2, {}))
        real = [RealNameserver(lab.ns, address) for address in (lab.NS4, lab.NS6)]
        for server in real:
            stack.callback(server.close)
        text = forward(domain(ZONE, *(ports or (PORT,)), more=f'select = "{select}";')) + more
        daemon = Daemon(lab, hosts=HOSTS, more=text, **options)
        made = Scene(lab, daemon, bad, spare, real)
        if managed:
            made.manager = stack.enter_context(Manager(daemon))
            made.manager.start()
        else:
            stack.enter_context(daemon)
        yield made
        made.no_leak()

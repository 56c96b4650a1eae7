# SPDX-License-Identifier: GPL-2.0-or-later
"""The engine of forwarding (tests/tools/forwardtry) with upstreams that behave as
a case says, under a clock that only moves from event to event."""
import heapq
import itertools
import json
import subprocess

from forward_wire import *

POLICIES = {"fastest": 0, "sequential": 1, "ordered": 1, "random": 2, "round_robin": 3,
            "all": 4, "parallel": 4}
TRANSPORTS = {"auto": 0, "udp": 1, "udp-only": 1, "udp_only": 1, "tcp": 2, "tcp-only": 2, "tls": 3}
LOOP_NAME = re.compile(r"[0-9a-f]{16}\.nfdns-loop\..+", re.I)


def settings_of(config, names):
    """nfdns's settings for a case's config; names: all upstreams, whose place is
    their port, so that it stays over a reconfiguration."""
    cache, stale, health = (config[k] if isinstance(config.get(k), dict) else {}
                            for k in ("cache", "stale", "health"))
    transport = TRANSPORTS[config.get("transport", "auto")]
    has = {k for k in ("cache", "stale", "prefetch") if config.get(k) not in (None, False, "none")}
    s = {"upstreams": [], "domains": [],
         "attempts": {}, "limits": {}, "health": {"loops": int(bool(config.get("loop_detect")))},
         "cache": {"size": 0, "stale": 0, "prefetch": 0}}
    index = {}

    def upstream(name, way):
        if (name, way) not in index:
            index[name, way] = len(s["upstreams"])
            s["upstreams"].append({"port": names.index(name) + 1, "transport": way, "mix_case":
                                   int(bool(config.get("case_randomisation")))})
        return index[name, way]

    def domain(name, servers, stub):
        way = TRANSPORTS[stub["transport"]] if "transport" in stub else transport
        fallback = stub.get("fallback", False)
        s["domains"].append({
            "name": name_octets(name).lower().hex(),
            "upstreams": [upstream(u, way) for u in servers],
            "select": POLICIES[stub.get("policy", config.get("policy", "fastest"))],
            "fallback": 2 if fallback == "pass" else int(bool(fallback)),
            "cache": int("cache" in has and bool(stub.get("cache", True))),
            "negative_max_s": cache.get("max_negative_ttl", 30)})

    default = config.get("upstreams", [])
    if default:
        domain(".", default, {})
    for stub in config.get("stub_domains", []):
        servers = stub.get("servers", "default")
        domain(stub["domain"], default if servers == "default" else servers, stub)
    if "cache" in has:
        s["cache"]["size"] = cache.get("size", 10000)
    put(s["cache"], cache, min_ttl="min_ttl_s", max_ttl="max_ttl_s", servfail_ttl="failure_s",
        negative="negative")
    if "stale" in has:
        s["cache"]["stale"] = 2 if stale.get("mode") == "immediate" else 1
        put(s["cache"], stale, max_s="stale_s", reply_ttl="stale_ttl_s",
            client_timeout_ms="stale_wait_ms", failure_recheck_s="stale_retry_s")
        if "failure_recheck_s" in stale:    # the same each time
            s["cache"]["stale_retry_max_s"] = stale["failure_recheck_s"]
    if "prefetch" in has:
        s["cache"]["prefetch"] = 10
        put(s["cache"], config["prefetch"], hits="prefetch_hits", percent="prefetch")
    attempts_of(s["attempts"], config)
    put(s["limits"], config, max_in_flight="domain")
    put(s["health"], health, max_fails="losses", interval_ms="probe_ms", timeout_ms="probe_wait_ms",
        rd="probe_rd", fail_fast="fail_fast")
    if health.get("max_fails") == 0:        # never down
        s["health"]["losses"] = 1000
    if "interval_ms" in health:
        s["health"]["probe_max_ms"] = health["interval_ms"]
    s["probe_name"] = name_octets(health.get("name", ".")).lower().hex()
    return s


def put(to, given, **keys):
    for key, name in keys.items():
        if given.get(key) is not None:
            to[name] = int(given[key])


def attempts_of(attempts, config):
    put(attempts, config, attempt_timeout_ms="wait_ms", dedup="join",
        failover_on_nodata="failure_nodata")
    most, wait = config.get("attempts"), config.get("attempt_timeout_ms")
    if most is not None:
        attempts.update(most=min(most, 16), per_server=min(most, 16))
    if wait is not None:
        attempts["budget_ms"] = most * wait if most else max(4000, wait)
    if config.get("failover_rcodes") is not None:
        attempts["failure_rcodes"] = sum(1 << number_of(RCODES, r)
                                         for r in set(config["failover_rcodes"]))


class Upstream:
    """One upstream of a case: rules, and what it was asked."""

    def __init__(self, name, rules):
        self.name, self.rules, self.counts = name, rules, [0] * len(rules)
        self.asked, self.probes, self.loop_probes = [], [], []

    def fits(self, rule, q, transport, now):
        match = rule.get("match", {})
        flags = {"cd": "cd", "rd": "rd"}
        if "name" in match and name_octets(match["name"]).lower() != q.question.lower():
            return False
        if "type" in match and number_of(TYPES, match["type"]) not in (q.type, 255):
            return False
        if "class" in match and number_of(CLASSES, match["class"]) != q.klass:
            return False
        if "do" in match and bool(match["do"]) != bool(q.opt and q.opt["do"]):
            return False
        if "edns" in match and bool(match["edns"]) != (q.opt is not None):
            return False
        if "transport" in match and match["transport"] != transport:
            return False
        if any(k in match and bool(match[k]) != bool(q.flags & FLAGS[k]) for k in flags):
            return False
        return rule.get("from", 0) * 1e6 <= now + 1 and now - 1 <= rule.get("to", 1e9) * 1e6

    def choose(self, q, transport, now, own):
        """The reply for a question; own: a probe, which is not counted unless a
        rule asks for its name."""
        chosen = None
        for i, rule in enumerate(self.rules):
            if not self.fits(rule, q, transport, now):
                continue
            n = self.counts[i] + 1
            if not own or "name" in rule.get("match", {}):
                self.counts[i] = n
            low, high = nth_of(rule)
            if chosen is None and low <= n <= high and n % rule.get("every", 1) == 0:
                chosen = rule
        return chosen.get("reply") if chosen else None


def nth_of(rule):
    nth = rule.get("nth")
    if nth is None:
        return 1, 1 << 60
    if isinstance(nth, int):
        return nth, nth
    return nth[0], nth[1] if len(nth) > 1 and nth[1] is not None else 1 << 60


def records(lines, qname):
    return [Record.text(line.replace("{qname}", qname)) for line in lines or []]


def reply_octets(spec, query, base=None):
    """The octets of a reply, or of one "before" it, to a question."""
    q = Message(query)
    get = lambda key, default=None: spec.get(key, default)
    ident = q.id
    if get("id") is not None:
        ident = (q.id ^ 0x5aa5) if get("id") == "other" else int(get("id"))
    if "raw" in spec:
        return struct.pack("!H", ident) + bytes.fromhex(spec["raw"])
    qname = text_of(q.question)
    rcode = number_of(RCODES, get("rcode", "NOERROR"))
    sections = [records(get(k), qname) for k in ("answer", "authority", "additional")]
    flags = rcode & 15 | q.flags & 0x0110
    for key, default in (("qr", True), ("aa", False), ("tc", False), ("ra", True)):
        flags |= FLAGS[key] * bool(get(key, default))
    flags |= FLAGS["ad"] * bool(get("ad_flag", get("ad", False)))
    name, kind, klass = q.question, q.type, q.klass
    questions = 1
    if "question" in spec:
        if not spec["question"]:
            questions = 0
        else:
            words = spec["question"].split()
            name = name_octets(words[0])
            klass = next((CLASSES[w] for w in words[1:] if w in CLASSES), 1)
            kind = next((number_of(TYPES, w) for w in words[1:] if w not in CLASSES), q.type)
    opt = get("opt")
    opt = {} if opt is True else opt if isinstance(opt, dict) else None
    out = struct.pack("!6H", ident, flags, questions, len(sections[0]), len(sections[1]),
                      len(sections[2]) + (opt is not None))
    if questions:
        out += name + struct.pack("!2H", kind, klass)
    for section in sections:
        out += b"".join(r.octets() for r in section)
    if opt is not None:
        out += opt_octets(opt.get("size", 1232), opt.get("do", q.opt and q.opt["do"]),
                          options_of(opt), rcode)
    return out


def options_of(edns):
    """EDNS options of a case's "edns" or "opt"."""
    out = []
    for code, value in (edns.get("options") or []) if isinstance(edns.get("options"), list) else \
            [(int(k), v) for k, v in (edns.get("options") or {}).items()]:
        out.append((code, bytes.fromhex(value)))
    if edns.get("ede") is not None:
        out.append((15, struct.pack("!H", edns["ede"])))
    if edns.get("cookie"):
        out.append((10, bytes.fromhex(edns["cookie"])))
    subnet = edns.get("ecs") or edns.get("subnet")
    if subnet:
        given = subnet if isinstance(subnet, dict) else {"address": subnet}
        network = ipaddress.ip_network(given.get("address") or given.get("subnet"), strict=False)
        octets = network.network_address.packed[:(network.prefixlen + 7) // 8]
        out.append((8, struct.pack("!HBB", 1 if network.version == 4 else 2, network.prefixlen,
                                   given.get("scope", 0)) + octets))
    return out


class Answer:
    """What became of one question of a client."""

    def __init__(self, asked, at, octets, transport):
        self.asked, self.at, self.query, self.transport = asked, at, octets, transport
        self.when = self.octets = self.source = self.passed = None


def servers_of(config):
    """The names of all upstreams that a config mentions."""
    yield from config.get("upstreams", [])
    for stub in config.get("stub_domains", []):
        servers = stub.get("servers", "default")
        yield from servers if isinstance(servers, list) else []


class World:
    def __init__(self, tool, config, upstreams, seed):
        self.process = subprocess.Popen([str(tool), str(seed)], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)
        self.config = config
        self.upstreams = {n: Upstream(n, rules) for n, rules in upstreams.items()}
        self.names = sorted(set(upstreams) | set(servers_of(config)))
        for name in self.names:
            self.upstreams.setdefault(name, Upstream(name, []))
        self.now, self.next, self.order = 0, 0, itertools.count()
        self.events, self.open, self.clients, self.loops = [], {}, {}, {}
        self.by_clients = set()
        self.numbers = itertools.count(1)
        self.status = None
        self.replying = None
        self.configure({})

    def end(self):
        self.process.stdin.close()
        code = self.process.wait(10)
        self.process.stdout.close()
        return code

    def configure(self, values):
        self.config = {**self.config, **values}
        for name in set(servers_of(self.config)) - set(self.names):
            self.names.append(name)     # at the end: the others keep their ports
            self.upstreams[name] = Upstream(name, [])
        self.settings = settings_of(self.config, self.names)
        self.command(settings=self.settings)

    def command(self, **what):
        self.process.stdin.write(json.dumps({"at": round(self.now), **what}) + "\n")
        self.process.stdin.flush()
        while True:
            line = self.process.stdout.readline()
            if not line:
                raise RuntimeError("forwardtry ended")
            event = json.loads(line)
            if "done" in event:
                self.next = event["done"]
                return
            self.take(event)

    def take(self, event):
        if "send" in event:
            self.sent(event)
        elif "close" in event:
            self.open.pop(event["close"], None)
        elif "status" in event:
            self.status = event
        else:
            number = event.get("answer", event.get("pass", event.get("drop")))
            octets = bytes.fromhex(event["hex"]) if "answer" in event else None
            if number in self.loops:
                self.looped(self.loops.pop(number), octets)
                return
            client = self.clients[number]
            if client.when is not None:
                raise RuntimeError("a client was given back twice")
            client.when, client.octets, client.passed = self.now, octets, octets is None
            client.source = event.get("source")
            if client.source == "upstream":
                client.source = self.replying or "upstream"

    def at(self, when, what):
        heapq.heappush(self.events, (when, next(self.order), what))

    def sent(self, event):
        number, octets = event["send"], bytes.fromhex(event["hex"])
        transport = "udp" if event["transport"] == "udp" else "tcp"
        upstream = self.upstreams[self.names[event["port"] - 1]]
        q = Message(octets)
        ticket = object()
        self.open[number] = ticket
        probe = self.is_own(q)
        loop = q.type == 16 and LOOP_NAME.fullmatch(text_of(q.question))
        if loop:
            upstream.loop_probes.append(self.now)
        elif probe:
            upstream.probes.append(q)
        else:
            upstream.asked.append(transport)
        reply = upstream.choose(q, transport, self.now, probe or loop)
        if reply is None:
            return
        delay = reply.get("delay_ms", 0) * 1000
        for before in reply.get("before", []):
            if "from" not in before:    # a connected socket sees no other address
                self.at(self.now + delay, (number, ticket, upstream.name,
                                           reply_octets(before, octets)))
        if "icmp" in reply:
            self.at(self.now + delay, (number, ticket, upstream.name, None))
        elif reply.get("loop"):
            self.at(self.now + delay, (number, ticket, upstream.name, ("loop", octets)))
        else:
            self.at(self.now + delay, (number, ticket, upstream.name, reply_octets(reply, octets)))

    def is_own(self, q):
        """A probe: a question that no client asks."""
        key = (q.type, q.question.lower().hex())
        return key == (2, self.settings["probe_name"]) and key not in self.by_clients

    def deliver(self, number, ticket, name, octets):
        if isinstance(octets, tuple):
            client = next(self.numbers)
            self.loops[client] = (number, ticket, name, octets[1])
            self.command(ask=client, hex=octets[1].hex(), uid=0)
            return
        if self.open.get(number) is not ticket:
            return
        self.replying = name
        if octets is None:
            self.command(error=number, errno=111)
        else:
            self.command(reply=number, hex=octets.hex())
        self.replying = None

    def looped(self, loop, octets):
        number, ticket, name, query = loop
        if octets is not None:
            self.at(self.now, (number, ticket, name, query[:2] + octets[2:]))

    def run_to(self, when):
        """All that happens up to a moment, that moment included."""
        for _ in range(200000):
            event = self.events[0][0] if self.events else None
            tick = self.next if self.next else None
            if event is not None and event <= when and (tick is None or event <= tick):
                self.now = max(self.now, event)
                self.deliver(*heapq.heappop(self.events)[2])
            elif tick is not None and tick <= when:
                self.now = max(self.now, tick)
                self.command()
            else:
                self.now = when
                return
        raise RuntimeError("no end of events")

    def ask(self, ask):
        edns = ask.get("edns")
        edns = {} if edns is True else edns
        name = name_octets(ask.get("name", "."))
        ident = ask.get("id", 0x1234)
        flags = FLAGS["rd"] * bool(ask.get("rd", True)) | FLAGS["cd"] * bool(ask.get("cd")) | \
            FLAGS["ad"] * bool(ask.get("ad"))
        octets = struct.pack("!6H", ident, flags, 1, 0, 0, edns is not None and edns is not False)
        octets += name + struct.pack("!2H", number_of(TYPES, ask.get("type", "A")),
                                     number_of(CLASSES, ask.get("class", "IN")))
        if edns is not None and edns is not False:
            octets += opt_octets(edns.get("size", 1232), edns.get("do"), options_of(edns))
        if ask.get("do") and edns is None:
            octets = octets[:11] + b"\1" + octets[12:] + opt_octets(1232, True)
        if "raw" in ask:
            octets = bytes.fromhex(ask["raw"])
        else:
            self.by_clients.add((number_of(TYPES, ask.get("type", "A")), name.lower().hex()))
        out = []
        for _ in range(ask.get("repeat", 1)):
            number = next(self.numbers)
            client = Answer(ask, self.now, octets, ask.get("transport", "udp"))
            self.clients[number] = client
            out.append(client)
            self.command(ask=number, hex=octets.hex(), uid=1000, cached=int("chase" not in ask),
                         stream=int(client.transport != "udp"), **ask.get("chase", {}))
        return out

    def force(self, states):
        for name, state in states.items():
            for i, up in enumerate(self.settings["upstreams"]):
                if up["port"] == self.names.index(name) + 1:
                    self.command(force=i, state=state)

    def look(self):
        self.command(status=1)
        return self.status

# SPDX-License-Identifier: GPL-2.0-or-later
"""What a policy means, as a slow interpreter: rule after rule, condition after
condition, nothing compiled and nothing shared with the program.  Written from what
nfdnsd-policy(5) promises, so that one of the two is wrong where they differ."""
import dataclasses
import ipaddress

ADDRESS_TYPES = ("A", "AAAA")
HINT_TYPES = ("HTTPS", "SVCB")
# RFC 8914 section 4
BLOCKED, FILTERED, PROHIBITED = 15, 17, 18


@dataclasses.dataclass
class Question:
    name: str			# with any case, without the final dot
    type: str
    protocol: str		# "udp", "tcp"
    client: str
    nameserver: str
    uid: int | None
    gid: int | None


@dataclasses.dataclass
class Outcome:
    verdict: str
    reason: str
    rule: str | None = None
    observed: str | None = None
    rcode: str = "NOERROR"
    answer: tuple = ()		# (owner, type, data), sorted
    ede: tuple | None = None	# (code, text)


@dataclasses.dataclass
class Mesh:
    """A table of hosts and the zones of the configuration."""
    records: dict		# name: {"A": [...], "AAAA": [...]}
    zones: dict			# name: "pass" or "nxdomain"

    def zone_of(self, name):
        found = [z for z in self.zones if is_within(name, z)]
        return max(found, key=lambda z: z.count("."), default=None)

    def has(self, name):
        """Names above others are known only where the mesh denies unknown ones."""
        return name in self.records or self.zones.get(self.zone_of(name)) == "nxdomain" and (
            name in self.zones or any(is_below(other, name) for other in self.records))

    def answer(self, name, kind, owner=None):
        """What the table says of a name, as if there were no policy."""
        owner = owner or name
        zone = self.zone_of(name)
        ours = self.records.get(name)
        if ours is None:
            if zone is None or self.zones[zone] == "pass":
                return Outcome("pass", "not-mesh")
            if name == zone and kind == "SOA":
                return Outcome("answer", "zone-soa", answer=((owner, "SOA", ""),))
            if name == zone or any(is_below(other, name) for other in self.records):
                return Outcome("nodata", "empty-name")
            return Outcome("nxdomain", "unknown-name", rcode="NXDOMAIN")
        if kind == "ANY":	# RFC 8482 section 4.1: one RRset
            kind = "A" if "A" in ours else "AAAA"
        if kind in ours:
            return Outcome("answer", "record", answer=tuple(sorted(
                (owner, kind, data) for data in ours[kind])))
        if name == zone and kind == "SOA":
            return Outcome("answer", "zone-soa", answer=((owner, "SOA", ""),))
        if kind in ADDRESS_TYPES:
            return Outcome("nodata", "address-type")
        if zone is not None:
            return Outcome("nodata", "owned-type")
        if kind in HINT_TYPES:
            return Outcome("nodata", "suppressed")
        return Outcome("pass", "other-type")


def is_below(name, apex):
    return name != apex and (apex == "" or name.endswith("." + apex))


def is_within(name, apex):
    return name == apex or is_below(name, apex)


def name_matches(pattern, name, files):
    pattern = pattern.lower()
    if pattern.startswith("@"):
        return any(name_matches(line, name, files) for line in files[pattern[1:]])
    if pattern == "*" or pattern.startswith("*."):
        return is_below(name, pattern[2:])
    if pattern.startswith("."):
        return is_within(name, pattern[1:])
    return name == pattern


def one_holds(key, wanted, question, name, mesh, files):
    """Whether one condition of "match" or "not" holds; all but "names" are the question's."""
    if key == "names":
        return any(name_matches(p, name, files) for p in wanted)
    if key == "types":
        return question.type in wanted
    if key == "users":
        return question.uid is not None and question.uid in wanted
    if key == "groups":
        return question.gid is not None and question.gid in wanted
    if key in ("nameservers", "clients"):
        address = ipaddress.ip_address(question.nameserver if key == "nameservers"
                                       else question.client)
        return any(address in ipaddress.ip_network(p) for p in wanted)
    if key == "protocols":
        return question.protocol in wanted
    if key == "source":
        return ("mesh" if question.name.lower() in mesh.records else "other") in wanted
    raise KeyError(key)


def rule_matches(rule, question, name, mesh, files):
    """All of "match" holds and nothing of "not"; a rewrite needs its name, too."""
    match = dict(rule.get("match", {}))
    none = match.pop("not", {})
    for key, wanted in match.items():
        if not one_holds(key, wanted, question, name, mesh, files):
            return False
    for key, wanted in none.items():
        if one_holds(key, wanted, question, name, mesh, files):
            return False
    return "rewrite" not in rule or name_matches(rule["rewrite"]["from"], name, files)


def rewritten(rewrite, name):
    """The new name; None: it would be too long."""
    source, target = rewrite["from"].lower(), rewrite["to"].lower()
    if target.startswith("*."):
        target = name.removesuffix(source[2:]) + target[2:]
    return target if len(target) + 2 <= 255 else None


def fixed(rule, question, name):
    """Rules with addresses: other types have no records."""
    family = {"A": 4, "AAAA": 6}
    got = tuple(sorted((name, kind, a) for kind, version in family.items()
                       for a in rule["addresses"]
                       if ipaddress.ip_address(a).version == version and question.type == kind))
    if got:
        return Outcome("answer", "policy", answer=got, ede=(FILTERED, rule["name"]))
    return Outcome("nodata", "policy", ede=(FILTERED, rule["name"]))


def act(rule, question, name, mesh):
    label = (rule["name"],)
    action = rule.get("action")
    if action == "answer":
        return mesh.answer(name, question.type)
    if action in ("pass", "drop"):
        return Outcome(action, "policy")
    if action == "nxdomain":
        return Outcome("nxdomain", "policy", rcode="NXDOMAIN", ede=(BLOCKED, *label))
    if action == "nodata":
        return Outcome("nodata", "policy", ede=(BLOCKED, *label))
    if action == "refuse":
        return Outcome("refuse", "policy", rcode="REFUSED", ede=(PROHIBITED, *label))
    if "addresses" in rule:
        return fixed(rule, question, name)
    if "cname" in rule:
        return alias(rule, question, name, mesh)
    if "rewrite" in rule:
        return rewrite(rule, question, name, mesh)
    if question.type in ADDRESS_TYPES and rule.get("only", question.type) not in (
            "addresses", question.type):
        return Outcome("nodata", "policy", ede=(FILTERED, *label))
    if question.type in HINT_TYPES and "only" in rule:
        return Outcome("nodata", "policy", ede=(FILTERED, *label))
    return mesh.answer(name, question.type)


def alias(rule, question, name, mesh):
    """A CNAME, followed as far as the table has its target."""
    target = rule["cname"].lower()
    first = (name, "CNAME", target + ".")
    if question.type == "CNAME":
        there = Outcome("answer", "policy")
    else:
        there = mesh.answer(target, question.type)
    if there.verdict == "pass":		# the nameserver has the rest
        exists = target in mesh.records
        there = Outcome("nodata" if exists else "answer", "policy")
    elif there.reason == "zone-soa":
        there = Outcome("nodata", "policy")
    return dataclasses.replace(there, reason="policy", ede=(FILTERED, rule["name"]),
                               answer=tuple(sorted((first, *there.answer))))


def rewrite(rule, question, name, mesh):
    """From the table under the new name; a name that it lacks does not exist."""
    target = rewritten(rule["rewrite"], name)
    there = mesh.answer(target, question.type, owner=name) if target else \
        Outcome("pass", "not-mesh")
    if there.reason == "zone-soa":		# which no table has
        there = Outcome("nodata", "policy")
    if there.verdict == "pass":
        exists = target and mesh.has(target)
        there = Outcome("nodata" if exists else "nxdomain", "policy",
                        rcode="NOERROR" if exists else "NXDOMAIN")
    return dataclasses.replace(there, reason="policy", ede=(FILTERED, rule["name"]))


def does_something(rule):
    return any(key in rule for key in
               ("action", "addresses", "cname", "rewrite", "only"))


def target_of(rule, name):
    """The name that a rule has the question answered from, if there is one."""
    if "cname" in rule:
        return rule["cname"].lower()
    return rewritten(rule["rewrite"], name) if "rewrite" in rule else None


def denies(rule, question):
    """Whether a rule for a target denies it; a second change of the name is not made."""
    if "cname" in rule or "rewrite" in rule or rule.get("action") in ("answer", "pass"):
        return False
    if "action" in rule or "addresses" in rule:
        return True
    if question.type in ADDRESS_TYPES:
        return rule.get("only", question.type) not in ("addresses", question.type)
    return question.type in HINT_TYPES and "only" in rule


def of_target(rules, by, question, mesh, files):
    """(the rule that denies the target of the rule "by", or None; the first that observes)."""
    target = target_of(by, question.name.lower())
    if target is None or ("cname" in by and question.type == "CNAME"):
        return None, None
    observed = None
    for rule in rules:
        if rule is by and "cname" in by:
            break		# later rules have no say of where it leads
        if not rule_matches(rule, question, target, mesh, files) or \
           rule.get("log") == "only" or not does_something(rule):
            continue
        if rule.get("mode") != "observe":
            return (rule if denies(rule, question) else None), observed
        observed = observed or rule["name"]
    return None, observed


def decide(rules, question, mesh, files):
    name = question.name.lower()
    observed = None
    for rule in rules:
        if not rule_matches(rule, question, name, mesh, files):
            continue
        if rule.get("log") == "only" or not does_something(rule):
            continue
        if rule.get("mode") == "observe":
            observed = observed or rule["name"]
            continue
        other, also = of_target(rules, rule, question, mesh, files)
        rule = other or rule
        return dataclasses.replace(act(rule, question, name, mesh), rule=rule["name"],
                                   observed=observed or also)
    return dataclasses.replace(mesh.answer(name, question.type), observed=observed)


def config_text(value):
    """A value as libconfig writes it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, list):
        mixed = len({type(v) for v in value}) > 1
        return ("( " if mixed else "[ ") + ", ".join(map(config_text, value)) + \
            (" )" if mixed else " ]")
    return "{ " + " ".join(f"{k} = {config_text(v)};" for k, v in value.items()) + " }"

# SPDX-License-Identifier: GPL-2.0-or-later
"""kube-dns's notations of stub domains and upstreams: what they mean,
and the same for nfdnsd.conf, whose reader says whether it takes it."""
import functools
import ipaddress
import re
import subprocess
import tempfile

NAMESERVERS_MAX = 3		# kube-dns: of upstreamNameservers
LABEL = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")
CONF = 'user = "nobody";\nforward = {{ domains = (\n{}\n); }};\n'


# What a case may say, by the README of the cases.
KNOWN = {
    "config": {"upstreams", "stub_domains", "policy", "failover_rcodes", "failover_on_nodata",
               "attempts", "attempt_timeout_ms", "max_in_flight", "dedup",
               "case_randomisation", "cache", "stale", "prefetch", "health",
               "loop_detect", "transport"},
    "stub_domains": {"domain", "servers", "cache", "transport", "fallback", "policy"},
    "cache": {"size", "max_ttl", "min_ttl", "max_negative_ttl", "servfail_ttl", "negative"},
    "stale": {"mode", "client_timeout_ms", "max_s", "reply_ttl", "failure_recheck_s"},
    "prefetch": {"hits", "percent"},
    "health": {"max_fails", "interval_ms", "timeout_ms", "name", "rd", "fail_fast"},
    "step": {"at", "ask", "expect", "asked", "asked_by", "asked_sum", "probes", "loop_probes",
             "state", "state_is", "reconfigure", "note"},
    "ask": {"name", "type", "class", "transport", "edns", "cd", "ad", "rd", "do", "id", "client",
            "repeat", "raw", "note"},
    "expect": {"rcode", "answer", "answer_rdata", "answer_count", "authority", "additional", "flags",
               "opt", "ede", "id", "question_case", "within_ms", "source", "any_of", "ttl",
               "silence", "no_answer", "timeout", "dropped", "note"},
    "rule": {"match", "from", "to", "nth", "every", "reply", "note"},
    "match": {"name", "type", "class", "do", "cd", "edns", "rd", "transport"},
    "reply": {"icmp", "raw", "loop", "rcode", "answer", "authority", "additional", "aa", "ra", "tc",
              "qr", "opt", "ad_flag", "ad", "delay_ms", "question", "before", "id", "from", "note"},
}
# The selections of a case, and what nfdnsd.conf calls them.
SELECT = {"fastest": "fastest", "sequential": "ordered", "ordered": "ordered", "random": "random",
          "round_robin": "random", "all": "all", "parallel": "all"}


class Invalid(Exception):
    pass


def is_domain(text):
    """A DNS-1123 subdomain."""
    return 0 < len(text) <= 253 and all(LABEL.fullmatch(part) for part in text.split("."))


def server(text, names=False):
    """"ADDRESS#PORT" of IP, IP:port, [v6]:port; with "names" a name, too."""
    match = re.fullmatch(r"\[([^\]]*)\](?::(\d+))?|([^:]*)(?::(\d+))?", text)
    host, port = text, "53"
    if match and not (match[3] is not None and text.count(":") > 1):
        host = match[1] if match[1] is not None else match[3]
        port = match[2] or match[4] or "53"
    if int(port) > 65535:
        raise Invalid(f"{text}: the port")
    try:
        address = str(ipaddress.ip_address(host))
    except ValueError:
        if not (names and is_domain(host)):
            raise Invalid(f"{text}: no address") from None
        address = host
    return f"{address}#{port}"


def meaning(given):
    """What a case's "input" says, or Invalid."""
    stubs = {}
    for domain, servers in (given.get("stub_domains") or {}).items():
        if not is_domain(domain) or not isinstance(servers, list) or not servers:
            raise Invalid(f"{domain}: no stub domain")
        stubs[domain] = [server(text, names=True) for text in servers]
    upstreams = given.get("upstreams") or []
    if len(upstreams) > NAMESERVERS_MAX:
        raise Invalid("too many upstreams")
    for name, domain in (given.get("federations") or {}).items():
        if not LABEL.fullmatch(name) or not is_domain(domain):
            raise Invalid(f"{name}: no federation")
    default = [server(text) for text in upstreams or given.get("resolv_conf") or []]
    return {"stubs": stubs, "default": default}


def accepted(daemon, meant):
    """Whether nfdnsd.conf takes the domains and servers; None: there are none."""
    domains = list(meant["stubs"].items()) + ([(".", meant["default"])] if meant["default"] else [])
    servers = [text for _, several in domains for text in several]
    # It takes addresses, and no port 0, which kube-dns lets pass.
    if not servers or any(re.search(r"#0$|[g-z]", text) for text in servers):
        return None
    text = ",\n".join('{{ name = "{}"; upstreams = [ {} ]; }}'.format(
        name, ", ".join('"' + s.replace("#", "@") + '"' for s in several))
        for name, several in domains)
    wrong = read(daemon, CONF.format(text))
    return True if not wrong else wrong


def unknown(what, given):
    return [f"{what}: unknown: {', '.join(sorted(more))}"
            for more in [set(given) - KNOWN[what]] if more] if isinstance(given, dict) else []


def unknown_of(case):
    """What a case says that nobody here understands: it would count for nothing."""
    config = case.get("config", {})
    faults = unknown("config", config)
    for stub in config.get("stub_domains", []):
        faults += unknown("stub_domains", stub)
    for part in ("cache", "stale", "prefetch", "health"):
        faults += unknown(part, config.get(part))
    for rules in case.get("upstreams", {}).values():
        for rule in rules:
            reply = rule.get("reply") or {}
            faults += unknown("rule", rule) + unknown("match", rule.get("match")) + \
                unknown("reply", reply)
            for before in reply.get("before", []):
                faults += unknown("reply", before)
    for step in case.get("steps", []):
        faults += unknown("step", step) + unknown("ask", step.get("ask")) + \
            unknown("expect", step.get("expect"))
    return faults


def as_domain(name, servers, names, config, stub):
    policy = stub.get("policy", config.get("policy", "fastest"))
    if policy not in SELECT:
        raise Invalid(f"policy: \"{policy}\" is none of {', '.join(SELECT)}")
    fallback = stub.get("fallback", False)
    more = ' fallback = "{}";'.format("pass" if fallback == "pass" else "default") if fallback else ""
    listed = ", ".join(f'"192.0.2.{1 + names.index(s) % 250}"' for s in servers)
    return (f'{{ name = "{name.rstrip(".") or "."}"; upstreams = [ {listed} ]; '
            f'select = "{SELECT[policy]}";{more} }}')


def as_text(config):
    """The domains of a case's config as nfdnsd.conf has them; None: there are none."""
    default = config.get("upstreams", [])
    stubs = [(stub["domain"], default if stub.get("servers", "default") == "default" else
              stub["servers"], stub) for stub in config.get("stub_domains", [])]
    domains = ([(".", default, {})] if default else []) + stubs
    names = [server for _, servers, _ in domains for server in servers]
    if not domains:
        return None
    return CONF.format(",\n".join(as_domain(name, servers, names, config, stub)
                                  for name, servers, stub in domains))


@functools.lru_cache(None)
def read(daemon, text):
    """What nfdnsd's reader has against a configuration; "": nothing."""
    with tempfile.NamedTemporaryFile("w", suffix=".conf") as file:
        file.write(text)
        file.flush()
        done = subprocess.run([str(daemon), "-t", "-c", file.name], text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return "" if done.returncode == 0 else done.stdout.strip().replace(file.name, "nfdnsd.conf")


def refuse(daemon, case):
    """Why a case cannot be run."""
    try:
        text = as_text(case.get("config", {}))
    except (Invalid, KeyError, TypeError) as why:
        return [f"config: {why}"]
    for what in unknown_of(case):
        print(f"note: {case['id']}: {what}")
    wrong = read(daemon, text) if text is not None else ""
    return [f"config: {wrong}"] if wrong else []


def run_config(daemon, case):
    """What is wrong with the outcome of a case of group "config"."""
    expect = case["expect"]
    try:
        meant = meaning(case["input"])
    except Invalid as why:
        return [] if not expect["valid"] else [f"not valid: {why}"]
    if not expect["valid"]:
        return ["valid"]
    faults = [f"{key} is {meant[key]} not {expect[key]}" for key in ("stubs", "default")
              if key in expect and meant[key] != expect[key]]
    taken = accepted(daemon, meant)
    return faults + ([f"nfdnsd.conf: {taken}"] if taken not in (True, None) else [])

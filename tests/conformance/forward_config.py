# SPDX-License-Identifier: GPL-2.0-or-later
"""kube-dns's notations of stub domains, upstreams and self-checks: what they mean,
and the same for nfdnsd.conf, whose reader says whether it takes it."""
import ipaddress
import re
import subprocess
import tempfile

NAMESERVERS_MAX = 3		# kube-dns: of upstreamNameservers
LABEL = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")
CHECK_TYPES = ("A", "AAAA", "SRV", "ANY")
CONF = 'user = "nobody";\nforward = {{ domains = (\n{}\n); }};\n'


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


def check(text):
    """LABEL,SERVER[:PORT],NAME[,SECONDS=5][,TYPE=ANY]"""
    fields = text.split(",")
    if not 3 <= len(fields) <= 5 or not re.fullmatch(r"[a-zA-Z0-9_]+", fields[0]):
        raise Invalid(f"{text}: fields or label")
    interval, kind = (fields[3:4] or ["5"])[0], (fields[4:5] or ["ANY"])[0].upper()
    if not re.fullmatch(r"[1-9]\d*", interval) or kind not in CHECK_TYPES or not fields[2]:
        raise Invalid(f"{text}: interval, type or name")
    return {"label": fields[0], "server": server(fields[1], names=True),
            "name": fields[2].rstrip(".") + ".", "interval_s": int(interval), "type": kind}


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
    return {"stubs": stubs, "default": default,
            "probes": [check(text) for text in given.get("probes") or []]}


def accepted(daemon, meant):
    """Whether nfdnsd.conf takes the domains and servers; None: it has no
    "forward", or nothing of it is asked for."""
    domains = list(meant["stubs"].items()) + ([(".", meant["default"])] if meant["default"] else [])
    servers = [text for _, several in domains for text in several]
    # It takes addresses, and no port 0, which kube-dns lets pass.
    if not servers or any(re.search(r"#0$|[g-z]", text) for text in servers):
        return None
    text = ",\n".join('{{ name = "{}"; upstreams = [ {} ]; }}'.format(
        name, ", ".join('"' + s.replace("#", "@") + '"' for s in several))
        for name, several in domains)
    with tempfile.NamedTemporaryFile("w", suffix=".conf") as file:
        file.write(CONF.format(text))
        file.flush()
        done = subprocess.run([str(daemon), "-t", "-c", file.name], text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if "forward: unknown option" in done.stdout:
        return None
    return "forward" not in done.stdout and done.returncode == 0 or done.stdout


def run_config(daemon, case):
    """What is wrong with the outcome of a case of group "config"."""
    expect = case["expect"]
    try:
        meant = meaning(case["input"])
    except Invalid as why:
        return [] if not expect["valid"] else [f"not valid: {why}"]
    if not expect["valid"]:
        return ["valid"]
    faults = [f"{key} is {meant[key]} not {expect[key]}" for key in ("stubs", "default", "probes")
              if key in expect and meant[key] != expect[key]]
    taken = accepted(daemon, meant)
    return faults + ([f"nfdnsd.conf: {taken}"] if taken not in (True, None) else [])

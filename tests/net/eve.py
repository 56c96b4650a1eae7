# SPDX-License-Identifier: GPL-2.0-or-later
"""The keys of Suricata's EVE log that lines of the format json have, with their types:
of an event, and of its object "dns" in version 3.  All of ours beside them are in the
object "nfdns".  Source: etc/schema.json and rust/src/dns/log.rs of Suricata 8."""
import re

INTEGER, STRING, BOOLEAN = int, str, bool
SRV = {"priority": INTEGER, "weight": INTEGER, "port": INTEGER, "name": STRING}
SOA = {"mname": STRING, "rname": STRING, "serial": INTEGER, "refresh": INTEGER, "retry": INTEGER,
       "expire": INTEGER, "minimum": INTEGER}
GROUPED = {**{kind: [STRING] for kind in ("A", "AAAA", "CNAME", "MX", "NS", "PTR", "TXT")},
           "SRV": [SRV], "SOA": [SOA]}
DNS = {"version": INTEGER, "type": STRING, "id": INTEGER, "qr": BOOLEAN, "aa": BOOLEAN,
       "tc": BOOLEAN, "rd": BOOLEAN, "ra": BOOLEAN, "opcode": INTEGER, "rcode": STRING,
       "queries": [{"rrname": STRING, "rrtype": STRING}],
       "answers": [{"rrname": STRING, "rrtype": STRING, "ttl": INTEGER, "rdata": STRING,
                    "srv": SRV, "soa": SOA}],
       "grouped": GROUPED}
EVENT = {"timestamp": STRING, "event_type": STRING, "src_ip": STRING, "src_port": INTEGER,
         "dest_ip": STRING, "dest_port": INTEGER, "proto": STRING, "ip_v": INTEGER, "in_iface": STRING, "dns": DNS}
ALWAYS = {"": {"timestamp", "event_type"}, "dns": {"version", "type"}}
OURS = "nfdns"
TIMESTAMP = re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d+[+-]\d+")


def differences(value, wanted, where=""):
    """What of a value is not as Suricata has it."""
    if isinstance(wanted, list):
        if not isinstance(value, list) or not value:
            return [f"{where} is not a list with members"]
        return [fault for item in value for fault in differences(item, wanted[0], f"{where}[]")]
    if not isinstance(wanted, dict):
        return [] if type(value) is wanted else [f"{where} is {type(value).__name__}, not {wanted.__name__}"]
    if not isinstance(value, dict):
        return [f"{where} is not an object"]
    faults = [f"{where}.{key} is missing" for key in ALWAYS.get(where, ()) if key not in value]
    for key, member in value.items():
        if key not in wanted:
            faults.append(f"{where}.{key} is not a key of EVE")
        else:
            faults += differences(member, wanted[key], f"{where}.{key}".lstrip("."))
    return faults


def faults(line):
    """The same of a line's object."""
    if line.get("event_type") != "dns":		# a note: nothing but ours
        return [] if set(line) <= {*EVENT, OURS} else [f"a note has {set(line)}"]
    ours = {key: member for key, member in line.items() if key != OURS}
    found = differences(ours, EVENT)
    if not TIMESTAMP.fullmatch(line.get("timestamp", "")):
        found.append("no timestamp")
    if line["dns"].get("version") != 3 or line["dns"].get("type") not in ("request", "response"):
        found.append("no version 3")
    if not isinstance(line.get(OURS), dict):
        found.append("no object of ours")
    return found

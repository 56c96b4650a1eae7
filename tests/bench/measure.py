# SPDX-License-Identifier: GPL-2.0-or-later
"""One measurement: a load against a subject, and what it cost both sides."""
import json
import pathlib
import re
import shutil
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "net"))
from netlab import BUILD, Failure  # noqa: E402
from subjects import CPUS  # noqa: E402

# Client on the first CPU, server on the last: both have one to themselves.
APART = "apart"
# All on one CPU, where the scheduler puts those who take turns; left to itself it
# does so at times, and at times not, which is ten times a round trip's cost.
TOGETHER = "together"

# dnsrate's options for each kind of load, and where it runs.
LOADS = {
    "throughput": (("-n", 64, "-w", 8), APART),
    "single": (("-n", 1, "-w", 1), TOGETHER),
    "half": (("-n", 64), APART),
    # A port of its own for each question, as resolvers of C libraries ask.
    "fresh": (("-n", 64, "-w", 1, "-f"), APART),
}


class Load:
    """What is asked: the questions' file and dnsrate's options."""

    def __init__(self, questions, *options, address=None):
        self.questions, self.options, self.address = questions, options, address


def cpu_cost(before, after, questions):
    """(microseconds a question, ticks in user space, ticks in all)"""
    spent, user, system = (b - a for a, b in zip(before, after))
    return spent / 1000 / max(1, questions), user, user + system


def client(subject, placement):
    """The words before the client's command."""
    subject.place(CPUS[-1:], CPUS if placement == APART else CPUS[-1:])
    return ["taskset", "-c", str(CPUS[0] if placement == APART else CPUS[-1])]


def ask(subject, kind, load, seconds, rate=None):
    """Runs one load; a dict of what came of it."""
    options, placement = LOADS[kind]
    if rate is not None:
        options += ("-r", max(1, int(rate)))
    command = client(subject, placement) + [
        BUILD / "tools/dnsrate", "-s", seconds, "-p", subject.port, *options, *load.options,
        load.address or subject.address, load.questions]
    before = subject.cpu()
    result = json.loads(subject.lab.vm.run(command, ok=0).stdout)
    if result["received"] == 0:
        print(f"bench: {subject.label} answered nothing ({kind})", file=sys.stderr)
        return None
    if result["wrong"] > result["received"] / 1000:
        raise Failure(f"{subject.label}: {kind}: wrong answers: {result}")
    result["server_us"], result["user_ticks"], result["ticks"] = \
        cpu_cost(before, subject.cpu(), result["received"])
    result["rss_kib"] = subject.rss_kib()
    return result


def dnsperf(subject, questions, seconds):
    """The rate that dnsperf gets, or None where it is not installed."""
    if shutil.which("dnsperf") is None:
        return None
    command = client(subject, APART) + [
        "dnsperf", "-s", subject.address, "-p", subject.port, "-d", questions, "-c", 64,
        "-q", 512, "-t", 1, "-l", max(1, round(seconds)), "-O", "suppress=timeout,congestion"]
    out = subject.lab.vm.run(command).stdout
    found = re.search(r"Queries per second:\s+([\d.]+)", out)
    if not found:
        raise Failure(f"{subject.label}: dnsperf: {out[-300:]}")
    return {"rate": float(found[1])}


def pair(subject, load, seconds, cpus):
    """A client on each of these CPUs at once, and the worker's threads beside them."""
    subject.place_threads(cpus)
    clients = [subject.lab.vm.popen(
        ["taskset", "-c", str(cpu), BUILD / "tools/dnsrate", "-s", str(seconds), "-n", "32",
         "-w", "8", "-p", str(port), address, load.questions], stdout=-1, text=True)
        for cpu, (address, port) in zip(cpus, subject.targets)]
    return {"rate": sum(json.loads(c.communicate(timeout=60)[0])["rate"] for c in clients)}

# SPDX-License-Identifier: GPL-2.0-or-later
"""Samples, their medians and ratios, and the tables that people read."""
import statistics


class Samples:
    """What was measured, by (group, subject, load): a list with one entry a round."""

    def __init__(self):
        self.rows = {}

    def add(self, group, subject, load, result):
        if result is not None:
            self.rows.setdefault((group, subject, load), []).append(result)

    def values(self, group, subject, load, key):
        return [r[key] for r in self.rows.get((group, subject, load), ()) if key in r]

    def median(self, *where):
        values = self.values(*where)
        return statistics.median(values) if values else None

    def ratios(self, one, other):
        """Of two (group, subject, load, key), round by round."""
        return [a / b for a, b in zip(self.values(*one), self.values(*other)) if b]

    def share(self, group, subject, load):
        """User space's share of the server's CPU time, of all rounds together:
        the kernel counts it in ticks."""
        total = sum(self.values(group, subject, load, "ticks"))
        return sum(self.values(group, subject, load, "user_ticks")) / total if total else None

    def as_json(self):
        return [{"group": g, "subject": s, "load": l, "rounds": rounds}
                for (g, s, l), rounds in self.rows.items()]


def number(value, digits=None):
    if value is None:
        return "-"
    if digits is None:
        digits = 0 if abs(value) >= 1000 else 1 if abs(value) >= 100 else 2
    return f"{value:,.{digits}f}"


def spread(values, digits=2):
    """Median, minimum and maximum."""
    if not values:
        return "-"
    return (f"{number(statistics.median(values), digits)}"
            f" [{number(min(values), digits)}-{number(max(values), digits)}]")


def table(title, head, rows):
    """Columns as wide as they need to be; the first one left-aligned."""
    widths = [max(len(str(row[i])) for row in [head, *rows]) for i in range(len(head))]
    print(f"\n{title}")
    for row in [head, *rows]:
        cells = [str(cell).ljust(w) if i == 0 else str(cell).rjust(w)
                 for i, (cell, w) in enumerate(zip(row, widths))]
        print("  " + "  ".join(cells).rstrip())


def servers(samples, group, title, subjects, base="nfdns"):
    """The main tables: each subject's figures, and nfdns's ratio to it."""
    head = ("", "questions/s", "nfdns / it", "dnsperf", "client us", "server us", "RSS MiB")
    rows, late, ports = [], [], []
    for name in subjects:
        at = (group, name, "throughput")
        rss = samples.median(*at, "rss_kib")
        rows.append((name, number(samples.median(*at, "rate")),
                     spread(samples.ratios((group, base, "throughput", "rate"), (*at, "rate"))),
                     number(samples.median(group, name, "dnsperf", "rate")),
                     number(samples.median(*at, "client_us")),
                     number(samples.median(*at, "server_us")),
                     number(rss / 1024 if rss else None, 1)))
        fresh = (group, name, "fresh")
        ports.append((name, number(samples.median(*fresh, "rate")),
                      spread(samples.ratios((group, base, "fresh", "rate"), (*fresh, "rate"))),
                      number(samples.median(*fresh, "client_us")),
                      number(samples.median(*fresh, "server_us")),
                      number(samples.median(*fresh, "p50"))))
        one, half = (group, name, "single"), (group, name, "half")
        late.append((name, number(samples.median(*one, "p50")),
                     spread(samples.ratios((group, base, "single", "p50"), (*one, "p50"))),
                     number(samples.median(*one, "p99")), number(samples.median(*one, "p999")),
                     number(samples.median(*half, "p50")), number(samples.median(*half, "p99")),
                     number(samples.median(*half, "p999"))))
    table(f"{title}: throughput, from 64 ports", head, rows)
    table(f"{title}: throughput, each question from a port of its own",
          ("", "questions/s", "nfdns / it", "client us", "server us", "p50 us"), ports)
    table(f"{title}: round trip in microseconds, one question at a time, and at half of"
          " its own capacity",
          ("", "p50", "nfdns / it", "p99", "p99.9", "half p50", "p99", "p99.9"), late)


def rivals(samples, group, title, names, loads, base="nfdns"):
    """One table: rates and round trips, and the base's ratio to each."""
    shown = {"throughput": ("questions/s", "rate"), "single": ("p50 us", "p50"),
             "fresh": ("fresh ports/s", "rate")}
    head, rows = [""], [[name] for name in names]
    for load in loads:
        what, key = shown[load]
        head += [what, f"{base} / it"]
        for row in rows:
            at = (group, row[0], load, key)
            row += [spread(samples.values(*at), None if key == "rate" else 1),
                    spread(samples.ratios((group, base, load, key), at))]
    table(title, head, rows)


def features(samples, names):
    rows = []
    for name in names:
        at, base = ("features", name, "throughput"), ("features", "plain", "throughput")
        rows.append((name, number(samples.median(*at, "rate")),
                     spread(samples.ratios((*base, "rate"), (*at, "rate"))),
                     number(samples.median(*at, "server_us")),
                     spread(samples.ratios((*at, "server_us"), (*base, "server_us")))))
    table("What the features cost (above 1: more than without)",
          ("", "questions/s", "plain / it", "server us", "it / plain"), rows)


def goals(rows):
    """(what, wanted, values, whether more is better)"""
    shown, missed = [], 0
    for what, wanted, values, more in rows:
        if not values:
            continue		# that part was not asked for
        middle = statistics.median(values)
        good = middle >= wanted if more else middle <= wanted
        missed += not good
        shown.append((what, f"{'>=' if more else '<='} {wanted}", spread(values),
                      "reached" if good else "MISSED"))
    table("What is wanted of nfdns, and what was measured: median [min-max]",
          ("", "wanted", "measured", ""), shown)
    return missed

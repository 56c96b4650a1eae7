# SPDX-License-Identifier: GPL-2.0-or-later
"""Plots, as SVG through gnuplot; none where it is not installed."""
import re
import shutil
import subprocess

# Told apart without red against green, and in print.
COLOURS = {"nfdns": "#0b5fa5", "echo direct": "#7f7f7f", "echo DNAT": "#b0b0b0",
           "dnsmasq": "#d95f02", "unbound": "#7a3b9e", "knot": "#c29a00", "dnsdist": "#1b9e77"}

HEAD = """
set terminal svg size 900,520 dynamic font "Helvetica,15" background "#ffffff"
set output "{path}"
set title "{title}" font ",17"
set xlabel "{x}"
set ylabel "{y}"
set grid back lc rgb "#dddddd" lw 1
set border 3 lc rgb "#555555"
set tics nomirror
set key outside right top vertical samplen 2 spacing 1.2
set format y "%.0s%c"
set format x "%.0s%c"
{more}
plot {lines}
"""


def series(samples, group, load, key):
    """{subject: [(x, median)]} over all groups "GROUP-x"."""
    found = {}
    for name, subject, kind in samples.rows:
        match = re.fullmatch(rf"{group}-(\d+)", name)
        if match and kind == load:
            found.setdefault(subject, []).append(
                (int(match[1]), samples.median(name, subject, kind, key)))
    return {subject: sorted(points) for subject, points in found.items()}


def draw(path, title, x, y, found, more=""):
    """One plot with a line for each series; the path, or None."""
    if not found or shutil.which("gnuplot") is None:
        return None
    blocks, lines = [], []
    for n, (name, points) in enumerate(found.items()):
        blocks.append(f"$d{n} << EOD\n" + "\n".join(f"{a} {b}" for a, b in points) + "\nEOD\n")
        width = 3 if name == "nfdns" else 2
        lines.append(f'$d{n} using 1:2 with linespoints pt 7 ps 0.6 lw {width}'
                     f' lc rgb "{COLOURS.get(name, "#000000")}" title "{name}"')
    script = "".join(blocks) + HEAD.format(path=path, title=title, x=x, y=y, more=more,
                                           lines=", ".join(lines))
    subprocess.run(["gnuplot"], input=script, text=True, check=True)
    return path


def draw_all(samples, out):
    plots = (
        draw(out / "names.svg", "Throughput against names in the table", "names",
             "questions a second", series(samples, "names", "throughput", "rate"),
             "set logscale x\nset yrange [0:*]"),
        draw(out / "latency.svg", "Median round trip against load", "questions a second",
             "microseconds", series(samples, "load", "open", "p50"),
             "set logscale y\nset yrange [1:*]"),
        draw(out / "latency-p99.svg", "99th percentile of the round trip against load",
             "questions a second", "microseconds", series(samples, "load", "open", "p99"),
             "set logscale y\nset yrange [1:*]"),
    )
    return [path for path in plots if path is not None]

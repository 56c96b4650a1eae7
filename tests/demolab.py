# SPDX-License-Identifier: GPL-2.0-or-later
"""What the two demos share: how they print, and their beginning and end."""
import os
import pathlib
import shutil
import signal
import sys
import textwrap

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "net"))
from netlab import Failure, Lab, Skip  # noqa: E402

colour = sys.stdout.isatty() and "NO_COLOR" not in os.environ
WIDTH = min(shutil.get_terminal_size().columns, 88)


def paint(code, text):
    return f"\033[{code}m{text}\033[0m" if colour else text


def heading(text):
    print(f"\n{paint('1', text)}\n{paint('2', '-' * len(text))}")


def say(text):
    print(textwrap.fill(" ".join(text.split()), WIDTH))


def folded(line):
    indent = " " * (6 + len(line) - len(line.lstrip()))
    return textwrap.fill(line.strip(), WIDTH, initial_indent=indent,
                         subsequent_indent=indent + "    ", break_long_words=False,
                         break_on_hyphens=False)


def show(command, output):
    print(f"\n  {paint('36', 'vm# ')}{paint('1', command)}")
    for line in output.expandtabs(8).rstrip().splitlines():
        print(folded(line))
    print(flush=True)


def main(demo_in, **options):
    """demo_in(lab), until its end or a signal.  Ends with 3 where it cannot be shown."""
    def end(number, _frame):
        raise SystemExit(128 + number)
    signal.signal(signal.SIGTERM, end)
    signal.signal(signal.SIGINT, end)
    try:
        with Lab(**options) as lab:
            demo_in(lab)
    except Skip as why:
        print(f"demo: cannot be shown on this machine: {why}", file=sys.stderr)
        sys.exit(3)
    except Failure as why:
        sys.exit(f"demo: went wrong: {why}")
    except SystemExit as why:
        print("\ndemo: ended early; everything is taken down", file=sys.stderr)
        raise why

# SPDX-License-Identifier: GPL-2.0-or-later
"""What a test says of itself: passed, failed or skipped."""
import concurrent.futures
import select
import signal
import sys
import time
import traceback

WAIT_S = 20			# how long anything may take to become ready


class Skip(Exception):
    """This cannot be had here."""


class Failure(Exception):
    """What was to be shown is not so."""


def expect(condition, *words):
    if not condition:
        raise Failure(" ".join(str(w) for w in words))


def wait_until(condition, what, timeout=WAIT_S):
    """For states that have no event to wait for; looks at short intervals, which grow:
    most looks are a program of their own."""
    begun = time.monotonic()
    while True:
        value = condition()
        if value:
            return value
        waited = time.monotonic() - begun
        if waited > timeout:
            raise Failure(f"{what}: not so after {timeout} s")
        select.select([], [], [], min(0.1, max(0.01, waited / 10)))


class Closing:
    """What a "with" closes at its end."""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def run(case):
    """Whether it went well; it prints its line."""
    name = case.__name__
    try:
        case()
        print(f"PASS {name}", flush=True)
        return True
    except Skip as why:
        print(f"SKIP {name}: {why}", flush=True)
        return True
    except Failure as why:
        print(f"FAIL {name}: " + str(why).replace("\n", "\n  "), flush=True)
    except Exception as error:	# noqa: BLE001  a fault of the test's own
        traceback.print_exc(file=sys.stdout)
        print(f"FAIL {name}: {type(error).__name__}: {error}", flush=True)
    return False


def main(*cases, at_once=1, first=()):
    """Runs functions, each under its name; prints a line for each.  at_once: those that
    mostly wait, and have a lab of their own, may run beside each other.  "first" run
    alone: what one of these closes is closed; else processes of another lab, which are
    forked meanwhile, may still have it open."""
    # A signal ends the test as an exception does: everything is taken down.
    def end(number, _frame):
        raise SystemExit(128 + number)
    signal.signal(signal.SIGTERM, end)
    signal.signal(signal.SIGINT, end)
    # In the background of a shell SIGINT may have been ignored; children too.
    good = [run(case) for case in first]
    if at_once == 1:
        good += [run(case) for case in cases]
    else:
        with concurrent.futures.ThreadPoolExecutor(at_once) as pool:
            good += pool.map(run, cases)
    sys.exit(0 if all(good) else 1)

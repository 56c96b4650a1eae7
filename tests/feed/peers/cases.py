# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs cases, several at once: most of their time they wait."""
import concurrent.futures
import signal
import sys
import traceback

from netlab.outcome import Failure, Skip

JOBS = 6


def _run(case):
    try:
        case()
        return "PASS", ""
    except Skip as why:
        return "SKIP", f": {why}"
    except Failure as why:
        return "FAIL", ": " + str(why).replace("\n", "\n  ")
    except Exception as error:		# noqa: BLE001  a fault of the test's own
        return "FAIL", f": {type(error).__name__}: {error}\n{traceback.format_exc()}"


def main(cases, count=None, jobs=JOBS):
    """Runs {name: function}, or those that the command line names, and prints a
    line for each; "count" is what the sum is called as a figure."""
    def end(number, _frame):
        raise SystemExit(128 + number)
    signal.signal(signal.SIGTERM, end)
    signal.signal(signal.SIGINT, end)
    named = [word for word in sys.argv[1:] if not word.startswith("-")]
    chosen = {name: case for name, case in cases.items() if not named or name in named}
    passed = failed = 0
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        waiting = {name: pool.submit(_run, case) for name, case in chosen.items()}
        for name, outcome in waiting.items():
            verdict, why = outcome.result()
            print(f"{verdict} {name}{why}", flush=True)
            passed += verdict == "PASS"
            failed += verdict == "FAIL"
    if count:
        print(f"figure: {count} {passed} of {len(chosen)}")
    sys.exit(1 if failed or not chosen else 0)


def by_name(*functions):
    return {function.__name__: function for function in functions}

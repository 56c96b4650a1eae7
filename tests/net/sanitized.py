# SPDX-License-Identifier: GPL-2.0-or-later
"""The programs built with a sanitizer, and what it has to say about them."""
import os
import re
import sys

from netlab import *

sys.path.insert(0, str(TOP / "tests/fuzz"))
import targets  # noqa: E402

TOLD = {	# what it is told at run time
    "address": ("ASAN_OPTIONS", "detect_leaks=0"), "thread": ("TSAN_OPTIONS", "halt_on_error=0"),
}
REPORT = re.compile(r"ERROR: AddressSanitizer|runtime error:|WARNING: ThreadSanitizer|assert",
                    re.I)


def programs(sanitizer):
    """Where they are; the environment tells them what to do from now on."""
    variable, value = TOLD[sanitizer]
    build, done = targets.make_sanitized(sanitizer)
    expect(done.returncode == 0, "no build with the sanitizer:", done.stdout)
    os.environ[variable] = value
    return build


def no_report(*texts):
    reports = [line for text in texts for line in text.splitlines() if REPORT.search(line)]
    expect(not reports, len(reports), "reports:\n" + "\n".join(texts)[-8000:])

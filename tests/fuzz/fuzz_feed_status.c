/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Any octets as run_dir/NAME.json, which another user may have written. */
#include <string.h>

#include "policy/status/feed_status.h"
#include "tests/fuzz/fuzz.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct feed_report report;
	char text[FEED_HEALTH_TEXT];
	int error = feed_status_parse(&report, (const char *)data, size);

	check(strnlen(report.status.error, FEED_TEXT) < FEED_TEXT);
	check(strpbrk(report.status.peer, "\n\033") == NULL);
	check(error == 0 || report.written == 0);
	for (int64_t now = 0; now < 4000000000; now += 1000000000) {
		const enum feed_health health = feed_status_health(&report,
		    now / 2, 600, now);
		const char *why = feed_status_text(health, "mesh", &report,
		    600, now, text);

		check((why == NULL) == (health == FEED_HEALTHY));
		check(why == NULL || strpbrk(why, "\n\033") == NULL);
	}
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Any text as an Accept header: one of the two formats, and it names what it gets. */
#include <stdlib.h>
#include <string.h>

#include "nfq/metrics/accept.h"
#include "tests/fuzz/fuzz.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);
	enum metrics_format format;

	if (text == NULL)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	format = metrics_accept(text);
	check(format == METRICS_TEXT || format == METRICS_OPEN);
	check(format == METRICS_TEXT ||
	    strcasestr(text, "application/openmetrics-text") != NULL);
	free(text);
	return 0;
}

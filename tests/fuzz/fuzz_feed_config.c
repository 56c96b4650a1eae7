/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Any octets as feed.conf: a configuration or errors, one a line. */
#include <string.h>

#include "policy/config/feed_config.h"
#include "tests/fuzz/fuzz.h"

/* As in fuzz_config.c. */
const char *__lsan_default_suppressions(void);

const char *
__lsan_default_suppressions(void)
{
	return "leak:libconfig";
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct diag diag = DIAG_INIT;
	struct feeds_config *config;
	int error = feed_config_parse(&config, "/etc/fuzz.conf",
	    (const char *)data, size, &diag);

	check((error == 0) == (config != NULL));
	check((error == 0) == (diag.errors == 0));
	for (size_t i = 0; i < diag.kept; i++)
		check(strchr(diag.entries[i].text, '\n') == NULL);
	if (error == 0) {
		check(config->feed_count > 0);
		check(feed_config_same(&config->feeds[0], &config->feeds[0]));
	}
	feed_config_free(config);
	diag_free(&diag);
	return 0;
}

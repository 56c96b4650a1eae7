/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Any octets as feed.conf: a configuration or errors, one a line. */
#include "policy/config/feed_config.h"
#include "tests/fuzz/config_file.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct diag diag = DIAG_INIT;
	struct feeds_config *config;
	int error = feed_config_parse(&config, "/etc/fuzz.conf",
	    (const char *)data, size, &diag);

	check_outcome(error, config, &diag);
	if (error == 0) {
		check(config->feed_count > 0);
		check(feed_config_same(&config->feeds[0], &config->feeds[0]));
	}
	feed_config_free(config);
	diag_free(&diag);
	return 0;
}

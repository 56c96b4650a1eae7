/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Any octets as a configuration file: a configuration or errors, one a line. */
#include "policy/config/config.h"
#include "tests/fuzz/config_file.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct diag diag = DIAG_INIT;
	struct config *config;
	int error = config_parse(&config, "/etc/fuzz.conf", (const char *)data,
	    size, &diag);

	check_outcome(error, config, &diag);
	if (error == 0)
		check(config_check_reload(config, config, &diag) == 0);
	config_free(config);
	diag_free(&diag);
	return 0;
}

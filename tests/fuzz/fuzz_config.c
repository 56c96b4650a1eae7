/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Any octets as a configuration file: a configuration or errors, one a line. */
#include <stdlib.h>
#include <string.h>

#include "policy/config/config.h"
#include "tests/fuzz/fuzz.h"

/*
 * libconfig up to 1.7 forgets the string that a syntax error follows.  A few
 * octets a failed reload; nothing that we could free.
 */
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
	struct config *config;
	int error = config_parse(&config, "/etc/fuzz.conf", (const char *)data,
	    size, &diag);

	check((error == 0) == (config != NULL));
	check((error == 0) == (diag.errors == 0));
	for (size_t i = 0; i < diag.kept; i++)
		check(strchr(diag.entries[i].text, '\n') == NULL);
	if (error == 0)
		check(config_check_reload(config, config, &diag) == 0);
	config_free(config);
	diag_free(&diag);
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What fuzz targets share whose input is a file that libconfig parses. */
#ifndef NFDNS_TESTS_FUZZ_CONFIG_FILE_H
#define NFDNS_TESTS_FUZZ_CONFIG_FILE_H

#include <string.h>

#include "resolver/text/diag.h"
#include "tests/fuzz/fuzz.h"

/* There is a configuration or there are errors, each one line. */
static inline void
check_outcome(int error, const void *config, const struct diag *diag)
{
	check((error == 0) == (config != NULL));
	check((error == 0) == (diag->errors == 0));
	for (size_t i = 0; i < diag->kept; i++)
		check(strchr(diag->entries[i].text, '\n') == NULL);
}

#endif

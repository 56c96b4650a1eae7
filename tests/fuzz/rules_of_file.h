/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What fuzz targets share whose input is the one file of a policy. */
#ifndef NFDNS_TESTS_FUZZ_RULES_OF_FILE_H
#define NFDNS_TESTS_FUZZ_RULES_OF_FILE_H

#include <stdlib.h>
#include <string.h>

#include "policy/match/rules.h"
#include "tests/fuzz/fuzz.h"

/*
 * The rules, in *octets, which the caller frees after rules_close(); NULL: there
 * are errors, each one line.
 */
static inline struct rules *
rules_of_file(const struct policy *policy, const uint8_t *data, size_t size,
    uint8_t **octets)
{
	struct diag diag = DIAG_INIT;
	struct rules *rules = NULL;
	/* Nobody answers at this socket: what is included cannot be had. */
	static const int none = -1;
	const char *why;
	size_t length;
	struct rules_file file = { .text = { .path = "/etc/names",
		.data = (const char *)data, .length = size, .broker = &none },
		.diag = &diag };
	int error;

	*octets = NULL;
	error = rules_build(policy, "/etc/test.conf", &file, &diag, octets,
	    &length);
	check((error == 0) == (diag.errors == 0));
	for (size_t i = 0; i < diag.kept; i++)
		check(strchr(diag.entries[i].text, '\n') == NULL);
	if (error == 0)
		check(rules_open(&rules, *octets, length, &why) == 0);
	diag_free(&diag);
	return rules;
}

#endif

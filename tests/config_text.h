/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What tests of the configuration share: a text parsed, and what was said. */
#ifndef NFDNS_TESTS_CONFIG_TEXT_H
#define NFDNS_TESTS_CONFIG_TEXT_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policy/config/config.h"
#include "tests/check.h"

#define FILE_NAME "/etc/nfdns/test.conf"
/* The machine need not have the default user. */
#define COMMON "user = \"65533\";\n"

static struct diag diag;

/* What a bad text is to say: the first error, without the file's name. */
static inline const char *
first_error(void)
{
	size_t skip = strlen(FILE_NAME) + 1;

	for (size_t i = 0; i < diag.kept; i++)
		if (diag.entries[i].level == DIAG_ERROR)
			return strncmp(diag.entries[i].text, FILE_NAME ":",
			    skip) == 0 ? diag.entries[i].text + skip :
			    diag.entries[i].text;
	return "";
}

/* Parses COMMON and text; NULL after an error.  diag has this text's only. */
static inline struct config *
parse(const char *text)
{
	struct config *config = NULL;
	char *whole = NULL;
	int error;

	diag_free(&diag);
	diag = (struct diag)DIAG_INIT;
	if (asprintf(&whole, "%s%s", strncmp(text, "user = ", 7) != 0 ?
	    COMMON : "\n", text) < 0)
		return NULL;
	error = config_parse(&config, FILE_NAME, whole, strlen(whole), &diag);
	free(whole);
	CHECK((error == 0) == (config != NULL));
	CHECK(error == 0 || (error == -EINVAL && diag.errors > 0));
	return config;
}

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether a manual page of a configuration agrees with the table of its options. */
#ifndef NFDNS_TESTS_UNIT_POLICY_CONFIG_MANUAL_H
#define NFDNS_TESTS_UNIT_POLICY_CONFIG_MANUAL_H

#include <stdlib.h>
#include <string.h>

#include "policy/config/setting.h"
#include "tests/check.h"

/* Reads a file of the checkout; the caller frees. */
static inline char *
slurp(const char *path)
{
	FILE *f = fopen(path, "r");
	char *text = calloc(1, 1 << 17);

	CHECK(f != NULL);
	if (f == NULL || text == NULL)
		return text;
	text[fread(text, 1, (1 << 17) - 1, f)] = '\0';
	fclose(f);
	return text;
}

/* The manual as one line, one blank between words. */
static inline void
flatten(char *text)
{
	char *to = text;

	for (const char *from = text; *from != '\0'; from++)
		if (*from != '\n' && *from != ' ')
			*to++ = *from;
		else if (to > text && to[-1] != ' ')
			*to++ = ' ';
	*to = '\0';
}

static inline void
check_manual_entry(const char *manual, const struct config_option *o)
{
	char expected[2 * CONFIG_TEXT_SIZE], buf[CONFIG_TEXT_SIZE], *entry;
	const char *at, *end;

	snprintf(expected, sizeof(expected), ".It Va %s ", o->path);
	at = strstr(manual, expected);
	if (at == NULL) {
		printf("  missing: %s\n", expected);
		CHECK(0);
		return;
	}
	end = strstr(at + 1, " .It Va ");
	entry = strndup(at, end != NULL ? (size_t)(end - at) : strlen(at));
	snprintf(expected, sizeof(expected), "Default: %s.",
	    o->fallback != NULL ? o->fallback : "");
	if (o->fallback != NULL && strstr(entry, expected) == NULL) {
		printf("  %s: \"%s\"\n", o->path, expected);
		CHECK(0);
	}
	if (!o->about_allows &&
	    strstr(entry, config_option_expected(o, buf)) == NULL) {
		printf("  %s: \"%s\"\n", o->path, buf);
		CHECK(0);
	}
	free(entry);
}

/* A path in the checkout. */
static inline void
check_manual(const char *path, const struct config_option *options,
    size_t count)
{
	char *manual = slurp(path);

	if (manual == NULL)
		return;
	flatten(manual);
	for (size_t i = 0; i < count; i++)
		check_manual_entry(manual, &options[i]);
	free(manual);
}

#endif

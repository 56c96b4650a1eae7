/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef NFDNS_TESTS_UNIT_RESOLVER_ANSWER_RECORD_IS_H
#define NFDNS_TESTS_UNIT_RESOLVER_ANSWER_RECORD_IS_H

#include <stdbool.h>	/* before ldns.h, which else makes a bool of its own */
#include <ldns/ldns.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The nth record of a list is this, in ldns' words. */
static inline bool
record_is(const ldns_rr_list *list, size_t n, const char *text)
{
	char *got;
	bool same;

	if (n >= ldns_rr_list_rr_count(list))
		return false;
	got = ldns_rr2str(ldns_rr_list_rr(list, n));
	got[strcspn(got, "\n")] = '\0';
	same = strcmp(got, text) == 0;
	if (!same)
		printf("  %s\n", got);
	free(got);
	return same;
}

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "resolver/text/diag.h"
#include "tests/check.h"

TEST(place_and_text)
{
	struct diag diag = DIAG_INIT;

	diag_add(&diag, DIAG_ERROR, "a.json", 3, "bad %s", "thing");
	diag_add(&diag, DIAG_WARNING, "a.json", 0, "odd");
	diag_add(&diag, DIAG_ERROR, NULL, 7, "nowhere");
	CHECK(diag.kept == 3 && diag.errors == 2 && diag.warnings == 1);
	CHECK(strcmp(diag.entries[0].text, "a.json:3: bad thing") == 0);
	CHECK(strcmp(diag.entries[1].text, "a.json: odd") == 0);
	CHECK(strcmp(diag.entries[2].text, "nowhere") == 0);
	CHECK(diag.entries[1].level == DIAG_WARNING);
	diag_free(&diag);
	CHECK(diag.kept == 0 && diag.errors == 0);
}

TEST(one_entry_is_one_line)
{
	struct diag diag = DIAG_INIT;

	diag_add(&diag, DIAG_ERROR, "f\n", 1, "%s", "a\nb\x1b[31m\x7f \xc3\xa9");
	CHECK(strcmp(diag.entries[0].text,
	    "f\\x0a:1: a\\x0ab\\x1b[31m\\x7f \xc3\xa9") == 0);
	diag_add_text(&diag, DIAG_WARNING, "x\ry");
	CHECK(strcmp(diag.entries[1].text, "x\\x0dy") == 0);
	/* Of a file of rules that is none (issue 22): no UTF-8; C1. */
	diag_add_text(&diag, DIAG_WARNING, "\x91 \xc3 \xc2\x9b \xc2\xa0");
	CHECK(strcmp(diag.entries[2].text,
	    "\\x91 \\xc3 \\xc2\\x9b \xc2\xa0") == 0);
	diag_free(&diag);
}

TEST(counts_go_on_when_full)
{
	struct diag diag = DIAG_INIT;

	for (int i = 0; i < DIAG_MAX_KEPT + 50; i++)
		diag_add(&diag, DIAG_WARNING, NULL, 0, "%d", i);
	CHECK(diag.kept == DIAG_MAX_KEPT);
	CHECK(diag.warnings == DIAG_MAX_KEPT + 50);
	CHECK(diag_dropped(&diag) == 50);
	diag_free(&diag);
}

TEST(an_error_is_kept_after_any_number_of_warnings)
{
	struct diag diag = DIAG_INIT;
	size_t errors = 0;

	for (int i = 0; i < DIAG_MAX_KEPT * 2; i++)
		diag_add(&diag, DIAG_WARNING, NULL, 0, "w");
	for (int i = 0; i < DIAG_MAX_KEPT + 1; i++)
		diag_add(&diag, DIAG_ERROR, "f", 1, "e%d", i);
	for (size_t i = 0; i < diag.kept; i++)
		errors += diag.entries[i].level == DIAG_ERROR;
	CHECK(diag.kept == DIAG_MAX_KEPT && errors == DIAG_MAX_KEPT);
	CHECK(diag.errors == DIAG_MAX_KEPT + 1);
	CHECK(diag_dropped(&diag) == DIAG_MAX_KEPT * 2 + 1);
	diag_free(&diag);
}

/* A note is no warning, not even if warnings are errors. */
TEST(a_note_is_kept_and_is_no_warning)
{
	struct diag diag = DIAG_INIT;

	for (int i = 0; i < DIAG_MAX_KEPT; i++)
		diag_add(&diag, DIAG_WARNING, NULL, 0, "w");
	diag_add_count(&diag, "f", 500001, "name");
	CHECK(strcmp(diag.entries[DIAG_MAX_KEPT - 1].text,
	    "f: 500,001 names") == 0);
	CHECK(diag_dropped(&diag) == 1);
	diag_be_strict(&diag);
	CHECK(diag.errors == DIAG_MAX_KEPT && diag.notes == 1);
	CHECK(diag.entries[DIAG_MAX_KEPT - 1].level == DIAG_NOTE);
	diag_free(&diag);
	diag_add_count(&diag, "f", 1, "name");
	diag_add_count(&diag, "f", 1000, "name");
	CHECK(strcmp(diag.entries[0].text, "f: 1 name") == 0);
	CHECK(strcmp(diag.entries[1].text, "f: 1,000 names") == 0);
	diag_free(&diag);
}

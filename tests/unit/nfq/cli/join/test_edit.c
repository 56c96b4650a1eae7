/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Settings added to a configuration and taken out: every other octet stays. */
#include "nfq/cli/join/edit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tests/check.h"

#define ITEM	"{ x = 1; }"
#define BEGIN	"/* nfdns join m */ "
#define END	" /* end of nfdns join m */"

static struct edit
start(const char *text)
{
	struct edit edit = { .text = NULL };

	CHECK(edit_start(&edit, text, strlen(text)) == 0);
	return edit;
}

static bool
is(const struct edit *edit, const char *text)
{
	const bool same = edit->length == strlen(text) &&
	    memcmp(edit->text, text, edit->length) == 0;

	if (!same)
		printf("  is \"%.*s\"\n", (int)edit->length, edit->text);
	return same;
}

/* Adds, compares, takes out, compares with the begin. */
static void
there_and_back(const char *before, const char *after)
{
	struct edit edit = start(before);

	CHECK(edit_add_item(&edit, "mesh", "tables", ITEM, "m") == 0);
	CHECK(is(&edit, after));
	CHECK(edit_remove(&edit, "m") == 1);
	CHECK(is(&edit, before));
	edit_free(&edit);
}

static void
lists_of_every_form(void)
{
	there_and_back("mesh = {\n\ttables = (\n\t\t{ a = 1; }\n\t);\n};\n",
	    "mesh = {\n\ttables = (\n\t\t{ a = 1; }\n\t\t" BEGIN ", " ITEM END
	    "\n\t);\n};\n");
	there_and_back("mesh = { tables = ( { a = 1; } ); };",
	    "mesh = { tables = ( { a = 1; } " BEGIN ", " ITEM END " ); };");
	there_and_back("mesh: { tables: (); }",
	    "mesh: { tables: (" BEGIN ITEM END " ); }");
	there_and_back("mesh = {\ntables = (\n)\n}\n",
	    "mesh = {\ntables = (\n\t" BEGIN ITEM END "\n)\n}\n");
	there_and_back("mesh = { tables = ( { a = ( 1, 2 ); }, ); };",
	    "mesh = { tables = ( { a = ( 1, 2 ); }, " BEGIN ITEM END " ); };");
}

static void
comments_and_strings_are_no_syntax(void)
{
	there_and_back("# mesh = { tables = ( ) }\n"
	    "log = \"mesh = { tables = ( ) } \\\" )\";\n"
	    "/* mesh */ mesh = { // tables = (\n"
	    "tables = ( # )\n { a = \")\"; } # last )\n); };\n",
	    "# mesh = { tables = ( ) }\n"
	    "log = \"mesh = { tables = ( ) } \\\" )\";\n"
	    "/* mesh */ mesh = { // tables = (\n"
	    "tables = ( # )\n { a = \")\"; } # last )\n\t" BEGIN ", " ITEM END
	    "\n); };\n");
}

static void
names_of_other_groups(void)
{
	there_and_back("a = { mesh = { tables = ( ); }; tables = ( ); };\n"
	    "mesh = { b = { tables = ( ); }; tables = ( ); };\n",
	    "a = { mesh = { tables = ( ); }; tables = ( ); };\n"
	    "mesh = { b = { tables = ( ); }; tables = ( " BEGIN ITEM END
	    " ); };\n");
}

static void
what_is_missing_is_made(void)
{
	there_and_back("a = 1;\n", "a = 1;\n" BEGIN "mesh = { tables = ( " ITEM
	    " ); };" END "\n");
	there_and_back("", BEGIN "mesh = { tables = ( " ITEM " ); };" END "\n");
	there_and_back("mesh = {\n\ta = 1;\n};\n", "mesh = {\n\t" BEGIN
	    "tables = ( " ITEM " );" END "\n\ta = 1;\n};\n");
	there_and_back("mesh = { a = 1; };\n", "mesh = { " BEGIN
	    "tables = ( " ITEM " );" END " a = 1; };\n");
}

static void
several_pieces(void)
{
	static const char text[] = "mesh = {\n\ttables = ( );\n};\n";
	struct edit edit = start(text);

	CHECK(edit_add_item(&edit, "mesh", "tables", ITEM, "m") == 0);
	CHECK(edit_add_setting(&edit, "mesh", "b = 2;", "m") == 0);
	CHECK(edit_add_item(&edit, "mesh", "tables", ITEM, "other") == 0);
	CHECK(edit_has(&edit, "mesh", "b"));
	CHECK(!edit_has(&edit, "mesh", "c"));
	CHECK(!edit_has(&edit, "b", "mesh"));
	CHECK(edit_remove(&edit, "m") == 2);
	CHECK(!edit_has(&edit, "mesh", "b"));
	CHECK(memmem(edit.text, edit.length, "other", 5) != NULL);
	CHECK(edit_remove(&edit, "absent") == 0);
	edit_free(&edit);
}

/* A setting in a group that was added, and an item before others. */
static void
pieces_in_and_before_others(void)
{
	struct edit edit = start("a = 1;\n");

	CHECK(edit_add_item(&edit, "mesh", "tables", ITEM, "m") == 0);
	CHECK(edit_add_setting(&edit, "mesh", "b = 2;", "m") == 0);
	CHECK(edit_has(&edit, "mesh", "b"));
	CHECK(edit_remove(&edit, "m") == 1);
	CHECK(is(&edit, "a = 1;\n"));
	edit_free(&edit);
	edit = start("mesh = { tables = ( ); };");
	CHECK(edit_add_item(&edit, "mesh", "tables", ITEM, "m") == 0);
	CHECK(edit_add_item(&edit, "mesh", "tables", ITEM, "other") == 0);
	CHECK(edit_remove(&edit, "m") == 1);
	CHECK(is(&edit, "mesh = { tables = ( /* nfdns join other */ " ITEM
	    " /* end of nfdns join other */ ); };"));
	edit_free(&edit);
}

static void
what_cannot_be_done(void)
{
	static const char *const texts[] = { "mesh = 1;", "mesh = { tables = ",
	    "mesh = { tables = [ ]; };", "mesh = { tables = ( ]; };", "}",
	    "mesh = { tables = ( \"", "mesh = { tables = ( /* ); };" };

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct edit edit = start(texts[i]);

		CHECK(edit_add_item(&edit, "mesh", "tables", ITEM, "m") ==
		    -EINVAL);
		CHECK(is(&edit, texts[i]));
		edit_free(&edit);
	}
}

static void
a_mark_without_its_end(void)
{
	static const char text[] = "a " BEGIN "b" END " " BEGIN "c";
	struct edit edit = start(text);

	CHECK(edit_remove(&edit, "m") == -EINVAL);
	CHECK(is(&edit, text));
	edit_free(&edit);
}

int
main(void)
{
	TEST(lists_of_every_form);
	TEST(comments_and_strings_are_no_syntax);
	TEST(names_of_other_groups);
	TEST(what_is_missing_is_made);
	TEST(several_pieces);
	TEST(pieces_in_and_before_others);
	TEST(what_cannot_be_done);
	TEST(a_mark_without_its_end);
	return test_summary();
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names in UTF-8, and what else has octets above 0x7f. */
#include "resolver/idn.h"

#include <errno.h>
#include <string.h>

#include "tests/check.h"

static char text[NAME_TEXT_SIZE];

/* The name in ASCII, or "ERRNO". */
static const char *
read_name(const char *from)
{
	struct dns_name name;
	int error = idn_name_from_text(&name, from, strlen(from));

	if (error < 0)
		return error == -EILSEQ ? "EILSEQ" : error == -ENAMETOOLONG ?
		    "ENAMETOOLONG" : error == -EINVAL ? "EINVAL" : "?";
	return name_to_text(name.octets, text);
}

TEST(labels_in_utf8_become_a_labels)
{
	static const char *const names[][2] = {
		{ "\xc3\xbcml.example", "xn--ml-wka.example." },
		{ "\xc3\x9cML.Example", "xn--ml-wka.Example." },
		/* Decomposed: u and U+0308. */
		{ "u\xcc\x88ml.example", "xn--ml-wka.example." },
		/* Not "fass": IDNA2008, without transitional processing. */
		{ "fa\xc3\x9f.example", "xn--fa-hia.example." },
		{ "www.\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e.jp.",
		    "www.xn--wgv71a119e.jp." },
		{ "a\xe3\x80\x82\xc3\xbc.example", "a.xn--tda.example." },
		{ "*.\xc3\xbc.example", "*.xn--tda.example." },
		{ "_dns.\xc3\xbc.example", "_dns.xn--tda.example." },
		{ "a\\.b.\xc3\xbc.example", "a\\.b.xn--tda.example." },
		{ "a\\200.example", "a\\200.example." },
		{ "xn--tda.example", "xn--tda.example." },
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const char *got = read_name(names[i][0]);

		CHECK(strcmp(got, names[i][1]) == 0);
		if (strcmp(got, names[i][1]) != 0)
			printf("  %s: %s\n", names[i][0], got);
	}
}

TEST(what_idna_does_not_allow_is_refused)
{
	static const char *const names[][2] = {
		{ "\xff\xfe.example", "EILSEQ" },	/* no UTF-8 */
		{ "\xc3.example", "EILSEQ" },
		{ "i\xe2\x9d\xa4.example", "EILSEQ" },	/* a heart */
		{ "-\xc3\xbc.example", "EILSEQ" },
		{ "xn--\xc3\xbc.example", "EILSEQ" },
		{ "\xc3\xbc\\065.example", "EILSEQ" },	/* escapes beside it */
		/* Fullwidth "*", "\" and "/" become these by UTS #46. */
		{ "\xef\xbc\x8a.example", "EILSEQ" },
		{ "\xef\xbc\xbc\x30\x34\x36.example", "EILSEQ" },
		{ "a\xef\xbc\x8f.example", "EILSEQ" },
		{ "\xc2\xad.example", "EILSEQ" },	/* becomes nothing */
		{ "a..\xc3\xbc", "EINVAL" },
	};
	char longest[400] = "";

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const char *got = read_name(names[i][0]);

		CHECK(strcmp(got, names[i][1]) == 0);
		if (strcmp(got, names[i][1]) != 0)
			printf("  %zu: %s\n", i, got);
	}
	for (int i = 0; i < 70; i++)
		memcpy(longest + 4 * i, "\xc3\xbc\xc3\xb6", 5);
	CHECK(strcmp(read_name(longest), "ENAMETOOLONG") == 0);
}

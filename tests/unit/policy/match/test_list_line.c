/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lines of block lists: each format, and each kind of what is none. */
#include "policy/match/list_line.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "tests/check.h"

/* The names of a line, with blanks between them; then "! WHY". */
static const char *
names_of(const char *text, size_t length)
{
	static const char *const kinds[] = { [POLICY_EXACT] = "",
		[POLICY_BELOW] = "*.", [POLICY_WITHIN] = "." };
	static char out[4096];
	struct policy_name name;
	struct list_line line;
	char one[NAME_TEXT_SIZE];
	size_t used = 0;

	out[0] = '\0';
	list_line_begin(&line, (struct span){ text, length });
	while (list_line_next(&line, &name))
		used += (size_t)snprintf(out + used, sizeof(out) - used,
		    "%s%s%s", used > 0 ? " " : "", kinds[name.kind],
		    name_to_text(name.name.octets, one));
	if (line.why != NULL)
		(void)snprintf(out + used, sizeof(out) - used, "%s! %s",
		    used > 0 ? " " : "", line.why);
	return out;
}

struct line { const char *text, *expected; };

/* What is expected is how it begins, if it ends with "..". */
static void
check_lines(const struct line *lines, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const char *got = names_of(lines[i].text,
		    strlen(lines[i].text));
		const size_t n = strlen(lines[i].expected);
		const bool begins = n > 2 && strcmp(lines[i].expected + n - 2,
		    "..") == 0;

		if (begins ? strncmp(got, lines[i].expected, n - 2) == 0 :
		    strcmp(got, lines[i].expected) == 0)
			continue;
		printf("  \"%s\": %s\n", lines[i].text, got);
		CHECK(false);
	}
}

#define LINES(...) do {							\
	static const struct line lines[] = { __VA_ARGS__ };		\
	check_lines(lines, sizeof(lines) / sizeof(lines[0]));		\
} while (0)

TEST(plain_names)
{
	LINES({ "a.example", "a.example." }, { "  A.Example.\t\r", "a.example." },
	    { "*.a.example", "*.a.example." }, { ".a.example", ".a.example." },
	    { "*", "*.." }, { "a.example # why", "a.example." },
	    { "a.example#why", "a.example." }, { "a_b.example", "a_b.example." },
	    { "a\\047b.example", "a/b.example." }, { "1.example", "1.example." },
	    { "\\*.example", "*.example." }, { "localhost", "localhost." },
	    { "\xc3\xbcml.example", "xn--ml-wka.example." },
	    { "*.\xc3\xbcml.example", "*.xn--ml-wka.example." },
	    { "\xef\xbb\xbf" "a.example", "a.example." },
	    { "4.3.2.1.in-addr.arpa", "4.3.2.1.in-addr.arpa." });
}

/* What is blank to its end is not trimmed beyond its begin. */
TEST(blank_lines)
{
	static const char text[] = "\n\n \t\r\n";

	for (size_t length = 0; length <= 4; length++)
		CHECK(names_of(text + 2, length)[0] == '\0');
}

TEST(hosts)
{
	LINES({ "0.0.0.0 a.example", "a.example." },
	    { "127.0.0.1\ta.example b.example  c.example # x",
	      "a.example. b.example. c.example." },
	    { "::1 a.example", "a.example." }, { ":: A.example", "a.example." },
	    { "0.0.0.0 \xc3\xbc.example", "xn--tda.example." },
	    { "127.0.0.1 localhost localhost.localdomain LOCAL", "" },
	    { "255.255.255.255 broadcasthost", "" },
	    { "fe80::1%lo0 localhost", "" }, { "ff02::1 ip6-allnodes", "" },
	    { "::1 localhost ip6-localhost ip6-loopback", "" },
	    { "0.0.0.0 0.0.0.0", "" },
	    { "0.0.0.0 ip6-ads.example localhost.example",
	      "ip6-ads.example. localhost.example." },
	    { "10.1.2.3 a.example", "! gives a name an address.." },
	    { "2001:db8::1 a.example", "! gives a name an address.." },
	    { "0.0.0.0 *.a.example b.example", "b.example. ! is a pattern.." },
	    { "0.0.0.0 .a.example", "! is more than.." },
	    { "0.0.0.0 1.2.3.4", "! is more than.." },
	    { "0.0.0.0 .", "! is more than.." },
	    { "0.0.0.0", "! is an address.." }, { "::1", "! is an address.." },
	    { "0.0.0.256 a.example", "! is more than a name.." },
	    { "a.example b.example", "! is more than a name.." });
}

/* Costs grow with the line, not with its square. */
TEST(a_line_of_a_million_words)
{
	const size_t size = 8 + 3 * 1000000;
	char *text = malloc(size);
	struct policy_name name;
	struct list_line line;

	memcpy(text, "0.0.0.0 ", 8);
	for (size_t i = 8; i < size; i += 3)
		memcpy(text + i, "a/ ", 3);
	list_line_begin(&line, (struct span){ text, size });
	CHECK(!list_line_next(&line, &name) && line.why != NULL);
	free(text);
}

TEST(names_with_all_below)
{
	LINES({ "||a.example^", ".a.example." }, { "||A.example^|", ".a.example." },
	    { "||a.example^$important", ".a.example." },
	    { "||*.a.example^", "*.a.example." },
	    { "||\xc3\xbc.example^", ".xn--tda.example." },
	    { "||a.example^ # why", ".a.example." },
	    { "address=/a.example/", ".a.example." },
	    { "address=/a.example/#", ".a.example." },
	    { "address=/a.example/0.0.0.0", ".a.example." },
	    { "local=/a.example/", ".a.example." },
	    { "server=/a.example/", ".a.example." },
	    { "local-zone: \"a.example\" always_nxdomain", ".a.example." },
	    { "  local-zone: \"a.example.\" always_null", ".a.example." },
	    { "||a.example", "! is not a valid domain name" },
	    { "||a.example^$third-party", "! is a rule with options.." },
	    { "||a.example^$important,client=x", "! is a rule with options.." },
	    { "||a.example^$badfilter", "! is a rule with options.." },
	    { "||a*.example^", "! is a pattern.." }, { "||*^", "! is a pattern.." },
	    { "||a.*^", "! is a pattern.." }, { "||^", "! is not a valid domain name" },
	    { "||.^", "! is not a valid domain name" }, { "||..^", "! is not a valid domain name" },
	    { "||a.example/x^", "! is a path.." },
	    { "||1.2.3.4^", "! is not a valid domain name" },
	    { "address=/a.example/10.1.2.3", "! is a path or a setting.." },
	    { "address=/a.example/b.example/", "! is a path or a setting.." },
	    { "address=/#/", "! is a path.." },
	    { "server=/a.example/192.0.2.1", "! is a path or a setting.." },
	    { "local-zone: \"a.example\" transparent", "! is more than.." },
	    { "local-data: \"a.example A 0.0.0.0\"", "! is more than.." });
}

TEST(nothing_to_block)
{
	LINES({ "", "" }, { " \t\r", "" }, { "# a.example", "" },
	    { "## Title", "" }, { "#####", "" }, { "! a.example", "" },
	    { "!", "" }, { "; a.example", "" }, { "[Adblock Plus 2.0]", "" },
	    { "server:", "" }, { "\xef\xbb\xbf# x", "" });
}

TEST(no_names)
{
	LINES({ "@@||a.example^", "! is an exception.." },
	    { "@@a.example", "! is an exception.." },
	    { "a.example##.banner", "! is a rule about parts.." },
	    { "a.example#@#.banner", "! is a rule about parts.." },
	    { "a.example#?#div", "! is a rule about parts.." },
	    { "##.banner", "! is a rule about parts.." },
	    { "#@#.banner", "! is a rule about parts.." },
	    { "!#include other.txt", "! names another list.." },
	    { "https://a.example/x#y", "! is a URL.." },
	    { "http://a.example", "! is a URL.." },
	    { "|https://a.example^", "! is a URL.." },
	    { "://a.example^", "! is a URL.." },
	    { "/^ads[0-9]+\\./", "! is a regular expression" },
	    { "/banner/*/img^", "! is a pattern.." },
	    { "a.example/x", "! is a path.." }, { "// x", "! is a path.." },
	    { "ads*.example", "! is a pattern.." },
	    { "*.*.example", "! is a pattern.." }, { "*a.example", "! is a p.." },
	    { "*.", "! is a pattern.." }, { "..", "! is not a valid domain name" },
	    { "a..example", "! is not a valid domain name" },
	    { "a.example:80", "! is not a valid domain name" },
	    { "a.example^", "! is not a valid domain name" },
	    { "a,b.example", "! is not a valid domain name" },
	    { "\"a.example\"", "! is not a valid domain name" },
	    { "1.2.3.4", "! is an address.." },
	    { "10.0.0.0/8", "! is a path.." },
	    { "[a", "! is not a valid domain name" },
	    { "[ads.example]", "! is not a valid domain name" }, { "<html>", "! is not a valid domain name" },
	    { "\xff.example", "! is neither ASCII.." },
	    { "a.example IN CNAME .", "! is more than a name.." },
	    { "a\\999.example", "! is not a valid domain name" });
	/* A NUL ends nothing. */
	CHECK(strcmp(names_of("a.example\0.b", 12), "! is not a valid domain name") == 0);
	CHECK(strcmp(names_of("||\0^", 4), "! is not a valid domain name") == 0);
	CHECK(strcmp(names_of("0.0.0.0\0 a", 10), "! is more than a name, and "
	    "begins with no address") == 0);
}

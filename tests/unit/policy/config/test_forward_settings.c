/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "policy/config/forward_settings.h"

#include <string.h>

#include "tests/check.h"

static struct forward_settings s;

static void
add_domain(const char *text)
{
	struct dns_name name;

	CHECK(name_from_text(&name, text, strlen(text)) == 0);
	memcpy(s.domain[s.domains++].name, name.octets, name.length);
}

static int
domain_of(const char *text)
{
	struct dns_name name;

	CHECK(name_from_text(&name, text, strlen(text)) == 0);
	return forward_settings_domain(&s, &name);
}

TEST(the_longest_domain_counts)
{
	forward_settings_defaults(&s);
	CHECK(domain_of("a.test") == -1);
	add_domain("b.test");
	add_domain("a.b.test");
	CHECK(domain_of("b.test") == 0 && domain_of("x.b.test") == 0);
	CHECK(domain_of("a.b.test") == 1 && domain_of("x.a.b.test") == 1);
	CHECK(domain_of("xa.b.test") == 0 && domain_of("ab.test") == -1);
	CHECK(domain_of("test") == -1 && domain_of(".") == -1);
	/* An octet that looks like the length of a label. */
	CHECK(domain_of("x\\001b.test") == -1);
	add_domain(".");
	CHECK(domain_of("ab.test") == 2 && domain_of(".") == 2);
	CHECK(domain_of("x.b.test") == 0);
}

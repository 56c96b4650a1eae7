/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "policy/config/forward_settings.h"

#include <string.h>

#include "tests/check.h"

TEST(each_form_is_read)
{
	static const char *const forms[][2] = {
		{ "192.0.2.1", "192.0.2.1" },
		{ "192.0.2.1@53", "192.0.2.1" },
		{ "192.0.2.1@5353", "192.0.2.1@5353" },
		{ "2001:db8::1", "2001:db8::1" },
		{ "udp://[2001:db8::1]@54", "udp://2001:db8::1@54" },
		{ "tcp://192.0.2.1", "tcp://192.0.2.1" },
		{ "tls://192.0.2.1", "tls://192.0.2.1" },
		{ "tls://192.0.2.1@853#Dns.Example.",
		  "tls://192.0.2.1#Dns.Example" },
		{ "tls://192.0.2.1@53#a", "tls://192.0.2.1@53#a" },
		{ "tls://[2001:db8::1]@8853#a.b", "tls://2001:db8::1@8853#a.b" },
		{ "tls://fe80::1%lo#a", "tls://fe80::1%1#a" },
	};

	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		struct forward_upstream upstream;
		char text[FORWARD_UPSTREAM_TEXT];
		const char *why;

		CHECK(upstream_from_text(&upstream, forms[i][0], &why) &&
		    why == NULL);
		CHECK(strcmp(forward_upstream_text(&upstream, text),
		    forms[i][1]) == 0);
		CHECK((upstream.transport == FORWARD_TLS) ==
		    (strncmp(text, "tls", 3) == 0));
	}
}

TEST(what_is_none_is_refused)
{
	static const char *const none[] = { "", "@53", "192.0.2.1@", "[::1", "::1]",
		"[192.0.2.1]", "192.0.2.1#a", "tls://", "tls://#a", "tls://[]#a",
		"tls://192.0.2.1:853", "tls://192.0.2.1@99999#a",
		"tls://192.0.2.1@53@54#a", "tls://fe80::1%#a", "fe80::1%a/b",
		"fe80::1%sixteen-letters0",
		"https://192.0.2.1", "tls://192.0.2.1#[::1]", "tls://tls://::1" };
	char long_one[700] = "tls://192.0.2.1#";

	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
		struct forward_upstream upstream;
		const char *why;

		CHECK(!upstream_from_text(&upstream, none[i], &why));
	}
	for (size_t length = 260; length < 600; length += 40) {
		struct forward_upstream upstream;
		const char *why;

		memset(long_one + 16, 'a', length);
		CHECK(!upstream_from_text(&upstream, long_one, &why));
	}
}

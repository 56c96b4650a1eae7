/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the rules do with a packet, told without the kernel. */
#include <arpa/inet.h>
#include <netinet/in.h>

#include "rules/walk.h"
#include "tests/config_text.h"
#include "tests/image.h"

static struct ruleset set;
static struct config *config;

static struct walk_packet
packet_to(const char *destination, uint8_t protocol, uid_t uid)
{
	struct walk_packet packet = { .protocol = protocol, .uid = uid,
		.gid = (gid_t)uid };

	packet.family = strchr(destination, ':') != NULL ? AF_INET6 : AF_INET;
	MUST(inet_pton(packet.family, destination, packet.destination) == 1);
	return packet;
}

static void
build(const char *text)
{
	struct diag said = DIAG_INIT;

	config = parse(text);
	MUST(config != NULL);
	MUST(ruleset_build(&set, config, RULES_FULL, &said) == 0);
	diag_free(&said);
}

static void
end(void)
{
	ruleset_free(&set);
	config_free(config);
}

/* Whether the first rule that takes the packet has that comment; "": none does. */
static bool
is_taken_by(struct walk_packet packet, const char *comment)
{
	const struct condition *failed;

	for (size_t i = 0; i < set.count; i++) {
		const struct rule *rule = &set.rules[i];

		if (rule->chain == CHAIN_QUESTION &&
		    walk_rule(&set, rule, &packet, &failed) == WALK_YES)
			return strcmp(rule->comment, comment) == 0;
	}
	return *comment == '\0';
}

TEST(everything_is_queued)
{
	build("");
	CHECK(is_taken_by(packet_to("192.0.2.53", IPPROTO_UDP, 1),
	    "questions"));
	CHECK(is_taken_by(packet_to("2001:db8::53", IPPROTO_UDP, 1),
	    "questions"));
	CHECK(is_taken_by(packet_to("192.0.2.53", IPPROTO_TCP, 1),
	    "connections"));
	CHECK(is_taken_by(packet_to("192.0.2.53", IPPROTO_UDP, (uid_t)-1),
	    "questions"));
	CHECK(is_taken_by(packet_to("255.255.255.255", IPPROTO_UDP, 1),
	    "to a broadcast address"));
	CHECK(is_taken_by(packet_to("224.0.0.251", IPPROTO_UDP, 1),
	    "to a multicast address (IPv4)"));
	CHECK(is_taken_by(packet_to("ff02::fb", IPPROTO_UDP, 1),
	    "to a multicast address (IPv6)"));
	end();
}

TEST(bypasses)
{
	build("capture = { tcp = false; bypass = { users = [ 33 ]; groups = [ 44 ];"
	    " destinations = [ \"10.1.0.0/17\", \"fd00::/9\" ]; }; };");
	CHECK(is_taken_by(packet_to("192.0.2.53", IPPROTO_UDP, 33),
	    "bypass: user 33"));
	CHECK(is_taken_by(packet_to("192.0.2.53", IPPROTO_UDP, 44),
	    "bypass: group 44"));
	CHECK(is_taken_by(packet_to("10.1.127.255", IPPROTO_UDP, 1),
	    "bypass: IPv4 destinations"));
	CHECK(is_taken_by(packet_to("10.1.128.0", IPPROTO_UDP, 1),
	    "questions"));
	CHECK(is_taken_by(packet_to("fd7f::1", IPPROTO_UDP, 1),
	    "bypass: IPv6 destinations"));
	CHECK(is_taken_by(packet_to("fd80::1", IPPROTO_UDP, 1),
	    "questions"));
	CHECK(is_taken_by(packet_to("192.0.2.53", IPPROTO_TCP, 1),
	    "not UDP"));
	end();
}

TEST(nameservers_that_are_named)
{
	build("capture = { nameservers = [ \"192.0.2.0/24\" ]; user_rate = 5; };");
	CHECK(is_taken_by(packet_to("192.0.2.53", IPPROTO_UDP, 1),
	    "questions to IPv4 nameservers"));
	CHECK(is_taken_by(packet_to("198.51.100.1", IPPROTO_UDP, 1),
	    ""));
	CHECK(is_taken_by(packet_to("2001:db8::53", IPPROTO_UDP, 1),
	    ""));
	end();
}

/* What is only taken sometimes says so, and the first that fails is told. */
TEST(conditions_that_are_told)
{
	struct walk_packet packet = packet_to("192.0.2.53", IPPROTO_UDP, 1);
	const struct condition *failed;
	unsigned int over = 0;

	build("capture = { user_rate = 5; bypass = { users = [ 33 ]; }; };");
	for (size_t i = 0; i < set.count; i++) {
		const struct rule *rule = &set.rules[i];
		const enum walk_match match = walk_rule(&set, rule, &packet,
		    &failed);

		CHECK((failed != NULL) == (match == WALK_NO));
		over += rule->chain == CHAIN_QUESTION && match == WALK_OVER_RATE;
		if (strcmp(rule->comment, "bypass: user 33") == 0)
			CHECK(failed != NULL &&
			    failed->subject == SUBJECT_SKUID);
	}
	CHECK(over == 2);	/* packets, octets */
	end();
}

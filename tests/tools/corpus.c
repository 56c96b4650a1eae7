/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A corpus through the parsers and the interception:
 *
 *   corpus packets FILE     whole IP packets
 *   corpus messages FILE    DNS messages, each put into an IPv4 or IPv6 packet
 *
 * FILE has a 16-bit length before each.  Prints one line for each: the packet's
 * form, and for each of three settings (a few names; every name; a few names with
 * rules and forwarding) verdict and reason; last, a hash of all that came of it.  A
 * message too long for a packet is only parsed.  Ends with an error where something
 * is not as it always must be.
 */
#include <inttypes.h>

#include "resolver/dns/wire.h"
#include "tests/packets.h"
#include "tests/policy.h"

/* What the corpus' names lead to: each action, each thing to match by. */
static const char settings_text[] =
    "user = 65533;\n"
    "policy = (\n"
    "{ match = { types = [ \"TXT\" ]; names = [ \".test\" ]; }; action = \"nodata\"; },\n"
    "{ match = { types = [ \"AAAA\" ]; names = [ \".cluster.local\" ]; }; action = \"drop\"; },\n"
    "{ match = { users = [ 1000 ]; names = [ \".mesh.example\" ]; }; action = \"nxdomain\"; },\n"
    "{ match = { users = [ 1001 ]; names = [ \".corp.example\" ]; }; action = \"refuse\"; },\n"
    "{ match = { protocols = [ \"udp\" ]; groups = [ 7 ]; types = [ \"A\", \"ANY\" ]; names = [ \".mesh.example\" ]; }; addresses = [ \"192.0.2.7\", \"2001:db8::7\" ]; },\n"
    "{ match = { names = [ \".svc.cluster.local\" ]; nameservers = [ \"192.0.2.0/24\" ]; }; cname = \"reviews.default.svc.cluster.local\"; },\n"
    "{ match = { source = \"mesh\"; types = [ \"!A\" ]; }; action = \"pass\"; },\n"
    "{ match = { clients = [ \"2001:db8::/32\" ]; types = [ \"MX\", \"SRV\" ]; }; action = \"refuse\"; } );\n"
    "forward = { chase = true; domains = ( { name = \"corp.example\"; upstreams = [ \"192.0.2.9\" ]; },\n"
    "{ name = \"test\"; upstreams = [ \"192.0.2.9\" ]; } ); };\n";

static struct test_policy rules;
static struct policy_source policy;
static uint64_t hash;

/* FNV-1a. */
static void
add_hash(const void *octets, size_t length)
{
	const uint8_t *p = octets;

	for (size_t i = 0; i < length; i++)
		hash = (hash ^ p[i]) * 0x100000001b3;
}

static void
add_number(uint32_t number)
{
	add_hash(&number, sizeof(number));
}

static void
tell(const struct interception *in, const uint8_t *reply)
{
	const struct decision *d = &in->decision;

	add_number(d->verdict);
	add_number(d->rcode);
	add_number(d->rule);
	add_number((uint32_t)in->form << 2 | (uint32_t)in->others << 1 |
	    in->canary);
	add_hash(reply, in->reply_length);
	printf(" %s %s", decide_verdict_text(d->verdict),
	    decide_reason_text(d->reason));
}

static void
make_rules(void)
{
	const char *why = NULL;

	rules = (struct test_policy){ .diag = DIAG_INIT };
	if (config_parse(&rules.config, "corpus.conf", settings_text,
	    sizeof(settings_text) - 1, &rules.diag) < 0 ||
	    test_policy_build(&rules, -1) < 0 || rules_open(&rules.rules,
	    rules.octets, rules.size, &why) < 0) {
		fprintf(stderr, "corpus: %s\n", rules.diag.kept > 0 ?
		    rules.diag.entries[0].text : "?");
		exit(2);
	}
	policy.rules = rules.rules;
}

static const char *const forms[] = {
	[PACKET_OK] = "ok",
	[PACKET_STREAM] = "stream",
	[PACKET_FRAGMENT] = "fragment",
	[PACKET_NOT_UDP] = "not-udp",
	[PACKET_NOT_DNS] = "not-dns",
	[PACKET_ADDRESS] = "address",
	[PACKET_MALFORMED] = "malformed",
};

static void
one_table(const struct table *table, const uint8_t *octets, size_t length)
{
	static uint8_t reply[INTERCEPT_REPLY_MAX];
	const struct answer_source source = sample_source(table);
	static struct interception in;
	const char *fault;

	intercept(&in, &source, octets, length, length, (uint32_t)length,
	    reply);
	fault = interception_fault(&in, octets, reply);
	if (fault != NULL) {
		fprintf(stderr, "corpus: not true: %s\n", fault);
		exit(1);
	}
	tell(&in, reply);
}

/* As a queue's thread does; users, and whether too many wait, by turns. */
static void
with_rules(const struct table *table, const uint8_t *octets, size_t length)
{
	static const uid_t users[] = { 0, 1000, 1001, (uid_t)-1, 5 };
	static uint8_t reply[INTERCEPT_REPLY_MAX];
	const struct answer_source source = sample_source(table);
	static struct interception in;
	static unsigned int turn;
	static uint8_t chain[512];
	struct reply_room room;
	size_t seen = length;

	in.asker = (struct asker){ .uid = users[turn % 5], .gid = 7,
		.now = { 1000000000 } };
	in.forward = &rules.config->forward;
	in.forward_full = turn++ % 7 == 0;
	in.policy = &policy;
	if (turn % 17 == 0 && length > 100)
		seen -= 3;		/* the queue has cut it */
	intercept_parse(&in, octets, seen, length);
	if (in.form == PACKET_STREAM && turn % 2 == 0)
		intercept_untaken(&in);
	in.unanswerable = turn % 13 == 0;
	in.unowned = false;
	room = reply_room_of_packet(reply);
	intercept_answer(&in, &source, turn, room);
	tell(&in, reply);
	if (in.decision.reason == REASON_CHASE &&
	    intercept_chain(&in, &source, chain, sizeof(chain)))
		add_hash(in.answer, in.answer_length);
}

static void
one(struct table *tables[2], const uint8_t *octets, size_t length)
{
	struct packet packet;
	int i;

	hash = 0xcbf29ce484222325;
	printf("%s", forms[packet_parse(&packet, octets, length, length)]);
	for (i = 0; i < 2; i++)
		one_table(tables[i], octets, length);
	with_rules(tables[0], octets, length);
	printf(" %016" PRIx64 "\n", hash);
}

/* The whole file; its length. */
static size_t
load(const char *path, uint8_t *octets, size_t size)
{
	FILE *file = fopen(path, "rb");
	size_t length;

	if (file == NULL) {
		perror(path);
		exit(2);
	}
	length = fread(octets, 1, size, file);
	fclose(file);
	return length;
}

int
main(int argc, char **argv)
{
	static uint8_t octets[16 << 20], packet[UINT16_MAX + 48];
	struct question question;
	struct table *tables[2];
	struct wire_reader r;
	const uint8_t *item;
	bool messages;
	uint16_t length;
	int family = AF_INET;
	size_t n;

	if (argc != 3) {
		fprintf(stderr, "usage: corpus packets|messages FILE\n");
		return 2;
	}
	messages = strcmp(argv[1], "messages") == 0;
	tables[0] = sample_table(false);
	tables[1] = sample_table(true);
	make_rules();
	r = wire_reader_over(octets, load(argv[2], octets, sizeof(octets)));
	while (wire_left(&r) > 0) {
		length = wire_read_u16(&r);
		item = wire_read_octets(&r, length);
		if (item == NULL) {
			fprintf(stderr, "%s: ends in a message\n", argv[2]);
			return 2;
		}
		if (!messages) {
			one(tables, item, length);
			continue;
		}
		if (length > UINT16_MAX - 48) {
			question_parse(&question, item, length);
			printf("too-long\n");
			continue;
		}
		n = packet_around(packet, family, item, length);
		one(tables, packet, n);
		family = family == AF_INET ? AF_INET6 : AF_INET;
	}
	table_close(tables[0]);
	table_close(tables[1]);
	test_policy_free(&rules);
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Forgers who ask themselves: how many guesses they have at what others get. */
#include "tests/engine.h"

/* An OPT with a client subnet of 10.0.NETWORK.0/24, behind the question. */
static void
ask_subnet(int n, char name, uint8_t network)
{
	static const char opt[] = "\0\0\51\4\320\0\0\0\0\0\13"
	    "\0\10\0\7\0\1\30\0\12\0";
	struct engine_client *client = client_of(n, name, 0, NULL);
	uint8_t *end = t.messages[n] + client->length;

	memcpy(end, opt, sizeof(opt) - 1);
	end[sizeof(opt) - 1] = network;
	t.messages[n][11] = 1;
	client->length += sizeof(opt);
	ask_client(client);
}

/* reply() with the OPT of a question that has a subnet left out. */
static void
reply_subnet(uint32_t attempt, uint8_t last)
{
	static const char record[] = "\300\14\0\1\0\1\0\0\0\74\0\4\300\0\2";
	uint8_t octets[512];
	const size_t end = 12 + 8 + 4;

	memcpy(octets, t.sent[attempt].octets, end);
	memcpy(octets + end, record, sizeof(record) - 1);
	octets[end + sizeof(record) - 1] = last;
	octets[2] |= 0x80;
	octets[7] = 1;
	octets[11] = 0;
	engine_reply(t.engine, t.now, attempt, octets, end + sizeof(record));
}

/* Issue 23, item 8. */
TEST(equal_questions_with_a_subnet_are_one)
{
	prepare();
	start();
	for (int n = 0; n < 8; n++)
		ask_subnet(n, 'a', 1);
	CHECK(t.sends == 1 && engine_stats(t.engine)->joined == 7);
	ask_subnet(8, 'a', 2);			/* another network's */
	ask(9, 'a');				/* nobody's */
	CHECK(t.sends == 3);
	finish();
}

/* Issue 23, item 8. */
TEST(an_answer_for_a_subnet_is_not_everybodys)
{
	prepare();
	start();
	ask_subnet(0, 'a', 1);
	reply_subnet(t.last, 66);
	CHECK(t.fate[0] == ANSWERED);
	ask(1, 'a');
	CHECK(t.sends == 2 && t.fate[1] == ASKED);
	reply_subnet(t.last, 7);
	CHECK(t.fate[1] == ANSWERED);
	ask(2, 'a');
	CHECK(t.sends == 2 && t.fate[2] == ANSWERED);
	finish();
}

/* Issue 23, item 8: where equal questions do not join, one of them is kept. */
TEST(what_does_not_join_is_one_guess)
{
	uint32_t first;

	prepare();
	t.settings.attempts.join = 0;
	start();
	ask(0, 'a');
	first = t.last;
	ask(1, 'a');
	CHECK(t.sends == 2);
	reply_subnet(t.last, 66);
	CHECK(t.fate[1] == ANSWERED);
	ask(2, 'a');
	CHECK(t.fate[2] == ASKED && t.sends == 3);
	reply_subnet(first, 7);
	CHECK(t.fate[0] == ANSWERED);
	ask(3, 'a');
	CHECK(t.fate[3] == ANSWERED && t.answer[t.answer_length - 1] == 7);
	finish();
}

/* Issue 23, item 8: another thread has asked the same, and its answer was kept. */
TEST(a_fresh_answer_stays)
{
	struct cache_entry entry;
	uint8_t buf[CACHE_MESSAGE_MAX];
	struct dns_name name = { .length = 8, .octets = "\1a\4test" };
	const struct cache_key key = { .name = &name, .type = TYPE_A };
	const uint8_t kept[512] = "\0\0\201\200\0\1\0\1\0\0\0\0\1a\4test\0\0\1\0\1"
	    "\300\14\0\1\0\1\0\0\0\74\0\4\300\0\2\10";

	prepare();
	start();
	ask(0, 'a');
	t.now = monotime_add_ms(t.now, 1);
	cache_store(t.cache, t.now, &(struct cache_answer){ .key = key,
	    .kind = CACHE_POSITIVE, .ttl_s = 60, .message = kept, .length = 40 });
	t.now = monotime_add_ms(t.now, 1);
	reply_subnet(t.last, 66);
	CHECK(t.fate[0] == ANSWERED);
	CHECK(cache_find(t.cache, t.now, &key, 0, &entry, buf));
	CHECK(entry.length == 40 && buf[39] == 8);
	finish();
}

/* Issue 23, item 8: 65,536 types are no 65,536 guesses at the name. */
TEST(a_rare_types_denial_is_of_the_type)
{
	static const char soa[] = "\300\14\0\6\0\1\0\0\0\74\0\26"
	    "\0\0\0\0\0\1\0\0\0\1\0\0\0\1\0\0\0\1\0\0\0\74";
	uint8_t octets[512];
	const size_t end = 12 + 8 + 4;

	for (int rare = 0; rare < 2; rare++) {
		struct engine_client *client;

		prepare();
		start();
		client = client_of(0, 'a', 0, NULL);
		t.messages[0][21] = rare ? 99 : TYPE_AAAA;
		ask_client(client);
		memcpy(octets, t.sent[t.last].octets, end);
		memcpy(octets + end, soa, sizeof(soa) - 1);
		octets[2] |= 0x80;
		octets[3] |= RCODE_NXDOMAIN;
		octets[9] = 1;
		octets[11] = 0;
		engine_reply(t.engine, t.now, t.last, octets,
		    end + sizeof(soa) - 1);
		CHECK(t.fate[0] == ANSWERED && rcode() == RCODE_NXDOMAIN);
		ask(1, 'a');
		CHECK(t.fate[1] == (rare ? ASKED : ANSWERED));
		finish();
	}
}

/*
 * Issue 23, item 9: an upstream over UDP alone; the question ends soon, and what asks
 * for it again is answered by that end for a while.
 */
TEST(wrong_replies_end_an_attempt)
{
	unsigned int guesses = 0;

	prepare();
	t.settings.domain[0].upstreams = 1;
	t.settings.upstream[0].transport = FORWARD_UDP;
	start();
	ask(0, 'a');
	while (t.fate[0] == ASKED && guesses < 1000) {
		const uint32_t attempt = t.last;

		for (int i = 0; i < 16 && t.fate[0] == ASKED; i++, guesses++) {
			CHECK(t.sent[attempt].open);
			reply(attempt, false);
		}
	}
	CHECK(guesses <= 64 && t.fate[0] == ANSWERED);
	CHECK(rcode() == RCODE_SERVFAIL);
	guesses = t.sends;
	ask(1, 'a');
	CHECK(t.fate[1] == ANSWERED && t.sends == guesses);
	finish();
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The parts of DNS over TCP that need no socket. */
#include <stdlib.h>
#include <string.h>

#include "nfq/handover/senders.h"
#include "nfq/stream/parts.h"
#include "nfq/stream/options.h"
#include "tests/check.h"

static struct stream_client_key
client(unsigned int n)
{
	struct stream_client_key key = { .uid = n % 2 == 0 ? n : (uid_t)-1 };

	if (n % 2 != 0) {
		key.address[14] = (uint8_t)(n >> 8);
		key.address[15] = (uint8_t)n;
	}
	return key;
}

static unsigned int
largest(const unsigned int *counts, size_t count)
{
	unsigned int most = 0;

	for (size_t i = 0; i < count; i++)
		if (counts[i] > most)
			most = counts[i];
	return most;
}

/*
 * Against plain counters: 300 clients come and go in a table that is full.  It
 * was made for fewer, and grew while it was in use.
 */
TEST(clients_are_counted)
{
	struct stream_clients *clients = stream_clients_new(16);
	struct stream_client *at[300] = { NULL }, *most;
	unsigned int counts[300] = { 0 }, all = 0, random = 1;

	CHECK(clients != NULL && stream_clients_largest(clients) == NULL);
	for (size_t step = 0; clients != NULL && step < 30000; step++) {
		random = random * 1103515245 + 12345;
		const unsigned int n = (random >> 8) % 300;
		const struct stream_client_key key = client(n);

		if ((random >> 24) % 2 == 0 && all < 512) {
			if (++all > 16)
				CHECK(stream_clients_grow(clients, all) == 0);
			at[n] = stream_clients_add(clients, &key);
			CHECK(at[n]->connections == ++counts[n]);
		} else if (counts[n] > 0) {
			all--;
			counts[n]--;
			stream_clients_remove(clients, at[n]);
			CHECK(counts[n] == 0 ||
			    at[n]->connections == counts[n]);
		}
		most = stream_clients_largest(clients);
		CHECK((most != NULL ? most->connections : 0) ==
		    largest(counts, 300));
	}
	for (size_t n = 0; n < 300; n++)
		while (counts[n]-- > 0)
			stream_clients_remove(clients, at[n]);
	CHECK(stream_clients_largest(clients) == NULL);
	CHECK(stream_clients_grow(clients, 1) == 0);	/* as it was */
	stream_clients_free(clients);
}

static struct sender_ends
ends_of(unsigned int n)
{
	struct sender_ends ends = { .client = { 127, 0, 0, 1 },
		.server = { 192, 0, 2, 53 } };

	ends.client_port = (uint16_t)n;
	return ends;
}

/* One user's flood takes only places of its own: issue 22, item 6. */
TEST(senders_of_others_stay)
{
	struct senders *senders = senders_new();
	unsigned int known = 0;

	CHECK(senders != NULL);
	if (senders == NULL)
		return;
	for (unsigned int n = 0; n < 60000; n++) {
		const struct sender_ends ends = ends_of(n);
		const bool other = n >= 30000 && n < 31000;

		/* Whatever its group. */
		senders_put(senders, &ends, &(struct sender){
		    other ? 2 : 1, n, 0, 0, false });
	}
	for (unsigned int n = 30000; n < 31000; n++) {
		const struct sender_ends ends = ends_of(n);

		known += senders_take(senders, &ends).uid == 2;
	}
	CHECK(known > 850);
	senders_free(senders);
}

TEST(senders_behind_the_machine_are_nobody)
{
	struct senders *senders = senders_new();
	const struct sender_ends ends = ends_of(1);
	struct sender s = { 0, 0, 0x5, 0, true };

	CHECK(senders != NULL);
	if (senders == NULL)
		return;
	senders_put(senders, &ends, &s);
	s = senders_take(senders, &ends);
	CHECK(s.guest && s.uid == (uid_t)-1 && s.gid == (gid_t)-1 &&
	    s.mark == 0x5);
	s = senders_take(senders, &ends);
	CHECK(!s.guest && s.uid == (uid_t)-1);
	senders_free(senders);
}

/* As many as can wait at a listener, and a flood of others before them. */
TEST(senders_are_known)
{
	struct senders *senders = senders_new();
	unsigned int known = 0;

	CHECK(senders != NULL);
	if (senders == NULL)
		return;
	for (unsigned int n = 0; n < 60000; n++) {
		const struct sender_ends ends = ends_of(n);

		senders_put(senders, &ends, &(struct sender){ n, n, n, n,
		    false });
		/* Sent again. */
		senders_put(senders, &ends, &(struct sender){ n % 4096, n + 1,
		    n + 2, n + 3, false });
	}
	for (unsigned int n = 60000 - 4096; n < 60000; n++) {
		const struct sender_ends ends = ends_of(n);
		const struct sender sender = senders_take(senders, &ends);

		CHECK(sender.uid == (uid_t)-1 ? sender.gid == (gid_t)-1 :
		    sender.uid == n % 4096 && sender.gid == n + 1 &&
		    sender.mark == n + 2 && sender.device == n + 3);
		known += sender.uid == n % 4096;
		CHECK(senders_take(senders, &ends).uid == (uid_t)-1);
	}
	CHECK(known > 4096 * 8 / 10);
	senders_free(senders);
	senders_free(NULL);
}

static const struct stream_options plain = { EDE_NONE, 100, 0 };

/* An answer with an empty OPT at its end, of that length. */
static void
make_answer(uint8_t *answer, size_t length)
{
	memset(answer, 0xee, length);
	memcpy(answer + length - 11, "\0\0\51\4\320\0\0\0\0\0\0", 11);
}

TEST(options_that_were_asked_for)
{
	static const uint8_t idle[] = "\0\6\0\13\0\2\0\144";
	struct edns asked = { .present = true, .keepalive = true };
	uint8_t answer[2000];
	size_t length;

	make_answer(answer, 60);
	length = stream_options_add(&plain, &asked, answer, 60, sizeof(answer));
	CHECK(length == 66 && memcmp(answer + 58, idle, 8) == 0);

	/* Padded up to the next block, whatever else is there. */
	asked.padding = true;
	for (size_t before = 30; before < 1000; before += 13) {
		make_answer(answer, before);
		length = stream_options_add(&plain, &asked, answer, before,
		    sizeof(answer));
		CHECK(length % STREAM_PADDING_BLOCK == 0);
		CHECK(length >= before + 10 &&
		    length < before + 10 + STREAM_PADDING_BLOCK);
		CHECK((size_t)(answer[before - 2] << 8 | answer[before - 1]) ==
		    length - before);
	}
	/* As much as there is room for. */
	make_answer(answer, 60);
	CHECK(stream_options_add(&plain, &asked, answer, 60, 75) == 75);
	make_answer(answer, 60);
	CHECK(stream_options_add(&plain, &asked, answer, 60, 60) == 60);
}

TEST(options_that_nobody_asked_for)
{
	const struct stream_options failed = { EDE_NETWORK_ERROR, 100, 0 };
	struct edns asked = { .present = true };
	uint8_t answer[100];

	make_answer(answer, 60);
	CHECK(stream_options_add(&plain, &asked, answer, 60, 100) == 60);
	CHECK(stream_options_add(&failed, &asked, answer, 60, 100) == 66);
	CHECK(memcmp(answer + 58, "\0\6\0\17\0\2\0\27", 8) == 0);
	/* No OPT: nowhere to put it. */
	asked.present = false;
	CHECK(stream_options_add(&failed, &asked, answer, 60, 100) == 60);
}

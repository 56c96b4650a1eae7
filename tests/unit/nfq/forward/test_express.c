/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Questions that a queue thread asks by itself: what comes of them. */
#include "tests/express.h"

static void
a_question_is_answered(void)
{
	struct express_attempt *a;
	struct express_question *q;
	struct express_reply r;

	begin();
	make_question("a.test", 77);
	CHECK(express_upstream(x, &asked) == &settings.upstream[0]);
	CHECK(express_is_idle(x) && express_first(x) == NULL);
	CHECK(ask_of(0) == EXPRESS_HELD);
	CHECK(!express_is_idle(x) && held == 1);
	(void)hear(&servers[0]);
	CHECK(servers[0].octets[2] == 1 && servers[0].octets[11] == 1);
	reply(&servers[0]);
	a = wait_one();
	CHECK(a == express_first(x));
	CHECK(express_receive(x, a, &settings, &r) && r.is_answer);
	q = STAILQ_FIRST(&a->questions);
	CHECK(q->held.id == 77 && q->held.uid == 1000 && q->held.gid == 100 &&
	    q->held.mark == 5 && q->held.device == 3 &&
	    STAILQ_NEXT(q, entry) == NULL);
	check_answer(q, &r, 77);
	express_answered(x, a);
	CHECK(express_is_idle(x) && held == 0);
	CHECK(upstreams.upstream[0].sent == 1 &&
	    upstreams.upstream[0].replies == 1);
	CHECK(upstreams.upstream[0].srtt_us != 5000);
	end();
}

/* One socket serves all; what one question had tells nothing of the next. */
static void
ports_and_ids_change(void)
{
	static uint8_t ports[UINT16_MAX + 1], ids[UINT16_MAX + 1];
	unsigned int same_port = 0, same_id = 0, files = 0;
	struct express_attempt *a;
	struct express_reply r;

	begin();
	for (uint16_t n = 0; n < ROUNDS; n++) {
		CHECK(ask("a.test", n) == EXPRESS_HELD);
		same_port += ports[hear(&servers[0])]++ > 0;
		same_id += ids[word_at(servers[0].octets)]++ > 0;
		files = n == 0 ? open_files() : files;
		reply(&servers[0]);
		a = wait_one();
		CHECK(express_receive(x, a, &settings, &r) && r.is_answer);
		express_answered(x, a);
	}
	/* Of 28,232 ports about one comes again, and half of one of the ids. */
	CHECK(same_port < ROUNDS / 16 && same_id < ROUNDS / 16);
	CHECK(open_files() == files && upstreams.upstream[0].sent == ROUNDS);
	end();
}

static void
equal_questions_are_asked_once(void)
{
	struct express_attempt *a;
	struct express_question *q;
	struct express_reply r;

	begin();
	CHECK(ask("a.test", 1) == EXPRESS_HELD);
	CHECK(ask("A.tEst", 2) == EXPRESS_JOINED);
	make_packet(AF_INET6, "a.test", TYPE_A, 3, NULL, 0);
	CHECK(ask_of(0) == EXPRESS_JOINED);
	CHECK(held == 3);
	(void)hear(&servers[0]);
	CHECK(hears_nothing(&servers[0]));
	reply(&servers[0]);
	a = wait_one();
	CHECK(express_receive(x, a, &settings, &r) && r.is_answer);
	q = STAILQ_FIRST(&a->questions);
	for (uint16_t id = 1; id <= 3; id++, q = STAILQ_NEXT(q, entry)) {
		MUST(q != NULL);
		check_answer(q, &r, id);
	}
	CHECK(q == NULL);
	express_answered(x, a);
	CHECK(upstreams.upstream[0].replies == 1);
	/* What is answered is joined no more. */
	CHECK(ask("a.test", 4) == EXPRESS_HELD);
	end();
}

/* Answers the question that the server gets next. */
static void
answer_next(void)
{
	struct express_attempt *a;
	struct express_reply r;

	(void)hear(&servers[0]);
	reply(&servers[0]);
	a = wait_one();
	CHECK(express_receive(x, a, &settings, &r) && r.is_answer);
	express_answered(x, a);
}

/* A reload comes while both are under way; their server may be another one. */
static void
replies_count_for_the_settings_of_their_questions(void)
{
	const struct upstream *up = &upstreams.upstream[0];

	begin();
	CHECK(ask("a.test", 1) == EXPRESS_HELD);
	make_question("b.test", 2);
	asked.generation = GENERATION + 1;
	CHECK(ask_of(0) == EXPRESS_HELD);
	upstreams.upstream[0].lost = 3;
	answer_next();
	CHECK(up->replies == 0 && up->lost == 3 && up->srtt_us == 5000);
	answer_next();
	CHECK(up->replies == 1 && up->lost == 0 && up->srtt_us != 5000);
	end();
}

static void
others_are_asked_by_themselves(void)
{
	begin();
	CHECK(ask("a.test", 1) == EXPRESS_HELD);
	CHECK(ask("b.test", 2) == EXPRESS_HELD);
	make_packet(AF_INET, "a.test", TYPE_AAAA, 3, NULL, 0);
	CHECK(ask_of(0) == EXPRESS_HELD);
	make_packet(AF_INET, "a.test", TYPE_A, 4,
	    "\0\0\51\4\320\0\0\200\0\0\0", 11);	/* DO */
	CHECK(ask_of(0) == EXPRESS_HELD);
	make_packet(AF_INET, "a.test", TYPE_A, 5,
	    "\0\0\51\4\320\0\0\0\0\0\0", 11);
	CHECK(ask_of(0) == EXPRESS_JOINED);
	make_question("a.test", 6);
	in.question.flags |= DNS_FLAG_CD;
	CHECK(ask_of(0) == EXPRESS_HELD);
	settings.attempts.join = 0;
	CHECK(ask("a.test", 7) == EXPRESS_HELD);
	CHECK(upstreams.upstream[0].sent == 6);
	end();
}

/* Takes what comes for a.test, id 1, which is no answer, and hands it over. */
static void
hand_over(const uint8_t *message, size_t length)
{
	struct express_attempt *a = wait_one();
	struct begun_question *b;
	struct express_reply r;

	CHECK(express_receive(x, a, &settings, &r) && !r.is_answer);
	CHECK(r.error == 0 && r.length == length);
	express_give(x, a, &r);
	express_end(x, a);
	CHECK(express_is_idle(x));
	b = take("a.test", 1);
	MUST(b != NULL);
	CHECK(b->fd >= 0 && b->error == 0 && b->generation == GENERATION);
	CHECK(b->upstream == 0 && b->id == word_at(servers[0].octets));
	CHECK(monotime_ms_since(monotime_boot(), b->sent) < 2 * WAIT_MS);
	CHECK(b->reply_length == length && memcmp(b->octets + b->length,
	    message, length) == 0);
	/* And the right one may be behind it. */
	reply(&servers[0]);
	(void)fcntl(b->fd, F_SETFL, 0);
	CHECK(recv(b->fd, out, sizeof(out), 0) > DNS_HEADER);
	begun_free(b);
}

static void
what_is_no_answer_is_handed_over(void)
{
	static const struct {
		size_t at;
		uint8_t bits;
	} changes[] = {
		{ 0, 0x80 },		/* another id */
		{ 2, 0x80 },		/* a question */
		{ 2, 0x02 },		/* TC */
		{ 3, 2 }, { 3, 5 },	/* SERVFAIL, REFUSED */
		{ 3, 1 }, { 3, 4 },	/* FORMERR, NOTIMP */
		{ 13, 1 },		/* another name */
		{ 7, 2 },		/* more records than there are */
		{ 5, 2 },		/* three questions */
	};
	uint8_t message[600];
	size_t length;

	begin();
	for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
		CHECK(ask("a.test", 1) == EXPRESS_HELD);
		(void)hear(&servers[0]);
		length = reply_of(&servers[0], message);
		message[changes[i].at] ^= changes[i].bits;
		send_back(&servers[0], message, length);
		hand_over(message, length);
		trust_again();
	}
	for (length = 0; length < 16; length += 5) {
		CHECK(ask("a.test", 1) == EXPRESS_HELD);
		(void)hear(&servers[0]);
		(void)reply_of(&servers[0], message);
		send_back(&servers[0], message, length);
		hand_over(message, length);
		trust_again();
	}
	CHECK(upstreams.upstream[0].replies == 0);
	end();
}

/* Its packet goes alone: the forwarding thread asks anew. */
static void
a_reply_that_is_too_long_is_not_handed_over(void)
{
	static uint8_t message[UINT16_MAX - 28];
	const size_t lengths[] = { BEGUN_REPLY_MAX + 1, sizeof(message) };
	struct express_attempt *a;
	struct express_reply r;

	begin();
	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		const unsigned int files = open_files();

		CHECK(ask("a.test", 1) == EXPRESS_HELD);
		(void)hear(&servers[0]);
		(void)reply_of(&servers[0], message);
		message[3] |= RCODE_SERVFAIL;
		send_back(&servers[0], message, lengths[i]);
		a = wait_one();
		CHECK(express_receive(x, a, &settings, &r) && !r.is_answer);
		express_give(x, a, &r);
		express_end(x, a);
		CHECK(take("a.test", 1) == NULL && board->begun_count == 0);
		CHECK(express_is_idle(x) && open_files() == files);
	}
	end();
}

static void
a_refusal_is_handed_over(void)
{
	struct express_attempt *a;
	struct begun_question *b;
	struct express_reply r;
	unsigned int files;

	begin();
	(void)close(servers[0].fd);
	servers[0].fd = -1;
	files = open_files();
	CHECK(ask("a.test", 1) == EXPRESS_HELD);
	a = wait_one();
	CHECK(express_receive(x, a, &settings, &r));
	CHECK(!r.is_answer && r.error == ECONNREFUSED);
	express_give(x, a, &r);
	express_end(x, a);
	CHECK(open_files() == files);
	b = take("a.test", 1);
	MUST(b != NULL);
	CHECK(b->error == ECONNREFUSED && b->fd == -1 && b->reply_length == 0);
	begun_free(b);
	end();
}

static void
silence_is_handed_over(void)
{
	struct express_attempt *a;
	struct begun_question *b;

	begin();
	CHECK(ask("a.test", 1) == EXPRESS_HELD);
	CHECK(ask("b.test", 2) == EXPRESS_HELD);
	CHECK(ask("a.test", 3) == EXPRESS_JOINED);
	CHECK(express_late(x) == NULL);
	(void)hear(&servers[0]);
	a = wait_late();
	CHECK(STAILQ_FIRST(&a->questions)->held.id == 1);	/* the oldest first */
	CHECK(monotime_ms_since(monotime_boot(), a->sent) >= EXPRESS_WAIT_MS);
	express_give(x, a, NULL);
	express_end(x, a);
	CHECK(held == 1);
	b = take("a.test", 1);
	MUST(b != NULL && take("a.test", 3) == NULL);
	CHECK(b->reply_length == 0 && b->error == 0);
	/* Its reply is nobody's here, and the forwarding thread's there. */
	reply(&servers[0]);
	(void)fcntl(b->fd, F_SETFL, 0);
	CHECK(recv(b->fd, out, sizeof(out), 0) > DNS_HEADER);
	a = wait_late();
	CHECK(STAILQ_FIRST(&a->questions)->held.id == 2);
	express_give(x, a, NULL);
	express_end(x, a);
	CHECK(express_is_idle(x) && express_late(x) == NULL);
	begun_free(b);
	end();
}

/* Its socket is still open, and the next question has its place. */
static void
a_reply_to_what_was_handed_over_wakes_nobody(void)
{
	struct express_attempt *ready[EXPRESS_BATCH], *a;
	struct server first;
	bool queued;

	begin();
	CHECK(ask("a.test", 1) == EXPRESS_HELD);
	(void)hear(&servers[0]);
	first = servers[0];
	a = express_first(x);
	express_give(x, a, NULL);
	express_end(x, a);
	CHECK(ask("b.test", 2) == EXPRESS_HELD && express_first(x) == a);
	reply(&first);
	do
		CHECK(express_wait(x, &queued, ready) == 0);
	while (express_late(x) == NULL);
	(void)hear(&servers[0]);
	reply(&servers[0]);
	CHECK(wait_one() == a);
	end();
}

int
main(void)
{
	TEST(a_question_is_answered);
	TEST(ports_and_ids_change);
	TEST(equal_questions_are_asked_once);
	TEST(replies_count_for_the_settings_of_their_questions);
	TEST(others_are_asked_by_themselves);
	TEST(what_is_no_answer_is_handed_over);
	TEST(a_reply_that_is_too_long_is_not_handed_over);
	TEST(a_refusal_is_handed_over);
	TEST(silence_is_handed_over);
	TEST(a_reply_to_what_was_handed_over_wakes_nobody);
	return test_summary();
}

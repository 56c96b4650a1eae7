/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The interception from packet to packet.  Which question gets which answer is
 * the matter of other tests; here it is that the parts are put together right.
 */
#include <time.h>

#include "resolver/dns/wire.h"
#include "resolver/version.h"
#include "tests/check.h"
#include "tests/packets.h"
#include "tests/policy.h"

static struct table *table;
static struct answer_source source;
static struct interception in;
static uint8_t packet[4096], reply[INTERCEPT_REPLY_MAX];
static size_t packet_length;

#define FLAG_RD 0x0100

/* A question without EDNS; its length. */
static size_t
question_of(uint8_t *out, const char *text, uint16_t type, uint16_t class)
{
	struct wire_writer w = wire_writer_over(out, 512);
	struct dns_name name;

	MUST(name_from_text(&name, text, strlen(text)) == 0);
	wire_write_u16(&w, 0x4e46);
	wire_write_u16(&w, FLAG_RD);
	wire_write_u16(&w, 1);
	wire_write_u16(&w, 0);
	wire_write_u16(&w, 0);
	wire_write_u16(&w, 0);
	wire_write_octets(&w, name.octets, name.length);
	wire_write_u16(&w, type);
	wire_write_u16(&w, class);
	return wire_written(&w);
}

/* Asks and checks what is true of every interception. */
static void
ask(int family, const char *name, uint16_t type, uint16_t class,
    uint32_t rotation)
{
	uint8_t message[512];
	size_t length = question_of(message, name, type, class);
	const char *fault;

	packet_length = packet_around(packet, family, message, length);
	memset(&in, 0xa5, sizeof(in));
	in.policy = NULL;
	memset(reply, 0xa5, sizeof(reply));
	intercept(&in, &source, packet, packet_length, packet_length, rotation,
	    reply);
	CHECK(in.asker.family == family && in.asker.protocol == IPPROTO_UDP);
	CHECK(in.asker.port == in.packet.source_port &&
	    in.asker.address == in.packet.source);
	fault = interception_fault(&in, packet, reply);
	if (fault != NULL)
		printf("  %s: not true: %s\n", name, fault);
	CHECK(fault == NULL);
}

TEST(mesh_name_is_answered)
{
	static const int families[] = { AF_INET, AF_INET6 };
	size_t i;

	for (i = 0; i < 2; i++) {
		ask(families[i], "wWw.Example.com", TYPE_A, CLASS_IN, 0);
		CHECK(in.decision.verdict == VERDICT_ANSWER);
		CHECK(in.decision.reason == REASON_RECORD);
		CHECK(in.packet.family == families[i]);
		CHECK(in.summary.answers == 1 && !in.summary.truncated);
		CHECK(!in.canary);
		/* Its case is kept; the address ends the message. */
		CHECK(memcmp(in.answer + 12, "\003wWw\007Example\003com", 17) ==
		    0);
		CHECK(memcmp(reply + in.reply_length - 4, "\012\001\0\001", 4)
		    == 0);
	}
}

TEST(other_name_passes)
{
	ask(AF_INET, "www.example.org", TYPE_A, CLASS_IN, 0);
	CHECK(in.decision.verdict == VERDICT_PASS);
	CHECK(in.decision.reason == REASON_NOT_MESH);
	CHECK(in.form == PACKET_OK);
	CHECK(in.question.form == QUESTION_PLAIN);
	CHECK(in.reply_length == 0 && in.answer_length == 0);
}

TEST(negative_answers)
{
	ask(AF_INET6, "none.mesh.test", TYPE_A, CLASS_IN, 0);
	CHECK(in.decision.verdict == VERDICT_NXDOMAIN);
	CHECK((in.answer[3] & 15) == RCODE_NXDOMAIN);
	ask(AF_INET6, "deep.in.mesh.test", TYPE_AAAA, CLASS_IN, 0);
	CHECK(in.decision.verdict == VERDICT_NODATA);
	CHECK((in.answer[3] & 15) == RCODE_NOERROR);
	CHECK(word_at(in.answer + 6) == 0 && word_at(in.answer + 8) == 1);
}

TEST(too_large_is_truncated)
{
	ask(AF_INET, "many.mesh.test", TYPE_A, CLASS_IN, 0);
	CHECK(in.summary.truncated);
	CHECK((in.answer[2] & 2) != 0);
	CHECK(in.answer_length <= 512);
}

TEST(rotation_is_handed_on)
{
	const char *const name = "reviews.default.svc.cluster.local";
	uint8_t last[3];
	uint32_t i;

	for (i = 0; i < 3; i++) {
		ask(AF_INET, name, TYPE_A, CLASS_IN, i);
		CHECK(in.summary.answers == 3);
		last[i] = reply[in.reply_length - 1];
	}
	CHECK(last[0] != last[1] && last[1] != last[2] && last[2] != last[0]);
}

TEST(own_names)
{
	static const char text[] = "nfdns " NFDNS_VERSION;
	static const uint16_t types[] = { TYPE_TXT, TYPE_ANY };
	size_t i;

	for (i = 0; i < 2; i++) {
		ask(AF_INET, DECIDE_CANARY_NAME, types[i], CLASS_CH, 0);
		CHECK(in.decision.verdict == VERDICT_ANSWER);
		CHECK(in.decision.reason == REASON_OWN_NAME);
		CHECK(in.canary);
		CHECK(memcmp(reply + in.reply_length - strlen(text), text,
		    strlen(text)) == 0);
		ask(AF_INET6, INTERCEPT_VERSION_NAME, types[i], CLASS_CH, 0);
		CHECK(in.decision.reason == REASON_OWN_NAME);
		CHECK(!in.canary);
	}
	ask(AF_INET, "CaNaRy.NFDNS", TYPE_TXT, CLASS_CH, 0);
	CHECK(in.canary);
	ask(AF_INET, DECIDE_CANARY_NAME, TYPE_A, CLASS_CH, 0);
	CHECK(in.decision.verdict == VERDICT_PASS && !in.canary);
	ask(AF_INET, DECIDE_CANARY_NAME, TYPE_TXT, CLASS_IN, 0);
	CHECK(in.decision.verdict == VERDICT_PASS && !in.canary);
	ask(AF_INET, "version.bind", TYPE_TXT, CLASS_CH, 0);
	CHECK(in.decision.verdict == VERDICT_PASS);
	CHECK(in.decision.reason == REASON_CLASS);
}

TEST(two_questions_are_refused)
{
	uint8_t message[512];
	size_t length = question_of(message, "www.example.com", TYPE_A,
	    CLASS_IN);

	memcpy(message + length, message + 12, length - 12);
	message[5] = 2;
	packet_length = packet_around(packet, AF_INET, message,
	    2 * length - 12);
	intercept(&in, &source, packet, packet_length, packet_length, 0, reply);
	CHECK(interception_fault(&in, packet, reply) == NULL);
	CHECK(in.decision.verdict == VERDICT_REFUSE);
	CHECK(in.decision.reason == REASON_MANY_QUESTIONS);
	CHECK((in.answer[3] & 15) == RCODE_FORMERR);
}

TEST(not_whole_passes)
{
	ask(AF_INET, "www.example.com", TYPE_A, CLASS_IN, 0);
	CHECK(in.reply_length > 0);
	/* Cut by the copy range, or not copied at all. */
	intercept(&in, &source, packet, packet_length, packet_length + 1, 0,
	    reply);
	CHECK(in.decision.verdict == VERDICT_PASS);
	CHECK(in.decision.reason == REASON_MALFORMED);
	CHECK(in.form == PACKET_MALFORMED);
	CHECK(in.reply_length == 0 && in.answer_length == 0);
	intercept(&in, &source, NULL, 0, 1, 0, reply);
	CHECK(in.decision.verdict == VERDICT_PASS);
	/* A fragment. */
	packet[6] = 0x20;
	intercept(&in, &source, packet, packet_length, packet_length, 0, reply);
	CHECK(in.form == PACKET_FRAGMENT && in.reply_length == 0);
	CHECK(in.decision.verdict == VERDICT_PASS);
	CHECK(in.packet.family == AF_INET);
}

TEST(empty_payload_passes)
{
	/* No UDP payload at all is no reason to look into a table. */
	packet_length = packet_around(packet, AF_INET6, NULL, 0);
	intercept(&in, &source, packet, packet_length, packet_length, 0, reply);
	CHECK(in.form == PACKET_OK);
	CHECK(in.decision.verdict == VERDICT_PASS);
	CHECK(in.decision.reason == REASON_MALFORMED);
}

/* What others answered, with this CNAME, less "cut" octets; whether rules deny it. */
static bool
judge_cut(const char *to, size_t cut, struct reply_room room)
{
	uint8_t given[600];
	size_t length = question_of(given, "www.example.org", TYPE_A, CLASS_IN);
	struct dns_name target;

	MUST(name_from_text(&target, to, strlen(to)) == 0);
	given[2] |= 0x80;
	given[7] = 1;
	memcpy(given + length, "\300\14\0\5\0\1\0\0\0\36\0", 11);
	given[length + 11] = (uint8_t)target.length;
	memcpy(given + length + 12, target.octets, target.length);
	length += 12 + target.length;
	in.decision = (struct decision){ .verdict = VERDICT_FORWARD,
		.reason = REASON_FORWARD };
	in.found = (struct policy_found){ .would = RULE_NOTHING };
	return intercept_judge(&in, &source, &(struct policy_answer){ given,
	    length - cut, 0 }, room);
}

static bool
judge(const char *to, struct reply_room room)
{
	return judge_cut(to, 0, room);
}

TEST(answers_of_others_are_judged)
{
	const struct reply_room room = reply_room_of_packet(reply);
	const struct reply_room stream = { reply, sizeof(reply), true };
	struct policy_source policy = { .rules = NULL };
	struct policy_note note;
	struct test_policy p;

	CHECK(test_policy_make(&p, "{ match = { names = [ \"*.bad\" ]; }; "
	    "action = \"nxdomain\"; }, { match = { names = [ \"*.drop\" ]; }; "
	    "action = \"drop\"; }", -1));
	policy.rules = p.rules;
	ask(AF_INET, "www.example.org", TYPE_A, CLASS_IN, 0);
	CHECK(in.decision.reason == REASON_NOT_MESH);
	in.policy = &policy;
	CHECK(!judge("x.good", room) && in.reply_length == 0);
	CHECK(in.decision.reason == REASON_FORWARD);
	CHECK(judge("x.bad", room) && in.decision.rule == 1);
	note = intercept_note(&in);
	CHECK(note.judged_length == 7 && memcmp(note.judged, "\1x\3bad", 7) == 0);
	CHECK(in.decision.reason == REASON_FORWARD_DENIED);
	CHECK(in.decision.verdict == VERDICT_NXDOMAIN);
	CHECK(in.answer == reply + 28 && (in.answer[3] & 15) == RCODE_NXDOMAIN);
	CHECK(in.reply_length == in.answer_length + 28);
	CHECK(judge("x.bad", stream) && in.answer == reply);
	CHECK(in.answer_length > 0 && in.reply_length == 0);
	CHECK(judge("x.drop", room) && in.decision.verdict == VERDICT_DROP);
	CHECK(in.answer_length == 0 && in.reply_length == 0);
	/* Somewhere in its record it ends: nobody can say what its names are. */
	for (size_t cut = 1; cut < 12 + 8; cut++)
		CHECK(judge_cut("x.good", cut, room) &&
		    in.decision.rcode == RCODE_SERVFAIL);
	test_policy_free(&p);
}

/* What rules that only observe say, and what was noted before. */
TEST(what_was_noted_stays)
{
	const struct reply_room room = reply_room_of_packet(reply);
	struct policy_source policy = { .rules = NULL };
	struct policy_note note, before;
	struct test_policy p;

	CHECK(test_policy_make(&p, "{ name = \"watch\"; mode = \"observe\"; "
	    "match = { names = [ \".example.com\" ]; }; action = \"refuse\"; }, "
	    "{ name = \"told\"; log = \"only\"; match = { names = [ "
	    "\".example.org\" ]; }; }", -1));
	policy.rules = p.rules;
	for (int n = 0; n < 2; n++) {
		ask(AF_INET, n == 0 ? "www.example.com" : "www.example.org",
		    TYPE_A, CLASS_IN, 0);
		in.policy = &policy;
		intercept_answer(&in, &source, 0, room);
		note = intercept_note(&in);
		CHECK(note.rule.length == 0 && !note.is_not_logged);
		CHECK(intercept_is_recorded(&in, false) == note.is_logged);
		if (n > 0)
			break;
		CHECK(in.decision.verdict == VERDICT_ANSWER);
		CHECK(note.would == RULE_REFUSE && note.observer.length == 5);
		CHECK(memcmp(note.observer.text, "watch", 5) == 0);
		before = note;
	}
	CHECK(note.observer.length == 0 && note.would == RULE_NOTHING);
	before.is_logged = true;
	note = intercept_note_again(&in, &before);
	CHECK(note.is_logged && note.would == RULE_REFUSE);
	CHECK(note.observer.length == 5);
	test_policy_free(&p);
}

/* A chain that is followed is written once more, without a second token. */
TEST(chains_are_written_for_who_follows_them)
{
	uint8_t message[512], chain[512];
	const size_t length = question_of(message, "out.mesh.test", TYPE_A,
	    CLASS_IN);
	const struct reply_room room = reply_room_of_packet(reply);
	struct forward_settings forward;

	forward_settings_defaults(&forward);
	forward.chase = 1;
	packet_length = packet_around(packet, AF_INET, message, length);
	in = (struct interception){ .forward = &forward };
	intercept_parse(&in, packet, packet_length, packet_length);
	intercept_answer(&in, &source, 0, room);
	CHECK(in.decision.reason == REASON_CHASE && in.reply_length == 0);
	CHECK(intercept_chain(&in, &source, chain, sizeof(chain)));
	CHECK(in.answer == chain && in.answer_length == length + 12 + 19);
	CHECK(chain[7] == 1 && in.summary.options == 0);
}

static double
now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* For information: what one packet costs, over some 0.2 s. */
static void
show_cost(const char *what, const char *name)
{
	double start, spent;
	uint32_t n = 0;

	ask(AF_INET, name, TYPE_A, CLASS_IN, 0);
	start = now_ns();
	do {
		for (int i = 0; i < 1000; i++)
			intercept(&in, &source, packet, packet_length,
			    packet_length, n++, reply);
		spent = now_ns() - start;
	} while (spent < 2e8);
	printf("figure: %s: %.0f ns a packet\n", what, spent / n);
}

int
main(void)
{
	table = sample_table(false);
	source = sample_source(table);
	test_run();
	show_cost("intercept, 3 addresses", "reviews.default.svc.cluster.local");
	show_cost("intercept, pass", "www.example.org");
	table_close(table);
	return test_summary();
}

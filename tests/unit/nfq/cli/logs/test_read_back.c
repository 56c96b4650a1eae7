/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What pcapng and dnstap are written from is read back from them. */
#include "nfq/cli/logs/read_back.h"

#include <string.h>
#include <sys/socket.h>

#include "policy/audit/dnstap.h"
#include "policy/audit/json.h"
#include "policy/audit/pcapng.h"
#include "tests/check.h"

#define ASKED	"\x12\x34\1\0\0\1\0\0\0\0\0\0\1a\4mesh\0\0\1\0\1"
#define BADVERS	"\x12\x34\x81\x80\0\1\0\0\0\0\0\1\1a\4mesh\0\0\1\0\1" \
    "\0\0\x29\4\xd0\1\0\0\0\0\0"

static const enum audit_format_number formats[] = { AUDIT_PCAPNG,
	AUDIT_DNSTAP };

static char octets[AUDIT_PCAPNG_MAX > AUDIT_DNSTAP_MAX ? AUDIT_PCAPNG_MAX :
    AUDIT_DNSTAP_MAX];
static struct audit_read_back back;

static const struct audit_record whole = {
	.time_ns = UINT64_C(1700000000123456789),
	.generation = 3,
	.number = 77,
	.thread = 2,
	.client_port = 40000,
	.server_port = 53,
	.spent_ns = 12345,
	.packet_id = 4294967295,
	.uid = 33,
	.gid = 34,
	.family = AF_INET,
	.client = { 192, 0, 2, 7 },
	.server = { 192, 0, 2, 53 },
	.verdict = VERDICT_REFUSE,
	.reason = REASON_EDNS_VERSION,
	.rcode = 16,
	.rule = "no \"ads\" \\ \n\xff=",
	.rule_length = 14,
	.observer = "x",
	.observer_length = 1,
	.would = RULE_TCP_ONLY,
	.question = (const uint8_t *)ASKED,
	.question_length = sizeof(ASKED) - 1,
	.answer = (const uint8_t *)BADVERS,
	.answer_length = sizeof(BADVERS) - 1,
};

/* Writes the record and reads it; false if nothing is read. */
static bool
there_and_back(enum audit_format_number format, const struct audit_record *r)
{
	struct audit_seal sealed = { .number = 0 };
	const struct audit_key key = { .present = false };
	struct audit_reading reading;
	size_t seal, length;

	length = audit_formats[format]->record(NULL, r, octets, &seal);
	audit_seal_put(&sealed, &key, octets, length, seal);
	return audit_reader_next(&reading, format, (uint8_t *)octets, length) ==
	    AUDIT_READ_PIECE && reading.length == length &&
	    audit_read_back(&back, format, &reading, (uint8_t *)octets);
}

/* The line of JSON has all that is read back, and more than text has. */
static bool
is_the_same(const struct audit_record *r)
{
	static char line[AUDIT_JSON_MAX], other[AUDIT_JSON_MAX];
	struct audit_json json = { .second.length = 0 };
	size_t seal;
	const size_t length = audit_json(&json, r, line, sizeof(line), &seal);
	const size_t read = audit_json(&json, &back.record, other,
	    sizeof(other), &seal);

	line[length - 1] = other[read - 1] = '\0';
	if (strcmp(line, other) != 0)
		printf("# %s\n# %s\n", line, other);
	return length == read && memcmp(line, other, length) == 0 &&
	    r->time_ns == back.record.time_ns;
}

static void
all_of_a_record(void)
{
	for (size_t i = 0; i < 2; i++) {
		struct audit_record r = whole;

		CHECK(there_and_back(formats[i], &r) && is_the_same(&r));
		r.family = AF_INET6;
		memset(r.client, 0xfd, sizeof(r.client));
		r.stream = true;
		CHECK(there_and_back(formats[i], &r) && is_the_same(&r));
		r.uid = r.gid = UINT32_MAX;
		r.rule_length = r.observer_length = 0;
		r.would = 0;
		CHECK(there_and_back(formats[i], &r) && is_the_same(&r));
	}
}

static void
no_answer(void)
{
	for (size_t i = 0; i < 2; i++) {
		struct audit_record r = whole;

		r.verdict = VERDICT_DROP;
		r.reason = REASON_POLICY;
		r.rcode = 0;
		r.answer_length = 0;
		CHECK(there_and_back(formats[i], &r) && is_the_same(&r));
		r.stream = true;
		CHECK(there_and_back(formats[i], &r) && is_the_same(&r));
	}
}

/* Over TCP a message may take two packets. */
static void
the_longest_messages(void)
{
	static uint8_t message[UINT16_MAX] = BADVERS;

	memset(message + sizeof(BADVERS), 0xaa, sizeof(message) -
	    sizeof(BADVERS));
	for (size_t i = 0; i < 2; i++) {
		struct audit_record r = whole;

		r.stream = true;
		r.question = r.answer = message;
		r.question_length = r.answer_length = UINT16_MAX;
		CHECK(there_and_back(formats[i], &r));
		CHECK(back.record.question_length == UINT16_MAX &&
		    back.record.answer_length == UINT16_MAX);
		CHECK(memcmp(back.question, message, UINT16_MAX) == 0 &&
		    memcmp(back.answer, message, UINT16_MAX) == 0);
	}
}

/* Each octet changed in every bit: what is read is read within bounds. */
static void
damaged_pieces(void)
{
	for (size_t i = 0; i < 2; i++) {
		struct audit_reading reading;
		size_t seal, length, read = 0;

		length = audit_formats[formats[i]]->record(NULL, &whole,
		    octets, &seal);
		for (size_t at = 0; at < length; at++)
			for (unsigned int bit = 0; bit < 8; bit++) {
				octets[at] = (char)(octets[at] ^ 1 << bit);
				if (audit_reader_next(&reading, formats[i],
				    (uint8_t *)octets, length) ==
				    AUDIT_READ_PIECE)
					read += audit_read_back(&back,
					    formats[i], &reading,
					    (uint8_t *)octets);
				octets[at] = (char)(octets[at] ^ 1 << bit);
			}
		CHECK(read > 0 && read < 8 * length);
	}
}

static void
notes_are_no_records(void)
{
	for (size_t i = 0; i < 2; i++) {
		const struct audit_note note = { .kind = AUDIT_BEGIN };
		struct audit_reading reading;
		size_t seal, length;

		length = audit_formats[formats[i]]->note(NULL, &note, octets,
		    &seal);
		CHECK(audit_reader_next(&reading, formats[i],
		    (uint8_t *)octets, length) == AUDIT_READ_PIECE);
		CHECK(!audit_read_back(&back, formats[i], &reading,
		    (uint8_t *)octets));
	}
}

int
main(void)
{
	TEST(all_of_a_record);
	TEST(no_answer);
	TEST(the_longest_messages);
	TEST(damaged_pieces);
	TEST(notes_are_no_records);
	return test_summary();
}

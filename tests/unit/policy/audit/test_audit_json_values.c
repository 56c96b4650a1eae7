/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How a line writes names, addresses, times and numbers: as libc and the rest of
 * nfdns do.
 */
#include <arpa/inet.h>
#include <time.h>

#include "tests/unit/policy/audit/json_line.h"

/* A question for that name of "length" octets has it as name_to_text() does. */
static void
check_name(uint16_t flags, const uint8_t *name, size_t length)
{
	char text[NAME_TEXT_SIZE], expected[NAME_TEXT_SIZE];
	const json_t *root;

	start_message(flags, 0);
	wire_write_octets(&w, name, length);
	wire_write_u32(&w, 0x00010001);
	root = json_of_answer(blank);
	snprintf(text, sizeof(text), "%s.",
	    json_string_value(at(root, "dns.queries.0.rrname")));
	name_to_text(name, expected);
	CHECK(strcmp(text, expected) == 0);
	if (test_failed_here)
		printf("  %s, %s\n", text, expected);
}

TEST(names_are_written_as_everywhere_else)
{
	srandom(2);
	for (int i = 0; i < 5000; i++) {
		size_t labels = 1 + (size_t)random() % 5;
		size_t length = 0;
		uint8_t name[256];

		for (size_t l = 0; l < labels; l++) {
			size_t n = 1 + (size_t)random() % 40;

			name[length++] = (uint8_t)n;
			while (n-- > 0)
				name[length++] = (uint8_t)random();
		}
		name[length++] = 0;
		check_name(0x8580, name, length);
		if (test_failed_here)
			return;
	}
}

/* Of plain octets and of those that look like some: lengths, dots, \\200. */
TEST(every_label_of_every_length_is_written_as_everywhere_else)
{
	static const char fill[] = "a-_Z09~!#,.\"\\ \x7f\x80\xff\1\x2e";

	for (unsigned int i = 0; i < 63 * 2 * sizeof(fill); i++) {
		const uint8_t first = (uint8_t)(i % 63 + 1);
		const uint8_t second = i / 63 % 2 == 0 ? first : 46;
		uint8_t name[2 * 64 + 1];

		memset(name, 'a', sizeof(name));
		name[0] = first;
		name[first] = (uint8_t)fill[i / 63 / 2];
		name[1 + first] = second;
		name[2 + first + second] = 0;
		check_name(0x0100, name, 3U + first + second);
		if (test_failed_here)
			return;
	}
}

/* Groups that are zero, small or any, so there are runs of all lengths. */
TEST(addresses_are_written_as_libc_does)
{
	struct audit_record record = blank;
	char expected[INET6_ADDRSTRLEN];

	srandom(4);
	for (int i = 0; i < 20000; i++) {
		const json_t *root;

		for (int j = 0; j < 16; j += 2) {
			long value = random() >> 2, kind = random() % 4;

			value &= kind < 2 ? 0 : kind == 2 ? 0xff : 0xffff;
			value |= j == 10 && i % 5 == 0 ? 0xffff : 0;
			record.client[j] = (uint8_t)(value >> 8);
			record.client[j + 1] = (uint8_t)value;
		}
		record.family = i % 4 == 0 ? AF_INET : AF_INET6;
		start_message(0x8580, 0);
		root = json_of_answer(record);
		CHECK(inet_ntop(record.family, record.client, expected,
		    sizeof(expected)) != NULL);
		CHECK(is_text(root, "src_ip", expected));
		if (test_failed_here)
			return;
	}
}

TEST(times_are_written_as_libc_does)
{
	struct audit_record record = blank;
	char expected[64];

	srandom(5);
	for (int i = 0; i < 40000; i++) {
		/* Every day for a hundred years, then any time there is. */
		time_t second = i < 36525 ? i * 86400L + random() % 86400 :
		    (time_t)(((uint64_t)random() << 33) / 1000000000);
		struct tm tm;
		const json_t *root;

		record.time_ns = (uint64_t)second * 1000000000 + 1999;
		start_message(0x8580, 0);
		root = json_of_answer(record);
		CHECK(gmtime_r(&second, &tm) != NULL && strftime(expected,
		    sizeof(expected), "%Y-%m-%dT%H:%M:%S.000001+0000", &tm) > 0);
		CHECK(is_text(root, "timestamp", expected));
		if (test_failed_here)
			return;
	}
}

TEST(numbers_of_every_width_are_written)
{
	struct audit_record record = blank;

	start_message(0x8580, 0);
	for (uint64_t power = 1;; power *= 10) {
		for (int64_t i = -1; i <= 1; i++) {
			const json_t *root;

			/* Readers have no more than 63 bits. */
			record.generation = (power + (uint64_t)i) & INT64_MAX;
			root = json_of_answer(record);
			CHECK(is_number(root, "nfdns.generation",
			    (long long)record.generation));
		}
		if (power > UINT64_MAX / 10)
			break;
	}
	for (uint32_t ns = 0; ns < 2000000; ns += 997) {
		char expected[32];

		record.spent_ns = ns;
		(void)json_of_answer(record);
		snprintf(expected, sizeof(expected), "\"spent_us\":%u.%03u,\"",
		    ns / 1000, ns % 1000);
		CHECK(strstr(line, expected) != NULL);
	}
}

TEST(any_octets_make_a_whole_line)
{
	uint8_t noise[2000];

	srandom(3);
	for (int i = 0; i < 20000; i++) {
		struct audit_record record = blank;
		size_t length = (size_t)random() % sizeof(noise);

		for (size_t j = 0; j < length; j++)
			noise[j] = (uint8_t)(random() % 7 == 0 ? 0xc0 :
			    random() % (i % 2 == 0 ? 256 : 40));
		record.answer = noise;
		record.answer_length = i % 3 == 0 ? 0 : (uint16_t)length;
		record.question = noise;
		record.question_length = (uint16_t)length;
		record.verdict = (enum verdict)(i % VERDICTS);
		record.reason = (enum reason)(i % REASONS);
		record.rcode = (uint16_t)i;
		record.time_ns = (uint64_t)random() << 32;
		(void)json_of(&record);
		if (test_failed_here)
			return;
	}
}

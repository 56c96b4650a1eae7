/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Padding of questions (RFC 8467), and of answers, which is taken off. */
#include "nfq/ask/message.h"

#include <string.h>

#include "resolver/dns/rr.h"
#include "tests/check.h"

static struct question question;

static void
set_question(const char *name)
{
	memset(&question, 0, sizeof(question));
	CHECK(name_from_text(&question.name, name, strlen(name)) == 0);
	question.type = 1;
	question.class = 1;
}

/* The padding option is the last one. */
TEST(questions_are_whole_blocks)
{
	struct message_options options = { .length = 8,
		.octets = { 0, 3, 0, 4, 'a', 'b', 'c', 'd' } };
	char name[120] = "";
	uint8_t octets[MESSAGE_ASK_MAX];
	struct message m;

	for (size_t n = 1; n < 60; n++) {
		struct message_ask ask = { .question = &question,
			.options = n % 2 ? &options : NULL, .edns = true,
			.pad = true };
		struct message_option option = { .code = 0 };
		size_t at = 0, length;

		memset(name, 'a', n);
		set_question(name);
		length = message_ask(&ask, 7, octets);
		CHECK(length % 128 == 0 && length <= 256);
		CHECK(message_read(&m, octets, length) && m.edns);
		while (message_option(&m, &at, &option))
			;
		CHECK(option.code == OPTION_PADDING);
		ask.pad = false;
		CHECK(message_ask(&ask, 7, octets) < length);
	}
}

TEST(the_longest_question_has_room)
{
	struct message_options options = { .length = MESSAGE_OPTIONS_MAX };
	struct message_ask ask = { .question = &question, .options = &options,
		.edns = true, .pad = true };
	uint8_t octets[MESSAGE_ASK_MAX];
	char name[254];

	for (size_t i = 0; i < sizeof(name); i++)
		name[i] = i % 50 == 49 ? '.' : 'a';
	name[253] = '\0';
	set_question(name);
	CHECK(message_ask(&ask, 1, octets) % 128 == 0);
}

TEST(padding_of_answers_is_not_handed_on)
{
	struct message_ask ask = { .question = &question, .edns = true,
		.pad = true };
	struct message_options options;
	uint8_t octets[MESSAGE_ASK_MAX];
	struct message m;

	set_question("www.example");
	CHECK(message_read(&m, octets, message_ask(&ask, 1, octets)));
	CHECK(m.options_length > 0);
	message_options(&options, &m);
	CHECK(options.length == 0);
}

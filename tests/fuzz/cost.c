/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What messages cost, beside a usual question.  Counted are the basic blocks
 * that run, by the compiler's -fsanitize-coverage=trace-pc: every run counts the
 * same, whatever else the machine does.
 *
 *   cost [--plain FILE...] [--framed FILE...]
 *
 * Files are as replay.c takes them.  Prints "what usual most where": what
 * was done with each input, the blocks of the usual question, the most blocks
 * that any input took, and which.
 */
#include <stdbool.h>
#include <stdint.h>

#include "tests/fuzz/fuzz.h"
#include "tests/packets.h"

#define LARGEST_FILE ((size_t)64 << 20)

/* Called by what was compiled with -fsanitize-coverage=trace-pc. */
void __sanitizer_cov_trace_pc(void);

enum deed {
	PARSE,			/* the message is parsed */
	STREAM,			/* the same, looked up and answered over TCP */
	PACKET,			/* the octets are a whole packet */
	DEEDS
};

static const char *const deed_texts[DEEDS] = { "parse", "stream", "packet" };

static struct cost {
	unsigned long usual;
	unsigned long most;
	char where[300];
} costs[DEEDS];

static unsigned long blocks;
static struct table *table;

/* Only gcc counts with it; clang, which has another word, just compiles it. */
#if __has_attribute(no_sanitize_coverage)
#define NOT_COUNTED	__attribute__((no_sanitize_coverage))
#else
#define NOT_COUNTED
#endif

void NOT_COUNTED
__sanitizer_cov_trace_pc(void)
{
	blocks++;
}

static unsigned long
count(enum deed deed, const uint8_t *octets, size_t length)
{
	static uint8_t reply[INTERCEPT_STREAM_MAX];
	const struct answer_source source = sample_source(table);
	static struct interception in;

	blocks = 0;
	switch (deed) {
	case PARSE:
		question_parse(&in.question, octets, length);
		break;
	case STREAM:
		in.unanswerable = in.unowned = false;
		intercept_message(&in, octets, length);
		intercept_answer(&in, &source, 0, (struct reply_room){
		    reply, sizeof(reply), true });
		break;
	default:
		intercept(&in, &source, octets, length, length, 0, reply);
	}
	return blocks;
}

static void
set_usual(void)
{
	static const char text[] = "\x47\x11\1\0\0\1\0\0\0\0\0\0"
	    "\7reviews\7default\3svc\7cluster\5local\0\0\1\0\1";
	static const uint8_t *question = (const uint8_t *)text;
	static uint8_t packet[sizeof(text) + 48];
	size_t length = packet_around(packet, AF_INET, question,
	    sizeof(text) - 1);

	costs[PARSE].usual = count(PARSE, question, sizeof(text) - 1);
	costs[STREAM].usual = count(STREAM, question, sizeof(text) - 1);
	costs[PACKET].usual = count(PACKET, packet, length);
}

static void
take(const uint8_t *octets, size_t length, const char *path, unsigned long n)
{
	for (enum deed deed = 0; deed < DEEDS; deed++) {
		unsigned long now = count(deed, octets, length);
		struct cost *cost = &costs[deed];

		if (now <= cost->most)
			continue;
		cost->most = now;
		(void)snprintf(cost->where, sizeof(cost->where), "%s:%lu",
		    path, n);
	}
}

static void
take_framed(const uint8_t *octets, size_t length, const char *path)
{
	size_t at = 0, size;

	for (unsigned long n = 0; at < length; n++) {
		MUST(length - at >= 2);
		size = word_at(octets + at);
		at += 2;
		MUST(length - at >= size);
		take(octets + at, size, path, n);
		at += size;
	}
}

static void
take_file(const char *path, bool framed)
{
	static uint8_t octets[LARGEST_FILE];
	FILE *file = fopen(path, "rb");
	size_t length;

	MUST(file != NULL);
	length = fread(octets, 1, sizeof(octets), file);
	MUST(ferror(file) == 0 && length < sizeof(octets));
	(void)fclose(file);
	if (framed)
		take_framed(octets, length, path);
	else
		take(octets, length, path, 0);
}

int
main(int argc, char **argv)
{
	bool framed = false;

	table = sample_table(false);
	set_usual();
	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--framed") == 0)
			framed = true;
		else if (strcmp(argv[i], "--plain") == 0)
			framed = false;
		else
			take_file(argv[i], framed);
	}
	for (enum deed deed = 0; deed < DEEDS; deed++)
		printf("%s %lu %lu %s\n", deed_texts[deed], costs[deed].usual,
		    costs[deed].most, costs[deed].where);
	table_close(table);
	return 0;
}

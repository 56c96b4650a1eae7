/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A piece ends with its seal, but for what the format puts behind: in JSON the
 * ends of string and objects, in pcapng padding and the end of the block, in
 * dnstap nothing or a STOP.  The numbers stand before the seal, in notes behind
 * the word that says which note it is.  No client can write text there.
 */
#include "nfq/cli/logs/reader.h"

#include <string.h>

#include "policy/audit/frame_stream.h"
#include "policy/audit/pcapng_block.h"
#include "policy/audit/proto_field.h"

#define JSON_TAIL	"\"}}\n"
#define JSON_SEAL	",\"seal\":\""
#define TEXT_SEAL	" seal="
#define EXTRA		3U		/* a field of Dnstap */
#define MESSAGE_FIELDS	16U		/* that a message of ours has at most */

struct text {
	const char *begin, *end;
};

enum audit_format_number
audit_reader_format(const uint8_t *octets, size_t length)
{
	static const uint8_t section[] = { 0x0a, 0x0d, 0x0d, 0x0a };

	if (length < sizeof(section))
		return AUDIT_FORMATS;
	if (octets[0] == '{')
		return AUDIT_JSON;
	if (memcmp(octets, section, sizeof(section)) == 0)
		return AUDIT_PCAPNG;
	if (memcmp(octets, "\0\0\0", 4) == 0)
		return AUDIT_DNSTAP;
	return AUDIT_FORMATS;
}

/* Behind the last occurrence of the key, or NULL. */
static const char *
find_last(struct text text, const char *key)
{
	const size_t length = strlen(key);

	for (const char *at = text.end - length; at >= text.begin; at--)
		if (memcmp(at, key, length) == 0)
			return at + length;
	return NULL;
}

/* The number behind the last of two keys, of JSON or of text, that is there. */
static uint64_t
number_of(struct text text, const char *json, const char *plain)
{
	const char *at = find_last(text, json);
	uint64_t number = 0;

	if (at == NULL)
		at = find_last(text, plain);
	for (; at != NULL && at < text.end && *at >= '0' && *at <= '9'; at++)
		number = number * 10 + (uint64_t)(*at - '0');
	return number;
}

static uint64_t
sum_of_next(struct text text)
{
	const char *at = find_last(text, "\"next\":[");
	uint64_t sum = 0, number = 0;

	if (at == NULL)
		at = find_last(text, " next=");
	for (; at != NULL && at < text.end; at++) {
		if (*at >= '0' && *at <= '9') {
			number = number * 10 + (uint64_t)(*at - '0');
			continue;
		}
		sum += number;
		number = 0;
		if (*at != ',')
			break;
	}
	return sum + number;
}

static bool
begins_with(struct text text, const char *words)
{
	return (size_t)(text.end - text.begin) >= strlen(words) &&
	    memcmp(text.begin, words, strlen(words)) == 0;
}

static enum audit_piece_kind
kind_of(struct text text, const char *before)
{
	static const struct {
		const char *word;
		enum audit_piece_kind kind;
	} kinds[] = {
		{ "begin", AUDIT_PIECE_BEGIN },
		{ "lost", AUDIT_PIECE_LOST },
		{ "unread", AUDIT_PIECE_UNREAD },
		{ "end", AUDIT_PIECE_END },
	};
	const size_t skip = strlen(before);

	if (!begins_with(text, before))
		return AUDIT_PIECE_RECORD;
	text.begin += skip;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (begins_with(text, kinds[i].word))
			return kinds[i].kind;
	return AUDIT_PIECE_FOREIGN;
}

/* What stands in the text before the seal. */
static void
read_numbers(struct audit_reading *r, struct text text)
{
	r->thread = number_of(text, "\"thread\":", " thread=");
	r->number = number_of(text, "\"number\":", " number=");
	if (r->kind == AUDIT_PIECE_RECORD)
		return;
	r->run = number_of(text, "\"run\":", " run=");
	r->records = number_of(text, "\"records\":", " records=");
	r->unread = number_of(text, "\"questions\":", " questions=");
	r->from = number_of(text, "\"from\":", " from=");
	r->to = number_of(text, "\"to\":", " to=");
	r->written = number_of(text, "\"written\":", " written=");
	r->skipped = number_of(text, "\"skipped\":", " skipped=");
	r->missing = number_of(text, "\"missing\":", " missing=");
	r->next = sum_of_next(text);
}

static enum audit_read
next_json(struct audit_reading *r, const uint8_t *octets, size_t length)
{
	static const char note[] = ",\"event_type\":\"stats\",\"nfdns\":"
	    "{\"event\":\"";
	const size_t tail = strlen(JSON_SEAL) + AUDIT_SEAL_OCTETS +
	    strlen(JSON_TAIL), stamp = strlen("{\"timestamp\":\"") +
	    strlen("2026-11-22T13:40:01.123456+0000\"");
	const uint8_t *end = memchr(octets, '\n', length);
	struct text text = { (const char *)octets, (const char *)octets };

	if (end == NULL)
		return length < AUDIT_PIECE_MAX ? AUDIT_READ_MORE :
		    AUDIT_READ_BROKEN;
	r->length = (size_t)(end + 1 - octets);
	r->kind = AUDIT_PIECE_FOREIGN;
	if (r->length <= tail + stamp)
		return AUDIT_READ_PIECE;
	text.end += r->length - tail;
	r->seal_at = r->length - strlen(JSON_TAIL) - AUDIT_SEAL_OCTETS;
	if (memcmp(text.end, JSON_SEAL, strlen(JSON_SEAL)) != 0 ||
	    memcmp(octets + r->length - strlen(JSON_TAIL), JSON_TAIL,
	    strlen(JSON_TAIL)) != 0 ||
	    !audit_seal_read(&r->seal, (const char *)octets + r->seal_at))
		return AUDIT_READ_PIECE;
	r->kind = kind_of((struct text){ text.begin + stamp, text.end }, note);
	read_numbers(r, text);
	return AUDIT_READ_PIECE;
}

/*
 * A text of a piece, at octets[at], that ends with a seal.  False if it has
 * none.
 */
static bool
read_text(struct audit_reading *r, const uint8_t *octets, size_t at,
    size_t length)
{
	const size_t tail = strlen(TEXT_SEAL) + AUDIT_SEAL_OCTETS;
	struct text text = { (const char *)octets + at,
		(const char *)octets + at };

	if (length < tail)
		return false;
	text.end += length - tail;
	r->seal_at = at + length - AUDIT_SEAL_OCTETS;
	if (memcmp(text.end, TEXT_SEAL, strlen(TEXT_SEAL)) != 0 ||
	    !audit_seal_read(&r->seal, (const char *)octets + r->seal_at))
		return false;
	r->kind = kind_of(text, "event=");
	read_numbers(r, text);
	return true;
}

/* Looks for a comment with a seal in the block at octets[at]. */
static bool
read_block(struct audit_reading *r, const uint8_t *octets, size_t at,
    size_t length)
{
	struct pcapng_options options = pcapng_options(octets, at, length);
	struct pcapng_option option;

	while (pcapng_option_next(&options, &option))
		if (option.code == PCAPNG_COMMENT &&
		    read_text(r, octets, option.at, option.length))
			return true;
	return false;
}

/* What was read up to where it breaks is no piece. */
static enum audit_read
broken_at(struct audit_reading *r, size_t at)
{
	r->kind = AUDIT_PIECE_FOREIGN;
	r->length = at;
	return at > 0 ? AUDIT_READ_PIECE : AUDIT_READ_BROKEN;
}

static enum audit_read
next_pcapng(struct audit_reading *r, const uint8_t *octets, size_t length)
{
	size_t at = 0;

	for (;;) {
		uint32_t size;

		if (length - at < PCAPNG_BLOCK_MIN)
			return AUDIT_READ_MORE;
		size = pcapng_u32(octets + at + 4);
		if (size < PCAPNG_BLOCK_MIN || size % 4 != 0 ||
		    size > AUDIT_PIECE_MAX - at)
			return broken_at(r, at);
		if (size > length - at)
			return AUDIT_READ_MORE;
		if (pcapng_u32(octets + at + size - 4) != size)
			return broken_at(r, at);
		r->length = at + size;
		if (read_block(r, octets, at, size))
			return AUDIT_READ_PIECE;
		at += size;
	}
}

/* Looks for the field "extra" of a Dnstap message. */
static bool
read_message(struct audit_reading *r, const uint8_t *octets,
    const struct frame *frame)
{
	const uint8_t *at = frame->data, *end = at + frame->data_length;
	struct proto_field field;

	for (unsigned int fields = 0; fields < MESSAGE_FIELDS &&
	    proto_field_next(&field, &at, end); fields++)
		if (field.number == EXTRA && field.octets != NULL &&
		    read_text(r, octets, (size_t)(field.octets - octets),
		    field.length))
			return true;
	return false;
}

static enum audit_read
next_dnstap(struct audit_reading *r, const uint8_t *octets, size_t length)
{
	struct frame frame;
	size_t at;

	for (at = 0; at < AUDIT_PIECE_MAX; at += frame.length) {
		if (!frame_read(&frame, octets + at, length - at))
			return broken_at(r, at);
		if (frame.length == 0)
			return AUDIT_READ_MORE;
		r->length = at + frame.length;
		if (!frame.control && read_message(r, octets, &frame))
			return AUDIT_READ_PIECE;
		/* A STOP belongs to no piece. */
		if (at == 0 && frame.control && frame.type != FRAME_START) {
			r->kind = AUDIT_PIECE_FOREIGN;
			return AUDIT_READ_PIECE;
		}
	}
	return broken_at(r, at);
}

enum audit_read
audit_reader_next(struct audit_reading *r, enum audit_format_number format,
    const uint8_t *octets, size_t length)
{
	memset(r, 0, sizeof(*r));
	if (format == AUDIT_JSON)
		return next_json(r, octets, length);
	if (format == AUDIT_PCAPNG)
		return next_pcapng(r, octets, length);
	return next_dnstap(r, octets, length);
}

/* Whether a block or a frame of ours begins there, by itself alone. */
static bool
begins_well(enum audit_format_number format, const uint8_t *octets,
    size_t length)
{
	struct audit_reading r;
	struct frame frame;
	uint32_t size;

	if (format == AUDIT_DNSTAP)
		return frame_read(&frame, octets, length) &&
		    frame.length > 0 && !frame.control &&
		    read_message(&r, octets, &frame);
	if (length < PCAPNG_BLOCK_MIN)
		return false;
	size = pcapng_u32(octets + 4);
	return size >= PCAPNG_BLOCK_MIN && size % 4 == 0 && size <= length &&
	    pcapng_options_at(octets, size) > 0 &&
	    pcapng_u32(octets + size - 4) == size;
}

size_t
audit_reader_skip(enum audit_format_number format, const uint8_t *octets,
    size_t length)
{
	const uint8_t *line;

	if (format == AUDIT_JSON) {
		line = memchr(octets, '\n', length);
		return line != NULL ? (size_t)(line + 1 - octets) : length;
	}
	for (size_t at = 1; at < length; at++)
		if (begins_well(format, octets + at, length - at))
			return at;
	return length;
}

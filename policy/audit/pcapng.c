/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A record becomes an enhanced packet block for the question, at the time when
 * it was received, and one for the answer, at the time of the decision.  The
 * comment is on the last of them.  Losses and the end of a section are
 * interface statistics, whose counts are records.  Sections are little-endian
 * on every machine.
 *
 * Block and option numbers: draft-ietf-opsawg-pcapng sections 3.5 and 4.
 */
#include "policy/audit/format.h"

#include <assert.h>
#include <endian.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "policy/audit/json_out.h"
#include "resolver/version.h"

#define BLOCK_SECTION		0x0a0d0d0aU
#define BLOCK_INTERFACE		1U
#define BLOCK_STATISTICS	5U
#define BLOCK_PACKET		6U

#define BYTE_ORDER_MAGIC	0x1a2b3c4dU
#define VERSION_1_0		1U
#define LINKTYPE_RAW		101U

#define OPT_ENDOFOPT		0U
#define OPT_COMMENT		1U
#define SHB_USERAPPL		4U
#define IF_NAME			2U
#define IF_DESCRIPTION		3U
#define IF_TSRESOL		9U
#define EPB_FLAGS		2U
#define EPB_PACKETID		5U
#define EPB_QUEUE		6U
#define EPB_VERDICT		7U
#define ISB_IFRECV		4U
#define ISB_IFDROP		5U
#define ISB_USRDELIV		8U

#define NANOSECONDS		9U	/* if_tsresol: 10^-9 s */
#define INBOUND			1U	/* epb_flags */
#define OUTBOUND		2U
#define PACKET_HEADER		28U
#define NOTE_MAX		(512U + AUDIT_NOTE_TEXT)

/*
 * epb_verdict knows hardware, TC and XDP but no netfilter, so it is written in
 * the terms of TC (linux/pkt_cls.h): the packet goes on, is dropped, or turns
 * round.
 */
#define VERDICT_KIND_TC		1U
#define TC_ACT_OK		0U
#define TC_ACT_SHOT		2U
#define TC_ACT_REDIRECT		7U

static char *
put_u32(char *to, uint32_t value)
{
	value = htole32(value);
	memcpy(to, &value, sizeof(value));
	return to + sizeof(value);
}

static char *
put_u64(char *to, uint64_t value)
{
	value = htole64(value);
	memcpy(to, &value, sizeof(value));
	return to + sizeof(value);
}

/* Zeros up to a multiple of four octets. */
static char *
put_padding(char *to, size_t length)
{
	static const char zeros[4];
	const size_t missing = -length % 4;

	memcpy(to, zeros, missing);
	return to + missing;
}

static char *
put_option_head(char *to, uint16_t code, size_t length)
{
	return put_u32(to, (uint32_t)length << 16 | code);
}

static char *
put_option(char *to, uint16_t code, const void *value, size_t length)
{
	to = put_option_head(to, code, length);
	memcpy(to, value, length);
	return put_padding(to + length, length);
}

static char *
put_option_text(char *to, uint16_t code, const char *text)
{
	return put_option(to, code, text, strlen(text));
}

static char *
put_option_u32(char *to, uint16_t code, uint32_t value)
{
	return put_u32(put_option_head(to, code, sizeof(value)), value);
}

static char *
put_option_u64(char *to, uint16_t code, uint64_t value)
{
	return put_u64(put_option_head(to, code, sizeof(value)), value);
}

/* The upper half comes first, whatever the order of octets. */
static char *
put_time(char *to, uint64_t time_ns)
{
	return put_u32(put_u32(to, (uint32_t)(time_ns >> 32)),
	    (uint32_t)time_ns);
}

/* Its length follows at the end. */
static char *
block_begin(char *to, uint32_t type)
{
	return put_u32(to, type) + sizeof(uint32_t);
}

/* Ends options and block; returns where the next block begins. */
static char *
block_end(char *block, char *to)
{
	uint32_t length;

	to = put_option_head(to, OPT_ENDOFOPT, 0);
	length = (uint32_t)(to - block) + sizeof(length);
	(void)put_u32(block + sizeof(uint32_t), length);
	return put_u32(to, length);
}

static char *
put_section(char *block)
{
	char *to = block_begin(block, BLOCK_SECTION);

	to = put_u32(to, BYTE_ORDER_MAGIC);
	to = put_u32(to, VERSION_1_0);
	to = put_u64(to, UINT64_MAX);		/* its length is not known */
	to = put_option_text(to, SHB_USERAPPL, "nfdns " NFDNS_VERSION);
	return block_end(block, to);
}

static char *
put_note(char *option, const struct audit_note *note)
{
	char *text = option + sizeof(uint32_t);
	struct json_out out = { .pos = text, .end = text + AUDIT_NOTE_TEXT };
	size_t length;

	audit_note_text(&out, note);
	assert(!out.full);
	length = (size_t)(out.pos - text);
	(void)put_option_head(option, OPT_COMMENT, length);
	return put_padding(out.pos, length);
}

/* What all interfaces have; the options may go on. */
static char *
put_interface(char *block)
{
	static const uint8_t resolution = NANOSECONDS;
	char *to = block_begin(block, BLOCK_INTERFACE);

	to = put_u32(to, LINKTYPE_RAW);
	to = put_u32(to, 0);			/* snaplen: no limit */
	to = put_option_text(to, IF_NAME, "nfdns");
	to = put_option_text(to, IF_DESCRIPTION,
	    "questions and answers of nfdns; headers rebuilt from records");
	return put_option(to, IF_TSRESOL, &resolution, sizeof(resolution));
}

static char *
put_beginning(char *buf, const struct audit_note *note)
{
	char *interface = put_section(buf);
	char *to = put_interface(interface);

	return block_end(interface, put_note(to, note));
}

static char *
put_statistics(char *block, const struct audit_note *note)
{
	char *to = block_begin(block, BLOCK_STATISTICS);

	to = put_u32(to, 0);			/* interface */
	to = put_time(to, note->time_ns);
	to = put_option_u64(to, ISB_IFRECV, note->records + note->lost);
	to = put_option_u64(to, ISB_IFDROP, note->lost);
	to = put_option_u64(to, ISB_USRDELIV, note->records);
	to = put_note(to, note);
	return block_end(block, to);
}

static size_t
format_note(void *state, const struct audit_note *note, char *buf)
{
	char *end;

	(void)state;
	if (note->kind == AUDIT_CLOSE)
		return 0;
	if (note->kind == AUDIT_BEGIN)
		end = put_beginning(buf, note);
	else
		end = put_statistics(buf, note);
	return (size_t)(end - buf);
}

static char *
put_comment(char *option, const struct audit_record *record)
{
	char *text = option + sizeof(uint32_t);
	struct json_out out = { .pos = text,
		.end = text + AUDIT_PCAPNG_COMMENT - 2 * sizeof(uint32_t) };
	size_t length;

	audit_record_text(&out, record);
	assert(!out.full);
	length = (size_t)(out.pos - text);
	(void)put_option_head(option, OPT_COMMENT, length);
	return put_padding(out.pos, length);
}

static char *
put_verdict(char *to, enum verdict verdict)
{
	uint8_t value[1 + sizeof(uint64_t)] = { VERDICT_KIND_TC };

	value[1] = verdict == VERDICT_PASS ? TC_ACT_OK :
	    verdict == VERDICT_DROP ? TC_ACT_SHOT : TC_ACT_REDIRECT;
	return put_option(to, EPB_VERDICT, value, sizeof(value));
}

static char *
put_packet_options(char *to, const struct audit_record *record, bool answer)
{
	to = put_option_u32(to, EPB_FLAGS, answer ? INBOUND : OUTBOUND);
	/* The answer is the question's packet, turned round. */
	if (!record->stream) {
		to = put_option_u64(to, EPB_PACKETID, record->packet_id);
		to = put_option_u32(to, EPB_QUEUE, record->queue);
	}
	return answer ? to : put_verdict(to, record->verdict);
}

/* The packets of one message. */
static char *
put_message(char *block, const struct audit_record *record, bool answer)
{
	const uint64_t time_ns = answer ? record->time_ns :
	    record->time_ns - record->spent_ns;
	const bool comment = answer || record->answer_length == 0;
	size_t offset = 0;
	bool last = false;

	while (!last) {
		char *to = block_begin(block, BLOCK_PACKET);
		const size_t length = raw_packet_put(record, answer, &offset,
		    &last, (uint8_t *)block + PACKET_HEADER);

		to = put_u32(to, 0);		/* interface */
		to = put_time(to, time_ns);
		to = put_u32(to, (uint32_t)length);
		to = put_u32(to, (uint32_t)length);
		to = put_padding(to + length, length);
		to = put_packet_options(to, record, answer);
		if (comment && last)
			to = put_comment(to, record);
		block = block_end(block, to);
	}
	return block;
}

size_t
audit_pcapng(void *state, const struct audit_record *record, char *buf)
{
	char *end = put_message(buf, record, false);

	(void)state;
	if (record->answer_length > 0)
		end = put_message(end, record, true);
	assert((size_t)(end - buf) <= AUDIT_PCAPNG_MAX);
	return (size_t)(end - buf);
}

/* Octets of one of our blocks at most. */
#define BLOCK_MAX	(RAW_PACKET_MAX + AUDIT_PCAPNG_AROUND + AUDIT_PCAPNG_COMMENT)
#define BLOCK_MIN	12U

/* The length that a block's head states, 0 if no block can begin so. */
static uint32_t
length_in_head(const char *head, bool first)
{
	uint32_t words[2];

	memcpy(words, head, sizeof(words));
	words[1] = le32toh(words[1]);
	if (first && words[0] != le32toh(BLOCK_SECTION))
		return 0;
	return words[1] >= BLOCK_MIN && words[1] % 4 == 0 ? words[1] : 0;
}

/*
 * Follows the lengths from the beginning: what a packet holds may look like a
 * block, so nothing can be found from the end.
 */
static off_t
format_whole(int fd, off_t size)
{
	char window[65536];
	off_t at = 0, base = 0;
	ssize_t have = 0;

	while (size - at >= (off_t)BLOCK_MIN) {
		uint32_t length;

		if (at + 8 > base + have) {
			base = at;
			have = pread(fd, window, sizeof(window), base);
			if (have < 8)
				return have < 0 ? -errno : -EIO;
		}
		length = length_in_head(window + (at - base), at == 0);
		if (length == 0)
			return -EILSEQ;
		if (length > size - at)
			break;
		at += length;
	}
	return size - at <= (off_t)BLOCK_MAX ? at : -EILSEQ;
}

const struct audit_format audit_pcapng_format = {
	.name = "pcapng",
	.record_max = AUDIT_PCAPNG_MAX,
	.note_max = NOTE_MAX,
	.record = audit_pcapng,
	.note = format_note,
	.whole = format_whole,
};

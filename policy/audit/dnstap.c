/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "policy/audit/format.h"

#include <sys/socket.h>
#include <assert.h>
#include <endian.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "resolver/dns/wire.h"
#include "resolver/version.h"

/* Types of a field on the wire, and its tag. */
#define VARINT		0U
#define OCTETS		2U
#define FIXED32		5U
#define TAG(field, type) ((field) << 3 | (type))

/* dnstap.proto, message Dnstap: */
#define VERSION_FIELD	TAG(2, OCTETS)
#define EXTRA		TAG(3, OCTETS)
#define MESSAGE		TAG(14, OCTETS)
#define TYPE		TAG(15, VARINT)
#define TYPE_MESSAGE	1U
/* Message: */
#define MESSAGE_TYPE	TAG(1, VARINT)
#define FAMILY		TAG(2, VARINT)
#define PROTOCOL	TAG(3, VARINT)
#define QUERY_ADDRESS	TAG(4, OCTETS)
#define RESPONSE_ADDRESS TAG(5, OCTETS)
#define QUERY_PORT	TAG(6, VARINT)
#define RESPONSE_PORT	TAG(7, VARINT)
#define QUERY_SECOND	TAG(8, VARINT)
#define QUERY_NANO	TAG(9, FIXED32)
#define QUERY_MESSAGE	TAG(10, OCTETS)
#define RESPONSE_SECOND	TAG(12, VARINT)
#define RESPONSE_NANO	TAG(13, FIXED32)
#define RESPONSE_MESSAGE TAG(14, OCTETS)
#define POLICY		TAG(15, OCTETS)
#define CLIENT_QUERY	5U
#define CLIENT_RESPONSE	6U
#define TOOL_QUERY	11U
/* Policy: */
#define POLICY_TYPE	TAG(1, OCTETS)
#define POLICY_RULE	TAG(2, OCTETS)
#define POLICY_ACTION	TAG(3, VARINT)
#define POLICY_MATCH	TAG(4, VARINT)
#define MATCH_QNAME	1U

/* Longer than any message of ours needs; parsers take it so. */
#define LENGTH_OCTETS	3U
#define NOTE_MAX	(256U + AUDIT_NOTE_TEXT)

/* Policy.Action, by verdict; 0: none of them. */
static const uint8_t actions[VERDICTS] = {
	[VERDICT_PASS] = 3,		/* PASS */
	[VERDICT_ANSWER] = 6,		/* LOCAL_DATA */
	[VERDICT_NODATA] = 2,		/* NODATA */
	[VERDICT_NXDOMAIN] = 1,		/* NXDOMAIN */
	[VERDICT_DROP] = 4,		/* DROP */
};

static char *
put_varint(char *to, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		*to++ = (char)(value | 0x80);
	*to++ = (char)value;
	return to;
}

static char *
put_number(char *to, unsigned int tag, uint64_t value)
{
	return put_varint(put_varint(to, tag), value);
}

static char *
put_octets(char *to, unsigned int tag, const void *octets, size_t length)
{
	to = put_number(to, tag, length);
	if (length > 0)
		memcpy(to, octets, length);
	return to + length;
}

static char *
put_text(char *to, unsigned int tag, const char *text)
{
	return put_octets(to, tag, text, strlen(text));
}

static char *
put_time(char *to, unsigned int second, unsigned int nano, uint64_t time_ns)
{
	const uint32_t rest = htole32((uint32_t)(time_ns % 1000000000));

	to = put_number(to, second, time_ns / 1000000000);
	to = put_varint(to, nano);
	memcpy(to, &rest, sizeof(rest));
	return to + sizeof(rest);
}

/* Room for the length of what follows, which put_length() fills in. */
static char *
begin_length(char *to, unsigned int tag)
{
	return put_varint(to, tag) + LENGTH_OCTETS;
}

static void
put_length(char *begin, const char *end)
{
	size_t length = (size_t)(end - begin);

	assert(length < 1U << (7 * LENGTH_OCTETS));
	for (unsigned int i = LENGTH_OCTETS; i > 0; i--, length >>= 7)
		begin[-(int)i] = (char)((length & 0x7f) | (i > 1 ? 0x80 : 0));
}

static char *
put_policy(char *to, const struct audit_record *r)
{
	char *policy = begin_length(to, POLICY);

	to = put_text(policy, POLICY_TYPE, "nfdns");
	if (r->rule_length > 0)
		to = put_octets(to, POLICY_RULE, r->rule, r->rule_length <
		    AUDIT_RULE_MAX ? r->rule_length : AUDIT_RULE_MAX);
	else
		to = put_text(to, POLICY_RULE, decide_reason_text(r->reason));
	if (actions[r->verdict] != 0)
		to = put_number(to, POLICY_ACTION, actions[r->verdict]);
	to = put_number(to, POLICY_MATCH, MATCH_QNAME);
	put_length(policy, to);
	return to;
}

static char *
put_message(char *to, const struct audit_record *r, bool answer)
{
	const size_t octets = r->family == AF_INET ? 4 : 16;
	char *message = begin_length(to, MESSAGE);

	to = put_number(message, MESSAGE_TYPE, answer ? CLIENT_RESPONSE :
	    CLIENT_QUERY);
	to = put_number(to, FAMILY, r->family == AF_INET ? 1 : 2);
	to = put_number(to, PROTOCOL, r->stream ? 2 : 1);
	if (!r->is_private)
		to = put_octets(to, QUERY_ADDRESS, r->client, octets);
	to = put_octets(to, RESPONSE_ADDRESS, r->server, octets);
	if (!r->is_private)
		to = put_number(to, QUERY_PORT, r->client_port);
	to = put_number(to, RESPONSE_PORT, r->server_port);
	to = put_time(to, QUERY_SECOND, QUERY_NANO, r->time_ns - r->spent_ns);
	if (answer) {
		to = put_time(to, RESPONSE_SECOND, RESPONSE_NANO, r->time_ns);
		to = put_octets(to, RESPONSE_MESSAGE, r->answer,
		    r->answer_length);
	} else
		to = put_octets(to, QUERY_MESSAGE, r->question,
		    r->question_length);
	to = put_policy(to, r);
	put_length(message, to);
	return to;
}

/* What every frame ends with, but for "extra". */
static char *
put_type(char *to)
{
	to = put_text(to, VERSION_FIELD, "nfdns " NFDNS_VERSION);
	return put_number(to, TYPE, TYPE_MESSAGE);
}

static void
put_frame_length(char *frame, const char *end)
{
	wire_store_u32((uint8_t *)frame,
	    (uint32_t)(end - frame - (ptrdiff_t)FRAME_LENGTH));
}

/* "extra" with a text; out.end bounds it. */
static struct json_out
begin_extra(char *to, size_t size)
{
	char *text = begin_length(to, EXTRA);

	return (struct json_out){ .pos = text, .end = text + size };
}

/* Ends text and frame; returns the frame's end. */
static char *
end_extra(char *frame, const char *text, const struct json_out *out)
{
	assert(!out->full);
	put_length(frame + (text - frame), out->pos);
	put_frame_length(frame, out->pos);
	return out->pos;
}

static size_t
format_record(void *state, const struct audit_record *record, char *buf)
{
	const bool answered = record->answer_length > 0;
	char *frame = buf, *end;
	struct json_out out;
	const char *text;

	(void)state;
	if (answered) {
		end = put_type(put_message(buf + FRAME_LENGTH, record, false));
		put_frame_length(frame, end);
		frame = end;
	}
	end = put_type(put_message(frame + FRAME_LENGTH, record, answered));
	out = begin_extra(end, AUDIT_RECORD_TEXT);
	text = out.pos;
	audit_record_text(&out, record);
	end = end_extra(frame, text, &out);
	assert((size_t)(end - buf) <= AUDIT_DNSTAP_MAX);
	return (size_t)(end - buf);
}

static size_t
format_note(void *state, const struct audit_note *note, char *buf)
{
	char *frame = buf, *message, *end;
	struct json_out out;
	const char *text;

	(void)state;
	if (note->kind == AUDIT_CLOSE)
		return (size_t)(frame_put_control(buf, FRAME_STOP) - buf);
	if (note->kind == AUDIT_BEGIN && !note->appended)
		frame = frame_put_control(buf, FRAME_START);
	message = begin_length(frame + FRAME_LENGTH, MESSAGE);
	end = put_number(message, MESSAGE_TYPE, TOOL_QUERY);
	end = put_time(end, QUERY_SECOND, QUERY_NANO, note->time_ns);
	put_length(message, end);
	out = begin_extra(put_type(end), AUDIT_NOTE_TEXT);
	text = out.pos;
	audit_note_text(&out, note);
	end = end_extra(frame, text, &out);
	return (size_t)(end - buf);
}

/*
 * A STOP at the end does not count: what follows it would not be read, and the
 * next worker goes on with the stream.
 */
static off_t
format_whole(int fd, off_t size)
{
	uint8_t head[3 * FRAME_LENGTH];
	off_t at = 0;

	while (size - at >= (off_t)FRAME_LENGTH) {
		const size_t want = size - at < (off_t)sizeof(head) ?
		    (size_t)(size - at) : sizeof(head);
		struct frame frame;
		off_t length;

		if (pread(fd, head, want, at) != (ssize_t)want)
			return errno != 0 ? -errno : -EIO;
		if (!frame_read(&frame, head, want) || (at == 0 &&
		    want == sizeof(head) &&
		    (!frame.control || frame.type != FRAME_START)))
			return -EILSEQ;
		length = (off_t)frame.announced;
		if (length == 0 || length > size - at || (frame.control &&
		    frame.type == FRAME_STOP && at + length == size))
			break;
		at += length;
	}
	return at;
}

const struct audit_format audit_dnstap_format = {
	.name = "dnstap",
	.record_max = AUDIT_DNSTAP_MAX,
	.note_max = NOTE_MAX,
	.record = format_record,
	.note = format_note,
	.greets = true,
	.whole = format_whole,
};

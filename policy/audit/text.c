/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "policy/audit/text.h"

#include <arpa/inet.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "resolver/dns/message.h"
#include "resolver/dns/name.h"
#include "resolver/dns/rdata.h"
#include "resolver/dns/rr.h"
#include "resolver/dns/wire.h"
#include "resolver/text/printable.h"

#define END_ROOM	(1024U + NAME_TEXT_SIZE)	/* for what stands behind the answers */
#define ANSWER_TEXT_MAX	1280	/* of one record's data */

/* A text that grows up to its end; "full" once something had no room. */
struct text {
	char *pos, *end;
	bool full;
};

static void put(struct text *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void
put(struct text *text, const char *format, ...)
{
	const size_t room = (size_t)(text->end - text->pos);
	va_list arguments;
	int length;

	va_start(arguments, format);
	length = vsnprintf(text->pos, room, format, arguments);
	va_end(arguments);
	if (length < 0 || (size_t)length >= room) {
		*text->pos = '\0';
		text->full = true;
	} else
		text->pos += length;
}

/* What others wrote into a log, and spaces up to "least" octets. */
static void
put_foreign(struct text *text, const char *from, size_t least, size_t most)
{
	const size_t room = (size_t)(text->end - text->pos);
	const size_t length = printable_text(text->pos, room, from,
	    strnlen(from, most));

	text->full |= length >= room;
	text->pos += strlen(text->pos);
	if (length < least)
		put(text, "%*s", (int)(least - length), "");
}

static void
put_time(struct text *text, uint64_t time_ns)
{
	const time_t seconds = (time_t)(time_ns / 1000000000U);
	struct tm tm;

	if (localtime_r(&seconds, &tm) == NULL)
		memset(&tm, 0, sizeof(tm));
	put(text, "%04d-%02d-%02d %02d:%02d:%02d.%03u ", tm.tm_year + 1900,
	    tm.tm_mon + 1, tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec,
	    (unsigned int)(time_ns / 1000000U % 1000U));
}

/* Green: answered here; yellow: without records; red: not answered. */
static const char *
colour_of(const char *verdict)
{
	static const char colours[VERDICTS][6] = {
		[VERDICT_PASS] = "\033[2m",
		[VERDICT_ANSWER] = "\033[32m",
		[VERDICT_NODATA] = "\033[33m",
		[VERDICT_NXDOMAIN] = "\033[33m",
		[VERDICT_REFUSE] = "\033[31m",
		[VERDICT_DROP] = "\033[31m",
		[VERDICT_FORWARD] = "\033[36m",
	};

	for (size_t v = 0; v < VERDICTS; v++)
		if (strcmp(verdict, decide_verdict_text((enum verdict)v)) == 0)
			return colours[v];
	return "";
}

void
audit_line_begin(struct audit_line_out *out, const struct audit_line *line,
    bool colour, char octets[static AUDIT_TEXT_MAX])
{
	struct text text = { octets, octets + AUDIT_TEXT_MAX - END_ROOM, false };

	put_time(&text, line->time_ns);
	put(&text, "%s", colour ? colour_of(line->verdict) : "");
	put_foreign(&text, line->verdict, 8, 8);
	put(&text, "%s ", colour ? "\033[m" : "");
	put_foreign(&text, line->client, 0, NAME_TEXT_SIZE);
	put(&text, " ");
	if (line->uid != (uid_t)-1)
		put(&text, "uid %u ", line->uid);
	if (line->type == NULL)
		put(&text, "(no question)");
	else {
		put_foreign(&text, line->type, 5, 16);
		put(&text, " ");
		put_foreign(&text, line->name, 0, NAME_TEXT_SIZE);
	}
	*out = (struct audit_line_out){ .pos = text.pos, .end = text.end };
}

void
audit_line_answer(struct audit_line_out *out, const char *answer)
{
	struct text text = { out->pos, out->end, false };

	put(&text, out->answers == 0 ? " " : ", ");
	put_foreign(&text, answer, 0, AUDIT_TEXT_MAX);
	if (text.full || out->omitted > 0) {
		*out->pos = '\0';
		out->omitted++;
		return;
	}
	out->pos = text.pos;
	out->answers++;
}

void
audit_line_end(struct audit_line_out *out, const struct audit_line *line)
{
	struct text text = { out->pos, out->end + END_ROOM, false };

	if (out->omitted > 0)
		put(&text, " and %u more", out->omitted);
	put(&text, " (");
	put_foreign(&text, line->reason, 0, 32);
	if (line->rcode != NULL) {
		put(&text, ", ");
		put_foreign(&text, line->rcode, 0, 16);
	}
	if (line->stream)
		put(&text, ", TCP");
	if (line->truncated)
		put(&text, ", TC");
	if (line->rule != NULL) {
		put(&text, ", rule ");
		put_foreign(&text, line->rule, 0, AUDIT_RULE_MAX);
	}
	if (line->judged != NULL) {
		put(&text, " for ");
		put_foreign(&text, line->judged, 0, NAME_TEXT_SIZE);
	}
	if (line->observed != NULL && line->would != NULL) {
		put(&text, ", would ");
		put_foreign(&text, line->would, 0, 16);
		put(&text, " by ");
		put_foreign(&text, line->observed, 0, AUDIT_RULE_MAX);
	}
	put(&text, ")");
	out->pos = text.pos;
}

/* RFC 1035 section 5.1; "T" of a layout. */
static void
put_strings(struct text *text, struct wire_reader *r)
{
	const char *before = "\"";

	while (wire_left(r) > 0) {
		const uint8_t length = wire_read_u8(r);
		const uint8_t *octets = wire_read_octets(r, length);

		put(text, "%s", before);
		for (uint8_t i = 0; octets != NULL && i < length; i++) {
			const uint8_t c = octets[i];

			if (c < ' ' || c > '~')
				put(text, "\\%03u", c);
			else
				put(text, c == '"' || c == '\\' ? "\\%c" :
				    "%c", c);
		}
		put(text, "\"");
		before = " \"";
	}
}

static void
put_address(struct text *text, int family, struct wire_reader *r)
{
	const uint8_t *octets = wire_read_octets(r, family == AF_INET ? 4 : 16);
	char address[INET6_ADDRSTRLEN];

	if (octets != NULL &&
	    inet_ntop(family, octets, address, sizeof(address)) != NULL)
		put(text, "%s", address);
}

static void
put_field(struct text *text, struct wire_reader *r, char field)
{
	char presentation[NAME_TEXT_SIZE];
	struct dns_name name;

	switch (field) {
	case 'A':
	case '6':
		put_address(text, field == 'A' ? AF_INET : AF_INET6, r);
		break;
	case '1':
		put(text, "%u", wire_read_u8(r));
		break;
	case '2':
		put(text, "%u", wire_read_u16(r));
		break;
	case '4':
		put(text, "%u", wire_read_u32(r));
		break;
	case 'N':
		if (name_read_compressed(&name, r, r->end, NULL))
			put(text, "%s", name_to_text(name.octets,
			    presentation));
		break;
	default:
		put_strings(text, r);
	}
}

/* A record's data; of a type that is opaque here, how long it is. */
static void
put_rdata(struct text *text, uint16_t type, struct wire_reader *r)
{
	const struct rdata_layout *layout = rdata_layout(type);
	char name[RR_TEXT_SIZE];

	if (!layout->text) {
		put(text, "%s(%zu octets)", rr_type_text(type, name),
		    wire_left(r));
		return;
	}
	for (const char *field = layout->fields; *field != '\0'; field++) {
		if (field != layout->fields)
			put(text, " ");
		put_field(text, r, *field);
	}
}

/* One record of the answer section.  False: it is cut off. */
static bool
put_record(struct audit_line_out *out, struct wire_reader *r)
{
	char octets[ANSWER_TEXT_MAX] = "";
	struct text text = { octets, octets + sizeof(octets), false };
	struct wire_reader rdata;
	struct dns_name owner;
	uint16_t type, length;

	if (!name_read_compressed(&owner, r, r->end, NULL))
		return false;
	type = wire_read_u16(r);
	wire_skip(r, 6);
	length = wire_read_u16(r);
	rdata = *r;
	wire_skip(r, length);
	if (r->failed)
		return false;
	rdata.end = r->pos;
	put_rdata(&text, type, &rdata);
	if (rdata.failed)
		return false;
	if (text.full)
		out->omitted++;
	else
		audit_line_answer(out, octets);
	return true;
}

static void
put_answers(struct audit_line_out *out, const struct audit_record *record)
{
	struct wire_reader r = wire_reader_over(record->answer,
	    record->answer_length);
	struct dns_name name;
	uint16_t questions, answers;

	wire_skip(&r, 4);
	questions = wire_read_u16(&r);
	answers = wire_read_u16(&r);
	wire_skip(&r, 4);
	while (questions-- > 0 && !r.failed) {
		if (!name_read_compressed(&name, &r, r.end, NULL))
			return;
		wire_skip(&r, 4);
	}
	while (answers-- > 0 && put_record(out, &r))
		continue;
}

/* The texts that a record's line borrows. */
struct texts {
	char client[INET6_ADDRSTRLEN];
	char type[RR_TEXT_SIZE];
	char name[NAME_TEXT_SIZE];
	char rcode[RR_TEXT_SIZE];
	char rule[AUDIT_RULE_MAX + 1];
	char observed[AUDIT_RULE_MAX + 1];
	char judged[NAME_TEXT_SIZE];
};

/* The first question; a message without one has no type. */
static void
set_question(struct audit_line *line, struct texts *texts,
    const struct audit_record *record)
{
	struct wire_reader r = wire_reader_over(record->question,
	    record->question_length);
	struct dns_name name;
	uint16_t type;

	wire_skip(&r, DNS_HEADER);
	if (!name_read_compressed(&name, &r, r.end, NULL))
		return;
	type = wire_read_u16(&r);
	line->type = r.failed ? "?" : rr_type_text(type, texts->type);
	line->name = name_to_text(name.octets, texts->name);
}

/* NULL: no rule. */
static const char *
copy_rule(char to[static AUDIT_RULE_MAX + 1], const char *name, uint8_t length)
{
	const size_t most = length < AUDIT_RULE_MAX ? length : AUDIT_RULE_MAX;

	if (length == 0)
		return NULL;
	memcpy(to, name, most);
	to[most] = '\0';
	return to;
}

/* As in the JSON records: without the root's dot.  NULL: no name. */
static const char *
judged_text(struct texts *texts, const struct audit_record *record)
{
	size_t length;

	if (record->judged_length == 0)
		return NULL;
	length = strlen(name_to_text(record->judged, texts->judged));
	if (length > 1)
		texts->judged[length - 1] = '\0';
	return texts->judged;
}

static struct audit_line
line_of(const struct audit_record *record, struct texts *texts)
{
	struct audit_line line = {
		.time_ns = record->time_ns,
		.verdict = decide_verdict_text(record->verdict),
		.client = inet_ntop(record->family, record->client,
		    texts->client, sizeof(texts->client)),
		.uid = record->uid,
		.reason = decide_reason_text(record->reason),
		.stream = record->stream,
		.truncated = record->answer_length > 3 &&
		    (record->answer[2] & DNS_FLAG_TC >> 8) != 0,
	};

	if (line.client == NULL)
		line.client = "-";
	set_question(&line, texts, record);
	if (record->rcode != RCODE_NOERROR &&
	    record->verdict != VERDICT_NXDOMAIN)
		line.rcode = rcode_text(record->rcode, texts->rcode);
	line.rule = copy_rule(texts->rule, record->rule, record->rule_length);
	line.judged = judged_text(texts, record);
	line.observed = copy_rule(texts->observed, record->observer,
	    record->observer_length);
	line.would = decide_action_text((enum rule_action)record->would);
	return line;
}

size_t
audit_text(const struct audit_record *record, bool colour,
    char text[static AUDIT_TEXT_MAX])
{
	struct texts texts;
	const struct audit_line line = line_of(record, &texts);
	struct audit_line_out out;

	audit_line_begin(&out, &line, colour, text);
	if (record->answer_length > DNS_HEADER)
		put_answers(&out, record);
	audit_line_end(&out, &line);
	return (size_t)(out.pos - text);
}

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

#define END_ROOM	160U	/* for what stands behind the answers */

/* The line so far.  What does not fit before "end" is left out as a whole. */
struct line {
	char *pos;
	char *end;
	bool full;
};

static void put(struct line *line, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void
put(struct line *line, const char *format, ...)
{
	const size_t room = (size_t)(line->end - line->pos);
	va_list arguments;
	int length;

	va_start(arguments, format);
	length = vsnprintf(line->pos, room, format, arguments);
	va_end(arguments);
	if (length < 0 || (size_t)length >= room) {
		*line->pos = '\0';
		line->full = true;
	} else
		line->pos += length;
}

static void
put_time(struct line *line, uint64_t time_ns)
{
	const time_t seconds = (time_t)(time_ns / 1000000000U);
	struct tm tm;

	if (localtime_r(&seconds, &tm) == NULL)
		memset(&tm, 0, sizeof(tm));
	put(line, "%04d-%02d-%02d %02d:%02d:%02d.%03u ", tm.tm_year + 1900,
	    tm.tm_mon + 1, tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec,
	    (unsigned int)(time_ns / 1000000U % 1000U));
}

/* Green: answered here; yellow: without records; red: not answered. */
static void
put_verdict(struct line *line, enum verdict verdict, bool colour)
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

	put(line, "%s%-8s%s ", colour ? colours[verdict] : "",
	    decide_verdict_text(verdict), colour ? "\033[m" : "");
}

static void
put_asker(struct line *line, const struct audit_record *record)
{
	char text[INET6_ADDRSTRLEN];

	put(line, "%s ", inet_ntop(record->family, record->client, text,
	    sizeof(text)) != NULL ? text : "-");
	if (record->uid != (uid_t)-1)
		put(line, "uid %u ", record->uid);
}

static void
put_name(struct line *line, const uint8_t *octets)
{
	char text[NAME_TEXT_SIZE];

	put(line, "%s", name_to_text(octets, text));
}

/* The first question; a message without one is only said to be that. */
static void
put_question(struct line *line, const struct audit_record *record)
{
	struct wire_reader r = wire_reader_over(record->question,
	    record->question_length);
	char type[RR_TEXT_SIZE];
	struct dns_name name;
	uint16_t number;

	wire_skip(&r, DNS_HEADER);
	if (!name_read_compressed(&name, &r, r.end, NULL)) {
		put(line, "(no question)");
		return;
	}
	number = wire_read_u16(&r);
	put(line, "%-5s ", r.failed ? "?" : rr_type_text(number, type));
	put_name(line, name.octets);
}

/* RFC 1035 section 5.1; "T" of a layout. */
static void
put_strings(struct line *line, struct wire_reader *r)
{
	const char *before = "\"";

	while (wire_left(r) > 0) {
		const uint8_t length = wire_read_u8(r);
		const uint8_t *text = wire_read_octets(r, length);

		put(line, "%s", before);
		for (uint8_t i = 0; text != NULL && i < length; i++) {
			const uint8_t c = text[i];

			if (c < ' ' || c > '~')
				put(line, "\\%03u", c);
			else if (c == '"' || c == '\\')
				put(line, "\\%c", c);
			else
				put(line, "%c", c);
		}
		put(line, "\"");
		before = " \"";
	}
}

static void
put_address(struct line *line, int family, struct wire_reader *r)
{
	const uint8_t *octets = wire_read_octets(r, family == AF_INET ? 4 : 16);
	char text[INET6_ADDRSTRLEN];

	if (octets != NULL && inet_ntop(family, octets, text, sizeof(text)))
		put(line, "%s", text);
}

static void
put_field(struct line *line, struct wire_reader *r, char field)
{
	struct dns_name name;

	switch (field) {
	case 'A':
	case '6':
		put_address(line, field == 'A' ? AF_INET : AF_INET6, r);
		break;
	case '1':
		put(line, "%u", wire_read_u8(r));
		break;
	case '2':
		put(line, "%u", wire_read_u16(r));
		break;
	case '4':
		put(line, "%u", wire_read_u32(r));
		break;
	case 'N':
		if (name_read_compressed(&name, r, r->end, NULL))
			put_name(line, name.octets);
		break;
	default:
		put_strings(line, r);
	}
}

/* A record's data; of a type that is opaque here, how long it is. */
static void
put_rdata(struct line *line, uint16_t type, struct wire_reader *r)
{
	const struct rdata_layout *layout = rdata_layout(type);
	char text[RR_TEXT_SIZE];

	if (!layout->text) {
		put(line, "%s(%zu octets)", rr_type_text(type, text),
		    wire_left(r));
		return;
	}
	for (const char *field = layout->fields; *field != '\0'; field++) {
		if (field != layout->fields)
			put(line, " ");
		put_field(line, r, *field);
	}
}

/* One record of the answer section.  False: it is cut off, or has no room. */
static bool
put_record(struct line *line, struct wire_reader *r, const char *before)
{
	const struct line old = *line;
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
	put(line, "%s", before);
	put_rdata(line, type, &rdata);
	if (!line->full && !rdata.failed)
		return true;
	*line = old;
	*line->pos = '\0';
	return false;
}

static void
put_answers(struct line *line, const struct audit_record *record)
{
	struct wire_reader r = wire_reader_over(record->answer,
	    record->answer_length);
	struct dns_name name;
	uint16_t questions, answers, n = 0;

	wire_skip(&r, 4);
	questions = wire_read_u16(&r);
	answers = wire_read_u16(&r);
	wire_skip(&r, 4);
	while (questions-- > 0 && !r.failed) {
		if (!name_read_compressed(&name, &r, r.end, NULL))
			return;
		wire_skip(&r, 4);
	}
	while (n < answers && put_record(line, &r, n > 0 ? ", " : " "))
		n++;
	if (!r.failed && n < answers)
		put(line, " and %u more", answers - n);
}

/* What stands in brackets: why, and what is not usual. */
static void
put_reason(struct line *line, const struct audit_record *record)
{
	char rcode[RR_TEXT_SIZE];

	put(line, " (%s", decide_reason_text(record->reason));
	if (record->rcode != RCODE_NOERROR &&
	    record->verdict != VERDICT_NXDOMAIN)
		put(line, ", %s", rcode_text(record->rcode, rcode));
	if (record->stream)
		put(line, ", TCP");
	if (record->answer_length > 3 && (record->answer[2] & 0x02) != 0)
		put(line, ", TC");
	for (uint8_t i = 0; i < record->rule_length &&
	    i < AUDIT_RULE_MAX; i++) {
		const char c = record->rule[i];

		put(line, "%s%c", i == 0 ? ", rule " : "",
		    c >= ' ' && c <= '~' ? c : '?');
	}
	put(line, ")");
}

size_t
audit_text(const struct audit_record *record, bool colour,
    char text[static AUDIT_TEXT_MAX])
{
	struct line line = { .pos = text,
		.end = text + AUDIT_TEXT_MAX - END_ROOM };

	put_time(&line, record->time_ns);
	put_verdict(&line, record->verdict, colour);
	put_asker(&line, record);
	put_question(&line, record);
	if (record->answer_length > DNS_HEADER)
		put_answers(&line, record);
	line.end = text + AUDIT_TEXT_MAX;
	line.full = false;
	put_reason(&line, record);
	return (size_t)(line.pos - text);
}

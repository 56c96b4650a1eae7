/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/cli/logs/log_text.h"

#include <net/if.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "resolver/dns/name.h"
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
	if (line->interface != NULL) {
		put(&text, "in ");
		put_foreign(&text, line->interface, 0, IF_NAMESIZE);
		put(&text, " ");
	}
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

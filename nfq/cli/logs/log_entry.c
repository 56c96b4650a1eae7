/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/cli/logs/log_text.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "resolver/text/printable.h"

/* "2026-11-22T13:40:01.123456+0000", which is always UTC; 0: it is no time. */
static uint64_t
read_time(const char *text)
{
	struct tm tm = { .tm_isdst = 0 };
	unsigned long fraction = 0;
	const char *rest;
	time_t seconds;
	char *end;

	rest = text != NULL ? strptime(text, "%Y-%m-%dT%H:%M:%S", &tm) : NULL;
	if (rest == NULL || rest[0] != '.')
		return 0;
	/* The audit writes six digits. */
	fraction = strtoul(rest + 1, &end, 10);
	if (end != rest + 7)
		fraction = 0;
	seconds = timegm(&tm);
	return seconds < 0 ? 0 : (uint64_t)seconds * 1000000000U +
	    (uint64_t)fraction * 1000U;
}

static const char *
text_of(const json_t *object, const char *key)
{
	return json_string_value(json_object_get(object, key));
}

bool
log_entry_read(struct log_entry *e, struct json_tree *tree, const char *text,
    size_t length)
{
	const struct json_range range = { .text = text, .length = length,
		.line = 1 };
	const json_t *root, *dns, *ours, *question;
	const char *why, *proto;
	unsigned int where;
	long long uid;
	int error;

	root = json_tree_take(tree, &range, &error, &why, &where);
	dns = json_object_get(root, "dns");
	ours = json_object_get(root, "nfdns");
	/* Version 3 of the format has the question in a list, earlier ones not. */
	question = json_array_get(json_object_get(dns, "queries"), 0);
	if (question == NULL)
		question = dns;
	*e = (struct log_entry){
		.time_ns = read_time(text_of(root, "timestamp")),
		.verdict = text_of(ours, "decision"),
		.reason = text_of(ours, "reason"),
		.client = text_of(root, "src_ip"),
		.interface = text_of(root, "in_iface"),
		.rule = text_of(ours, "rule"),
		.judged = text_of(ours, "judged"),
		.observed = text_of(ours, "observed"),
		.would = text_of(ours, "would"),
		.name = text_of(question, "rrname"),
		.type = text_of(question, "rrtype"),
		.rcode = text_of(dns, "rcode"),
		.answers = json_object_get(dns, "answers"),
		.uid = (uid_t)-1,
	};
	if (e->verdict == NULL || e->reason == NULL || dns == NULL)
		return false;
	if (e->name == NULL)
		e->type = NULL;
	if (json_tree_integer(json_object_get(ours, "uid"), 0, UINT32_MAX - 1,
	    &uid))
		e->uid = (uid_t)uid;
	proto = text_of(root, "proto");
	e->stream = proto != NULL && strcmp(proto, "TCP") == 0;
	e->truncated = json_is_true(json_object_get(dns, "tc"));
	if (e->rcode != NULL && (strcmp(e->rcode, "NOERROR") == 0 ||
	    strcmp(e->verdict, "nxdomain") == 0))
		e->rcode = NULL;
	return true;
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

/* What others wrote into a log, behind a text of ours; nothing if it is NULL. */
static void
put(FILE *out, const char *before, const char *foreign, int least)
{
	int length;

	if (foreign == NULL)
		return;
	(void)fputs(before, out);
	length = printable_put(foreign, out);
	if (length < least)
		(void)fprintf(out, "%*s", least - length, "");
}

void
log_entry_print(const struct log_entry *e, bool colour, FILE *out)
{
	const time_t seconds = (time_t)(e->time_ns / 1000000000U);
	const char *between = " ";
	const json_t *answer;
	char when[32] = "";
	struct tm tm;
	size_t i;

	if (localtime_r(&seconds, &tm) != NULL)
		(void)strftime(when, sizeof(when), "%Y-%m-%d %H:%M:%S", &tm);
	(void)fprintf(out, "%s.%03u ", when,
	    (unsigned int)(e->time_ns / 1000000U % 1000U));
	put(out, colour ? colour_of(e->verdict) : "", e->verdict, 8);
	(void)fputs(colour ? "\033[m " : " ", out);
	put(out, "", e->client != NULL ? e->client : "-", 0);
	put(out, " in ", e->interface, 0);
	if (e->uid != (uid_t)-1)
		(void)fprintf(out, " uid %u", e->uid);
	if (e->type == NULL)
		(void)fputs(" (no question)", out);
	else {
		const size_t length = strlen(e->name);

		put(out, " ", e->type, 5);
		put(out, " ", e->name, 0);
		(void)fputs(length > 0 && e->name[length - 1] != '.' ? "." : "",
		    out);
	}
	json_array_foreach(e->answers, i, answer)
		if (text_of(answer, "rdata") != NULL) {
			put(out, between, text_of(answer, "rdata"), 0);
			between = ", ";
		}
	put(out, " (", e->reason, 0);
	put(out, ", ", e->rcode, 0);
	(void)fputs(e->stream ? ", TCP" : "", out);
	(void)fputs(e->truncated ? ", TC" : "", out);
	put(out, ", rule ", e->rule, 0);
	put(out, " for ", e->judged, 0);
	if (e->observed != NULL) {
		put(out, ", would ", e->would, 0);
		put(out, " by ", e->observed, 0);
	}
	(void)fputs(")\n", out);
}

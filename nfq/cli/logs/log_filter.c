/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/cli/logs/log_text.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int
folded(char c)
{
	return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c;
}

/* The octets up to the final dot; the root is "". */
static size_t
length_of(const char *name)
{
	const size_t length = strlen(name);

	return length > 0 && name[length - 1] == '.' ? length - 1 : length;
}

/*
 * The usual way with one place to go back to: each "*" takes as little as it
 * can, and more of it only while the rest does not match.
 */
bool
log_filter_name(const char *pattern, const char *name)
{
	const size_t pattern_length = length_of(pattern);
	const size_t length = length_of(name);
	size_t p = 0, n = 0, star = SIZE_MAX, from = 0;

	while (n < length) {
		if (p < pattern_length && pattern[p] == '*') {
			star = p++;
			from = n;
		} else if (p < pattern_length &&
		    folded(pattern[p]) == folded(name[n])) {
			p++;
			n++;
		} else if (star != SIZE_MAX) {
			p = star + 1;
			n = ++from;
		} else
			return false;
	}
	while (p < pattern_length && pattern[p] == '*')
		p++;
	return p == pattern_length;
}

static bool
is_rule(const char *wanted, const char *rule)
{
	return rule != NULL && strcmp(wanted, rule) == 0;
}

/* The same as "verdicts" of an audit takes. */
static bool
is_verdict(const char *wanted, const struct log_entry *line)
{
	if (strcmp(wanted, line->verdict) == 0)
		return true;
	if (strcmp(wanted, decide_verdict_text(VERDICT_FORWARD)) != 0)
		return false;
	for (unsigned int r = 0; r < REASONS; r++)
		if (decide_is_forwarded((enum reason)r) &&
		    strcmp(line->reason, decide_reason_text((enum reason)r)) == 0)
			return true;
	return false;
}

bool
log_filter_takes(const struct log_filter *f, const struct log_entry *line)
{
	if (line->time_ns < f->since_ns)
		return false;
	if (f->verdict != NULL && !is_verdict(f->verdict, line))
		return false;
	if (f->has_user && f->user != line->uid)
		return false;
	if (f->rule != NULL && !is_rule(f->rule, line->rule) &&
	    !is_rule(f->rule, line->observed))
		return false;
	return f->name == NULL || (line->type != NULL &&
	    log_filter_name(f->name, line->name));
}

/* "2h" and the like. */
static bool
read_span(int64_t *seconds, const char *text)
{
	static const struct {
		char unit;
		int64_t seconds;
	} units[] = { { 's', 1 }, { 'm', 60 }, { 'h', 3600 }, { 'd', 86400 } };
	char *end;
	long number;

	if (text[0] < '0' || text[0] > '9')
		return false;
	number = strtol(text, &end, 10);
	if (number < 0 || number > 1000000 || end[0] == '\0' || end[1] != '\0')
		return false;
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (units[i].unit == end[0]) {
			*seconds = number * units[i].seconds;
			return true;
		}
	return false;
}

bool
log_filter_since(uint64_t *since_ns, const char *text, int64_t now)
{
	static const char *const formats[] = { "%H:%M", "%H:%M:%S",
	    "%Y-%m-%d", "%Y-%m-%d %H:%M", "%Y-%m-%d %H:%M:%S",
	    "%Y-%m-%dT%H:%M:%S" };
	const time_t today = (time_t)now;
	int64_t moment;

	if (read_span(&moment, text)) {
		moment = now - moment;
		*since_ns = moment > 0 ? (uint64_t)moment * 1000000000U : 0;
		return true;
	}
	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		struct tm tm;
		const char *rest;

		if (localtime_r(&today, &tm) == NULL)
			return false;
		tm.tm_hour = tm.tm_min = tm.tm_sec = 0;
		tm.tm_isdst = -1;	/* mktime(3) finds out */
		rest = strptime(text, formats[i], &tm);
		if (rest == NULL || *rest != '\0')
			continue;
		moment = (int64_t)mktime(&tm);
		*since_ns = moment > 0 ? (uint64_t)moment * 1000000000U : 0;
		return true;
	}
	return false;
}

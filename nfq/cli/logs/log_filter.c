/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/cli/logs/log_text.h"

#include <fnmatch.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "resolver/text/number.h"

bool
log_filter_name(const char *pattern, const char *name)
{
	const char *const given[2] = { pattern, name };
	char texts[2][2048];

	for (size_t i = 0; i < 2; i++) {
		size_t length = strlen(given[i]);

		length -= length > 0 && given[i][length - 1] == '.';
		(void)snprintf(texts[i], sizeof(texts[i]), "%.*s", (int)length,
		    given[i]);
	}
	return fnmatch(texts[0], texts[1], FNM_CASEFOLD | FNM_NOESCAPE) == 0;
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

bool
log_filter_since(uint64_t *since_ns, const char *text, int64_t now)
{
	static const char *const formats[] = { "%H:%M", "%H:%M:%S",
	    "%Y-%m-%d", "%Y-%m-%d %H:%M", "%Y-%m-%d %H:%M:%S",
	    "%Y-%m-%dT%H:%M:%S" };
	const time_t today = (time_t)now;
	uint64_t before;
	int64_t moment;

	if (number_of_seconds(text, INT64_MAX, &before)) {
		moment = before < (uint64_t)now ? now - (int64_t)before : 0;
		*since_ns = (uint64_t)moment * 1000000000U;
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

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The agent's start script sources cluster.env with a shell.  istioctl quotes
 * every value for it: in single quotes, where a single quote itself stands in
 * double ones ('"'"').
 */
#include "nfq/cli/join/plan.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static bool
is_key_char(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* The characters that a shell takes as they are. */
static bool
is_plain_char(char c)
{
	return isalnum((unsigned char)c) ||
	    (c != '\0' && strchr("_@%+=:,./-", c) != NULL);
}

/*
 * The value between "at" and "end", which is the end of its line, without its
 * quotes into value.  NULL, or what is wrong.
 */
static const char *
read_value(const char *at, const char *end, char value[ENV_MAX_VALUE])
{
	size_t used = 0;
	char quote = '\0';

	for (; at < end; at++) {
		const bool is_quote = *at == '\'' || *at == '"';

		if ((unsigned char)*at < 0x20 || *at == 0x7f)
			return "has a control character in its value";
		if (quote != '\0' && *at == quote) {
			quote = '\0';
			continue;
		}
		if (quote == '\0' && is_quote) {
			quote = *at;
			continue;
		}
		if (quote == '"' && strchr("$`\\", *at) != NULL)
			return "has '$', '`' or '\\' in double quotes; write "
			    "the value in single quotes";
		if (quote == '\0' && !is_plain_char(*at))
			return "has a value that only a shell could work out; "
			    "write it in single quotes";
		if (used == ENV_MAX_VALUE - 1)
			return "has a value that is too long";
		value[used++] = *at;
	}
	value[used] = '\0';
	return quote == '\0' ? NULL : "has a quote that does not end";
}

static void
read_line(struct env *env, const char *at, const char *end, unsigned int line,
    char value[ENV_MAX_VALUE], struct diag *diag)
{
	const char *begin = at, *why;
	char key[ENV_MAX_KEY + 1];

	while (at < end && is_key_char(*at))
		at++;
	if (at == begin || at == end || *at != '=' ||
	    isdigit((unsigned char)*begin) ||
	    (size_t)(at - begin) > ENV_MAX_KEY) {
		diag_add(diag, DIAG_ERROR, env->path, line,
		    "is not KEY='VALUE'");
		return;
	}
	memcpy(key, begin, (size_t)(at - begin));
	key[at - begin] = '\0';
	why = read_value(at + 1, end, value);
	if (why != NULL)
		diag_add(diag, DIAG_ERROR, env->path, line, "%s %s", key, why);
	else if (!env_add(env, key, value, line, diag))
		return;
}

void
cluster_env_read(struct env *env, const char *text, size_t length,
    struct diag *diag)
{
	const char *const stop = text + length;
	char *value = malloc(ENV_MAX_VALUE);
	unsigned int line = 1;

	if (value == NULL) {
		diag_add(diag, DIAG_ERROR, env->path, 0, "out of memory");
		return;
	}
	for (const char *at = text; at < stop; line++) {
		const char *next, *end = memchr(at, '\n', (size_t)(stop - at));

		if (end == NULL)
			end = stop;
		next = end < stop ? end + 1 : stop;
		/* Line ends of DOS, which editors and mail put there. */
		if (end > at && end[-1] == '\r')
			end--;
		if (at < end && *at != '#')
			read_line(env, at, end, line, value, diag);
		at = next;
	}
	free(value);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolver/text/json_scan.h"

#include <ctype.h>
#include <string.h>

struct json_scan
json_scan_over(const char *text, size_t length)
{
	return (struct json_scan){ .at = text, .end = text + length, .line = 1 };
}

static bool
fail(struct json_scan *s, const char *expected)
{
	if (s->expected == NULL)
		s->expected = expected;
	return false;
}

/* The next character that is not white space, or '\0'. */
char
json_scan_peek(struct json_scan *s)
{
	if (s->expected != NULL)
		return '\0';
	for (; s->at < s->end; s->at++) {
		switch (*s->at) {
		case '\n':
			s->line++;
			break;
		case ' ':
		case '\t':
		case '\r':
			break;
		default:
			return *s->at;
		}
	}
	return '\0';
}

static bool
take(struct json_scan *s, char wanted, const char *expected)
{
	/* A NUL in the text peeks like the end, and is as wrong. */
	if (json_scan_peek(s) != wanted)
		return fail(s, expected);
	s->at++;
	return true;
}

/* Takes a string; plain: its text needs no decoding. */
static bool
take_string(struct json_scan *s, bool *plain, const char *expected)
{
	*plain = true;
	if (!take(s, '"', expected))
		return false;
	for (; s->at < s->end; s->at++) {
		unsigned char c = (unsigned char)*s->at;

		if (c == '"') {
			s->at++;
			return true;
		}
		if (c < 0x20)
			return fail(s, "no control character in a string");
		if (c >= 0x80)
			*plain = false;
		if (c != '\\')
			continue;
		*plain = false;
		if (++s->at == s->end)
			break;
		if (*s->at == '\0' ||
		    strchr("\"\\/bfnrtu", *s->at) == NULL)
			return fail(s, "a JSON escape after a backslash");
	}
	return fail(s, "a closing quote of the string");
}

/* Takes a number, true, false or null; json_tree_take() checks it. */
static bool
take_word(struct json_scan *s)
{
	static const char allowed[] =
	    "+-.0123456789abcdefghijklmnopqrstuvwxyzE";
	const char *start = s->at;

	while (s->at < s->end && *s->at != '\0' &&
	    strchr(allowed, *s->at) != NULL)
		s->at++;
	return s->at > start || fail(s, "a value");
}

static bool
enter(struct json_scan *s, char bracket, const char *expected)
{
	if (!take(s, bracket, expected))
		return false;
	if (s->depth == JSON_SCAN_MAX_DEPTH)
		return fail(s, "at most 64 levels of nesting");
	s->depth++;
	return true;
}

bool
json_scan_enter_object(struct json_scan *s)
{
	return enter(s, '{', "an object, which begins with \"{\"");
}

bool
json_scan_enter_array(struct json_scan *s)
{
	return enter(s, '[', "an array, which begins with \"[\"");
}

/* Whether the bracket stands directly before the current token. */
static bool
is_first(const struct json_scan *s, char bracket)
{
	const char *p = s->at;

	/* Ends at the latest at the bracket that was entered. */
	do
		p--;
	while (*p == ' ' || *p == '\t' || *p == '\r' || *p == '\n');
	return *p == bracket;
}

/* Steps over a comma, or leaves the object or array. */
static bool
step(struct json_scan *s, const char brackets[static 2], const char *expected)
{
	char next = json_scan_peek(s);

	if (s->expected != NULL)
		return false;
	if (next == brackets[1]) {
		s->at++;
		s->depth--;
		return false;
	}
	if (next != '\0' && is_first(s, brackets[0]))
		return true;
	return take(s, ',', expected);
}

bool
json_scan_member(struct json_scan *s, struct json_range *name)
{
	if (!step(s, "{}", "\",\" or \"}\""))
		return false;
	(void)json_scan_peek(s);
	name->text = s->at;
	name->line = s->line;
	if (!take_string(s, &name->plain, "a member's name in quotes"))
		return false;
	name->length = (size_t)(s->at - name->text);
	return take(s, ':', "\":\" after a member's name");
}

bool
json_scan_element(struct json_scan *s)
{
	return step(s, "[]", "\",\" or \"]\"");
}

/* Recursion ends at JSON_SCAN_MAX_DEPTH. */
static bool
skip(struct json_scan *s, bool *plain)
{
	struct json_range name;

	*plain = false;
	switch (json_scan_peek(s)) {
	case '{':
		if (json_scan_enter_object(s))
			while (json_scan_member(s, &name) && skip(s, plain))
				continue;
		break;
	case '[':
		if (json_scan_enter_array(s))
			while (json_scan_element(s) && skip(s, plain))
				continue;
		break;
	case '"':
		(void)take_string(s, plain, "a string");
		break;
	default:
		if (s->expected == NULL)
			(void)take_word(s);
	}
	return s->expected == NULL;
}

bool
json_scan_value(struct json_scan *s, struct json_range *value)
{
	(void)json_scan_peek(s);
	value->text = s->at;
	value->line = s->line;
	if (!skip(s, &value->plain))
		return false;
	value->length = (size_t)(s->at - value->text);
	return true;
}

bool
json_scan_end(struct json_scan *s)
{
	(void)json_scan_peek(s);
	if (s->expected == NULL && s->at < s->end)
		(void)fail(s, "the end of the text");
	return s->expected == NULL;
}

bool
json_range_is(const struct json_range *string, const char *text)
{
	return string->plain && string->length == strlen(text) + 2 &&
	    memcmp(string->text + 1, text, string->length - 2) == 0;
}

bool
json_scan_sees_yaml(const struct json_scan *scan)
{
	const char *at = scan->at, *end = scan->end, *key;

	if (scan->depth != 0)
		return false;
	while (at < end && strchr("# \t\r\n", *at) != NULL && *at != '\0')
		if (*at++ == '#')
			while (at < end && *at != '\n')
				at++;
	if (end - at >= 2 && at[0] == '-' && (at[1] == '-' || at[1] == ' '))
		return true;
	key = at;
	while (at < end && (isalnum((unsigned char)*at) || *at == '_' ||
	    *at == '-' || *at == '.'))
		at++;
	return at > key && at < end && *at == ':';
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "policy/match/list_line.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

#include "resolver/text/host.h"
#include "policy/match/build_state.h"

/* Files of names, in any of the formats that list_line.h knows. */

#define TOLD	10		/* lines of a file that are not read, at most */
#define SHOWN	100		/* octets of each of them */

/* A file while it is read. */
struct reading {
	struct builder *b;
	struct build_set *set;
	const char *path;
	uint32_t number;	/* of the set, from 1 */
	unsigned int line;
	size_t unread;		/* lines */
};

/* Notes a name once; lists have many for IPv4 and for IPv6. */
static void
add_name(struct reading *r, const struct policy_name *name)
{
	const uint32_t number = build_name_get(r->b, &name->name);
	const uint8_t kind = (uint8_t)(1 << name->kind);
	struct build_name *known;
	struct set_name *fresh;

	if (number == 0)
		return;
	known = AREA_AT(&r->b->names, struct build_name, number - 1);
	if (known->set != r->number) {
		known->set = r->number;
		known->set_kinds = 0;
		r->set->distinct++;
	}
	if ((known->set_kinds & kind) != 0)
		return;
	known->set_kinds |= kind;
	fresh = build_grow(r->b, &r->set->names, sizeof(*fresh));
	if (fresh != NULL)
		*fresh = (struct set_name){ number, name->kind };
}

static void
tell_unread(struct reading *r, const struct list_line *line)
{
	if (r->unread++ < TOLD)
		diag_add(r->b->diag, DIAG_WARNING, r->path, r->line, "not read: "
		    "\"%.*s\" %s", SPAN_SHOWN(line->text, SHOWN), line->why);
}

static void
read_line(struct reading *r, struct span text)
{
	struct policy_name name;
	struct list_line line;

	list_line_begin(&line, text);
	while (build_set_count(r->set) <= RULE_LIST_MAX &&
	    list_line_next(&line, &name))
		add_name(r, &name);
	if (line.why != NULL)
		tell_unread(r, &line);
}

static void
read_lines(struct reading *r, const char *text, size_t length)
{
	const char *end = text + length;

	while (text < end && r->b->error == 0) {
		const char *stop = memchr(text, '\n', (size_t)(end - text));
		const struct span line = { text,
			(size_t)((stop != NULL ? stop : end) - text) };

		r->line++;
		text += line.length + 1;
		read_line(r, line);
		if (build_set_count(r->set) > RULE_LIST_MAX) {
			diag_add(r->b->diag, DIAG_ERROR, r->path, r->line,
			    "more than %d names; make two files of it and name "
			    "both in the rule", RULE_LIST_MAX);
			return;
		}
	}
}

/* What became of the file as a whole. */
static void
tell_counts(struct reading *r)
{
	struct diag *diag = r->b->diag;
	const size_t names = r->set->distinct;

	if (r->unread > TOLD)
		diag_add(diag, DIAG_WARNING, r->path, 0, "%zu lines are not "
		    "read; the first %d are told above", r->unread, TOLD);
	if (names == 0 && r->unread > 0)
		diag_add(diag, DIAG_ERROR, r->path, 0, "is not a list of names "
		    "that can be read; formats: nfdnsd-policy(5)");
	else if (names == 0)
		diag_add(diag, DIAG_WARNING, r->path, 0, "has no names, so "
		    "that rules with this file match nothing");
	else
		diag_add_count(diag, r->path, names, "name");
}

/*
 * What tells without reading it that it cannot be used: whoever waits for the
 * last good list should not wait for millions of lines.
 */
static bool
looks_sound(struct builder *b, const struct source_text *text)
{
	const char *at = text->data, *end = at + text->length;
	size_t lines = 0;

	/* As after a crash, where blocks were not written: half a list. */
	if (memchr(at, '\0', text->length) != NULL) {
		diag_add(b->diag, DIAG_ERROR, text->path, 0, "has an octet of "
		    "the value 0, so it is not a text, or half of one");
		return false;
	}
	while (at < end && (at = memchr(at, '\n', (size_t)(end - at))) != NULL) {
		at++;
		lines++;
	}
	if (lines <= RULE_LIST_MAX)
		return true;
	diag_add(b->diag, DIAG_ERROR, text->path, 0, "has more than %d lines; "
	    "make two files of it and name both in the rule", RULE_LIST_MAX);
	return false;
}

void
build_set_read(struct builder *b, struct build_set *set,
    const struct source_text *text)
{
	struct reading r = { .b = b, .set = set, .path = text->path,
		.number = (uint32_t)(set - b->sets) + 1 };

	if (!looks_sound(b, text))
		return;
	read_lines(&r, text->data, text->length);
	if (b->error == 0)
		tell_counts(&r);
}

/* What stands around one name that is meant with all below it. */
static const struct wrapper {
	const char *before;
	const char *after[8];
} wrappers[] = {
	{ "||", { "^", "^|", "^$important", "^$all" } },
	/* dnsmasq.conf(5); with another address it is none that blocks. */
	{ "address=/", { "/", "/#", "/0.0.0.0", "/127.0.0.1", "/::", "/::1" } },
	{ "local=/", { "/" } },
	{ "server=/", { "/" } },
	/* unbound.conf(5) */
	{ "local-zone: \"", { "\" always_nxdomain", "\" always_null",
	    "\" always_refuse", "\" always_nodata", "\" always_deny",
	    "\" static", "\" refuse", "\" deny" } },
};

/* What hosts files say of the machine itself; names behind "ip6-", too. */
static const char *const heads[] = {
	"localhost", "localhost.localdomain", "local", "localdomain",
	"broadcasthost", "localhost4", "localhost4.localdomain4",
	"localhost6", "localhost6.localdomain6", "0.0.0.0",
};

static bool
is_blank(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

static struct span
skip(struct span text, size_t octets)
{
	return (struct span){ text.text + octets, text.length - octets };
}

static struct span
trim(struct span text)
{
	while (text.length > 0 && is_blank(text.text[text.length - 1]))
		text.length--;
	while (text.length > 0 && is_blank(text.text[0]))
		text = skip(text, 1);
	return text;
}

static bool
begins(struct span text, const char *with)
{
	const size_t length = strlen(with);

	return text.length >= length && memcmp(text.text, with, length) == 0;
}

static bool
has(struct span text, const char *part)
{
	return memmem(text.text, text.length, part, strlen(part)) != NULL;
}

/* Cuts the first word off. */
static struct span
take_word(struct span *text)
{
	struct span word = *text = trim(*text);
	size_t n = 0;

	while (n < text->length && !is_blank(text->text[n]))
		n++;
	word.length = n;
	*text = skip(*text, n);
	return word;
}

/* As host_address(), with or without the zone of an IPv6 address. */
static int
address_of(struct span word, uint8_t address[static 16])
{
	const char *zone = memchr(word.text, '%', word.length);
	char text[INET6_ADDRSTRLEN];

	if (zone != NULL)
		word.length = (size_t)(zone - word.text);
	if (word.length >= sizeof(text) ||
	    memchr(word.text, '\0', word.length) != NULL)
		return AF_UNSPEC;
	memcpy(text, word.text, word.length);
	text[word.length] = '\0';
	return host_address(text, address);
}

/* Whether a name with this address cannot be reached. */
static bool
is_block(int family, const uint8_t address[static 16])
{
	static const uint8_t unspecified[16];

	return host_is_loopback(family, address) || memcmp(address,
	    unspecified, family == AF_INET ? 4 : 16) == 0;
}

/* Whether "#" at text begins a rule about parts of web pages: "##", "#@#". */
static bool
is_cosmetic(struct span text)
{
	size_t n = 1;

	while (n < text.length && strchr("@?$%", text.text[n]) != NULL &&
	    text.text[n] != '\0')
		n++;
	return n < text.length && text.text[n] == '#';
}

/* Takes the comment off, unless that "#" has another meaning. */
static struct span
without_comment(struct span text)
{
	const char *hash = memchr(text.text, '#', text.length);
	const size_t at = hash != NULL ? (size_t)(hash - text.text) : 0;

	if (hash == NULL || text.text[0] == '!')
		return text;
	if (at == 0 ? begins(text, "##.") || begins(text, "##[") ||
	    (!begins(text, "##") && is_cosmetic(text)) :
	    text.text[at - 1] == '/' || (!is_blank(text.text[at - 1]) &&
	    is_cosmetic(skip(text, at))))
		return text;
	text.length = at;
	return trim(text);
}

/* What a line that is not read looks like. */
static const char *
looks_like(struct span text)
{
	uint8_t address[16];

	if (begins(text, "@@"))
		return "is an exception, which is not applied: put the name "
		    "into \"not\" of the rule";
	if (begins(text, "!#include"))
		return "names another list, which is not read: give it to the "
		    "rule, too";
	if (has(text, "##") || has(text, "#@#") || has(text, "#?#") ||
	    has(text, "#$#") || has(text, "#%#"))
		return "is a rule about parts of web pages";
	if (has(text, "://"))
		return "is a URL; a list has names";
	if (text.length > 2 && text.text[0] == '/' &&
	    text.text[text.length - 1] == '/')
		return "is a regular expression";
	if (has(text, "$"))
		return "is a rule with options, of which a question knows "
		    "nothing";
	if (has(text, "*"))
		return "is a pattern; a * may only stand before a name: "
		    "*.a.example";
	if (address_of(text, address) != AF_UNSPEC)
		return "is an address; a list has names";
	if (has(text, "/"))
		return "is a path or a setting; a list has names";
	if (has(text, " ") || has(text, "\t"))
		return "is more than a name, and begins with no address";
	return "is not a valid domain name";
}

/* The name in the wrapper; false: this is not how it ends. */
static bool
unwrap(struct span *text, const struct wrapper *wrapper)
{
	const struct span inner = skip(*text, strlen(wrapper->before));

	for (size_t i = 0; i < sizeof(wrapper->after) /
	    sizeof(wrapper->after[0]) && wrapper->after[i] != NULL; i++) {
		const size_t end = strlen(wrapper->after[i]);

		if (inner.length <= end || memcmp(inner.text + inner.length -
		    end, wrapper->after[i], end) != 0)
			continue;
		*text = (struct span){ inner.text, inner.length - end };
		return true;
	}
	return false;
}

static bool
has_blank(struct span text)
{
	for (size_t i = 0; i < text.length; i++)
		if (is_blank(text.text[i]))
			return true;
	return false;
}

/* The form of a line that is not empty; false: it is not read. */
static bool
find_form(struct list_line *line)
{
	for (size_t i = 0; i < sizeof(wrappers) / sizeof(wrappers[0]); i++) {
		if (line->text.text[0] != wrappers[i].before[0] ||
		    !begins(line->text, wrappers[i].before))
			continue;
		line->form = LIST_WITHIN;
		return unwrap(&line->rest, &wrappers[i]);
	}
	if (has_blank(line->text)) {
		uint8_t address[16];
		const struct span word = take_word(&line->rest);
		const int family = address_of(word, address);

		/* "ADDRESS NAME...": the names. */
		line->form = LIST_HOSTS;
		line->rest = trim(line->rest);
		line->given = family != AF_UNSPEC && !is_block(family, address);
		return family != AF_UNSPEC && line->rest.length > 0;
	}
	line->form = LIST_PATTERN;
	return true;
}

/* Comments, the head of an AdBlock list, that of a file for unbound. */
static bool
says_nothing(struct span text)
{
	return text.length == 0 || text.text[0] == ';' ||
	    (text.text[0] == '!' && !begins(text, "!#include")) ||
	    ((begins(text, "[Ad") || begins(text, "[uBlock")) &&
	    text.text[text.length - 1] == ']') ||
	    span_equal(text, span_of("server:"));
}

void
list_line_begin(struct list_line *line, struct span text)
{
	*line = (struct list_line){ .form = LIST_NONE };
	text = trim(text);
	/* Of a list that was put behind another. */
	if (begins(text, "\xef\xbb\xbf"))
		text = trim(skip(text, 3));
	line->text = line->rest = without_comment(text);
	if (says_nothing(line->text))
		line->rest.length = 0;
	else if (!find_form(line)) {
		line->why = looks_like(line->text);
		line->rest.length = 0;
	}
}

static bool
is_head(struct span word)
{
	if (word.length > 4 && strncasecmp(word.text, "ip6-", 4) == 0 &&
	    memchr(word.text, '.', word.length) == NULL)
		return true;
	for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++)
		if (strlen(heads[i]) == word.length &&
		    strncasecmp(word.text, heads[i], word.length) == 0)
			return true;
	return false;
}

/* An address is a name that nobody asks for. */
static bool
is_address(struct span word)
{
	const char last = word.text[word.length - 1];
	uint8_t address[16];

	return last >= '0' && last <= '9' &&
	    address_of(word, address) != AF_UNSPEC;
}

/* Reads one name; false, and line->why: it is none. */
static bool
read_name(struct list_line *line, struct span word, struct policy_name *name)
{
	int error = policy_pattern_read(name, word.text, word.length);

	if (error == 0 && !is_address(word) && (line->form == LIST_PATTERN ||
	    (name->name.labels > 0 && (line->form == LIST_WITHIN ||
	    name->kind == POLICY_EXACT)))) {
		if (line->form == LIST_WITHIN && name->kind == POLICY_EXACT)
			name->kind = POLICY_WITHIN;
		return true;
	}
	/* Once: a line may have a million of them. */
	if (line->why == NULL)
		line->why = error == 0 || error == -EINVAL ?
		    looks_like(line->text) : policy_pattern_why(error);
	return false;
}

bool
list_line_next(struct list_line *line, struct policy_name *name)
{
	while (line->rest.length > 0) {
		struct span word = line->rest;

		if (line->form == LIST_HOSTS)
			word = take_word(&line->rest);
		else
			line->rest.length = 0;
		if (word.length == 0 ||
		    (line->form == LIST_HOSTS && is_head(word)))
			continue;
		if (line->given)
			line->why = "gives a name an address; a rule with "
			    "\"addresses\" does that";
		else if (read_name(line, word, name))
			return true;
	}
	return false;
}

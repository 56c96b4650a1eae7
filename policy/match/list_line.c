/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "policy/match/list_line.h"

#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

#include "resolver/text/host.h"

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

/* "ADDRESS NAME...": the names. */
static bool
begin_hosts(struct list_line *line)
{
	uint8_t address[16];
	const struct span word = take_word(&line->rest);
	const int family = address_of(word, address);

	line->form = LIST_HOSTS;
	line->rest = trim(line->rest);
	line->given = family != AF_UNSPEC && !is_block(family, address);
	return family != AF_UNSPEC && line->rest.length > 0;
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
	if (has_blank(line->text))
		return begin_hosts(line);
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

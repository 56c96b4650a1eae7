/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hosts(5): an address, and the names that have it; "#" begins a comment.  A
 * name's addresses may stand on several lines.  Addresses have reverse names.
 * The mesh does not own these names: other types of them pass.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

#include "resolver/dns/name.h"
#include "resolver/dns/rr.h"
#include "resolver/idn.h"
#include "resolver/sources/source_format.h"

/* How much of a hostile word a message shows. */
#define SHOWN 100

/* One line while it is read; the words are ranges of the text. */
struct hosts_line {
	const struct source_text *text;
	struct diag *diag;
	const char *at, *end;
	unsigned int number;
	uint16_t type;
	uint16_t length;
	uint8_t address[16];
};

#define WARN(line, ...) diag_add((line)->diag, DIAG_WARNING, \
	(line)->text->path, (line)->number, __VA_ARGS__)

static bool
is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v';
}

/* The next word of the line; false at its end. */
static bool
next_word(struct hosts_line *line, const char **word, size_t *length)
{
	while (line->at < line->end && is_blank(*line->at))
		line->at++;
	*word = line->at;
	while (line->at < line->end && !is_blank(*line->at))
		line->at++;
	*length = (size_t)(line->at - *word);
	return *length > 0;
}

/* For "%.*s": a range has no NUL behind it. */
static int
shown(size_t length)
{
	return length < SHOWN ? (int)length : SHOWN;
}

/* An IPv4-mapped IPv6 address: RFC 4291 section 2.5.5.2. */
static void
unmap(struct hosts_line *line)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };

	if (memcmp(line->address, mapped, sizeof(mapped)) != 0)
		return;
	memmove(line->address, line->address + sizeof(mapped), 4);
	line->type = TYPE_A;
	line->length = 4;
}

static bool
read_address(struct hosts_line *line, const char *word, size_t length)
{
	char text[INET6_ADDRSTRLEN];

	line->type = TYPE_A;
	line->length = 4;
	if (length < sizeof(text) && memchr(word, '\0', length) == NULL) {
		memcpy(text, word, length);
		text[length] = '\0';
		if (inet_pton(AF_INET, text, line->address) == 1)
			return true;
		line->type = TYPE_AAAA;
		line->length = 16;
		if (inet_pton(AF_INET6, text, line->address) == 1) {
			unmap(line);
			return true;
		}
	}
	if (memchr(word, '%', length) != NULL)
		WARN(line, "\"%.*s\": an address with a zone id means nothing"
		    " in the DNS: line ignored", shown(length), word);
	else
		WARN(line, "\"%.*s\" is neither an IPv4 nor an IPv6 address:"
		    " line ignored", shown(length), word);
	return false;
}

/* A wildcard is no host, and 0.0.0.0 only blocks names. */
static bool
has_reverse(const struct hosts_line *line, const struct dns_name *name)
{
	static const uint8_t unspecified[16];

	return memcmp(name->octets, "\1*", 2) != 0 &&
	    memcmp(line->address, unspecified, line->length) != 0;
}

static int
add_name(struct hosts_line *line, struct builder *b, const char *word,
    size_t length)
{
	struct dns_name name, reverse;
	int error = idn_name_from_text(&name, word, length);

	if (error != 0 || name.labels == 0) {
		WARN(line, "\"%.*s\" %s: ignored", shown(length), word,
		    error == -ENAMETOOLONG ?
		    "has a label over 63 or is over 255 octets long" :
		    error == -EILSEQ ? IDN_REFUSED :
		    "is not a valid domain name");
		return 0;
	}
	name_lower(&name);
	error = builder_add(b, &name, 0, line->type, source_ttl(line->text),
	    line->address, line->length, line->number);
	if (error < 0 || error >= BUILDER_SHADOWED || !has_reverse(line, &name))
		return error < 0 ? error : 0;
	reverse_name(&reverse, line->address, (uint8_t)line->length);
	error = builder_add(b, &reverse, 0, TYPE_PTR, source_ttl(line->text),
	    name.octets, name.length, line->number);
	return error < 0 ? error : 0;
}

static int
read_line(struct hosts_line *line, struct builder *b)
{
	const char *comment = memchr(line->at, '#',
	    (size_t)(line->end - line->at));
	const char *word;
	size_t length;
	unsigned int names = 0;

	if (comment != NULL)
		line->end = comment;
	if (!next_word(line, &word, &length) ||
	    !read_address(line, word, length))
		return 0;
	for (; next_word(line, &word, &length); names++) {
		int error = add_name(line, b, word, length);

		if (error != 0)
			return error;
	}
	if (names == 0)
		WARN(line, "an address without a name: ignored");
	return 0;
}

int
source_hosts_read(const struct source_text *text, struct builder *b,
    struct diag *diag)
{
	const char *at = text->data, *end = text->data + text->length;
	struct hosts_line line = { .text = text, .diag = diag };

	while (at < end) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		int error;

		line.number++;
		line.at = at;
		line.end = newline != NULL ? newline : end;
		at = newline != NULL ? newline + 1 : end;
		error = read_line(&line, b);
		if (error != 0)
			return error;
	}
	return 0;
}

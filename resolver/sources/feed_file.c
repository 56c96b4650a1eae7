/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolver/sources/feed_file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#define MAGIC	"nfdns-feed 1"

/* Lines that are still to be read; the error is sticky. */
struct lines {
	const char *at, *end;
	const char *why;
};

bool
feed_file_name_is_valid(const char *name)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyz"
	    "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";
	const size_t length = strnlen(name, FEED_FILE_NAME_MAX + 1);

	return length >= 1 && length <= FEED_FILE_NAME_MAX &&
	    strspn(name, allowed) == length;
}

struct feed_hash
feed_file_hash(const void *octets, size_t length)
{
	const XXH128_hash_t hash = XXH3_128bits(octets, length);

	return (struct feed_hash){ hash.high64, hash.low64 };
}

struct XXH3_state_s *
feed_file_hash_begin(void)
{
	XXH3_state_t *state = XXH3_createState();

	if (state != NULL)
		(void)XXH3_128bits_reset(state);
	return state;
}

void
feed_file_hash_add(struct XXH3_state_s *state, const void *octets,
    size_t length)
{
	(void)XXH3_128bits_update(state, octets, length);
}

struct feed_hash
feed_file_hash_end(struct XXH3_state_s *state)
{
	const XXH128_hash_t hash = XXH3_128bits_digest(state);

	(void)XXH3_freeState(state);
	return (struct feed_hash){ hash.high64, hash.low64 };
}

bool
feed_file_hash_equal(struct feed_hash a, struct feed_hash b)
{
	return a.high == b.high && a.low == b.low;
}

static bool
is_printable(char c)
{
	return c >= 0x20 && c < 0x7f;
}

/* A copy of at most FEED_FILE_TEXT octets that is one line. */
static void
clean(char to[static FEED_FILE_TEXT], const char *from)
{
	size_t n = 0;

	for (; n < FEED_FILE_TEXT - 1 && from[n] != '\0'; n++)
		to[n] = is_printable(from[n]) ? from[n] : '?';
	to[n] = '\0';
}

size_t
feed_file_header_write(const struct feed_header *h,
    char text[static FEED_FILE_HEADER_MAX])
{
	char version[FEED_FILE_TEXT], source[FEED_FILE_TEXT];

	clean(version, h->version);
	clean(source, h->source);
	return (size_t)snprintf(text, FEED_FILE_HEADER_MAX, MAGIC "\n"
	    "format %s\n"
	    "version %s\n"
	    "time %" PRId64 "\n"
	    "source %s\n"
	    "names %" PRIu64 "\n"
	    "length %" PRIu64 "\n"
	    "hash %016" PRIx64 "%016" PRIx64 "\n"
	    "\n", h->format, version, h->time, source, h->names,
	    h->length, h->hash.high, h->hash.low);
}

/* The rest of the next line, which must begin with key; *length of it. */
static const char *
next_line(struct lines *l, const char *key, size_t *length, const char *why)
{
	const size_t skip = strlen(key);
	const char *begin = l->at, *end;

	*length = 0;
	if (l->why != NULL)
		return begin;
	end = memchr(begin, '\n', (size_t)(l->end - begin));
	if (end == NULL || (size_t)(end - begin) < skip ||
	    memcmp(begin, key, skip) != 0) {
		l->why = why;
		return begin;
	}
	l->at = end + 1;
	*length = (size_t)(end - begin) - skip;
	return begin + skip;
}

static void
read_text(struct lines *l, const char *key, char *to, size_t size,
    const char *why)
{
	size_t length;
	const char *text = next_line(l, key, &length, why);

	if (l->why == NULL && length >= size)
		l->why = why;
	for (size_t i = 0; l->why == NULL && i < length; i++)
		if (!is_printable(text[i]))
			l->why = why;
	if (l->why != NULL)
		length = 0;
	memcpy(to, text, length);
	to[length] = '\0';
}

/* Digits of "base", at least one and at most "most". */
static uint64_t
number_of(struct lines *l, const char *text, size_t length, unsigned int base,
    size_t most, const char *why)
{
	static const char digits[] = "0123456789abcdef";
	uint64_t number = 0;

	if (length < 1 || length > most)
		l->why = why;
	for (size_t i = 0; l->why == NULL && i < length; i++) {
		const char *digit = memchr(digits, text[i], base);

		if (digit == NULL)
			l->why = why;
		else
			number = number * base + (uint64_t)(digit - digits);
	}
	return l->why == NULL ? number : 0;
}

/* 18 digits fit into an int64_t, too. */
static uint64_t
read_number(struct lines *l, const char *key, const char *why)
{
	size_t length;
	const char *text = next_line(l, key, &length, why);

	return number_of(l, text, length, 10, 18, why);
}

static struct feed_hash
read_hash(struct lines *l, const char *key, const char *why)
{
	struct feed_hash hash = { 0, 0 };
	size_t length;
	const char *text = next_line(l, key, &length, why);

	if (l->why == NULL && length != 32)
		l->why = why;
	if (l->why != NULL)
		return hash;
	hash.high = number_of(l, text, 16, 16, 16, why);
	hash.low = number_of(l, text + 16, 16, 16, 16, why);
	return hash;
}

int
feed_file_header_read(struct feed_header *h, const char *octets, size_t length,
    const char **why)
{
	const size_t most = length < FEED_FILE_HEADER_MAX ? length :
	    FEED_FILE_HEADER_MAX;
	struct lines l = { octets, octets + most, NULL };
	size_t rest;

	memset(h, 0, sizeof(*h));
	(void)next_line(&l, MAGIC, &rest, "it does not begin as one");
	if (l.why == NULL && rest != 0)
		l.why = "it is of another version";
	read_text(&l, "format ", h->format, sizeof(h->format),
	    "its line \"format\" is malformed");
	read_text(&l, "version ", h->version, sizeof(h->version),
	    "its line \"version\" is malformed");
	h->time = (int64_t)read_number(&l, "time ",
	    "its line \"time\" is malformed");
	read_text(&l, "source ", h->source, sizeof(h->source),
	    "its line \"source\" is malformed");
	h->names = read_number(&l, "names ", "its line \"names\" is malformed");
	h->length = read_number(&l, "length ",
	    "its line \"length\" is malformed");
	h->hash = read_hash(&l, "hash ", "its line \"hash\" is malformed");
	(void)next_line(&l, "", &rest, "its header has no end");
	if (l.why == NULL && rest != 0)
		l.why = "its header has too many lines";
	if (l.why != NULL) {
		memset(h, 0, sizeof(*h));
		*why = l.why;
		return -EPROTO;
	}
	return (int)(l.at - octets);
}

int
feed_file_peek(struct feed_header *header, int fd, const char **why)
{
	char octets[FEED_FILE_HEADER_MAX];
	struct stat st;
	ssize_t n;
	int length;

	*why = "it cannot be read";
	if (fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode)) {
		*why = "it is not a regular file";
		return -EPROTO;
	}
	n = pread(fd, octets, sizeof(octets), 0);
	if (n < 0)
		return -errno;
	length = feed_file_header_read(header, octets, (size_t)n, why);
	if (length >= 0 &&
	    header->length != (uint64_t)st.st_size - (uint64_t)length) {
		*why = "it is cut off, or longer than its header says";
		return -EPROTO;
	}
	return length;
}

const char *
feed_file_check(struct feed_header *header, const char *octets, size_t length,
    size_t *table_length, const char **why)
{
	const int skip = feed_file_header_read(header, octets, length, why);
	const char *table;

	if (skip < 0)
		return NULL;
	table = octets + skip;
	*table_length = length - (size_t)skip;
	if (header->length != *table_length)
		*why = "it is cut off, or longer than its header says";
	else if (!feed_file_hash_equal(header->hash,
	    feed_file_hash(table, *table_length)))
		*why = "its hash is another one: it was damaged";
	else
		return table;
	return NULL;
}

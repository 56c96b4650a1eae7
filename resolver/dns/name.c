/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolver/dns/name.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <string.h>

#define POINTER_BITS	0xc0	/* RFC 1035 section 4.1.4 */
#define HEADER_OCTETS	12	/* RFC 1035 section 4.1.1 */

/* Octets side by side, for the compiler's vector operations. */
typedef uint8_t octets8 __attribute__((vector_size(8)));
typedef uint8_t octets16 __attribute__((vector_size(16)));

/*
 * Octets with the ASCII letters among them in lower case: what a comparison of
 * vectors yields is all ones where it is true.
 */
#define LOWER(octets) \
	((octets) | (__typeof__(octets))(((octets) - 'A' < 26) & ('a' - 'A')))

static inline void
copy_lower_8(uint8_t *dst, const uint8_t *src)
{
	octets8 octets;

	memcpy(&octets, src, sizeof(octets));
	octets = LOWER(octets);
	memcpy(dst, &octets, sizeof(octets));
}

static inline void
copy_lower_16(uint8_t *dst, const uint8_t *src)
{
	octets16 octets;

	memcpy(&octets, src, sizeof(octets));
	octets = LOWER(octets);
	memcpy(dst, &octets, sizeof(octets));
}

/*
 * Copies a name in lower case.  The length octets need no care: none is above
 * 63, and 'A' is 65.  dst and src are equal or do not overlap.  The last
 * octets may be lowered twice, which leaves them as they are.
 */
static void
copy_lower(uint8_t *dst, const uint8_t *src, size_t length)
{
	size_t i;

	if (length >= 16) {
		for (i = 0; i + 16 < length; i += 16)
			copy_lower_16(dst + i, src + i);
		copy_lower_16(dst + length - 16, src + length - 16);
	} else if (length >= 8) {
		copy_lower_8(dst, src);
		copy_lower_8(dst + length - 8, src + length - 8);
	} else {
		for (i = 0; i < length; i++)
			dst[i] = src[i] >= 'A' && src[i] <= 'Z' ?
			    src[i] | 0x20 : src[i];
	}
}

int
name_read_lower(struct dns_name *name, const uint8_t *octets, size_t size)
{
	size_t at = 0;
	unsigned int labels = 0;

	if (size > NAME_MAX_OCTETS)
		size = NAME_MAX_OCTETS;
	while (at < size && octets[at] != 0 && octets[at] <= NAME_MAX_LABEL) {
		at += 1u + octets[at];
		labels++;
	}
	if (at >= size || octets[at] != 0)
		return at < size && octets[at] >= 0xc0 ? -ELOOP : -EINVAL;
	at++;
	name->length = (uint8_t)at;
	name->labels = (uint8_t)labels;
	copy_lower(name->octets, octets, at);
	return 0;
}

/* Adds a label with its length octet.  False if the name grows too long. */
static bool
add_label(struct dns_name *name, const uint8_t *label, size_t size)
{
	if (name->length + size > NAME_MAX_OCTETS)
		return false;
	memcpy(name->octets + name->length, label, size);
	name->length = (uint8_t)(name->length + size);
	if (size > 1)
		name->labels++;
	return true;
}

static bool
read_compressed(struct dns_name *name, struct wire_reader *r,
    const uint8_t *end, unsigned int *steps)
{
	const uint8_t *at = r->pos, *run = at;
	unsigned int pointers = 0;

	name->length = name->labels = 0;
	for (;;) {
		const uint8_t *limit = pointers > 0 ? r->end : end;
		size_t left = at < limit ? (size_t)(limit - at) : 0;
		size_t target;

		if (left == 0 || *steps == 0)
			return false;
		--*steps;
		if (*at <= NAME_MAX_LABEL) {
			size_t size = 1u + *at;

			if (left < size || !add_label(name, at, size))
				return false;
			at += size;
			if (size > 1)
				continue;
			if (pointers == 0)
				r->pos = at;
			return true;
		}
		if (*at < POINTER_BITS || left < 2 ||
		    pointers == NAME_MAX_LABELS)
			return false;
		target = (size_t)(*at & ~POINTER_BITS) << 8 | at[1];
		if (target < HEADER_OCTETS || target >= (size_t)(run - r->base))
			return false;
		if (pointers++ == 0)
			r->pos = at + 2;
		run = at = r->base + target;
	}
}

bool
name_read_compressed(struct dns_name *name, struct wire_reader *r,
    const uint8_t *end, unsigned int *steps)
{
	unsigned int enough = UINT_MAX;

	if (!r->failed && !read_compressed(name, r, end,
	    steps != NULL ? steps : &enough))
		r->failed = true;
	return !r->failed;
}

void
name_lower(struct dns_name *name)
{
	copy_lower(name->octets, name->octets, name->length);
}

bool
name_equal(const struct dns_name *a, const struct dns_name *b)
{
	return a->length == b->length &&
	    memcmp(a->octets, b->octets, a->length) == 0;
}

size_t
name_suffix_offset(const struct dns_name *name, unsigned int labels)
{
	size_t at = 0;
	unsigned int skip;

	if (labels == 0)
		return name->length - 1u;
	for (skip = name->labels - labels; skip > 0; skip--)
		at += 1u + name->octets[at];
	return at;
}

bool
name_is_within(const struct dns_name *name, const struct dns_name *zone)
{
	size_t at = (size_t)name->length - zone->length;

	/* Most names differ in the first octet already: no need to walk. */
	return zone->length <= name->length &&
	    name->octets[at] == zone->octets[0] &&
	    zone->labels <= name->labels &&
	    name_suffix_offset(name, zone->labels) == at &&
	    memcmp(name->octets + at, zone->octets, zone->length) == 0;
}

int
name_join(struct dns_name *dst, const struct dns_name *prefix,
    const struct dns_name *suffix)
{
	size_t head = prefix->length - 1u;
	struct dns_name joined;

	if (head + suffix->length > NAME_MAX_OCTETS)
		return -ENAMETOOLONG;
	memcpy(joined.octets, prefix->octets, head);
	memcpy(joined.octets + head, suffix->octets, suffix->length);
	/* By way of a third: dst may be one of the two. */
	dst->length = (uint8_t)(head + suffix->length);
	dst->labels = (uint8_t)(prefix->labels + suffix->labels);
	memcpy(dst->octets, joined.octets, dst->length);
	return 0;
}

static bool
is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/*
 * The octet that an escape stands for; text is what follows the backslash.
 * Returns how many characters of it were used, or -EINVAL.
 */
static int
read_escape(uint8_t *octet, const char *text, size_t length)
{
	int value;

	if (length == 0)
		return -EINVAL;
	if (!is_digit(text[0])) {
		*octet = (uint8_t)text[0];
		return 1;
	}
	if (length < 3 || !is_digit(text[1]) || !is_digit(text[2]))
		return -EINVAL;
	value = (text[0] - '0') * 100 + (text[1] - '0') * 10 + (text[2] - '0');
	if (value > 255)
		return -EINVAL;
	*octet = (uint8_t)value;
	return 3;
}

/* Reads one label of text into out, which has room for NAME_MAX_LABEL. */
static int
read_label(uint8_t *out, size_t *out_length, const char *text, size_t length,
    size_t *used)
{
	size_t in = 0, n = 0;

	while (in < length && text[in] != '.') {
		uint8_t octet = (uint8_t)text[in++];
		int escape;

		if (octet == '\\') {
			escape = read_escape(&octet, text + in, length - in);
			if (escape < 0)
				return escape;
			in += (size_t)escape;
		}
		if (n == NAME_MAX_LABEL)
			return -ENAMETOOLONG;
		out[n++] = octet;
	}
	if (n == 0)
		return -EINVAL;
	*out_length = n;
	*used = in;
	return 0;
}

int
name_from_text(struct dns_name *name, const char *text, size_t length)
{
	uint8_t label[NAME_MAX_LABEL];
	size_t in = 0, out = 0, n, used;
	int error;

	name->labels = 0;
	if (length == 1 && text[0] == '.')
		length = 0;
	while (in < length) {
		error = read_label(label, &n, text + in, length - in, &used);
		if (error != 0)
			return error;
		/* The label, its length octet, and the root's behind it. */
		if (out + 1 + n + 1 > NAME_MAX_OCTETS)
			return -ENAMETOOLONG;
		name->octets[out++] = (uint8_t)n;
		memcpy(name->octets + out, label, n);
		out += n;
		name->labels++;
		in += used;
		if (in < length)
			in++;		/* the dot */
	}
	name->octets[out++] = 0;
	name->length = (uint8_t)out;
	return 0;
}

const char *
name_to_text(const uint8_t *octets, char text[static NAME_TEXT_SIZE])
{
	char *out = text;
	unsigned int left;

	if (*octets == 0)
		*out++ = '.';
	while ((left = *octets++) != 0) {
		for (; left > 0; left--) {
			unsigned int c = *octets++;

			if (c <= 0x20 || c >= 0x7f) {
				*out++ = '\\';
				*out++ = (char)('0' + c / 100);
				*out++ = (char)('0' + c / 10 % 10);
				*out++ = (char)('0' + c % 10);
				continue;
			}
			if (c == '.' || c == '\\')
				*out++ = '\\';
			*out++ = (char)c;
		}
		*out++ = '.';
	}
	*out = '\0';
	return text;
}

static void
put_label(struct dns_name *name, const char *text, uint8_t length)
{
	name->octets[name->length++] = length;
	memcpy(name->octets + name->length, text, length);
	name->length = (uint8_t)(name->length + length);
	name->labels++;
}

void
reverse_name(struct dns_name *name, const uint8_t *address, uint8_t length)
{
	static const char digits[] = "0123456789abcdef";

	assert(length == 4 || length == 16);
	name->length = 0;
	name->labels = 0;
	for (int i = length - 1; i >= 0; i--) {
		if (length == 4) {
			char text[3];
			uint8_t n = 0;

			if (address[i] >= 100)
				text[n++] = (char)('0' + address[i] / 100);
			if (address[i] >= 10)
				text[n++] = (char)('0' + address[i] / 10 % 10);
			text[n++] = (char)('0' + address[i] % 10);
			put_label(name, text, n);
			continue;
		}
		put_label(name, &digits[address[i] & 0xf], 1);
		put_label(name, &digits[address[i] >> 4], 1);
	}
	if (length == 4)
		put_label(name, "in-addr", 7);
	else
		put_label(name, "ip6", 3);
	put_label(name, "arpa", 4);
	name->octets[name->length++] = 0;
}

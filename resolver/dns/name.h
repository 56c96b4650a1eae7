/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Domain names in wire format (RFC 1035 section 3.1): length-prefixed labels
 * that end with the root's empty label.  Labels are octets, not text (RFC 2181
 * section 11); only ASCII letters have case (RFC 4343).
 *
 * This room holds DNS itself: names, wire format, records, the question.  It
 * uses only libc and knows nothing of tables and of the mesh.
 */
#ifndef NFDNS_RESOLVER_DNS_NAME_H
#define NFDNS_RESOLVER_DNS_NAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "resolver/dns/wire.h"

#define NAME_MAX_OCTETS	255	/* RFC 1035 section 2.3.4, root label included */
#define NAME_MAX_LABEL	63
#define NAME_MAX_LABELS	127	/* root not counted */
/* Presentation form: each octet as \DDD at worst, the dots, the final NUL. */
#define NAME_TEXT_SIZE	1024

/* A value: owns its octets.  length counts the root label, labels does not. */
struct dns_name {
	uint8_t length;
	uint8_t labels;
	uint8_t octets[NAME_MAX_OCTETS];
};

/*
 * From presentation format (RFC 1035 section 5.1: \. and \DDD escapes), with
 * or without the final dot; "." and "" are the root.  Letters keep their case.
 * Returns 0; -EINVAL for an empty label or a bad escape; -ENAMETOOLONG for a
 * label above 63 or a name above 255 octets.
 */
int name_from_text(struct dns_name *name, const char *text, size_t length)
    __attribute__((warn_unused_result));

/*
 * To presentation format with the final dot, NUL-terminated, dots, backslashes
 * and unprintable octets escaped.  "octets" must be a valid wire name.
 * Returns text.
 */
const char *name_to_text(const uint8_t *octets, char text[static NAME_TEXT_SIZE]);

/*
 * Copies the uncompressed wire name at octets, lower-cased, and counts labels.
 * Reads at most "size" octets.  Returns 0, or -EINVAL when the name does not
 * end within them or within 255 octets, or has a label type other than 00; -ELOOP
 * when that is a compression pointer (RFC 1035 section 4.1.4).
 */
int name_read_lower(struct dns_name *name, const uint8_t *octets, size_t size)
    __attribute__((warn_unused_result));

/*
 * Reads the next name of a message, compressed perhaps (RFC 1035 section
 * 4.1.4), and moves behind it.  The name, or its part before the first pointer,
 * ends at "end" at the latest.  A pointer must lead to before the labels that
 * it ends and not into the header, and there are not more of them than a name
 * can have labels.  Letters keep their case.  If steps is not NULL, at most that
 * many labels and pointers are read, and they are taken off: the bound for all
 * names of a message.  False, and r failed, if there is no such name.
 */
bool name_read_compressed(struct dns_name *name, struct wire_reader *r,
    const uint8_t *end, unsigned int *steps)
    __attribute__((warn_unused_result));

/* Lower-cases ASCII letters in place. */
void name_lower(struct dns_name *name);

/* Octet-for-octet equality: both sides already lower-cased. */
bool name_equal(const struct dns_name *a, const struct dns_name *b);

/* Whether name is zone or lies below it, at label boundaries; lower case. */
bool name_is_within(const struct dns_name *name, const struct dns_name *zone);

/* Octet offset of the suffix of name that has that many labels (root: 0). */
size_t name_suffix_offset(const struct dns_name *name, unsigned int labels);

/* dst = prefix's labels, then suffix.  -ENAMETOOLONG above 255 octets. */
int name_join(struct dns_name *dst, const struct dns_name *prefix,
    const struct dns_name *suffix) __attribute__((warn_unused_result));

/*
 * The name under in-addr.arpa (4 octets: RFC 1035 section 3.5) or ip6.arpa
 * (16 octets: RFC 3596 section 2.5) of an address.
 */
void reverse_name(struct dns_name *name, const uint8_t *address,
    uint8_t length);

#endif

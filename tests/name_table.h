/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Name tables written by hand, as a control plane does. */
#ifndef NFDNS_TESTS_NAME_TABLE_H
#define NFDNS_TESTS_NAME_TABLE_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Fields of the messages (resolver/sources/name_table.h). */
enum { PROTO_ENTRY = 1, PROTO_HOST = 1, PROTO_INFO = 2, PROTO_IPS = 1,
	PROTO_REGISTRY = 2, PROTO_SHORTNAME = 3, PROTO_NAMESPACE = 4,
	PROTO_ALT_HOSTS = 5 };

struct proto {
	size_t length;
	uint8_t octets[4096];
};

static inline void
proto_octet(struct proto *m, unsigned int octet)
{
	if (m->length == sizeof(m->octets))
		abort();
	m->octets[m->length++] = (uint8_t)octet;
}

static inline void
proto_put(struct proto *m, unsigned int field, const void *octets,
    size_t length)
{
	const uint8_t *p = octets;

	proto_octet(m, field << 3 | 2);
	if (length > 127)
		proto_octet(m, (unsigned int)(length & 127) | 128);
	proto_octet(m, (unsigned int)(length > 127 ? length >> 7 : length));
	for (size_t i = 0; i < length; i++)
		proto_octet(m, p[i]);
}

static inline void
proto_text(struct proto *m, unsigned int field, const char *text)
{
	proto_put(m, field, text, strlen(text));
}

/* An entry of the table. */
static inline void
proto_entry(struct proto *table, const char *host, const struct proto *info)
{
	struct proto entry = { .length = 0 };

	proto_text(&entry, PROTO_HOST, host);
	proto_put(&entry, PROTO_INFO, info->octets, info->length);
	proto_put(table, PROTO_ENTRY, entry.octets, entry.length);
}

/* An entry with one address. */
static inline void
proto_host(struct proto *table, const char *host, const char *ip)
{
	struct proto info = { .length = 0 };

	proto_text(&info, PROTO_IPS, ip);
	proto_entry(table, host, &info);
}

#endif

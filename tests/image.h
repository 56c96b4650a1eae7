/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What tests of the table share: names from text, images in memory files. */
#ifndef NFDNS_TESTS_IMAGE_H
#define NFDNS_TESTS_IMAGE_H

#include <arpa/inet.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "resolver/image/builder.h"
#include "resolver/dns/name.h"
#include "resolver/dns/rr.h"
#include "resolver/image/table.h"

/* A step without which the test makes no sense. */
#define MUST(condition) do {						\
	if (!(condition)) {						\
		printf("FAIL %s:%d: %s\n", __FILE__, __LINE__,		\
		    #condition);					\
		exit(1);						\
	}								\
} while (0)

static inline struct dns_name
name_of(const char *text)
{
	struct dns_name name;

	MUST(name_from_text(&name, text, strlen(text)) == 0);
	name_lower(&name);
	return name;
}

static inline int
add_address(struct builder *b, const char *owner, uint8_t flags,
    const char *address)
{
	struct dns_name name = name_of(owner);
	uint8_t octets[16];

	if (inet_pton(AF_INET, address, octets) == 1)
		return builder_add(b, &name, flags, TYPE_A, 30, octets, 4, 1);
	MUST(inet_pton(AF_INET6, address, octets) == 1);
	return builder_add(b, &name, flags, TYPE_AAAA, 30, octets, 16, 1);
}

static inline int
memory_file(const void *octets, size_t length)
{
	int fd = memfd_create("nfdns-test",
	    MFD_CLOEXEC | MFD_ALLOW_SEALING);

	MUST(fd >= 0);
	MUST(length == 0 || write(fd, octets, length) == (ssize_t)length);
	return fd;
}

/* Writes the builder's image and opens it; frees nothing. */
static inline struct table *
table_of(struct builder *b)
{
	int fd = memory_file(NULL, 0);
	struct table *table;
	const char *why = "";

	MUST(builder_write(b, fd) == 0);
	if (table_open(&table, fd, &why) != 0)
		printf("table_open: %s\n", why);
	MUST(table != NULL);
	close(fd);
	return table;
}

static inline struct entry
find(const struct table *table, const char *text)
{
	struct dns_name name = name_of(text);
	struct entry entry;

	table_find(table, &name, &entry);
	return entry;
}

/* The nth address of a node as text, "" if there is none; in a static buffer. */
static inline const char *
address_of(const struct table *table, uint32_t node, uint16_t type, uint32_t n)
{
	static char text[INET6_ADDRSTRLEN];
	struct rrset rrset;

	if (!table_rrset(table, node, type, &rrset) || n >= rrset.count)
		return "";
	MUST(inet_ntop(type == TYPE_A ? AF_INET : AF_INET6, rrset.rdata +
	    (size_t)n * rrset.rdlength, text, sizeof(text)) != NULL);
	return text;
}

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Addresses, "HOST:PORT" and "[IPV6]:PORT" in configurations. */
#ifndef NFDNS_RESOLVER_TEXT_HOST_H
#define NFDNS_RESOLVER_TEXT_HOST_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Of the names of hosts, dots between the labels among them. */
#define HOST_CHARACTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ" \
	"0123456789-_."

#define HOST_TEXT 256		/* octets, with NUL */

/*
 * Reads an address without scope, of IPv4 into the first four octets.  AF_INET,
 * AF_INET6, or AF_UNSPEC if it is none; octets behind it are undefined.
 */
int host_address(const char *text, uint8_t address[static 16]);

/* Whether the first so many bits of two addresses are the same. */
static inline bool
host_same_bits(const uint8_t *a, const uint8_t *b, unsigned int bits)
{
	const unsigned int whole = bits / 8, rest = bits % 8;

	return memcmp(a, b, whole) == 0 &&
	    (rest == 0 || (a[whole] ^ b[whole]) >> (8 - rest) == 0);
}

/* ::1, or any of 127.0.0.0/8. */
bool host_is_loopback(int family, const uint8_t address[static 16]);

/*
 * Divides "HOST:PORT"; brackets are taken off.  False if the text is none, the
 * host does not fit, or the port is not from 1 to 65535.  What the host is made
 * of is not looked at.
 */
bool host_split(const char *text, char host[static HOST_TEXT], uint16_t *port);

/* Whether it is "HOST:PORT", of a name or address; of IPv6 in brackets. */
bool host_is_server(const char *text);

#endif

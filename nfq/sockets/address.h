/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Socket addresses, IPv4 and IPv6: from octets and back. */
#ifndef NFDNS_NFQ_SOCKETS_ADDRESS_H
#define NFDNS_NFQ_SOCKETS_ADDRESS_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

/* Of AF_INET or AF_INET6: any.sa_family says which. */
union sockets_address {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

/*
 * Makes an address from the first 4 octets (AF_INET) or all 16, a port in host
 * order and, for IPv6, the interface index of a link-local address (0: none).
 * Returns its size for connect(2) and bind(2).
 */
socklen_t sockets_address_make(union sockets_address *address, int family,
    const uint8_t octets[static 16], uint16_t port, uint32_t scope_id);

/*
 * The reverse.  Returns the number of octets, 4 or 16; for IPv4, octets behind
 * the fourth stay as they are.
 */
size_t sockets_address_split(const union sockets_address *address,
    uint8_t octets[static 16], uint16_t *port);

/* Whether two addresses of one family are equal; ports are not compared. */
bool sockets_address_same_host(const union sockets_address *a,
    const union sockets_address *b);

#endif

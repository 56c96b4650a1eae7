/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/sockets/address.h"

#include <string.h>

socklen_t
sockets_address_make(union sockets_address *address, int family,
    const uint8_t octets[static 16], uint16_t port, uint32_t scope_id)
{
	memset(address, 0, sizeof(*address));
	if (family == AF_INET) {
		address->v4.sin_family = AF_INET;
		address->v4.sin_port = htons(port);
		memcpy(&address->v4.sin_addr, octets, 4);
		return sizeof(address->v4);
	}
	address->v6.sin6_family = AF_INET6;
	address->v6.sin6_port = htons(port);
	address->v6.sin6_scope_id = scope_id;
	memcpy(&address->v6.sin6_addr, octets, 16);
	return sizeof(address->v6);
}

size_t
sockets_address_split(const union sockets_address *address,
    uint8_t octets[static 16], uint16_t *port)
{
	if (address->any.sa_family == AF_INET) {
		memcpy(octets, &address->v4.sin_addr, 4);
		*port = ntohs(address->v4.sin_port);
		return 4;
	}
	memcpy(octets, &address->v6.sin6_addr, 16);
	*port = ntohs(address->v6.sin6_port);
	return 16;
}

bool
sockets_address_same_host(const union sockets_address *a,
    const union sockets_address *b)
{
	return a->any.sa_family == AF_INET ?
	    a->v4.sin_addr.s_addr == b->v4.sin_addr.s_addr :
	    memcmp(&a->v6.sin6_addr, &b->v6.sin6_addr, 16) == 0;
}

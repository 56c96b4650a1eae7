/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How many connections each client address has. */
#ifndef NFDNS_NFQ_STREAM_CLIENTS_H
#define NFDNS_NFQ_STREAM_CLIENTS_H

#include <stddef.h>
#include <stdint.h>

/* IPv4 addresses as ::ffff:0:0/96 (RFC 4291 section 2.5.5.2). */
struct stream_address {
	uint8_t octets[16];
};

struct stream_clients;		/* a hash table of fixed size */

/* For so many connections at most; NULL for lack of memory. */
struct stream_clients *stream_clients_new(size_t connections);
void stream_clients_free(struct stream_clients *clients);

/* One more, or one less, of an address.  Returns how many it has then. */
unsigned int stream_clients_add(struct stream_clients *clients,
    const struct stream_address *address);
unsigned int stream_clients_remove(struct stream_clients *clients,
    const struct stream_address *address);

#endif

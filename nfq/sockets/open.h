/* SPDX-License-Identifier: GPL-2.0-or-later */
/* IP sockets as nfdnsd needs them. */
#ifndef NFDNS_NFQ_SOCKETS_OPEN_H
#define NFDNS_NFQ_SOCKETS_OPEN_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>

enum sockets_kind {
	SOCKETS_DATAGRAM,	/* a UDP socket */
	SOCKETS_ASKING,		/* a UDP socket that is connected */
	SOCKETS_CONNECTION,	/* a TCP socket; connect(2) was called */
	SOCKETS_LISTENER,	/* a TCP socket that is bound and can listen */
};

/* Fields that a kind does not use are zero. */
struct sockets_request {
	enum sockets_kind kind;
	int family;		/* AF_INET, AF_INET6 */
	/* Not of DATAGRAM; IPv4 stands in the first 4 octets. */
	uint8_t address[16];
	uint32_t scope_id;	/* by IPv6, not of LISTENER */
	uint16_t port;		/* of LISTENER 0: one that the kernel chooses */
	/*
	 * Of CONNECTION: the client's address, which becomes the connection's
	 * source, and the interface of the client's first packet (0: not known).
	 */
	bool has_source;
	uint8_t source[16];	/* as address; zeros unless has_source */
	uint32_t device;	/* interface index; 0 unless has_source */
};

/* Whether both are for the same address and port. */
static inline bool
sockets_request_same(const struct sockets_request *a,
    const struct sockets_request *b)
{
	return a->family == b->family && a->port == b->port &&
	    a->scope_id == b->scope_id &&
	    memcmp(a->address, b->address, sizeof(a->address)) == 0;
}

/*
 * Returns a non-blocking socket, or a negative errno.  A connection may still be in
 * progress.  Its packets carry "mark", which needs CAP_NET_ADMIN; 0 needs no
 * privilege.
 *
 * A connection without a source is reset when it is closed.
 *
 * A connection with a source gets that source address, so that routing rules by
 * source apply to it as to the client.  If the kernel would choose another
 * source for that destination, something else routed the client's packet
 * (SO_BINDTODEVICE, a rule by user); then the connection is also bound to the
 * request's device.  Otherwise it is not, since a bound socket does not follow
 * a later DNAT to another interface.
 */
int sockets_open(const struct sockets_request *request, uint32_t mark)
    __attribute__((warn_unused_result));

/*
 * For a UDP socket that sockets_open() has connected: it gives up its address and
 * port, so that nothing reaches it any more; it forgets what had come (-EBUSY: too much
 * had).  0, or a negative errno, and then it is of no more use.
 */
int sockets_release_port(int fd) __attribute__((warn_unused_result));
int sockets_drain(int fd) __attribute__((warn_unused_result));

/*
 * Gives up its port, and keeps the source address that the kernel has chosen for it:
 * connecting it again takes less time, but does not follow a change of the routes or
 * of the machine's addresses.  0, or a negative errno as above.
 */
int sockets_keep_source(int fd) __attribute__((warn_unused_result));

/*
 * Connects a socket without a port to the request's address, of the
 * same family, from a random port that the kernel chooses anew.  What was set on
 * the socket stays.  0 or a negative errno.
 */
int sockets_reconnect(int fd, const struct sockets_request *request)
    __attribute__((warn_unused_result));

/* Socket addresses, IPv4 and IPv6: from octets and back. */

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

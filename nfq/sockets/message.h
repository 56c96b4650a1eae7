/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Messages to and from nfdns-sockets (nfq/sockets/server.h), as octets.  Each
 * request and each answer is one message of fixed length; answers come in the
 * order of the requests.
 */
#ifndef NFDNS_NFQ_SOCKETS_MESSAGE_H
#define NFDNS_NFQ_SOCKETS_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define SOCKETS_REQUEST_LENGTH 48
#define SOCKETS_ANSWER_LENGTH 8

enum sockets_kind {
	SOCKETS_DATAGRAM,	/* a UDP socket */
	SOCKETS_CONNECTION,	/* a TCP socket; connect(2) was called */
	SOCKETS_LISTENER,	/* a TCP socket that is bound and can listen */
	SOCKETS_RESTRICT,	/* only connected sockets from now on; no answer */
	SOCKETS_ASKING,		/* a UDP socket that is connected */
	SOCKETS_UPSTREAM,	/* permits connecting to this address and port
				   after SOCKETS_RESTRICT; no answer */
	SOCKETS_KINDS
};

/* Fields that a kind does not use are zero. */
struct sockets_request {
	enum sockets_kind kind;
	int family;		/* AF_INET, AF_INET6; of RESTRICT 0 */
	/* Not of DATAGRAM and RESTRICT; IPv4 stands in the first 4 octets. */
	uint8_t address[16];
	uint32_t scope_id;	/* by IPv6, not of LISTENER */
	uint16_t port;		/* of LISTENER 0: one that the kernel chooses */
	/*
	 * Of CONNECTION: the client's address, which becomes the connection's
	 * source, and the interface of the client's first packet (0: not
	 * known).  open.h says how they are used.
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

void sockets_request_write(const struct sockets_request *request,
    uint8_t octets[static SOCKETS_REQUEST_LENGTH]);

/* 0, or -EPROTO if sockets_request_write() never writes such octets. */
int sockets_request_parse(struct sockets_request *request,
    const uint8_t *octets, size_t length) __attribute__((warn_unused_result));

#define SOCKETS_UPSTREAMS 64	/* of one channel */

/* What one client may have. */
struct sockets_rights {
	bool restricted;
	size_t upstream_count;		/* SOCKETS_UPSTREAMs that came */
	struct sockets_request upstreams[SOCKETS_UPSTREAMS];
};

/*
 * Whether a client may have what it asks for: sockets that are connected to
 * port 53 of any address or to one of its upstreams; unless "restricted", also
 * UDP sockets, listeners at 127.0.0.1 and ::1 on an unprivileged port or one that
 * the kernel chooses, and more upstreams.  0 or -EPERM.
 */
int sockets_request_permit(const struct sockets_request *request,
    const struct sockets_rights *rights) __attribute__((warn_unused_result));

/* error: 0 (the message carries the socket), or a positive errno. */
void sockets_answer_write(int error,
    uint8_t octets[static SOCKETS_ANSWER_LENGTH]);
/* 0 and *error, or -EPROTO. */
int sockets_answer_parse(int *error, const uint8_t *octets, size_t length)
    __attribute__((warn_unused_result));

#endif

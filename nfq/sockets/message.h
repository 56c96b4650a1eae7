/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Messages to and from nfdns-sockets (nfq/sockets/server.h), as octets: one
 * message of fixed length for each request, and one for its answer,
 * in order.
 */
#ifndef NFDNS_NFQ_SOCKETS_MESSAGE_H
#define NFDNS_NFQ_SOCKETS_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SOCKETS_REQUEST_LENGTH 48
#define SOCKETS_ANSWER_LENGTH 8

enum sockets_kind {
	SOCKETS_DATAGRAM,   /* a UDP socket */
	SOCKETS_CONNECTION, /* a TCP connection, begun */
	SOCKETS_LISTENER,   /* a TCP socket that is bound and can listen */
	SOCKETS_RESTRICT,   /* connections only, from now on; has no answer */
	SOCKETS_KINDS
};

/* Fields that a kind does not use are zero. */
struct sockets_request {
	enum sockets_kind kind;
	int family;		/* AF_INET, AF_INET6; of RESTRICT 0 */
	/* Of CONNECTION and LISTENER; IPv4 stands in the first 4 octets. */
	uint8_t address[16];
	uint16_t port;
	uint32_t scope_id;	/* of CONNECTION by IPv6 */
	/*
	 * Of CONNECTION: the client's address, which the connection is to have
	 * too, and the interface that the client's first packet left by (0: not
	 * known).  Both are what open.h makes of them.
	 */
	bool has_source;
	uint8_t source[16];	/* as address; zeros unless has_source */
	uint32_t device;	/* interface index; 0 unless has_source */
};

void sockets_request_write(const struct sockets_request *request,
    uint8_t octets[static SOCKETS_REQUEST_LENGTH]);

/* 0, or -EPROTO for whatever sockets_request_write() does not write. */
int sockets_request_parse(struct sockets_request *request,
    const uint8_t *octets, size_t length) __attribute__((warn_unused_result));

/*
 * Whether somebody may have that: connections to port 53 of any address;
 * unless "restricted", also UDP sockets, and listeners at 127.0.0.1 and ::1
 * whose port needs no privilege.  0, or -EPERM.
 */
int sockets_request_permit(const struct sockets_request *request,
    bool restricted) __attribute__((warn_unused_result));

/* error: 0, and the socket goes with the message; or a positive errno. */
void sockets_answer_write(
    int error, uint8_t octets[static SOCKETS_ANSWER_LENGTH]);
/* 0 and *error, or -EPROTO. */
int sockets_answer_parse(int *error, const uint8_t *octets, size_t length)
    __attribute__((warn_unused_result));

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One message of a SOCK_SEQPACKET connection, with a socket in it or none.
 * Neither function waits.
 */
#ifndef NFDNS_NFQ_SOCKETS_CHANNEL_H
#define NFDNS_NFQ_SOCKETS_CHANNEL_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "nfq/sockets/message.h"

struct sockets_received {
	uint8_t octets[SOCKETS_REQUEST_LENGTH];
	size_t length;
	int fd;			/* the caller's; -1: none came */
	uid_t uid;		/* the sender's, if SO_PASSCRED is on; or -1 */
};

/* With a copy of fd, unless it is -1.  0 or a negative errno. */
int sockets_channel_send(int channel, const uint8_t *octets, size_t length,
    int fd) __attribute__((warn_unused_result));

/*
 * 0; -EAGAIN when there is none; -ECONNRESET when the peer is gone; -EPROTO for
 * a message that is longer than any of ours or has more sockets than one.
 */
int sockets_channel_receive(int channel, struct sockets_received *received)
    __attribute__((warn_unused_result));

#endif

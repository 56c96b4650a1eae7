/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sends and receives one message of a SOCK_SEQPACKET connection, with one
 * descriptor or none.  Neither function waits.
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

/* Sends a copy of fd too, unless it is -1.  0 or a negative errno. */
int sockets_channel_send(int channel, const uint8_t *octets, size_t length,
    int fd) __attribute__((warn_unused_result));

/*
 * 0; -EAGAIN if there is no message; -ECONNRESET if the peer is gone; -EPROTO
 * if the message is empty, or longer than any of ours, or carries more than one
 * descriptor; -EMFILE if there is no room for its descriptor.  The message is
 * gone then, too.
 */
int sockets_channel_receive(int channel, struct sockets_received *received)
    __attribute__((warn_unused_result));

#endif

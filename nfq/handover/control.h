/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Orders from the supervisor to the worker and their acknowledgements, over a
 * SOCK_SEQPACKET pair: one small fixed message each, file descriptors by
 * SCM_RIGHTS.
 */
#ifndef NFDNS_NFQ_HANDOVER_CONTROL_H
#define NFDNS_NFQ_HANDOVER_CONTROL_H

#include <stddef.h>
#include <stdint.h>

#include "policy/audit/audit.h"

enum control_kind {
	CONTROL_READY,	     /* worker: threads run */
	CONTROL_TABLE,	     /* supervisor: fd[0] is a new image */
	CONTROL_TABLE_OK,    /* worker: every answer from now on is from it */
	CONTROL_TABLE_BAD,   /* worker: text says why, the old one stays */
	CONTROL_AUDIT_FILES, /* supervisor: fds of the audit files */
	CONTROL_AUDIT_FILES_OK,
	CONTROL_SOCKETS_WANTED, /* worker: has no channel to nfdns-sockets */
	CONTROL_SOCKETS, /* supervisor: fd[0] is one, or none can be had */
	CONTROL_STOP, /* supervisor: answer what is queued, write the audit, end
		       */
	CONTROL_KINDS
};

#define CONTROL_TEXT 200

struct control_message {
	uint32_t kind;		/* enum control_kind */
	uint32_t fd_count;
	uint64_t generation;
	uint64_t names;		/* TABLE_OK */
	uint64_t octets;
	uint8_t passes[AUDIT_MAX_FILES]; /* AUDIT_FILES: one flag for each fd */
	uint8_t formats[AUDIT_MAX_FILES]; /* and its enum audit_format_number */
	char text[CONTROL_TEXT];
};

/*
 * Sends with fds (borrowed), without waiting.  0 or a negative errno: -EPIPE
 * or -ECONNRESET when the peer is gone, -EAGAIN when it does not read.
 */
int control_send(int socket, const struct control_message *message,
    const int *fds, size_t count) __attribute__((warn_unused_result));

/*
 * Receives; fds has room for AUDIT_MAX_FILES and becomes the caller's, in
 * message->fd_count.  0, -ECONNRESET when the peer is gone, -EPROTO for a
 * message of the wrong size or kind, -EAGAIN.
 */
int control_receive(int socket, struct control_message *message, int *fds)
    __attribute__((warn_unused_result));

#endif

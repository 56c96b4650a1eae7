/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Orders from the supervisor to the worker and their acknowledgements, over a
 * SOCK_SEQPACKET pair: one small fixed message each, file descriptors by
 * SCM_RIGHTS.
 */
#ifndef NFDNS_NFQ_HANDOVER_CONTROL_H
#define NFDNS_NFQ_HANDOVER_CONTROL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "resolver/dns/name.h"
#include "policy/audit/audit.h"

/* What "nfdns cache flush" asks of the daemon, as the worker is told (control.h). */

#define FLUSH_OCTETS	(1 + NAME_MAX_OCTETS)

struct flush {
	uint32_t number;
	bool below;		/* all names below it, too */
	struct dns_name name;	/* lower case */
};

/* The octets of a request.  Returns how many. */
size_t flush_write(const struct flush *flush, uint8_t out[static FLUSH_OCTETS]);

/* The same backwards, of any octets; the number stays.  0 or -EPROTO. */
int flush_parse(struct flush *flush, const uint8_t *octets, size_t length)
    __attribute__((warn_unused_result));

enum control_kind {
	CONTROL_READY,		/* worker: its threads run */
	CONTROL_GENERATION,	/* supervisor: generation_files.h */
	CONTROL_TABLE,		/* likewise: an image, all else stays as it is */
	CONTROL_GENERATION_OK,	/* worker: every answer from now on is from it */
	CONTROL_GENERATION_BAD,	/* worker: text says why, the old one stays */
	CONTROL_AUDIT_FILES,	/* supervisor: the audit files, reopened */
	CONTROL_AUDIT_FILES_OK,
	CONTROL_RULES,		/* supervisor: they are installed, the start is over */
	CONTROL_FLUSH,		/* supervisor: clients.c; its number is "generation" */
	CONTROL_FLUSHED,	/* worker: "names" answers, or CONTROL_NO_CACHE */
	CONTROL_TLS_WANTED,	/* worker: has no channel to nfdns-tls */
	CONTROL_TLS,		/* supervisor: one */
	CONTROL_STOP,		/* supervisor: answer the queue, flush, end */
	CONTROL_KINDS
};

#define CONTROL_TEXT 200
#define CONTROL_MAX_FDS (4 + AUDIT_MAX_FILES)
#define CONTROL_NO_CACHE UINT64_MAX

struct control_message {
	uint32_t kind;		/* enum control_kind */
	uint32_t fd_count;
	uint64_t caches;	/* GENERATION: 1 if a cache is among the files */
	uint64_t generation;
	uint64_t names;		/* READY, GENERATION_OK: of the table */
	uint64_t octets;
	uint32_t sinks;		/* GENERATION, AUDIT_FILES: how many, */
	uint32_t opened;	/* and bit i: the ith has a descriptor */
	char text[CONTROL_TEXT];
	uint32_t name_length;		/* FLUSH: of what flush_write() has written */
	uint8_t name[FLUSH_OCTETS];
};

/*
 * Sends with fds (borrowed), without waiting.  0 or a negative errno: -EPIPE
 * or -ECONNRESET when the peer is gone, -EAGAIN when it does not read.
 */
int control_send(int socket, const struct control_message *message,
    const int *fds, size_t count) __attribute__((warn_unused_result));

/*
 * Receives; fds has room for CONTROL_MAX_FDS and becomes the caller's, in
 * message->fd_count.  0, -ECONNRESET when the peer is gone, -EPROTO for a
 * message of the wrong size or kind, -EAGAIN.  -EMFILE: the message is right, but
 * its files have not come, for want of descriptors.
 */
int control_receive(int socket, struct control_message *message, int *fds)
    __attribute__((warn_unused_result));

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Questions to nameservers, all at once: whether they answer at all, whether nfdnsd
 * answers in their place (the canary), and what the answer to a message is.
 *
 * Root may ask as another user: rules see what they see of other programs.
 */
#ifndef NFDNS_NFQ_CLI_DOCTOR_ASK_H
#define NFDNS_NFQ_CLI_DOCTOR_ASK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "policy/config/resolv_conf.h"
#include "resolver/clock.h"

enum ask_result {
	ASK_SILENT,			/* nothing came in time */
	ASK_ANSWERED,			/* for the canary: by nfdnsd */
	ASK_PASSED,			/* the canary: the nameserver answered */
	ASK_REFUSED,			/* nobody listens there, or hung up */
	ASK_BLOCKED,			/* send(2): EPERM, a chain drops it */
	ASK_NO_ROUTE,			/* or no such address family */
	ASK_FAILED,			/* "error" says why */
};

struct ask {
	struct resolv_server server;
	uint16_t port;
	bool tcp;
	/*
	 * CHAOS TXT canary.nfdns, which nfdnsd answers; else the nameservers of
	 * the root, without recursion: every nameserver has some answer to it.
	 */
	bool canary;
	/*
	 * Or this message, which gets an id; its answer goes to ASK_ANSWER octets at
	 * "answer".  NULL: neither.  Both are the caller's.
	 */
	const uint8_t *message;
	size_t message_length;		/* ASK_MESSAGE at most */
	uint8_t *answer;
	size_t answer_length;		/* once it was answered */
	int64_t spent_us;		/* until it ended */
	uint32_t mark;			/* of the socket; 0: none */
	uid_t uid;			/* of the socket, if root asks; and ... */
	gid_t gid;
	enum ask_result result;
	int error;			/* errno of ASK_FAILED */
	uint8_t rcode;			/* of what answered */
	uint16_t source_port;		/* 0: it could not be had */
	/* The rest is ask_all()'s. */
	int fd;
	uint16_t id;
	monotime_t begun;
	size_t length;			/* octets of input, or at "answer" */
	uint8_t input[512 + 2];
	bool sent, done;
};

#define ASKS_MAX	256		/* at once */
#define ASK_MESSAGE	512
#define ASK_ANSWER	(2 + 65535)

/* Opens the sockets, so that their ports are known. */
void ask_open(struct ask *asks, size_t count);

/*
 * Sends all, UDP twice, waits for the answers at most so long, and closes the
 * sockets.
 */
void ask_all(struct ask *asks, size_t count, int timeout_ms);

/* What came of it, behind the nameserver's address. */
const char *ask_result_text(const struct ask *ask);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Questions that the doctor sends to nameservers, all at once: whether they
 * answer at all, and whether nfdnsd answers in their place (the canary).
 */
#ifndef NFDNS_NFQ_CLI_DOCTOR_ASK_H
#define NFDNS_NFQ_CLI_DOCTOR_ASK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "policy/config/resolv_conf.h"

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
	uint32_t mark;			/* of the socket; 0: none */
	enum ask_result result;
	int error;			/* errno of ASK_FAILED */
	uint8_t rcode;			/* of what answered */
	uint8_t source[16];		/* the address that it was sent from, */
	uint16_t source_port;		/* and port */
	bool has_source;
	/* The rest is ask_all()'s. */
	int fd;
	uint16_t id;
	size_t length;			/* octets of input */
	uint8_t input[512 + 2];
	bool sent, done;
};

/* Sends all, UDP twice, and waits for the answers at most so long. */
void ask_all(struct ask *asks, size_t count, int timeout_ms);

#endif

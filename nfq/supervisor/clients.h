/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Those who ask at run_dir/control (request.h).  Nobody is waited for: who sends no
 * line or takes no answer is dropped after CLIENT_MS.
 */
#ifndef NFDNS_NFQ_SUPERVISOR_CLIENTS_H
#define NFDNS_NFQ_SUPERVISOR_CLIENTS_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "nfq/process/request.h"
#include "nfq/supervisor/monitor.h"
#include "resolver/clock.h"

#define CLIENTS_MAX	16
#define CLIENTS_OTHERS	12	/* of these, at most: users but root, */
#define CLIENTS_USER	4	/* and one of them */
#define CLIENT_MS	2000
#define CLIENTS_FDS	(1 + CLIENTS_MAX)

struct client {
	int fd;				/* -1: none */
	uid_t uid;
	monotime_t deadline;		/* never: it waits for us */
	bool asked;			/* the line has come */
	struct daemon_request request;
	uint32_t number;		/* of the reload or flush that it waits for */
	/* What is still to be sent, a packet at a time. */
	char *err, *out;
	size_t err_length, out_length, err_sent, out_sent;
	bool ends;			/* and then: */
	int code;
	int fds[REQUEST_FDS];		/* descriptors of our own */
	size_t fd_count;
};

struct clients {
	int listener;			/* -1: closed */
	bool full;			/* no descriptor for another, until the tick */
	struct client list[CLIENTS_MAX];
	enum reload_wish wish;		/* of this step */
};

struct supervisor;

/* Start from this; nothing is open. */
void clients_init(struct clients *clients);

/* Listens in s's run_dir.  0 or a negative errno. */
int clients_open(struct supervisor *s) __attribute__((warn_unused_result));

/* Ends all; what somebody waits for is not to come. */
void clients_close(struct supervisor *s);

/* What to wait for; those without a descriptor are -1. */
void clients_poll(const struct clients *clients,
    struct pollfd fds[static CLIENTS_FDS]);

/*
 * After poll(2), with what clients_poll() filled in.  Returns the reload that is asked
 * for, which has to begin before any other.
 */
enum reload_wish clients_step(struct supervisor *s,
    const struct pollfd fds[static CLIENTS_FDS], monotime_t now)
    __attribute__((warn_unused_result));

/* Drops who is too late.  Call it often. */
void clients_tick(struct supervisor *s, monotime_t now);

/*
 * A reload is over, and the status page has counted it; s->reload.diag has what it
 * said.
 */
void clients_reloaded(struct supervisor *s, bool good);

/* The flush is over: so many answers were removed; UINT64_MAX: it failed. */
void clients_flushed(struct supervisor *s, uint32_t number, uint64_t removed);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Starts nfdns-tls: its parent's side, and what it is told. */
#ifndef NFDNS_NFQ_TLS_START_H
#define NFDNS_NFQ_TLS_START_H

#include <stdbool.h>
#include <sys/types.h>

/* Descriptors are open in the child under these numbers. */
struct tls_start {
	int channel;			/* message.h */
	int authorities;		/* a file of PEM text */
	pid_t parent;			/* it dies with it */
	uid_t uid;			/* if it is started as root: to be */
	gid_t gid;
};

/* program_open() of nfdns-tls. */
int tls_program_open(void) __attribute__((warn_unused_result));

/*
 * Forks and executes it.  Its process id, or a negative errno; the descriptors
 * stay the caller's.
 */
pid_t tls_start(int program, const struct tls_start *start)
    __attribute__((warn_unused_result));

/* In nfdns-tls: false if the arguments are not those of tls_start(). */
bool tls_start_read(struct tls_start *start, int argc, char **argv);

#endif

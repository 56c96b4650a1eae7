/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The names and users that ask most: a memory file of nfdnsd that "nfdns top"
 * maps.  Only root and the daemon's user are given it at the control socket,
 * since it holds names that users asked for.
 *
 * The answering threads count only while somebody watches: watching is a read
 * lock on the file, which ends with the process that holds it.  They count for
 * HITTERS_WINDOW_S seconds into one of two banks, then into the other one, so
 * the banks hold the last one to two windows.
 *
 * The worker writes all of it but the first members: a reader trusts nothing.
 */
#ifndef NFDNS_POLICY_STATUS_HITTERS_PAGE_H
#define NFDNS_POLICY_STATUS_HITTERS_PAGE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <netinet/in.h>
#include <sys/types.h>

#include "policy/decide.h"
#include "policy/status/hitters.h"
#include "resolver/clock.h"
#include "resolver/dns/question.h"

#define HITTERS_WINDOW_S	10

/* What is counted; of users, the key is the uid's octets. */
enum hitters_kind { HITTERS_NAMES, HITTERS_USERS, HITTERS_KINDS };

struct hitters_bank {
	_Atomic int64_t since;		/* the page's, when it was begun */
	_Atomic int64_t window;		/* its number; both differ: stale */
	struct hitters_table tables[HITTERS_KINDS];
};

/* Of one answering thread, which alone writes it. */
struct hitters_slot {
	struct hitters_bank banks[2];
};

struct hitters_page {
	_Atomic int64_t since;		/* somebody watches, since this moment
					 * (monotime_t); 0: nobody */
	uint64_t secret;
	uint32_t slots;
	struct hitters_slot slot[];
};

/* A process's mapping. */
struct hitters {
	struct hitters_page *page;	/* NULL: none */
	size_t size;
	int fd;				/* -1: none */
};

#define HITTERS_NONE ((struct hitters){ .page = NULL, .fd = -1 })

/*
 * Makes the file for the daemon.  Memory is taken as it is written.  0 or a
 * negative errno.
 */
int hitters_create(struct hitters *hitters, unsigned int slots)
    __attribute__((warn_unused_result));

/*
 * The supervisor calls it every second or so: whether somebody watches.  It
 * depends on nothing that the worker may have written.
 */
void hitters_look(const struct hitters *hitters, monotime_t now);

/*
 * Maps the daemon's file read-only and begins to watch, until hitters_close().
 * The fd is taken over.  0; -EPROTO if it is no such file; or a negative errno.
 */
int hitters_watch(struct hitters *hitters, int fd)
    __attribute__((warn_unused_result));
void hitters_close(struct hitters *hitters);

/*
 * For an answering thread, at the begin of a batch: where it counts, NULL if
 * nobody watches.
 */
struct hitters_bank *hitters_begin(struct hitters_page *page,
    unsigned int slot, monotime_t now);

/* Counts a question, if it is PLAIN its name, and who asks. */
void hitters_question(struct hitters_bank *bank, uint64_t secret,
    const struct question *question, const struct asker *asker);

/* A key with the bounds of how often it came. */
struct hitter {
	uint64_t least, most;
	struct dns_name name;		/* of HITTERS_NAMES */
	uid_t uid;			/* of HITTERS_USERS, */
	struct in6_addr client;		/* or, unless it is ::, a container: one of
					 * IPv4 is ::ffff:0:0/96 */
};

/* Owns "list": those that came most often for sure are first. */
struct hitters_list {
	struct hitter *list;
	size_t count;
	uint64_t total;			/* questions; up to 2^48 */
	uint64_t others;		/* who is not in the list: at most */
	int64_t covered_ns;		/* the time that this is of; 0: none yet */
};

/*
 * What all threads have counted in the last one to two windows, or since
 * somebody watches.  0 or -ENOMEM; free the list in both cases.
 */
int hitters_list_read(struct hitters_list *list, const struct hitters *hitters,
    enum hitters_kind kind, monotime_t now) __attribute__((warn_unused_result));
void hitters_list_free(struct hitters_list *list);

#endif

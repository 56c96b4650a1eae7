/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The names and users that ask most, for "nfdns top": the algorithm "space-saving"
 * (Metwally, Agrawal, El Abbadi: Efficient Computation of Frequent and Top-k Elements
 * in Data Streams, 2005) in fixed memory.  A new key takes the place of the one with
 * the smallest count, and goes on from that count, which is its error: a key that is
 * kept came at least "count - error" times.  Whoever invents keys cannot push out one
 * that comes more often than the smallest count.  To find a key in one cache line, the
 * table is divided into sets by a hash with a secret, so that nobody can aim at one.
 *
 * It is a memory file of nfdnsd.  Only root and the daemon's user are given it at the
 * control socket, since it holds names that users asked for.  The answering threads
 * count only while somebody watches: watching is a read lock on the file, which ends
 * with the process that holds it.  They count for HITTERS_WINDOW_S seconds into one of
 * two banks, then into the other one.
 *
 * One thread writes a table; others read it at the same time, and trust nothing.
 */
#ifndef NFDNS_POLICY_STATUS_HITTERS_H
#define NFDNS_POLICY_STATUS_HITTERS_H

#include <netinet/in.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "policy/decide.h"
#include "resolver/clock.h"
#include "resolver/dns/name.h"
#include "resolver/dns/question.h"

#define HITTERS_SETS	64UL		/* a power of two */
#define HITTERS_WAYS	8		/* keys of a set: hashes of a cache line */
#define HITTERS_WINDOW_S 10

/* What is counted; of users, the key is the uid's octets, or a container's address. */
enum hitters_kind { HITTERS_NAMES, HITTERS_USERS, HITTERS_KINDS };

struct hitters_table {
	_Alignas(64) _Atomic uint64_t hashes[HITTERS_SETS][HITTERS_WAYS];
	_Atomic uint64_t counts[HITTERS_SETS][HITTERS_WAYS];	/* 0: free */
	_Atomic uint64_t errors[HITTERS_SETS][HITTERS_WAYS];
	struct hitters_key {
		uint8_t length;
		uint8_t octets[NAME_MAX_OCTETS];
	} keys[HITTERS_SETS][HITTERS_WAYS];
};

struct hitters_bank {
	_Atomic int64_t since;		/* the page's, when it was begun */
	_Atomic int64_t window;		/* its number; both differ: stale */
	struct hitters_table tables[HITTERS_KINDS];
};

struct hitters_page {
	_Atomic int64_t since;		/* somebody watches, since this moment
					 * (monotime_t); 0: nobody */
	uint64_t secret;
	uint32_t slots;
	struct hitters_slot {		/* of an answering thread, which writes it */
		struct hitters_bank banks[2];
	} slot[];
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

/*
 * Counts a question, if it is PLAIN its name, and who asks.  No system call, no
 * allocation.
 */
void hitters_question(struct hitters_bank *bank, uint64_t secret,
    const struct question *question, const struct asker *asker);

struct hitter {
	uint64_t count;			/* at least */
	struct dns_name name;		/* of HITTERS_NAMES */
	uid_t uid;			/* of HITTERS_USERS, */
	struct in6_addr client;		/* or, unless it is ::, a container: one of
					 * IPv4 is ::ffff:0:0/96 */
};

/* Owns "list", the largest count first. */
struct hitters_list {
	struct hitter *list;
	size_t count;
	uint64_t total;			/* questions; up to 2^48 */
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

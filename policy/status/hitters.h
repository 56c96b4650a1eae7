/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which keys come most often, in fixed memory: the algorithm "space-saving"
 * (Metwally, Agrawal, El Abbadi: Efficient Computation of Frequent and Top-k
 * Elements in Data Streams, 2005).  A new key takes the place of the one with
 * the smallest count, and goes on from that count, which is its error.  For every
 * key that is kept,
 *
 *	count - error <= how often it came <= count,
 *
 * and one that is not kept came at most as often as the smallest count says.
 * This holds for any order of keys: whoever invents keys cannot push out one
 * that comes more often than the smallest count.
 *
 * To find a key in one cache line, the table is divided into sets, and a key's
 * hash says which is its set: each set is a table of its own for its keys.  The
 * hash takes a secret, so that nobody can aim at one set.
 *
 * One thread writes a table; others read it at the same time.
 */
#ifndef NFDNS_POLICY_STATUS_HITTERS_H
#define NFDNS_POLICY_STATUS_HITTERS_H

#include <netinet/in.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "resolver/dns/name.h"
#include "policy/decide.h"
#include "resolver/clock.h"
#include "resolver/dns/question.h"

#define HITTERS_SETS	64		/* a power of two */
#define HITTERS_WAYS	8		/* keys of a set: hashes of a cache line */
#define HITTERS_ROOM	((size_t)HITTERS_SETS * HITTERS_WAYS)
#define HITTERS_KEY	NAME_MAX_OCTETS

/* The octets of a place's key; "sequence" is odd while the place changes hands. */
struct hitters_key {
	_Atomic uint32_t sequence;
	uint8_t length;
	uint8_t octets[HITTERS_KEY];
};

struct hitters_table {
	_Alignas(64) _Atomic uint64_t hashes[HITTERS_SETS][HITTERS_WAYS];
	_Atomic uint64_t counts[HITTERS_SETS][HITTERS_WAYS];	/* 0: free */
	_Atomic uint64_t errors[HITTERS_SETS][HITTERS_WAYS];
	struct hitters_key keys[HITTERS_SETS][HITTERS_WAYS];
};

/* All zero: the empty table. */
void hitters_clear(struct hitters_table *table);

/* Counts a key of at most HITTERS_KEY octets.  No system call, no allocation. */
void hitters_count(struct hitters_table *table, uint64_t secret,
    const uint8_t *key, size_t length);

/* A place as it was at one moment. */
struct hitters_place {
	uint64_t hash;
	uint64_t count;
	uint64_t error;			/* at most count */
	uint8_t length;
	uint8_t octets[HITTERS_KEY];
};

/*
 * Copies one place; false if it is free, or if the writer is just changing it.
 * The memory may hold anything: then the copy has any key of at most HITTERS_KEY
 * octets, any count below 2^48 and an error of at most that.
 */
bool hitters_place_read(const struct hitters_table *table, unsigned int set,
    unsigned int way, struct hitters_place *place);

/* The smallest count of a set: that often each key came that it has not kept. */
uint64_t hitters_smallest(const struct hitters_table *table, unsigned int set);

static inline unsigned int
hitters_set(uint64_t hash)
{
	return (unsigned int)(hash % HITTERS_SETS);
}

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

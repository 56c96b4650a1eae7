/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rate limits: a token bucket for each key, in a table of fixed size that all
 * threads of the worker share without a lock.
 *
 * A bucket is one moment: when it will be full again (the "theoretical arrival
 * time" of the generic cell rate algorithm, ITU-T I.371).  A full bucket holds
 * nothing, so its place is free.  Keys are hashed with a secret: nobody can
 * choose keys that meet in one place of the table.
 *
 * If all places of a key's set are taken, the bucket that is nearest to full
 * gives way, which costs its key next to nothing; one user's keys take at most
 * half of a set from others, so a flood of names or addresses of one user lifts
 * nobody's limit.  Nothing is ever limited because the table is full.
 */
#ifndef NFDNS_POLICY_MATCH_RATE_H
#define NFDNS_POLICY_MATCH_RATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "policy/match/rules.h"
#include "resolver/clock.h"

struct rate_table;

/* Octets of the hash's secret: XXH3_SECRET_SIZE_MIN is 136. */
#define RATE_SECRET	192

/*
 * A table with room for 2^bits buckets of 16 octets, bits from 3 to 24.  NULL
 * for lack of memory.
 */
struct rate_table *rate_new(unsigned int bits,
    const uint8_t secret[static RATE_SECRET]);
void rate_free(struct rate_table *table);

/*
 * Takes a token for the question from the bucket that the rule has for it.
 * False: there is none, the question is over the limit.  asker->now is the time.
 * Buckets belong to the rule's name, so that they outlive a reload.  Over TCP
 * from an unknown user, "user" is the address.
 */
bool rate_take(struct rate_table *table, const struct rules_rule *rule,
    const struct rules_question *question);

/*
 * The same for an audit record that only the rule's "log" asks for: each rule
 * has 100 a second of them, 1,000 at once.  True if table is NULL.
 */
bool rate_take_record(struct rate_table *table, const struct rules_rule *rule,
    const struct rules_question *question);

/* How often a bucket gave way to another because its set was full. */
uint64_t rate_full(const struct rate_table *table);

#endif

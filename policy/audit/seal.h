/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Seals: each piece that a sink writes, a record or a note, is numbered, and
 * has a hash of its octets and of the hash before it.  "nfdns log verify" finds
 * what was changed, cut out or put in.  With the operator's key nobody without
 * it can make such hashes; without a key they show accidents, and the work of
 * those who do not know how they are made.
 */
#ifndef NFDNS_POLICY_AUDIT_SEAL_H
#define NFDNS_POLICY_AUDIT_SEAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "policy/audit/siphash.h"

/* "0000000000000001-0123456789abcdef": the number and the hash. */
#define AUDIT_SEAL_OCTETS 33
/* The same before audit_seal_put(). */
#define AUDIT_SEAL_BLANK "0000000000000000-0000000000000000"

struct audit_key {
	bool present;
	uint8_t octets[SIPHASH_KEY];
};

/* Room for a line of a key's file. */
#define AUDIT_KEY_TEXT (2 * SIPHASH_KEY + 3)

/*
 * The key of a text of 32 hexadecimal digits, which a line end may follow; false
 * if it is none.
 */
bool audit_key_from_text(struct audit_key *key, const char *text);

/* The last seal of a sink. */
struct audit_seal {
	uint64_t number;		/* of pieces, from 1; 0: none yet */
	uint64_t chain;			/* at the beginning the run's number */
};

/* Writes the next seal at octets[at], where there is room for it. */
void audit_seal_put(struct audit_seal *seal, const struct audit_key *key,
    char *octets, size_t length, size_t at);

/* Reads the text of a seal; false if it is none. */
bool audit_seal_read(struct audit_seal *seal, const char *text);

/*
 * The hash that a piece has after "before"; for that it writes over the hash in
 * octets[at].
 */
uint64_t audit_seal_chain(const struct audit_key *key, uint64_t before,
    char *octets, size_t length, size_t at);

#endif

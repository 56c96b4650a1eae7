/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The table in the kernel, by libnftnl: put in, changed and taken out as one
 * atomic batch.
 */
#ifndef NFDNS_RULES_KERNEL_H
#define NFDNS_RULES_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "resolver/text/diag.h"
#include "rules/ruleset.h"

struct rules_kernel;		/* owns the socket that owns the table */

/*
 * Opens the netlink socket.  -EPROTONOSUPPORT: this kernel has no nf_tables;
 * -EPERM: no CAP_NET_ADMIN.
 */
int rules_kernel_open(struct rules_kernel **kernel)
    __attribute__((warn_unused_result));

/*
 * As rules_kernel_open(), with the socket of a predecessor that died: its table
 * is taken for ours if it is there (rules_kernel_has_table()), so that the next
 * install only replaces what differs.  fd is taken over, also on failure.
 */
int rules_kernel_adopt(struct rules_kernel **kernel, int fd)
    __attribute__((warn_unused_result));
bool rules_kernel_has_table(const struct rules_kernel *kernel);

/* The socket, to be kept for a successor; it stays the object's. */
int rules_kernel_fd(const struct rules_kernel *kernel);

/* Why it could not be opened and what to do, in words. */
const char *rules_kernel_open_error(int error);

/*
 * Closes it.  The table is gone when no process has a copy of the socket any more;
 * it stays for a successor that has one.  NULL is allowed.
 */
void rules_kernel_close(struct rules_kernel *kernel);

/* What the kernel turned out to have. */
struct rules_features {
	bool native_queue;	/* "queue"; else the xt NFQUEUE target */
};

/*
 * Makes the kernel's table equal to set in one batch.  A first install replaces
 * a stale unowned table of a crashed run.  A later one replaces the rules of
 * chain "question" and the sets of addresses, and of the rest only what differs:
 * removing a base chain or a rule of chain "verdict" drops queued packets, and
 * the sets of connections hold what is open.  Falls back from the native queue
 * expression by itself.
 * Returns 0 and *features; or a negative errno, nothing changed, and one error
 * in diag that names the rule that the kernel did not take.
 */
int rules_kernel_install(struct rules_kernel *kernel, const struct ruleset *set,
    struct rules_features *features, struct diag *diag)
    __attribute__((warn_unused_result));

/*
 * Puts the first rule of chain "verdict" before those that are in it: by a set
 * of stage RULES_LEAVING, no question gets the zone from here on.  Nothing is
 * taken out, so no queued packet is dropped, nor by a later install of that set.
 */
int rules_kernel_leave_zone(struct rules_kernel *kernel,
    const struct ruleset *set) __attribute__((warn_unused_result));

/* Deletes the table.  0 also when there is none.  Drops what is queued. */
int rules_kernel_remove(struct rules_kernel *kernel)
    __attribute__((warn_unused_result));

/*
 * Sums of the rules' packet counters, each over all replacements of the rules
 * since open.  Packets that a rule counts in the moment between its reading and
 * its replacement are not in it: a sum can be too small by a few for each
 * install.
 */
int rules_kernel_counters(struct rules_kernel *kernel,
    uint64_t packets[static RULES_COUNTERS]) __attribute__((warn_unused_result));

/*
 * How many connections are in the sets for IPv4 and IPv6; both 0 if there are
 * none.  Where the kernel does not tell a set's size (before Linux 6.16) all
 * elements are counted, tens of milliseconds when they are many, unless "cheap":
 * -EOPNOTSUPP then.
 */
int rules_kernel_streams(struct rules_kernel *kernel, bool cheap,
    uint32_t counts[static 2]) __attribute__((warn_unused_result));

/*
 * Compares what the kernel has with what it had when the last change of ours was
 * in.  0 and *state, with every difference as an error in diag, in words ("chain
 * question: rule 3 \"bypass: user 998\" is missing"); or a negative errno: -EINTR
 * when other programs change the rules all the time.
 */
int rules_kernel_verify(struct rules_kernel *kernel, enum rules_state *state,
    struct diag *diag) __attribute__((warn_unused_result));

/* Whether there is a table of that name, whoever put it in. */
int rules_kernel_present(struct rules_kernel *kernel, bool *present)
    __attribute__((warn_unused_result));

/*
 * Whether the kernel's rules of a chain are those of set, put in by this process
 * or by a predecessor.  False also if they cannot be read.
 */
bool rules_kernel_has_chain(struct rules_kernel *kernel,
    const struct ruleset *set, enum rules_chain chain);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Other programs' chains that answers have to get through. */
#ifndef NFDNS_RULES_FIREWALL_H
#define NFDNS_RULES_FIREWALL_H

#include <stddef.h>

#define FIREWALL_CHAINS	16
#define FIREWALL_NAME	96

/* Base chains of nf_tables, in all tables but ours, that drop by default. */
struct firewall {
	size_t count;			/* may be more than are named */
	char chains[FIREWALL_CHAINS][FIREWALL_NAME];	/* "inet filter output" */
};

/*
 * Reads those at the hooks that an answer passes: input and output.  0; -EPERM
 * without CAP_NET_ADMIN; or another negative errno.
 */
int firewall_read(struct firewall *firewall) __attribute__((warn_unused_result));

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names that never lead off a machine, or should not: rules behind the
 * operator's, each with a switch.  A name that a table has is answered from the
 * table; and what lies in an entry of mesh.zones or in a domain of
 * forward.domains goes on as without these rules.
 */
#ifndef NFDNS_POLICY_CONFIG_POLICY_DEFAULTS_H
#define NFDNS_POLICY_CONFIG_POLICY_DEFAULTS_H

#include <stdbool.h>

struct config_load;

/* The options "policy_defaults.*"; the rules are named "default:" and this. */
struct policy_defaults {
	bool enabled;		/* without, none of the others counts */
	bool application_dns;	/* use-application-dns.net, NXDOMAIN */
	bool resolver_arpa;	/* resolver.arpa (RFC 9462), no records */
	bool localhost;		/* and its reverse: RFC 6761 section 6.3 */
	bool onion;		/* NXDOMAIN: RFC 7686 section 2 */
	bool invalid;		/* NXDOMAIN: RFC 6761 section 6.4 */
	bool test;		/* NXDOMAIN: RFC 6761 section 6.2 */
	bool wpad;		/* alone and with the search list, NXDOMAIN */
	bool private_reverse;	/* NXDOMAIN: RFC 6303 section 4, RFC 7793,
				 * RFC 8375 section 4, RFC 6762 section 22 */
};

/*
 * Appends the rules to the policy, after all options were read.  Errors go to
 * load->diag.
 */
void config_complete_defaults(const struct config_load *load);

#endif

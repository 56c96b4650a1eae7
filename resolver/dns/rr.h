/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Numbers of the DNS that several rooms of this shelf and the ones above use. */
#ifndef NFDNS_RESOLVER_DNS_RR_H
#define NFDNS_RESOLVER_DNS_RR_H

#include <stdint.h>

enum rr_class { CLASS_IN = 1, CLASS_CH = 3 };

/* IANA "Resource Record (RR) TYPEs" */
enum rr_type {
	TYPE_A = 1, TYPE_NS = 2, TYPE_CNAME = 5, TYPE_SOA = 6, TYPE_PTR = 12,
	TYPE_MX = 15, TYPE_TXT = 16, TYPE_SIG = 24, TYPE_AAAA = 28,
	TYPE_SRV = 33, TYPE_OPT = 41, TYPE_SVCB = 64, TYPE_HTTPS = 65,
	TYPE_RRSIG = 46, TYPE_NSEC = 47, TYPE_TSIG = 250, TYPE_IXFR = 251, TYPE_AXFR = 252, TYPE_ANY = 255,
};

/* IANA "DNS RCODEs"; BADVERS needs the OPT's upper eight bits. */
enum rcode {
	RCODE_NOERROR = 0, RCODE_FORMERR = 1, RCODE_SERVFAIL = 2,
	RCODE_NXDOMAIN = 3, RCODE_NOTIMP = 4, RCODE_REFUSED = 5,
	RCODE_YXDOMAIN = 6,
	RCODE_BADVERS = 16,
};

/* IANA "DNS EDNS0 Option Codes" and "Extended DNS Error Codes" (RFC 8914). */
enum edns_option {
	OPTION_SUBNET = 8, OPTION_COOKIE = 10, OPTION_KEEPALIVE = 11,
	OPTION_PADDING = 12, OPTION_EDE = 15,
};
enum extended_error {
	EDE_NONE = 0, EDE_STALE = 3, EDE_BLOCKED = 15, EDE_FILTERED = 17,
	EDE_PROHIBITED = 18, EDE_NO_REACHABLE_AUTHORITY = 22,
	EDE_NETWORK_ERROR = 23,
};

/*
 * Mnemonic of a type or rcode ("AAAA", "NXDOMAIN"), or "TYPE65280" / "RCODE23"
 * as RFC 3597 section 5 writes it, put into buf.  Returns a string that lives
 * as long as buf does.
 */
#define RR_TEXT_SIZE 16
const char *rr_type_text(uint16_t type, char buf[static RR_TEXT_SIZE]);
const char *rcode_text(uint16_t rcode, char buf[static RR_TEXT_SIZE]);

/* The reverse for types, any case, TYPE123 too.  0, or -EINVAL. */
int rr_type_from_text(uint16_t *type, const char *text);

#endif

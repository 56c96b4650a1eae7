/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Numbers of DNS messages and of their transport: RFC 1035 sections 4.1, 4.2. */
#ifndef NFDNS_RESOLVER_DNS_MESSAGE_H
#define NFDNS_RESOLVER_DNS_MESSAGE_H

#define DNS_PORT	53		/* UDP and TCP */

/* Bits of the header's second word. */
#define DNS_FLAG_QR	0x8000		/* a response */
#define DNS_RCODE_MASK	0x000f

#endif

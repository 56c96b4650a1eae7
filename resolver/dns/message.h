/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Numbers of DNS messages and of their transport: RFC 1035 sections 4.1, 4.2. */
#ifndef NFDNS_RESOLVER_DNS_MESSAGE_H
#define NFDNS_RESOLVER_DNS_MESSAGE_H

#define DNS_HEADER	12		/* octets */
#define DNS_PORT	53		/* UDP and TCP */

/* Bits of the header's second word. */
#define DNS_FLAG_QR	0x8000		/* a response */
#define DNS_FLAG_AA	0x0400		/* authoritative */
#define DNS_FLAG_TC	0x0200		/* truncated */
#define DNS_FLAG_RD	0x0100		/* recursion desired */
#define DNS_FLAG_RA	0x0080		/* recursion available */
#define DNS_FLAG_AD	0x0020		/* RFC 4035 section 3.2.3 */
#define DNS_FLAG_CD	0x0010		/* checking disabled, there too */
#define DNS_RCODE_MASK	0x000f

#endif

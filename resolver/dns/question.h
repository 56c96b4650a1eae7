/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One DNS message from a client, reduced to the value that everybody after
 * the parser looks at.  Nobody else reads the client's octets.
 */
#ifndef NFDNS_RESOLVER_DNS_QUESTION_H
#define NFDNS_RESOLVER_DNS_QUESTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "resolver/dns/name.h"

/* What kind of message it is; the table answers only the first two. */
enum question_form {
	QUESTION_PLAIN,		/* one question, class IN, opcode QUERY */
	QUESTION_CHAOS,		/* the same in class CH (RFC 4892) */
	QUESTION_MANY,		/* QDCOUNT > 1 (RFC 9619 section 4) */
	QUESTION_TWO_OPT,	/* more than one OPT (RFC 6891 section 6.1.1) */
	QUESTION_RESPONSE,	/* QR = 1 */
	QUESTION_OPCODE,	/* opcode other than QUERY */
	QUESTION_NONE,		/* QDCOUNT = 0 */
	QUESTION_CLASS,		/* class other than IN and CH */
	QUESTION_SIGNED,	/* TSIG (RFC 8945) or SIG(0) (RFC 2931) present */
	QUESTION_MALFORMED,	/* does not parse, or costs too much to parse */
	QUESTION_FORMS
};

#define QUESTION_QR	0x8000	/* of the flags: a response */
#define QUESTION_RD	0x0100	/* recursion desired */

struct edns {
	bool present;		/* false: the others are zero */
	bool dnssec_ok;		/* the DO bit, RFC 3225 */
	bool keepalive;		/* option edns-tcp-keepalive, RFC 7828 */
	bool padding;		/* option Padding, RFC 7830 */
	uint8_t version;
	uint16_t udp_size;	/* as sent; RFC 6891 6.2.3 floor not applied */
};

/*
 * A value, but for "wire", which borrows the question section (name, type and
 * class, exactly as sent) from the message.
 *
 * Of a message with a question that some nameserver might find, whatever its form
 * and whatever stands behind the question, name, type and class are those of the
 * first one: "readable".  Policies judge it by them.  Of others only form, id and
 * flags mean anything; of a MALFORMED one not even these, since it may have no
 * header.
 *
 * An answer can echo the question if wire_length is not 0: for readable ones but
 * for MANY, RESPONSE and names with compression pointers.
 * For forms other than PLAIN and CHAOS edns.present is false: there is no telling
 * which OPT counts, or whether one does; then its other members mean nothing.
 */
struct question {
	enum question_form form;
	uint16_t id;
	uint16_t flags;		/* the second word of the header, as sent */
	uint16_t type;
	uint16_t class;
	bool readable;
	struct edns edns;
	const uint8_t *wire;
	size_t wire_length;
	struct dns_name name;	/* lower-cased; last, since most of it is unused */
};

/*
 * Parses a whole UDP payload.  Any octets are allowed; the outcome is in
 * q->form.  All counted records of all sections must lie within the message;
 * octets behind the last one are ignored.  A question whose name has compression
 * pointers is MALFORMED (there is nothing before it to point to), but readable:
 * dnsmasq follows pointers to anywhere in the message.  In later owner names they
 * may only point backwards.  An OPT outside the additional section, with an
 * owner other than the root, or (version 0) whose options overrun it, is
 * MALFORMED, and so is a TSIG that is not the last record.  Two OPTs in class
 * CH are QUESTION_CLASS: only class IN is ours to correct.
 *
 * What a message may cost is bounded.  One with more records, or with more labels
 * and pointers in their owners, than any question has use for (over 16 records
 * behind a usual name) is MALFORMED as soon as that is seen.  Of very many EDNS
 * options (over 30) the last are not looked at.
 */
void question_parse(struct question *q, const uint8_t *message, size_t length);

#endif

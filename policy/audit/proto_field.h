/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Fields of a protocol buffer, read in place from octets that may be anything. */
#ifndef NFDNS_POLICY_AUDIT_PROTO_FIELD_H
#define NFDNS_POLICY_AUDIT_PROTO_FIELD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct proto_field {
	uint64_t number;
	uint64_t value;			/* of a number; 0: it has octets */
	const uint8_t *octets;		/* NULL: it is a number */
	size_t length;
};

/* Reads the field at *at and moves behind it; false: no field is there. */
bool proto_field_next(struct proto_field *field, const uint8_t **at,
    const uint8_t *end);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What "nfdns cache flush" asks of the daemon, as the worker is told (control.h). */
#ifndef NFDNS_NFQ_HANDOVER_FLUSH_H
#define NFDNS_NFQ_HANDOVER_FLUSH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "resolver/dns/name.h"

#define FLUSH_OCTETS	(1 + NAME_MAX_OCTETS)

struct flush {
	uint32_t number;
	bool below;		/* all names below it, too */
	struct dns_name name;	/* lower case */
};

/* The octets of a request.  Returns how many. */
size_t flush_write(const struct flush *flush, uint8_t out[static FLUSH_OCTETS]);

/* The same backwards, of any octets; the number stays.  0 or -EPROTO. */
int flush_parse(struct flush *flush, const uint8_t *octets, size_t length)
    __attribute__((warn_unused_result));

#endif

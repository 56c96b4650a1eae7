/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names as people write them, in any script.  Only what reads configurations,
 * sources and arguments uses it: questions have A-labels already (RFC 5890
 * section 2.3.2.1).
 */
#ifndef NFDNS_RESOLVER_IDN_H
#define NFDNS_RESOLVER_IDN_H

#include <stddef.h>

#include "resolver/dns/name.h"

/* What to say of a name for which idn_name_from_text() returns -EILSEQ. */
#define IDN_REFUSED "is neither ASCII nor a name that IDNA2008 allows in UTF-8"

/*
 * As name_from_text(), which it is for ASCII.  A label with other octets is
 * UTF-8 and becomes its A-label, by UTS #46 without transitional processing
 * (RFC 5891 section 5); such a label has no escapes.  Returns also -EILSEQ: a
 * label is no UTF-8, or one that IDNA does not allow; and -ENOMEM.
 */
int idn_name_from_text(struct dns_name *name, const char *text, size_t length)
    __attribute__((warn_unused_result));

#endif

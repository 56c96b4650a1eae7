/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef NFDNS_RESOLVER_DNS_REVERSE_H
#define NFDNS_RESOLVER_DNS_REVERSE_H

#include <stdint.h>

#include "resolver/dns/name.h"

/*
 * The name under in-addr.arpa (4 octets: RFC 1035 section 3.5) or ip6.arpa
 * (16 octets: RFC 3596 section 2.5) of an address.
 */
void reverse_name(struct dns_name *name, const uint8_t *address,
    uint8_t length);

#endif

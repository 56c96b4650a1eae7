/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Nameservers as people write them in forward.domains[].upstreams. */
#ifndef NFDNS_POLICY_CONFIG_UPSTREAM_TEXT_H
#define NFDNS_POLICY_CONFIG_UPSTREAM_TEXT_H

#include <stdbool.h>

#include "policy/config/forward_settings.h"

#define UPSTREAM_TLS_PORT	853	/* RFC 7858 section 3.1 */

/*
 * ADDRESS, ADDRESS@PORT, udp://ADDRESS, tcp://ADDRESS@PORT and
 * tls://ADDRESS@PORT#NAME, where NAME is whom the certificate is for (RFC 8310
 * section 8.1); IPv6 with or without brackets, link-local with %INTERFACE.
 * True: it is one; *why is NULL, or says what the machine lacks to ask it.
 * False: it is none; *why is a text that says so, or NULL if the allowed forms
 * say enough.
 */
bool upstream_from_text(struct forward_upstream *upstream, const char *text,
    const char **why);

#endif

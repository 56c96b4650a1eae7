/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds CNAMEs that no answer may contain: loops, chains longer than
 * LOOKUP_MAX_CHAIN, several CNAMEs of one name, and a CNAME beside other data
 * (RFC 1034 section 3.6.2).
 */
#ifndef NFDNS_RESOLVER_COMPILE_CNAME_CHECK_H
#define NFDNS_RESOLVER_COMPILE_CNAME_CHECK_H

#include "resolver/image/builder.h"
#include "resolver/text/diag.h"

/*
 * Checks the image that b has just written to image_fd, with the lookups that
 * answer questions, and drops faulty CNAMEs from b, with a warning in diag for
 * each.  Returns how many there were, or a negative errno.  If there were any,
 * the caller writes the image again.
 */
int cname_check_drop_faulty(struct builder *b, int image_fd, struct diag *diag)
    __attribute__((warn_unused_result));

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * CNAMEs that could never be answered with: those that lead in a circle or
 * through more than LOOKUP_MAX_CHAIN others, those that are several, and
 * those beside other data (RFC 1034 section 3.6.2).
 */
#ifndef NFDNS_RESOLVER_COMPILE_CNAME_CHECK_H
#define NFDNS_RESOLVER_COMPILE_CNAME_CHECK_H

#include "resolver/image/builder.h"
#include "resolver/text/diag.h"

/*
 * Looks for them in the image that b has just written to image_fd, by the very
 * lookups that answer questions, and takes them out of b, each with a warning
 * in diag.  Returns how many were found, so that the image is to be written
 * again, or a negative errno.
 */
int cname_check_drop_faulty(struct builder *b, int image_fd, struct diag *diag)
    __attribute__((warn_unused_result));

#endif

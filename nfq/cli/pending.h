/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tables that nfdns-feed holds back (nfq/feed/keep.h), and their confirmation. */
#ifndef NFDNS_NFQ_CLI_PENDING_H
#define NFDNS_NFQ_CLI_PENDING_H

#include "policy/config/config.h"

/*
 * Makes each table that is held back for a feed of config the one in use, and
 * says so.  The directory is another user's: nothing in it is read or followed.
 */
void pending_use(const struct config *config);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Units of systemd, through systemctl(1). */
#ifndef NFDNS_NFQ_CLI_JOIN_UNITS_H
#define NFDNS_NFQ_CLI_JOIN_UNITS_H

#include <stdbool.h>

#define UNITS_RENEW	"nfdns-feed-renew.path"
#define UNITS_DAEMON	"nfdnsd.service"

/* Whether systemd runs this machine (sd_booted(3)). */
bool units_are_there(void);

/*
 * Runs "systemctl VERB UNIT...", the words ending with NULL, and waits for its
 * end.  Its messages go to stderr, unless "quiet".  Its exit status; or a
 * negative errno if it could not be run, and -EINTR if a signal ended it.
 */
int units_call(bool quiet, const char *const *words);

bool units_are_enabled(const char *unit);

#endif

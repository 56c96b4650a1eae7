/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Signals to the running daemon. */
#ifndef NFDNS_NFQ_CLI_DAEMON_SIGNAL_H
#define NFDNS_NFQ_CLI_DAEMON_SIGNAL_H

#include "policy/status/status.h"

/*
 * Sends a signal with a value (sigqueue(3)), or without if it is NULL, to the
 * daemon of that status page.  An unprivileged user owns the page and we may be
 * root, so the page alone does not say which process to signal: that process must
 * also hold the lock of run_dir.
 * 0; or a negative errno, after a message that begins with "command: ", without one
 * if that is NULL.
 */
int daemon_signal(const struct status_page *page, const char *run_dir,
    const char *command, int number, const int *value)
    __attribute__((warn_unused_result));

#endif

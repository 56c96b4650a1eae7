/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef NFDNS_NFQ_CLI_CACHE_FLUSH_H
#define NFDNS_NFQ_CLI_CACHE_FLUSH_H

#include "policy/config/config.h"

/* "nfdns cache flush" with its words, those behind "flush".  An exit code. */
int cache_flush_running(const struct config *config, int argc, char **argv);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef NFDNS_NFQ_CLI_TABLE_H
#define NFDNS_NFQ_CLI_TABLE_H

#include "resolver/image/mesh.h"

/*
 * "nfdns table compile|list|get|diff": over mesh's sources, over images that
 * -i names, and over the running daemon's table, which is the file "running"
 * (used with --running only).  Returns the exit code (README "Exit codes").
 */
int cmd_table(const struct mesh *mesh, int running, int argc, char **argv);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef NFDNS_RESOLVER_CMD_TABLE_H
#define NFDNS_RESOLVER_CMD_TABLE_H

#include "resolver/mesh.h"

/*
 * "nfdns table compile|list|get": over mesh's sources, or over an image that
 * -i names.  Returns the exit code (README "Exit codes").
 */
int cmd_table(const struct mesh *mesh, int argc, char **argv);

#endif

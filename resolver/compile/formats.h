/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The table of all formats that a mesh table can come from.  A new format is
 * a reader in resolver/sources and one row in formats.c.
 */
#ifndef NFDNS_RESOLVER_COMPILE_FORMATS_H
#define NFDNS_RESOLVER_COMPILE_FORMATS_H

#include "resolver/sources/source_format.h"

/* The format of that name, a static value; NULL if there is none. */
const struct source_format *formats_find(const char *name);

/* The names of all formats, for messages: "nds, hosts".  A static text. */
const char *formats_names(void);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The text of the configuration file before and beside libconfig's parser. */
#ifndef NFDNS_POLICY_CONFIG_SYNTAX_H
#define NFDNS_POLICY_CONFIG_SYNTAX_H

#include <stdbool.h>
#include <stddef.h>

#include "resolver/text/diag.h"

/*
 * What libconfig would not refuse: NUL octets, behind which it would not look;
 * strings and comments without an end, which swallow the settings in them; and
 * @include, which would let lines come from elsewhere.  The first is an error
 * in diag; returns whether there is none.
 */
bool config_syntax_check(const char *path, const char *text, size_t length,
    struct diag *diag);

/*
 * Adds the error that a text which config_syntax_check() accepts, and libconfig
 * refuses with these words in this line, should be reported as: the group or
 * list that is not closed, the bracket that closes nothing, else libconfig's
 * words.  text ends with a NUL.
 */
void config_syntax_explain(const char *path, const char *text,
    unsigned int line, const char *why, struct diag *diag);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The compiler process: short-lived, without privilege.  Hostile or broken
 * sources can only fail in it, and then nothing has changed.
 */
#ifndef NFDNS_NFQ_COMPILER_H
#define NFDNS_NFQ_COMPILER_H

#include "policy/config.h"
#include "resolver/diag.h"

/*
 * Opens config's sources, compiles them in a child and returns the fd of a
 * sealed memory file with the image; or a negative errno with at least one
 * error in diag (also when the child was killed, ran out of time or memory).
 */
int compiler_run(const struct config *config, struct diag *diag)
    __attribute__((warn_unused_result));

/* The image of a table that was never loaded (compile_unloaded()). */
int compiler_unloaded(const struct config *config)
    __attribute__((warn_unused_result));

#endif

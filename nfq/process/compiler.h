/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The compiler process: short-lived, without privilege, and with nothing in its
 * memory but the work, since the program executes itself anew to become it.
 * Hostile or broken sources can only fail in it, and then nothing has changed.
 */
#ifndef NFDNS_NFQ_PROCESS_COMPILER_H
#define NFDNS_NFQ_PROCESS_COMPILER_H

#include <stdbool.h>

#include "policy/config/config.h"
#include "resolver/text/diag.h"

/*
 * First of all in the main() of each program that calls what follows: returns,
 * unless the program was executed to be the compiler.
 */
void compiler_enter(int argc, char **argv);

/*
 * Opens config's sources, compiles them in a child and returns the fd of a
 * sealed memory file with the image; or a negative errno with at least one
 * error in diag (also when the child was killed, ran out of time or memory).
 */
int compiler_run(const struct config *config, struct diag *diag)
    __attribute__((warn_unused_result));

/*
 * The same in steps, for who must not wait: start; whenever compiler_fd() is
 * readable, compiler_read() until it says false; then compiler_finish().
 */
struct compiler;		/* owns the child, its pipe and the memory file */

/* 0 and *compiler, or a negative errno with an error in diag. */
int compiler_start(struct compiler **compiler, const struct config *config,
    struct diag *diag) __attribute__((warn_unused_result));

/* For poll(2). */
int compiler_fd(const struct compiler *compiler);

/* Takes in what the child has to say.  False: it has ended, or gone wrong. */
bool compiler_read(struct compiler *compiler, struct diag *diag);

/*
 * Kills the child if it has taken longer than it may by the clock, since a
 * limit on CPU time does not end one that waits for a file system.  Call now
 * and then; the end shows at compiler_fd().
 */
void compiler_check_time(struct compiler *compiler);

/* Reaps the child and frees compiler.  The fd, or as compiler_run(). */
int compiler_finish(struct compiler *compiler, struct diag *diag)
    __attribute__((warn_unused_result));

/* Ends the child wherever it is and frees compiler; NULL is allowed. */
void compiler_cancel(struct compiler *compiler);

/*
 * The image of a table that was never loaded (compile_unloaded()): an fd or a
 * negative errno.
 */
int compiler_unloaded(const struct config *config)
    __attribute__((warn_unused_result));

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The compiler process makes a table image from the configuration's sources.
 * It is a short-lived fork that has dropped everything but the job: privileges,
 * descriptors, memory that others share, most system calls.  A hostile or broken
 * source can only make this process fail; then nothing changes.
 *
 * The daemon and every command compile this way.  The calling process opens
 * the sources, with its own rights, so that a file that only root may read can
 * be a source, and passes the descriptors; it reads none of their contents.
 * The compiler cannot open any file.
 *
 * This room holds what all processes share: fork and sandbox, the compiler
 * process, printing, the service manager's protocol.  It knows nothing of
 * packets, queues or rules.
 */
#ifndef NFDNS_NFQ_PROCESS_COMPILER_H
#define NFDNS_NFQ_PROCESS_COMPILER_H

#include <stdbool.h>

#include "policy/config/config.h"
#include "resolver/text/diag.h"

/*
 * Opens config's sources and compiles them in a child.  Returns the fd of a
 * sealed memory file with the image, the caller's; or a negative errno with at
 * least one error in diag (also if the child was killed or ran out of time or
 * memory).
 */
int compiler_run(const struct config *config, struct diag *diag)
    __attribute__((warn_unused_result));

/* The files that rules name: lists and zones of policies. */
enum compiler_lists {
	COMPILER_LISTS_ALL,	/* what is wrong with one is an error */
	COMPILER_LISTS_SOUND,	/* one that cannot be used is left out, and not told */
	COMPILER_LISTS_NONE,	/* no file is read: all are left out */
};

/*
 * The same in steps, for an event loop: compiler_start(); compiler_read()
 * whenever compiler_fd() is readable, until it returns false; then
 * compiler_finish(), or compiler_image() and compiler_cancel().
 */
struct compiler;		/* owns the child, its pipe and the memory file */

/*
 * 0 and *compiler, or a negative errno with an error in diag.  Borrows config until
 * compiler_finish() or compiler_cancel().
 */
int compiler_start(struct compiler **compiler, const struct config *config,
    enum compiler_lists lists, struct diag *diag)
    __attribute__((warn_unused_result));

/* For poll(2). */
int compiler_fd(const struct compiler *compiler);

/* Reads the child's messages.  False: it is done, ended or broke the protocol. */
bool compiler_read(struct compiler *compiler, struct diag *diag);

/*
 * Kills the child after five minutes: the limit on CPU time does not end a
 * process that waits for a file system.  Call it about once a second;
 * compiler_fd() becomes readable when the child ends.
 */
void compiler_check_time(struct compiler *compiler);

/*
 * The image, as compiler_run() returns it, which nobody can change any more.  The
 * child may still be ending: compiler_cancel() may come much later.
 */
int compiler_image(struct compiler *compiler, struct diag *diag)
    __attribute__((warn_unused_result));

/* The same at once: reaps the child and frees compiler. */
int compiler_finish(struct compiler *compiler, struct diag *diag)
    __attribute__((warn_unused_result));

/* Kills the child and frees compiler; NULL is allowed. */
void compiler_cancel(struct compiler *compiler);

/*
 * An image without names, but with the policy's rules, for a daemon whose first
 * table has not loaded (compile_unloaded()).  An fd, or a negative errno, with
 * an error in diag if the rules are why.
 */
int compiler_unloaded(const struct config *config, enum compiler_lists lists,
    struct diag *diag) __attribute__((warn_unused_result));

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Programs of ours that nfdnsd executes, to do what a fork of itself should not:
 * the new one has nothing of the supervisor's memory.
 */
#ifndef NFDNS_NFQ_PROCESS_PROGRAM_H
#define NFDNS_NFQ_PROCESS_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define PROGRAM_VALUES	8	/* numbers that one can be told, at most */

/*
 * The program of that name: beside the one that runs, or where "make install" puts
 * it.  Opened once, at the start, so that an upgrade does not bring a program that
 * this one does not understand.  A descriptor (O_PATH) or a negative errno.
 */
int program_open(const char *name) __attribute__((warn_unused_result));

/*
 * Forks and executes it.  "values" are numbers for program_values(), none
 * negative; the first "files" of them are descriptors that stay open in it, under
 * the same numbers.  Its process id, or a negative errno; the descriptors stay
 * the caller's.
 */
pid_t program_start(int program, const char *name, const uint32_t *values,
    size_t count, size_t files) __attribute__((warn_unused_result));

/* In the program: false if the arguments are not those of program_start(). */
bool program_values(int argc, char **argv, uint32_t *values, size_t count);

#endif

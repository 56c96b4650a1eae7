/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Programs of the machine that the doctor runs: tar, journalctl, getent ... */
#ifndef NFDNS_NFQ_CLI_DOCTOR_PROGRAM_H
#define NFDNS_NFQ_CLI_DOCTOR_PROGRAM_H

/*
 * Runs a program (words end with NULL), its standard output to "output", its
 * errors to /dev/null if "quiet".  It is killed after so long; -1: never.
 * Its exit status; -ETIMEDOUT; -ENOENT if it is not there; or another negative
 * errno.
 */
int program_run(const char *const *words, int output, int quiet,
    int timeout_ms) __attribute__((warn_unused_result));

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is written to standard output and error between begin and end. */
#ifndef NFDNS_TESTS_CAPTURED_H
#define NFDNS_TESTS_CAPTURED_H

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/check.h"

struct captured {
	char out[8192], err[8192];	/* more is cut off */
	int saved[2], files[2];
};

static inline void
captured_begin(struct captured *c)
{
	(void)fflush(stdout);
	for (int i = 0; i < 2; i++) {
		c->saved[i] = dup(STDOUT_FILENO + i);
		c->files[i] = memfd_create("captured", MFD_CLOEXEC);
		CHECK(dup2(c->files[i], STDOUT_FILENO + i) >= 0);
	}
}

static inline void
captured_end(struct captured *c)
{
	char *const texts[] = { c->out, c->err };

	(void)fflush(stdout);
	for (int i = 0; i < 2; i++) {
		ssize_t n;

		CHECK(dup2(c->saved[i], STDOUT_FILENO + i) >= 0);
		n = pread(c->files[i], texts[i], sizeof(c->out) - 1, 0);
		CHECK(n >= 0);
		texts[i][n > 0 ? n : 0] = '\0';
		(void)close(c->files[i]);
		(void)close(c->saved[i]);
	}
}

#endif

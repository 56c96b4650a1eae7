/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a unit test program needs: CHECK() in functions that main() calls by
 * TEST(), and "return test_summary();" at its end.  Prints one line a test in
 * the form that tests/run reads.
 */
#ifndef NFDNS_TESTS_CHECK_H
#define NFDNS_TESTS_CHECK_H

#include <stdio.h>

static int test_failures, test_failed_here;

#define CHECK(condition) do {						\
	if (!(condition)) {						\
		printf("  %s:%d: not true: %s\n", __FILE__, __LINE__,	\
		    #condition);					\
		test_failed_here = 1;					\
	}								\
} while (0)

#define TEST(function) do {						\
	test_failed_here = 0;						\
	function();							\
	printf("%s %s\n", test_failed_here ? "FAIL" : "PASS", #function); \
	test_failures += test_failed_here;				\
} while (0)

static inline int
test_summary(void)
{
	return test_failures != 0;
}

#endif

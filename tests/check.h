/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a unit test program needs: TEST(name) { ... } with CHECK() in it.  All of a
 * file run, in their order; main() is that of tests/main.c, unless the file has
 * something to do before or after test_run().  Prints one line a test in the form
 * that tests/run reads.
 */
#ifndef NFDNS_TESTS_CHECK_H
#define NFDNS_TESTS_CHECK_H

#include <stdio.h>

struct test {
	const char *name;
	void (*function)(void);
	struct test *next;
};

static struct test *test_first, **test_end = &test_first;
static int test_failures, test_failed_here;
static const char *test_skipped_here;	/* why, set by a test that cannot run */

#define CHECK(condition) do {						\
	if (!(condition)) {						\
		printf("  %s:%d: not true: %s\n", __FILE__, __LINE__,	\
		    #condition);					\
		test_failed_here = 1;					\
	}								\
} while (0)

#define TEST(function)							\
	static void function(void);					\
	__attribute__((constructor)) static void			\
	add_##function(void)						\
	{								\
		static struct test test = { #function, function, NULL }; \
									\
		*test_end = &test;					\
		test_end = &test.next;					\
	}								\
	static void							\
	function(void)

/* Whether one failed, so far. */
static inline int
test_summary(void)
{
	return test_failures != 0;
}

int test_run(void);

/* Runs them all; what main() returns. */
__attribute__((weak)) int
test_run(void)
{
	for (const struct test *t = test_first; t != NULL; t = t->next) {
		test_failed_here = 0;
		test_skipped_here = NULL;
		t->function();
		if (test_skipped_here != NULL)
			printf("SKIP %s: %s\n", t->name, test_skipped_here);
		else
			printf("%s %s\n", test_failed_here ? "FAIL" : "PASS",
			    t->name);
		test_failures += test_failed_here;
	}
	return test_summary();
}

#endif

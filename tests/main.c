/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The main() of unit tests that have none of their own. */
#include <stdio.h>

__attribute__((weak)) int test_run(void);

__attribute__((weak)) int
main(void)
{
	(void)setvbuf(stdout, NULL, _IOLBF, 0);
	return test_run();
}

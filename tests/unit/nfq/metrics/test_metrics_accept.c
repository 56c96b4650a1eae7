/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/metrics/accept.h"

#include <stddef.h>

#include "tests/check.h"

#define OPEN	"application/openmetrics-text"

static void
plain_text_unless_the_other_is_named(void)
{
	CHECK(metrics_accept(NULL) == METRICS_TEXT);
	CHECK(metrics_accept("") == METRICS_TEXT);
	CHECK(metrics_accept("*/*") == METRICS_TEXT);
	CHECK(metrics_accept("application/*") == METRICS_TEXT);
	CHECK(metrics_accept("text/html, x") == METRICS_TEXT);
	CHECK(metrics_accept(OPEN) == METRICS_OPEN);
	CHECK(metrics_accept("APPLICATION/OpenMetrics-Text") == METRICS_OPEN);
	CHECK(metrics_accept("text/html," OPEN) == METRICS_OPEN);
	CHECK(metrics_accept(OPEN "x") == METRICS_TEXT);
}

static void
weights_decide(void)
{
	CHECK(metrics_accept(OPEN ";q=0.5,text/plain;q=0.3") == METRICS_OPEN);
	CHECK(metrics_accept(OPEN ";q=0.3,text/plain;q=0.5") == METRICS_TEXT);
	CHECK(metrics_accept(OPEN ",text/plain") == METRICS_OPEN);
	CHECK(metrics_accept(OPEN ";q=0") == METRICS_TEXT);
	CHECK(metrics_accept(OPEN ";q=0.000") == METRICS_TEXT);
	CHECK(metrics_accept(OPEN ";q=0.001") == METRICS_OPEN);
	CHECK(metrics_accept(OPEN " ; Q=1.0 ,text/plain;q=1") == METRICS_OPEN);
	/* What is no weight counts as 0. */
	CHECK(metrics_accept(OPEN ";q=") == METRICS_TEXT);
	CHECK(metrics_accept(OPEN ";q=2") == METRICS_TEXT);
	CHECK(metrics_accept(OPEN ";q=1.001") == METRICS_TEXT);
	CHECK(metrics_accept(OPEN ";q=0.0001") == METRICS_TEXT);
	CHECK(metrics_accept(OPEN ";q=0,5") == METRICS_TEXT);
}

static void
the_version_has_to_be_ours(void)
{
	CHECK(metrics_accept(OPEN ";version=1.0.0") == METRICS_OPEN);
	CHECK(metrics_accept(OPEN "; version=\"1.0.0\"") == METRICS_OPEN);
	CHECK(metrics_accept(OPEN ";version=0.0.1") == METRICS_TEXT);
	CHECK(metrics_accept(OPEN ";version=0.0.1," OPEN ";version=1.0.0;q=0.1")
	    == METRICS_OPEN);
	CHECK(metrics_accept(OPEN ";version=1.0.0;escaping=allow-utf-8;q=0.6,"
	    "text/plain;version=0.0.4;q=0.3,*/*;q=0.1") == METRICS_OPEN);
}

int
main(void)
{
	TEST(plain_text_unless_the_other_is_named);
	TEST(weights_decide);
	TEST(the_version_has_to_be_ours);
	return test_summary();
}

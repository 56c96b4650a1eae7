/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Percentiles of the status page's histogram, and numbers as texts. */
#ifndef NFDNS_NFQ_CLI_TOP_LATENCY_H
#define NFDNS_NFQ_CLI_TOP_LATENCY_H

#include <stdint.h>

#include "policy/status/status.h"

/* No question was measured. */
#define LATENCY_NONE	STATUS_SPENT

/*
 * The first bucket up to which at least so many of 1000 questions were
 * answered; LATENCY_NONE if there are none.
 */
unsigned int latency_bucket(const uint64_t counts[static STATUS_SPENT],
    unsigned int permille);

/* What is shown of the histogram. */
#define LATENCIES	4U
extern const struct latency {
	const char *title;		/* "p99" */
	unsigned int permille;
} latencies[LATENCIES];

#define TOP_TEXT	32

/* A bucket's bound: "<10us", "<2ms", ">5s"; "-" for LATENCY_NONE. */
const char *latency_text(unsigned int bucket, char text[static TOP_TEXT]);

/* "7.1us", "12.4ms", "1.3s"; of nanoseconds. */
const char *latency_mean_text(uint64_t ns, char text[static TOP_TEXT]);

/* At most seven characters: "999,999", "1.23M", "12.3G". */
const char *number_text(uint64_t number, char text[static TOP_TEXT]);

/* The same of questions a second: "0.4", "12,345". */
const char *rate_text(double rate, char text[static TOP_TEXT]);

/* "12s", "3:04", "5:12:44", "4d 03:12". */
const char *span_text(uint64_t seconds, char text[static TOP_TEXT]);

#endif

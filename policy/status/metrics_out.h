/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The syntax of metrics: families, samples, labels. */
#ifndef NFDNS_POLICY_STATUS_METRICS_OUT_H
#define NFDNS_POLICY_STATUS_METRICS_OUT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct metrics_out {
	FILE *out;
	bool open;			/* OpenMetrics */
};

/* HELP and TYPE of a family; a counter's samples end with "_total". */
void metrics_counter(const struct metrics_out *m, const char *family,
    const char *help);
void metrics_gauge(const struct metrics_out *m, const char *family,
    const char *help);
void metrics_histogram(const struct metrics_out *m, const char *family,
    const char *help);

/* A label; its value may be any octets. */
struct metrics_label {
	const char *name, *value;
};

/* One sample with up to three labels; those whose name is NULL are left out. */
void metrics_sample(const struct metrics_out *m, const char *family,
    const struct metrics_label labels[static 3], uint64_t value);
void metrics_real(const struct metrics_out *m, const char *family,
    const struct metrics_label labels[static 3], double value);

/* A family of one sample without labels. */
void metrics_one_counter(const struct metrics_out *m, const char *family,
    const char *help, uint64_t value);
void metrics_one_gauge(const struct metrics_out *m, const char *family,
    const char *help, uint64_t value);

/*
 * The samples of a histogram: counts[n] is what was at most bounds_us[n], and
 * not in a bucket before; the last count has no bound.
 */
void metrics_buckets(const struct metrics_out *m, const char *family,
    const struct metrics_label *label, const uint64_t *counts,
    const uint32_t *bounds_us, size_t count, uint64_t sum_ns);

#define LABELS(...)	((const struct metrics_label[3]){ __VA_ARGS__ })
#define NO_LABELS	LABELS({ NULL, NULL })

#endif

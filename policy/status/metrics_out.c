/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "policy/status/metrics_out.h"

#include <inttypes.h>
#include <string.h>

#define TOTAL	"_total"

static void
put_head(const struct metrics_out *m, const char *family, const char *type,
    const char *help)
{
	size_t length = strlen(family);

	/* OpenMetrics 1.0: the family of a counter has no suffix. */
	if (m->open && length > strlen(TOTAL) &&
	    strcmp(family + length - strlen(TOTAL), TOTAL) == 0)
		length -= strlen(TOTAL);
	(void)fprintf(m->out, "# HELP %.*s %s\n# TYPE %.*s %s\n", (int)length,
	    family, help, (int)length, family, type);
}

void
metrics_counter(const struct metrics_out *m, const char *family,
    const char *help)
{
	put_head(m, family, "counter", help);
}

void
metrics_gauge(const struct metrics_out *m, const char *family,
    const char *help)
{
	put_head(m, family, "gauge", help);
}

void
metrics_histogram(const struct metrics_out *m, const char *family,
    const char *help)
{
	put_head(m, family, "histogram", help);
}

/* Escapes of the format; what is not printable ASCII becomes "?". */
static void
put_value(const struct metrics_out *m, const char *text)
{
	for (; *text != '\0'; text++) {
		if (*text == '"' || *text == '\\')
			(void)fputc('\\', m->out);
		(void)fputc(*text < ' ' || *text > '~' ? '?' : *text, m->out);
	}
}

static void
put_labels(const struct metrics_out *m, const struct metrics_label *labels,
    size_t count)
{
	const char *before = "{";

	for (size_t i = 0; i < count; i++) {
		if (labels[i].name == NULL)
			continue;
		(void)fprintf(m->out, "%s%s=\"", before, labels[i].name);
		put_value(m, labels[i].value);
		(void)fputc('"', m->out);
		before = ",";
	}
	if (*before == ',')
		(void)fputc('}', m->out);
}

void
metrics_sample(const struct metrics_out *m, const char *family,
    const struct metrics_label labels[static 3], uint64_t value)
{
	(void)fputs(family, m->out);
	put_labels(m, labels, 3);
	(void)fprintf(m->out, " %" PRIu64 "\n", value);
}

void
metrics_real(const struct metrics_out *m, const char *family,
    const struct metrics_label labels[static 3], double value)
{
	(void)fputs(family, m->out);
	put_labels(m, labels, 3);
	(void)fprintf(m->out, " %.13g\n", value);
}

void
metrics_one_counter(const struct metrics_out *m, const char *family,
    const char *help, uint64_t value)
{
	metrics_counter(m, family, help);
	metrics_sample(m, family, NO_LABELS, value);
}

void
metrics_one_gauge(const struct metrics_out *m, const char *family,
    const char *help, uint64_t value)
{
	metrics_gauge(m, family, help);
	metrics_sample(m, family, NO_LABELS, value);
}

void
metrics_buckets(const struct metrics_out *m, const char *family,
    const struct metrics_label *label, const uint64_t *counts,
    const uint32_t *bounds_us, size_t count, uint64_t sum_ns)
{
	struct metrics_label labels[2] = { { "le", NULL }, { NULL, NULL } };
	uint64_t total = 0;
	char bound[32];

	if (label != NULL)
		labels[1] = *label;
	for (size_t i = 0; i < count; i++) {
		total += counts[i];
		(void)snprintf(bound, sizeof(bound), "%g", i + 1 < count ?
		    (double)bounds_us[i] / 1e6 : 0.0);
		labels[0].value = i + 1 < count ? bound : "+Inf";
		(void)fprintf(m->out, "%s_bucket", family);
		put_labels(m, labels, 2);
		(void)fprintf(m->out, " %" PRIu64 "\n", total);
	}
	(void)fprintf(m->out, "%s_sum", family);
	put_labels(m, &labels[1], 1);
	(void)fprintf(m->out, " %.13g\n%s_count", (double)sum_ns / 1e9, family);
	put_labels(m, &labels[1], 1);
	(void)fprintf(m->out, " %" PRIu64 "\n", total);
}

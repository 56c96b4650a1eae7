/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "policy/status/metrics.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "policy/status/facts.h"
#include "resolver/dns/rr.h"
#include "resolver/replace.h"
#include "resolver/version.h"

/* The syntax of metrics */

/* Its value may be any octets; name NULL: none. */
struct label {
	const char *name, *value;
};

#define LABELS(...)	((const struct label[3]){ __VA_ARGS__ })

static bool
ends_with(const char *text, const char *ending)
{
	const size_t length = strlen(text), n = strlen(ending);

	return length > n && strcmp(text + length - n, ending) == 0;
}

/* HELP and TYPE, which its name says; its samples come next. */
static void
put_head(FILE *out, bool open, const char *family, const char *help)
{
	const bool counts = ends_with(family, "_total");
	/* OpenMetrics 1.0: the family of a counter has no suffix. */
	const int length = (int)(strlen(family) -
	    (open && counts ? strlen("_total") : 0));

	(void)fprintf(out, "# HELP %.*s %s\n# TYPE %.*s %s\n", length,
	    family, help, length, family, counts ? "counter" :
	    ends_with(family, "_duration_seconds") ? "histogram" : "gauge");
}

/* Escapes of the format; what is not printable ASCII becomes "?". */
static void
put_value(FILE *out, const char *text)
{
	for (; *text != '\0'; text++) {
		if (*text == '"' || *text == '\\')
			(void)fputc('\\', out);
		(void)fputc(*text < ' ' || *text > '~' ? '?' : *text, out);
	}
}

static void
put_labels(FILE *out, const struct label *labels, size_t count)
{
	const char *before = "{";

	for (size_t i = 0; i < count; i++) {
		if (labels[i].name == NULL)
			continue;
		(void)fprintf(out, "%s%s=\"", before, labels[i].name);
		put_value(out, labels[i].value);
		(void)fputc('"', out);
		before = ",";
	}
	if (*before == ',')
		(void)fputc('}', out);
}

static void
put_sample(FILE *out, const char *family, const struct label labels[static 3],
    uint64_t value)
{
	(void)fputs(family, out);
	put_labels(out, labels, 3);
	(void)fprintf(out, " %" PRIu64 "\n", value);
}

static void
put_real(FILE *out, const char *family, const struct label labels[static 3],
    double value)
{
	(void)fputs(family, out);
	put_labels(out, labels, 3);
	(void)fprintf(out, " %.13g\n", value);
}

/*
 * The samples of a histogram: counts[n] is what was at most bounds_us[n], and
 * not in a bucket before; the last count has no bound.
 */
static void
put_buckets(FILE *out, const char *family, const struct label *label,
    const uint64_t *counts, const uint32_t *bounds_us, size_t count,
    uint64_t sum_ns)
{
	struct label labels[2] = { { "le", NULL }, { NULL, NULL } };
	uint64_t total = 0;
	char bound[32];

	if (label != NULL)
		labels[1] = *label;
	for (size_t i = 0; i < count; i++) {
		total += counts[i];
		(void)snprintf(bound, sizeof(bound), "%g", i + 1 < count ?
		    (double)bounds_us[i] / 1e6 : 0.0);
		labels[0].value = i + 1 < count ? bound : "+Inf";
		(void)fprintf(out, "%s_bucket", family);
		put_labels(out, labels, 2);
		(void)fprintf(out, " %" PRIu64 "\n", total);
	}
	(void)fprintf(out, "%s_sum", family);
	put_labels(out, &labels[1], 1);
	(void)fprintf(out, " %.13g\n%s_count", (double)sum_ns / 1e9, family);
	put_labels(out, &labels[1], 1);
	(void)fprintf(out, " %" PRIu64 "\n", total);
}

/* Samples that are no single fact */

static void
put_build(FILE *out, const char *family, const struct status_facts *f)
{
	(void)f;
	put_sample(out, family, LABELS({ "version", NFDNS_VERSION }), 1);
}

static void
put_requests(FILE *out, const char *family, const struct status_facts *f)
{
	static const char *const protocols[] = { "udp", "tcp" };
	static const char *const versions[] = { "4", "6" };
	const struct status_counters *c = &f->c;
	uint64_t sums[2] = { 0, 0 }, udp = c->received - c->received_tcp;

	for (size_t p = 0; p < 2; p++)
		for (size_t v = 0; v < ASKED_FAMILIES; v++)
			for (size_t t = 0; t < ASKED_TYPES; t++) {
				const uint64_t n = c->asked[p][v][t];

				sums[p] += n;
				put_sample(out, family, LABELS(
				    { "proto", protocols[p] },
				    { "family", versions[v] },
				    { "type", status_type_text(
				    (enum status_type)t) }), n);
			}
	put_sample(out, family, LABELS({ "proto", "udp" },
	    { "family", "none" }, { "type", "none" }),
	    udp > sums[0] ? udp - sums[0] : 0);
}

static void
put_response(FILE *out, const char *family,
    const char *rcode, const char *verdict, uint64_t count)
{
	put_sample(out, family,
	    LABELS({ "rcode", rcode }, { "verdict", verdict }), count);
}

static void
put_rcodes(FILE *out, const char *family,
    const uint64_t *counts, const char *verdict)
{
	char text[RR_TEXT_SIZE];

	for (size_t i = 0; i < STATUS_RCODES; i++)
		if (counts[i] > 0)
			put_response(out, family, i == STATUS_RCODES - 1 ?
			    "other" : rcode_text((uint16_t)i, text), verdict,
			    counts[i]);
}

static void
put_responses(FILE *out, const char *family, const struct status_facts *f)
{
	const struct status_counters *c = &f->c;

	put_response(out, family, "NOERROR", "answer",
	    c->verdicts[VERDICT_ANSWER]);
	put_response(out, family, "NOERROR", "nodata",
	    c->verdicts[VERDICT_NODATA]);
	put_response(out, family, "NXDOMAIN", "nxdomain",
	    c->verdicts[VERDICT_NXDOMAIN]);
	put_rcodes(out, family, c->refusals, "refuse");
	put_rcodes(out, family, c->forwarded_rcodes, "forward");
}

static void
put_durations(FILE *out, const char *family, const struct status_facts *f)
{
	static const uint32_t bounds[] = STATUS_SPENT_US;

	put_buckets(out, family, NULL, f->c.spent, bounds, STATUS_SPENT,
	    f->c.spent_ns);
}

static void
put_waiting(FILE *out, const char *family, const struct status_facts *f)
{
	const struct status_supervisor *s = &f->s;
	char number[16];

	for (uint32_t i = 0; i < s->queues && i < CONFIG_MAX_WORKERS; i++) {
		(void)snprintf(number, sizeof(number), "%u",
		    s->queue_number + i);
		put_sample(out, family, LABELS({ "queue", number }),
		    atomic_load(&s->queue_waiting[i]));
	}
}

static void
put_interfaces(FILE *out, const char *family, const struct status_facts *f)
{
	for (size_t n = 0; n < f->lists[FACTS_INTERFACES].count; n++) {
		const struct interface_shown *i = &f->interfaces[n];
		const struct {
			const char *verdict;
			uint64_t count;
		} counts[] = { { "answered", i->answered }, { "passed",
			i->passed }, { "forwarded", i->forwarded },
			{ "refused", i->refused }, { "dropped", i->dropped } };

		for (size_t v = 0; v < sizeof(counts) / sizeof(counts[0]); v++)
			put_sample(out, family, LABELS({ "interface", i->name },
			    { "verdict", counts[v].verdict }), counts[v].count);
	}
}

/* By the family that the row names. */
static const struct made {
	const char *family;
	void (*put)(FILE *out, const char *family,
	    const struct status_facts *f);
} made[] = {
	{ "nfdns_build_info", put_build },
	{ "nfdns_dns_requests_total", put_requests },
	{ "nfdns_dns_responses_total", put_responses },
	{ "nfdns_dns_request_duration_seconds", put_durations },
	{ "nfdns_queue_length", put_waiting },
	{ "nfdns_container_questions_total", put_interfaces },
};

static void
put_fact(FILE *out, const struct fact *fact, const struct status_facts *f)
{
	static const char *const labels[FACTS_LISTS] = {
		[FACTS_REASONS] = "reason",
		[FACTS_SOURCES] = "path",
		[FACTS_UPSTREAMS] = "upstream",
		[FACTS_DOMAINS] = "domain",
		[FACTS_RULES] = "rule",
		[FACTS_FEEDS] = "feed",
	};
	const char *name = fact->label != NULL ? fact->label :
	    labels[fact->list];
	char buf[FACT_TEXT_SIZE];

	for (size_t i = 0; i < f->lists[fact->list].count; i++) {
		const void *element = facts_element(f, fact->list, i);
		const struct label *label = LABELS({ name,
		    fact_key(f, fact, element, buf) });
		const uint64_t number = fact_number(fact, element);

		if (fact->kind == FACT_AGE || fact->kind == FACT_MICROSECONDS)
			put_real(out, fact->metric, label, fact->kind ==
			    FACT_AGE ? (double)(int64_t)number :
			    (double)number / 1e6);
		else
			put_sample(out, fact->metric, label, number);
	}
}

/* From the family's first row on. */
static void
put_family(FILE *out, bool open, const struct fact *fact,
    const struct status_facts *f)
{
	const char *family = fact->metric;

	put_head(out, open, family, fact->help);
	for (size_t i = 0; i < sizeof(made) / sizeof(made[0]); i++)
		if (strcmp(made[i].family, family) == 0)
			made[i].put(out, family, f);
	for (; fact < facts_table + facts_rows; fact++)
		if (fact->kind != FACT_METRIC && fact->metric != NULL &&
		    strcmp(fact->metric, family) == 0)
			put_fact(out, fact, f);
}

/* Lists that are empty have no families; all domains have upstreams. */
static void
put_families(FILE *out, bool open, const struct status_facts *f)
{
	for (size_t row = 0; row < facts_rows; row++) {
		const struct fact *fact = &facts_table[row];
		const enum facts_list list = fact->list == FACTS_DOMAINS ?
		    FACTS_UPSTREAMS : fact->list;

		if (fact->help != NULL && f->lists[list].count > 0)
			put_family(out, open, fact, f);
	}
}

int
metrics_print(const struct status_page *page, const struct config *config,
    bool open, FILE *out)
{
	struct status_facts facts;
	const int error = facts_read(&facts, page, config);

	if (error == 0)
		put_families(out, open, &facts);
	facts_free(&facts);
	if (open)
		(void)fputs("# EOF\n", out);
	return error < 0 ? error : ferror(out) ? -EIO : 0;
}

static int
path_of(char path[static PATH_MAX], const char *run_dir)
{
	return snprintf(path, PATH_MAX, "%s/" METRICS_FILE, run_dir) <
	    PATH_MAX ? 0 : -ENAMETOOLONG;
}

int
metrics_write(const struct status_page *page, const struct config *config)
{
	char path[PATH_MAX];
	struct replace file;
	FILE *out;
	int error = path_of(path, config->run_dir);

	if (error == 0)
		error = replace_begin(&file, AT_FDCWD, path, 0644);
	if (error < 0)
		return error;
	out = replace_stream(&file);
	error = out == NULL ? -errno :
	    metrics_print(page, config, false, out);
	return replace_end(&file, REPLACE_QUICKLY, error);
}

void
metrics_remove(const char *run_dir)
{
	char path[PATH_MAX];

	if (path_of(path, run_dir) == 0)
		(void)unlink(path);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "policy/status/metrics.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "policy/status/metrics_out.h"
#include "policy/status/metrics_forward.h"
#include "policy/status/metrics_policy.h"
#include "resolver/dns/rr.h"
#include "resolver/replace.h"
#include "resolver/version.h"

static void
put_build(const struct metrics_out *m)
{
	metrics_gauge(m, "nfdns_build_info", "The version; always 1.");
	metrics_sample(m, "nfdns_build_info",
	    LABELS({ "version", NFDNS_VERSION }), 1);
}

static void
put_requests(const struct metrics_out *m, const struct status_counters *c)
{
	static const char family[] = "nfdns_dns_requests_total";
	static const char *const protocols[] = { "udp", "tcp" };
	static const char *const families[] = { "4", "6" };
	uint64_t sums[2] = { 0, 0 }, udp = c->received - c->received_tcp;

	metrics_counter(m, family, "DNS questions that nfdnsd has read, by "
	    "transport, IP version and type.");
	for (size_t p = 0; p < 2; p++)
		for (size_t f = 0; f < ASKED_FAMILIES; f++)
			for (size_t t = 0; t < ASKED_TYPES; t++) {
				const uint64_t n = c->asked[p][f][t];

				sums[p] += n;
				metrics_sample(m, family, LABELS(
				    { "proto", protocols[p] },
				    { "family", families[f] },
				    { "type", status_type_text(
				    (enum status_type)t) }), n);
			}
	metrics_sample(m, family, LABELS({ "proto", "udp" },
	    { "family", "none" }, { "type", "none" }),
	    udp > sums[0] ? udp - sums[0] : 0);
}

static void
put_response(const struct metrics_out *m, const char *rcode,
    const char *verdict, uint64_t count)
{
	metrics_sample(m, "nfdns_dns_responses_total",
	    LABELS({ "rcode", rcode }, { "verdict", verdict }), count);
}

static void
put_rcodes(const struct metrics_out *m, const uint64_t *counts,
    const char *verdict)
{
	char text[RR_TEXT_SIZE];

	for (size_t i = 0; i < STATUS_RCODES; i++)
		if (counts[i] > 0)
			put_response(m, i == STATUS_RCODES - 1 ? "other" :
			    rcode_text((uint16_t)i, text), verdict, counts[i]);
}

static void
put_responses(const struct metrics_out *m, const struct status_counters *c)
{
	metrics_counter(m, "nfdns_dns_responses_total", "Answers of nfdnsd, "
	    "by response code and verdict; those of forwarding have the "
	    "verdict \"forward\".");
	put_response(m, "NOERROR", "answer", c->verdicts[VERDICT_ANSWER]);
	put_response(m, "NOERROR", "nodata", c->verdicts[VERDICT_NODATA]);
	put_response(m, "NXDOMAIN", "nxdomain",
	    c->verdicts[VERDICT_NXDOMAIN]);
	put_rcodes(m, c->refusals, "refuse");
	put_rcodes(m, c->forwarded_rcodes, "forward");
	metrics_one_counter(m, "nfdns_dns_passed_total", "Questions that went "
	    "on to the nameserver they were sent to.", c->passed);
	metrics_one_counter(m, "nfdns_dns_dropped_total", "Questions that were "
	    "dropped, by policy.", c->dropped);
	metrics_counter(m, "nfdns_dns_decisions_total", "Questions, by the "
	    "reason of the decision.");
	for (size_t i = 0; i < REASONS; i++)
		metrics_sample(m, "nfdns_dns_decisions_total",
		    LABELS({ "reason", decide_reason_text((enum reason)i) }),
		    c->reasons[i]);
}

static void
put_durations(const struct metrics_out *m, const struct status_counters *c)
{
	static const uint32_t bounds[] = STATUS_SPENT_US;

	metrics_histogram(m, "nfdns_dns_request_duration_seconds", "From the "
	    "reading of a question to its verdict; one batch of a queue in 16 "
	    "is measured, and each forwarded question.");
	metrics_buckets(m, "nfdns_dns_request_duration_seconds", NULL,
	    c->spent, bounds, STATUS_SPENT, c->spent_ns);
}

static void
put_waiting(const struct metrics_out *m, const struct status_supervisor *s)
{
	char number[16];

	metrics_gauge(m, "nfdns_queue_length", "Packets that wait for a "
	    "verdict; if nfdnsd is not root, those it has not read, about.");
	for (uint32_t i = 0; i < s->queues && i <= CONFIG_MAX_WORKERS; i++) {
		(void)snprintf(number, sizeof(number), "%u",
		    s->queue_number + i);
		metrics_sample(m, "nfdns_queue_length",
		    LABELS({ "queue", number }),
		    atomic_load(&s->queue_waiting[i]));
	}
}

static void
put_queue(const struct metrics_out *m, const struct status_page *page,
    const struct status_counters *c)
{
	const struct status_supervisor *s = page->supervisor;

	metrics_one_counter(m, "nfdns_queue_packets_total",
	    "Packets that the rules sent to the queue.",
	    atomic_load(&s->rule_packets));
	put_waiting(m, s);
	metrics_one_counter(m, "nfdns_queue_unseen_total", "Packets that the "
	    "rules counted and nfdnsd never read.", c->unseen);
	metrics_one_counter(m, "nfdns_queue_dropped_total",
	    "Packets that the kernel dropped because a queue was full.",
	    c->queue_dropped);
	metrics_one_counter(m, "nfdns_queue_over_user_rate_total", "Packets "
	    "over capture.user_rate, which passed.",
	    atomic_load(&s->surplus));
	metrics_one_counter(m, "nfdns_queue_verdict_errors_total",
	    "Verdicts that the kernel did not take.", c->verdict_errors);
	metrics_one_counter(m, "nfdns_packets_malformed_total",
	    "Packets and messages that do not parse, which passed.",
	    c->malformed);
	metrics_one_counter(m, "nfdns_audit_lost_total",
	    "Records that no packet log has.", c->audit_lost);
}

static void
put_daemon(const struct metrics_out *m, const struct status_page *page)
{
	static const char *const deaths[STATUS_DEATHS] = {
		[STATUS_DEATH_POISON] = "poison",
		[STATUS_DEATH_HANG] = "hang",
		[STATUS_DEATH_KILLED] = "killed",
		[STATUS_DEATH_FAILED] = "failed",
	};
	const struct status_supervisor *s = page->supervisor;
	const uint32_t state = atomic_load(&s->state);
	char error[STATUS_TEXT];
	bool ok;

	metrics_one_gauge(m, "nfdns_ready", "1 if questions are answered.",
	    state == STATUS_READY || state == STATUS_DEGRADED);
	metrics_one_gauge(m, "nfdns_degraded", "1 if something is not as it "
	    "should be; nfdns status says what.", state == STATUS_DEGRADED);
	metrics_one_gauge(m, "nfdns_start_time_seconds", "When nfdnsd "
	    "started, since 1970.", atomic_load(&s->started));
	metrics_one_counter(m, "nfdns_worker_restarts_total",
	    "How often the worker was started again.",
	    atomic_load(&s->restarts));
	metrics_one_counter(m, "nfdns_metrics_restarts_total", "How often the "
	    "process behind metrics.listen was started again.",
	    atomic_load(&s->metrics_restarts));
	metrics_counter(m, "nfdns_worker_deaths_total",
	    "What workers died of.");
	for (size_t i = 0; i < STATUS_DEATHS; i++)
		metrics_sample(m, "nfdns_worker_deaths_total",
		    LABELS({ "cause", deaths[i] }),
		    atomic_load(&s->deaths[i]));
	metrics_one_gauge(m, "nfdns_suspect_users", "Users whose packets pass "
	    "unread, since they ended workers.", atomic_load(&s->suspects));
	status_reload_error(page, &ok, error);
	metrics_one_gauge(m, "nfdns_reload_success",
	    "1 if the last reload succeeded.", ok);
	metrics_one_gauge(m, "nfdns_reload_time_seconds",
	    "When the last reload ended, since 1970.", s->reload_time);
	metrics_one_counter(m, "nfdns_reloads_total", "Reloads.",
	    atomic_load(&s->reload_sequence) / 2);
}

static void
put_table(const struct metrics_out *m, const struct status_page *page)
{
	const struct status_supervisor *s = page->supervisor;

	metrics_one_gauge(m, "nfdns_table_generation",
	    "The table's number; 0: none was ever loaded.",
	    atomic_load(&s->table_generation));
	metrics_one_gauge(m, "nfdns_table_names", "Names that the table has.",
	    atomic_load(&s->table_names));
	metrics_one_gauge(m, "nfdns_table_bytes", "Size of the table.",
	    atomic_load(&s->table_octets));
	metrics_one_gauge(m, "nfdns_table_loaded_time_seconds",
	    "When it was loaded, since 1970.", atomic_load(&s->table_loaded));
}

static void
put_rule_files(const struct metrics_out *m, const struct status_page *page)
{
	static const char family[] = "nfdns_policy_files";
	static const char *const states[STATUS_RULE_FILES] = {
		[STATUS_RULES_CURRENT] = "current",
		[STATUS_RULES_KEPT] = "kept",
		[STATUS_RULES_UNLOADED] = "unloaded",
	};

	metrics_gauge(m, family, "Files of rules (zones of policies, files of "
	    "names), by what is in force: the file, its last good rules, or "
	    "none of it.");
	for (size_t i = 0; i < STATUS_RULE_FILES; i++)
		metrics_sample(m, family, LABELS({ "state", states[i] }),
		    atomic_load(&page->supervisor->rule_files[i]));
}

static void
put_sources(const struct metrics_out *m, const struct load_report *load)
{
	if (load == NULL || load->source_count == 0)
		return;
	metrics_gauge(m, "nfdns_table_source_changed_time_seconds",
	    "When a source of the table changed, since 1970.");
	for (size_t i = 0; i < load->source_count; i++)
		metrics_real(m, "nfdns_table_source_changed_time_seconds",
		    LABELS({ "path", load->sources[i].path }),
		    (double)load->sources[i].changed);
}

static void
put_feeds(const struct metrics_out *m, const struct feeds_shown *feeds)
{
	static const char current[] = "nfdns_feed_current_time_seconds";

	if (feeds == NULL || feeds->count == 0)
		return;
	metrics_gauge(m, current, "When a feed's table was current last, "
	    "since 1970; 0: never.");
	for (size_t i = 0; i < feeds->count; i++)
		metrics_real(m, current,
		    LABELS({ "feed", feeds->list[i].name }),
		    (double)feeds->list[i].report.current);
	metrics_gauge(m, "nfdns_feed_names", "Names of a feed's table.");
	for (size_t i = 0; i < feeds->count; i++)
		metrics_sample(m, "nfdns_feed_names",
		    LABELS({ "feed", feeds->list[i].name }),
		    feeds->list[i].report.kept.names);
}

static void
put_streams(const struct metrics_out *m, const struct status_page *page,
    const struct status_counters *c)
{
	static const char *const closed[STREAM_COUNTERS] = {
		[STREAM_OVER_ALL] = "over_connections",
		[STREAM_OVER_CLIENT] = "over_per_client",
		[STREAM_OVER_RAW] = "over_raw",
		[STREAM_EVICTED] = "evicted",
		[STREAM_IDLE] = "idle",
		[STREAM_SLOW] = "slow",
		[STREAM_UNREAD] = "unread",
		[STREAM_RAW_EXPIRED] = "raw_expired",
	};
	const struct status_supervisor *s = page->supervisor;

	metrics_one_gauge(m, "nfdns_stream_connections",
	    "DNS connections that are open.", c->stream[STREAM_OPEN]);
	metrics_one_counter(m, "nfdns_stream_accepted_total",
	    "DNS connections that were accepted.", c->stream[STREAM_ACCEPTED]);
	metrics_one_counter(m, "nfdns_stream_relays_total",
	    "Connections to nameservers, for questions that are not the "
	    "mesh's.", c->stream[STREAM_RELAYS]);
	metrics_one_counter(m, "nfdns_stream_unreachable_total",
	    "Questions over TCP that no nameserver answered.",
	    c->stream[STREAM_UNREACHABLE]);
	metrics_one_counter(m, "nfdns_stream_passed_full_total", "Connections "
	    "that passed because a set of the kernel was full.",
	    atomic_load(&s->streams_passed));
	metrics_counter(m, "nfdns_stream_closed_total",
	    "Connections that nfdnsd closed, by the reason.");
	for (size_t i = 0; i < STREAM_COUNTERS; i++)
		if (closed[i] != NULL)
			metrics_sample(m, "nfdns_stream_closed_total",
			    LABELS({ "reason", closed[i] }), c->stream[i]);
}

/* All that the page says.  0 or -ENOMEM. */
static int
put_page(const struct metrics_out *m, const struct status_page *page)
{
	struct status_counters counters;
	int error;

	status_counters(page, &counters);
	put_build(m);
	put_daemon(m, page);
	put_table(m, page);
	put_rule_files(m, page);
	put_requests(m, &counters);
	put_responses(m, &counters);
	put_durations(m, &counters);
	put_queue(m, page, &counters);
	put_streams(m, page, &counters);
	error = metrics_policy(m, page->policy);
	if (error == 0)
		error = metrics_forward(m, page, &counters);
	return error;
}

/* All that files say: gauges, so that it is the same in both formats. */
static void
put_reports(FILE *out, const struct load_report *load,
    const struct feeds_shown *feeds)
{
	const struct metrics_out m = { out, false };

	put_sources(&m, load);
	put_feeds(&m, feeds);
}

static int
finish(FILE *out, bool open, int error)
{
	if (open)
		(void)fputs("# EOF\n", out);
	return error < 0 ? error : ferror(out) ? -EIO : 0;
}

int
metrics_print(const struct status_page *page, const struct load_report *load,
    const struct feeds_shown *feeds, bool open, FILE *out)
{
	const struct metrics_out m = { out, open };
	const int error = put_page(&m, page);

	put_reports(out, load, feeds);
	return finish(out, open, error);
}

int
metrics_print_with(const struct status_page *page, const char *reports,
    bool open, FILE *out)
{
	const struct metrics_out m = { out, open };
	const int error = put_page(&m, page);

	(void)fputs(reports, out);
	return finish(out, open, error);
}

int
metrics_print_reports(const char *run_dir, FILE *out)
{
	struct load_report load;
	struct feeds_shown feeds;
	int error;

	/* Without the report there are no ages. */
	(void)!load_report_read(&load, run_dir);
	error = feeds_shown_read(&feeds, &load);
	if (error == 0)
		put_reports(out, &load, &feeds);
	feeds_shown_free(&feeds);
	load_report_free(&load);
	return error;
}

/* With what the files of run_dir say. */
static int
print_with_reports(const struct status_page *page, const char *run_dir,
    FILE *out)
{
	const struct metrics_out m = { out, false };
	int error = put_page(&m, page);

	if (error == 0)
		error = metrics_print_reports(run_dir, out);
	return finish(out, false, error);
}

static int
path_of(char path[static PATH_MAX], const char *run_dir)
{
	return snprintf(path, PATH_MAX, "%s/" METRICS_FILE, run_dir) <
	    PATH_MAX ? 0 : -ENAMETOOLONG;
}

int
metrics_write(const struct status_page *page, const char *run_dir)
{
	char path[PATH_MAX];
	struct replace file;
	FILE *out;
	int error = path_of(path, run_dir);

	if (error == 0)
		error = replace_begin(&file, AT_FDCWD, path, 0644);
	if (error < 0)
		return error;
	out = replace_stream(&file);
	error = out == NULL ? -errno : print_with_reports(page, run_dir, out);
	return replace_end(&file, REPLACE_QUICKLY, error);
}

void
metrics_remove(const char *run_dir)
{
	char path[PATH_MAX];

	if (path_of(path, run_dir) == 0)
		(void)unlink(path);
}

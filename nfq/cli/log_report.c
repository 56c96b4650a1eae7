/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/cli/log_report.h"

#include <stdarg.h>
#include <stdio.h>
#include <time.h>

#include "nfq/cli/message.h"
#include "nfq/process/exit_code.h"
#include "resolver/text/printable.h"

#define FAULT_LINES	10U		/* of one file, */
#define FAULTS_MAX	1000U		/* and of its members in JSON */
#define FAULT_TEXT	384U
#define TIME_TEXT	32U

void
log_report_count(struct log_report *report, const char *run_dir)
{
	struct log_counted *counted = &report->counted;
	struct status_page page;

	if (status_open(&page, run_dir) != 0)
		return;
	counted->known = true;
	counted->since = atomic_load(&page.supervisor->started);
	counted->packets = atomic_load(&page.supervisor->rule_packets);
	status_counters(&page, &counted->sums);
	status_close(&page);
}

/* A line of text, or a member of the list. */
static void
say(struct log_report *report, const char *path, bool fault, const char *text)
{
	if (report->list == NULL)
		printable_line(stdout, "%s: %s", path, text);
	else				/* a path may be no UTF-8 */
		(void)json_array_append_new(report->list,
		    json_pack("{so*, sb, ss}", "file", json_string(path),
		    "fault", fault, "text", text));
}

static unsigned int
most_of(const struct log_report *report)
{
	return report->list == NULL ? FAULT_LINES : FAULTS_MAX;
}

void
log_report_fault(struct log_report *report, const char *path,
    const char *format, ...)
{
	char text[FAULT_TEXT];
	va_list arguments;

	report->failed = true;
	if (++report->findings > most_of(report))
		return;
	va_start(arguments, format);
	(void)vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	say(report, path, true, text);
}

void
log_report_remark(struct log_report *report, const char *path,
    const char *format, ...)
{
	char text[FAULT_TEXT];
	va_list arguments;

	va_start(arguments, format);
	(void)vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	say(report, path, false, text);
}

void
log_report_end_file(struct log_report *report, const char *path)
{
	const unsigned int most = most_of(report);

	if (report->findings > most)
		log_report_remark(report, path, "%u more findings%s",
		    report->findings - most, report->list == NULL ?
		    "; --json lists them" : "");
	report->findings = 0;
}

/* How a log and the daemon's counters belong together. */
enum relation {
	OTHER_DAEMON,			/* or no daemon runs */
	UNKNOWN,			/* the log's last part is damaged */
	COMPARED,
};

static enum relation
relation_of(const struct log_counted *counted, const struct audit_verify *v)
{
	if (!counted->known || !v->begun || v->run < v->since)
		return OTHER_DAEMON;
	return v->joined ? COMPARED : UNKNOWN;
}

/* Records that were counted and are not in the log, or behind its end. */
static uint64_t
ahead_of(const struct log_counted *counted, const struct audit_verify *v)
{
	return counted->sums.recorded > v->given ?
	    counted->sums.recorded - v->given : 0;
}

static void
print_relation(const struct log_counted *counted, const struct audit_verify *v)
{
	const uint64_t ahead = ahead_of(counted, v);

	switch (relation_of(counted, v)) {
	case OTHER_DAEMON:
		(void)puts("not compared with nfdnsd's counters: the files are "
		    "of an earlier start of nfdnsd");
		return;
	case UNKNOWN:
		(void)puts("not compared with nfdnsd's counters: the last file "
		    "is damaged");
		return;
	default:
		break;
	}
	if (!v->has_first)
		(void)puts("the files do not say where their first record is "
		    "among these");
	else if (v->first > 0)
		(void)printf("the files begin at record %llu of these: what was "
		    "before is in none of them\n", (unsigned long long)v->first);
	if (ahead > 0)
		(void)printf("%llu of these are not in the files: left out by "
		    "filters, not yet written, or in a file that was not "
		    "named\n", (unsigned long long)ahead);
	else
		(void)puts("the files have, or name, all of these up to their "
		    "end");
}

/* From the kernel's count to the records. */
static void
print_counted(const struct log_counted *counted)
{
	const struct status_counters *c = &counted->sums;
	const time_t since = (time_t)counted->since;
	char text[TIME_TEXT] = "";
	struct tm tm;

	if (localtime_r(&since, &tm) != NULL)
		(void)strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &tm);
	(void)printf("nfdnsd's status page, since %s: %llu packets counted by "
	    "the kernel's rules, %llu of them unseen\n", text,
	    (unsigned long long)counted->packets,
	    (unsigned long long)c->unseen);
	(void)printf("%llu questions: %llu answered, %llu passed, %llu refused, "
	    "%llu dropped, %llu forwarded; %llu for a packet log\n",
	    (unsigned long long)c->received, (unsigned long long)c->answered,
	    (unsigned long long)c->passed, (unsigned long long)c->refused,
	    (unsigned long long)c->dropped, (unsigned long long)c->forwarded,
	    (unsigned long long)c->recorded);
	if (c->recorded < c->received)
		(void)printf("%llu of them for none: no log takes their "
		    "verdicts, or a rule's \"log\" leaves them out\n",
		    (unsigned long long)(c->received - c->recorded));
}

static bool
is_unended(const struct audit_verify *v)
{
	return v->begun && !v->ended;
}

static void
print_text(const struct log_report *report, const struct audit_verify *v)
{
	if (report->counted.known) {
		print_counted(&report->counted);
		print_relation(&report->counted, v);
	}
	(void)printf("%llu records, %llu lost, %llu left out by filters: %s%s\n",
	    (unsigned long long)v->records, (unsigned long long)v->lost,
	    (unsigned long long)v->skipped,
	    report->failed ? "not complete" : "complete",
	    is_unended(v) ? "; the last file is still written, or its end was "
	    "cut off" : "");
}

static json_t *
integer(uint64_t number)
{
	return json_integer((json_int_t)number);
}

/* NULL if no daemon runs: then there is no such member. */
static json_t *
counted_object(const struct log_counted *counted, const struct audit_verify *v)
{
	const struct status_counters *c = &counted->sums;
	const bool compared = relation_of(counted, v) == COMPARED;

	if (!counted->known)
		return NULL;
	return json_pack("{so, so, so, so, so, so, so, so, so, so, sb, so*, "
	    "so*}", "since", integer(counted->since),
	    "packets", integer(counted->packets),
	    "unseen", integer(c->unseen), "received", integer(c->received),
	    "answered", integer(c->answered), "passed", integer(c->passed),
	    "refused", integer(c->refused), "dropped", integer(c->dropped),
	    "forwarded", integer(c->forwarded),
	    "records", integer(c->recorded), "compared", compared,
	    "first", compared && v->has_first ? integer(v->first) : NULL,
	    "not_in_files", compared ? integer(ahead_of(counted, v)) : NULL);
}

static bool
print_json(struct log_report *report, const struct audit_verify *v)
{
	json_t *all = json_pack("{sb, so, so, so, sb, so*, so}",
	    "complete", !report->failed, "records", integer(v->records),
	    "lost", integer(v->lost), "left_out", integer(v->skipped),
	    "ended", !is_unended(v),
	    "counters", counted_object(&report->counted, v),
	    "findings", report->list);
	const bool well = all != NULL &&
	    json_dumpf(all, stdout, JSON_COMPACT | JSON_ENSURE_ASCII) == 0;

	json_decref(all);
	report->list = NULL;
	(void)putchar('\n');
	return well;
}

int
log_report_end(struct log_report *report, const struct audit_verify *v)
{
	if (report->list == NULL)
		print_text(report, v);
	else if (!print_json(report, v)) {
		cli_error("out of memory");
		return EXIT_ERROR;
	}
	return report->failed ? EXIT_ERROR : EXIT_OK;
}

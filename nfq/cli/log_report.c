/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/cli/log_report.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "nfq/cli/message.h"
#include "nfq/process/exit_code.h"
#include "resolver/text/printable.h"

#define FAULT_LINES	10U		/* of one file, */
#define FAULTS_MAX	1000U		/* and of its members in JSON */
#define FAULT_TEXT	384U
#define TIME_TEXT	32U

int
log_report_json(struct log_report *report)
{
	FILE *out = open_memstream(&report->findings_json,
	    &report->findings_length);

	if (out == NULL)
		return -ENOMEM;
	report->list = (struct json_write){ .out = out, .ascii = true };
	json_write_open(&report->list, NULL, '[');
	return 0;
}

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
	struct json_write *w = &report->list;

	if (w->out == NULL) {
		printable_line(stdout, "%s: %s", path, text);
		return;
	}
	json_write_open(w, NULL, '{');
	json_write_text(w, "file", path);
	json_write_bool(w, "fault", fault);
	json_write_text(w, "text", text);
	json_write_close(w, '}');
}

static unsigned int
most_of(const struct log_report *report)
{
	return report->list.out == NULL ? FAULT_LINES : FAULTS_MAX;
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
		    report->findings - most, report->list.out == NULL ?
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
	(void)printf("%llu records, %llu lost, %llu left out by filters, %llu "
	    "questions unread: %s%s\n", (unsigned long long)v->records,
	    (unsigned long long)v->lost, (unsigned long long)v->skipped,
	    (unsigned long long)v->unread,
	    report->failed ? "not complete" : "complete",
	    is_unended(v) ? "; the last file is still written, or its end was "
	    "cut off" : "");
}

/* If no daemon runs there is no such member. */
static void
write_counted(struct json_write *w, const struct log_counted *counted,
    const struct audit_verify *v)
{
	const struct status_counters *c = &counted->sums;
	const bool compared = relation_of(counted, v) == COMPARED;

	if (!counted->known)
		return;
	json_write_open(w, "counters", '{');
	json_write_number(w, "since", counted->since);
	json_write_number(w, "packets", counted->packets);
	json_write_number(w, "unseen", c->unseen);
	json_write_number(w, "received", c->received);
	json_write_number(w, "answered", c->answered);
	json_write_number(w, "passed", c->passed);
	json_write_number(w, "refused", c->refused);
	json_write_number(w, "dropped", c->dropped);
	json_write_number(w, "forwarded", c->forwarded);
	json_write_number(w, "records", c->recorded);
	json_write_bool(w, "compared", compared);
	if (compared && v->has_first)
		json_write_number(w, "first", v->first);
	if (compared)
		json_write_number(w, "not_in_files", ahead_of(counted, v));
	json_write_close(w, '}');
}

static int
print_json(struct log_report *report, const struct audit_verify *v)
{
	struct json_write w = { .out = stdout, .ascii = true };

	json_write_close(&report->list, ']');
	if (fflush(report->list.out) != 0)
		w.error = -ENOMEM;
	json_write_open(&w, NULL, '{');
	json_write_bool(&w, "complete", !report->failed);
	json_write_number(&w, "records", v->records);
	json_write_number(&w, "lost", v->lost);
	json_write_number(&w, "left_out", v->skipped);
	json_write_number(&w, "unread", v->unread);
	json_write_bool(&w, "ended", !is_unended(v));
	write_counted(&w, &report->counted, v);
	json_write_raw(&w, "findings", report->findings_json);
	json_write_close(&w, '}');
	return json_write_end(&w);
}

int
log_report_end(struct log_report *report, const struct audit_verify *v)
{
	int error = 0;

	if (report->list.out == NULL)
		print_text(report, v);
	else
		error = print_json(report, v);
	if (error < 0) {
		cli_error("log verify: cannot print: %s", strerror(-error));
		return EXIT_ERROR;
	}
	return report->failed ? EXIT_ERROR : EXIT_OK;
}

void
log_report_free(struct log_report *report)
{
	if (report->list.out != NULL)
		(void)fclose(report->list.out);
	free(report->findings_json);
}

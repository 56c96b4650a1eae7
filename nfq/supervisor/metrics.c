/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nfdns-metrics, for metrics.listen: the process that answers over HTTP.  It is
 * started and watched here, and nothing of the daemon waits for it: if it dies or
 * hangs, it is started again, later each time.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "nfq/metrics/start.h"
#include "nfq/process/child.h"
#include "nfq/supervisor/parts.h"
#include "policy/log.h"
#include "policy/status/metrics.h"

#define AGAIN_MS	1000	/* to the next start; doubles with each failure */
#define AGAIN_MAX	6	/* times: 64 s */
#define GOOD_MS		60000	/* whoever lived so long has not failed */
#define SILENT_MS	5000	/* without a sign of life: it hangs */
#define REPORTS_MS	5000

/* Copies what files say to where the process sees it. */
static void
report(struct supervisor *s, monotime_t now)
{
	struct supervisor_metrics *m = &s->metrics;
	char *text = NULL;
	size_t length = 0;
	FILE *out;

	if (!monotime_is_past(now, m->report))
		return;
	m->report = monotime_add_ms(now, REPORTS_MS);
	out = open_memstream(&text, &length);
	if (out == NULL)
		return;
	if (metrics_print_reports(s->config->run_dir, out) < 0)
		length = 0;
	if (fclose(out) == 0)
		metrics_reports_write(m->reports, text, length);
	free(text);
}

/* The next start is later each time. */
static void
put_off(struct supervisor_metrics *m, monotime_t now)
{
	const unsigned int times = m->failures < AGAIN_MAX ? m->failures :
	    AGAIN_MAX;

	m->next = monotime_add_ms(now, (int64_t)AGAIN_MS << times);
	m->failures++;
}

/* Logged once, until it works again. */
static void
fail(struct supervisor *s, int error, monotime_t now)
{
	struct supervisor_metrics *m = &s->metrics;
	char text[METRICS_LISTEN_TEXT];

	if (error != m->error)
		log_error("metrics.listen \"%s\": %s: %s; trying again",
		    metrics_listen_text(&s->config->metrics_listen, text),
		    strerror(-error), error == -EADDRINUSE ?
		    "another program listens there" : error == -EEXIST ?
		    "the path is not a socket of nfdnsd: remove it" :
		    m->program < 0 ? "is nfdns-metrics installed beside nfdnsd?"
		    : "nobody is answered there");
	m->error = error;
	put_off(m, now);
}

/* What the process is given besides its listener.  0 or a negative errno. */
static int
open_files(struct supervisor *s)
{
	struct supervisor_metrics *m = &s->metrics;

	if (m->reports == NULL) {
		int error = metrics_reports_new(&m->reports, &m->reports_fd);

		if (error < 0)
			return error;
	}
	if (m->alive < 0)
		m->alive = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	return m->alive < 0 ? -errno : 0;
}

static int
start(struct supervisor *s, monotime_t now)
{
	struct supervisor_metrics *m = &s->metrics;
	struct metrics_start start = { .listener = m->listen.fd,
		.reports = m->reports_fd, .alive = m->alive,
		.parent = getpid() };
	char text[METRICS_LISTEN_TEXT];
	pid_t pid;

	if (m->program < 0)
		return m->program;
	m->report = now;
	report(s, now);
	start.status = status_reopen(s->config->run_dir);
	if (start.status < 0)
		return start.status;
	pid = metrics_start(m->program, &start);
	(void)close(start.status);
	if (pid < 0)
		return (int)pid;
	m->pid = pid;
	m->started = m->heard = now;
	log_info("metrics are answered at %s",
	    metrics_listen_text(&m->listen.of, text));
	return 0;
}

/* The steps that are left to a running process. */
static void
begin(struct supervisor *s, monotime_t now)
{
	struct supervisor_metrics *m = &s->metrics;
	int error = 0;

	if (!monotime_is_past(now, m->next))
		return;
	if (m->listen.fd < 0)
		error = metrics_listen_open(&m->listen,
		    &s->config->metrics_listen, s->sockets, s->config->uid);
	if (error == 0)
		error = open_files(s);
	if (error == 0)
		error = start(s, now);
	if (error < 0)
		fail(s, error, now);
	else
		m->error = 0;
}

static void
ended(struct supervisor *s, int status, monotime_t now)
{
	struct supervisor_metrics *m = &s->metrics;
	char text[CHILD_TEXT];

	if (monotime_ms_since(now, m->started) >= GOOD_MS)
		m->failures = 0;
	log_error("nfdns-metrics ended with %s: started again in %u s",
	    child_end_text(status, text), 1U << (m->failures < AGAIN_MAX ?
	    m->failures : AGAIN_MAX));
	m->pid = 0;
	atomic_fetch_add(&s->status.supervisor->metrics_restarts, 1);
	put_off(m, now);
}

static void
watch_process(struct supervisor *s, monotime_t now)
{
	struct supervisor_metrics *m = &s->metrics;
	uint64_t signs;
	int status;

	if (waitpid(m->pid, &status, WNOHANG) == m->pid) {
		ended(s, status, now);
		return;
	}
	if (read(m->alive, &signs, sizeof(signs)) == (ssize_t)sizeof(signs))
		m->heard = now;
	if (monotime_ms_since(now, m->heard) >= SILENT_MS) {
		log_error("nfdns-metrics hangs: killing it");
		m->heard = now;
		(void)kill(m->pid, SIGKILL);
	}
	report(s, now);
}

/* Kills the process and closes its listener. */
static void
stop(struct supervisor_metrics *m)
{
	int status;

	if (m->pid > 0) {
		(void)kill(m->pid, SIGKILL);
		(void)child_reap(m->pid, &status);
	}
	m->pid = 0;
	metrics_listen_close(&m->listen);
	m->failures = 0;
	m->error = 0;
	m->next = MONOTIME_NEVER;
}

void
supervisor_start_metrics(struct supervisor *s)
{
	s->metrics.program = metrics_program_open();
}

static void
tick(struct supervisor *s, monotime_t now)
{
	struct supervisor_metrics *m = &s->metrics;
	const struct config_listen *wanted = &s->config->metrics_listen;

	/* After a reload. */
	if (m->listen.fd >= 0 && !metrics_listen_same(&m->listen.of, wanted))
		stop(m);
	if (!metrics_listen_wanted(wanted)) {
		m->error = 0;
		return;
	}
	if (m->pid > 0)
		watch_process(s, now);
	else
		begin(s, now);
}

void
supervisor_tick_metrics(struct supervisor *s, monotime_t now)
{
	struct supervisor_metrics *m = &s->metrics;

	tick(s, now);
	if (m->unanswered == (m->error != 0))
		return;
	m->unanswered = m->error != 0;
	supervisor_show_state(s);
}

void
supervisor_renew_metrics(struct supervisor *s)
{
	s->metrics.next = s->metrics.report = MONOTIME_NEVER;
	s->metrics.failures = 0;
	s->metrics.error = 0;
}

void
supervisor_stop_metrics(struct supervisor *s)
{
	struct supervisor_metrics *m = &s->metrics;

	stop(m);
	metrics_reports_free(m->reports);
	m->reports = NULL;
	if (m->reports_fd >= 0)
		(void)close(m->reports_fd);
	if (m->alive >= 0)
		(void)close(m->alive);
	if (m->program >= 0)
		(void)close(m->program);
	m->reports_fd = m->alive = m->program = -1;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/feed/feed.h"

#include <errno.h>
#include <openssl/ssl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "nfq/feed/keep.h"
#include "nfq/process/diag_print.h"
#include "nfq/process/exit_code.h"
#include "nfq/process/notify.h"
#include "nfq/process/sandbox.h"
#include "policy/log.h"
#include "policy/status/feed_status.h"
#include "resolver/clock.h"
#include "resolver/feed/feed.h"

#define SEEN_MS		60000		/* for after a reboot: as old it may be */
#define REPORT_MS	1000		/* the status file is not written more often */

struct feeding {
	struct feed_conf *conf;
	const char *path;		/* of its file */
	int signals;			/* signalfd: a protocol ends when it is readable */
	struct feed_keep *keep;
	struct feed_report report;	/* of it, "status" and "kept" are written by others */
	bool changed;			/* since the file was written */
	bool warned;			/* that it cannot be */
	monotime_t written, seen;	/* the file; state_dir was told of the last life */
};

static int (*const run_functions[])(const struct feed_config *,
    const struct feed_host *) = {
	[FEED_XDS] = xds_run,
	[FEED_KUBERNETES] = kubernetes_run,
};

static void
write_report(struct feeding *f, monotime_t now)
{
	struct feed_report *r = &f->report;
	int error;

	r->written = realtime_s();
	if (r->status.connected && r->status.last_life > r->current)
		r->current = r->status.last_life;
	/* The time of day was set back: what lies ahead would never be old. */
	if (r->current > r->written)
		r->current = r->written;
	error = feed_status_write(r, f->conf->run_dir, f->conf->feed.name);
	if (error < 0 && !f->warned)
		log_warning("feed %s: cannot write its status file in run_dir "
		    "\"%s\": %s: make it writable for the user of nfdns-feed",
		    f->conf->feed.name, f->conf->run_dir, strerror(-error));
	f->warned = error < 0;
	f->changed = false;
	f->written = now;
	/* /run is gone after a reboot, but a table is not older for that. */
	if (!f->report.status.connected || (monotime_is_set(f->seen) &&
	    monotime_ms_since(now, f->seen) < SEEN_MS))
		return;
	f->seen = now;
	/* What cannot be kept there is said with the table. */
	(void)!feed_status_seen(f->conf->state_dir, f->conf->feed.name,
	    f->report.current);
}

static void
report_if_due(struct feeding *f)
{
	const monotime_t now = monotime_now();
	const int64_t age = monotime_ms_since(now, f->written);

	if (!monotime_is_set(f->written) || (f->changed && age >= REPORT_MS) ||
	    age >= (int64_t)FEED_STATUS_BEAT_S * 1000)
		write_report(f, now);
}

static void
changed(void *arg)
{
	struct feeding *f = arg;

	f->changed = true;
	report_if_due(f);
}

static enum feed_verdict
offer(void *arg, const struct feed_table *table, char why[FEED_TEXT])
{
	struct feeding *f = arg;
	enum feed_verdict verdict = feed_keep_offer(f->keep, table,
	    f->report.status.peer, realtime_s(), monotime_now(), why);

	changed(f);
	return verdict;
}

static void
tick(void *arg)
{
	struct feeding *f = arg;

	feed_keep_tell(f->keep, monotime_now());
	report_if_due(f);
	/* The manager replaces one that hangs. */
	if (notify_watchdog_usec() > 0)
		(void)notify("WATCHDOG=1");
}

static void
report(void *arg, enum feed_level level, const char *text)
{
	static const enum log_level levels[] = {
		[FEED_ERROR] = LOG_LEVEL_ERROR,
		[FEED_NOTICE] = LOG_LEVEL_NOTICE,
		[FEED_DEBUG] = LOG_LEVEL_DEBUG,
	};
	const struct feeding *f = arg;

	log_line(levels[level], "feed %s: %s", f->conf->feed.name, text);
}

static int
open_signals(void)
{
	sigset_t ours;

	(void)signal(SIGPIPE, SIG_IGN);
	(void)signal(SIGXFSZ, SIG_IGN);
	(void)sigemptyset(&ours);
	(void)sigaddset(&ours, SIGTERM);
	(void)sigaddset(&ours, SIGINT);
	(void)sigaddset(&ours, SIGHUP);
	if (sigprocmask(SIG_BLOCK, &ours, NULL) < 0)
		return -1;
	return signalfd(-1, &ours, SFD_CLOEXEC | SFD_NONBLOCK);
}

static int
start(struct feeding *f)
{
	int error = sandbox_feed_privileges();

	if (error == -EPERM)
		log_error("this needs no privilege and refuses to run with "
		    "any: start nfdns-feed@%s.service, or run it as user "
		    "nfdns-feed, without capabilities", f->conf->feed.name);
	else if (error < 0)
		log_error("cannot give up privileges: %s", strerror(-error));
	if (error < 0)
		return error;
	(void)mkdir(f->conf->run_dir, 0755);
	f->signals = open_signals();
	error = f->signals < 0 ? -errno : notify_keep();
	/* Libraries load modules once; later nothing can be loaded. */
	(void)OPENSSL_init_ssl(OPENSSL_INIT_LOAD_CONFIG, NULL);
	tzset();
	if (error == 0)
		error = sandbox_feed();
	if (error < 0)
		log_error("cannot start: %s", strerror(-error));
	return error;
}

/* The kept table, and what the process before this one has said of the feed. */
static int
open_feed(struct feeding *f)
{
	const struct feed_conf *c = f->conf;
	struct feed_report before;
	int error;

	(void)!feed_status_read(&before, c->run_dir, c->feed.name);
	f->report = (struct feed_report){ .running = true,
		.current = before.current,
		/* Nobody has taken its leave. */
		.restarts = before.restarts + (before.running ? 1 : 0) };
	(void)snprintf(f->report.type, sizeof(f->report.type), "%s",
	    feed_config_type_name(c->feed.type));
	error = feed_keep_open(&f->keep, c->state_dir, c->feed.name,
	    &f->report.kept);
	if (error < 0)
		log_error("feed %s: cannot write to state_dir \"%s\": %s: it "
		    "must belong to the user of nfdns-feed", c->feed.name,
		    c->state_dir, strerror(-error));
	return error;
}

/* Whether it is told to go on, with the file as it is now; with an error as it was. */
static bool
goes_on(struct feeding *f)
{
	struct signalfd_siginfo info;
	struct diag diag = DIAG_INIT;
	struct feed_conf *next;
	bool again = false;

	while (read(f->signals, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
		if (info.ssi_signo != SIGHUP)
			return false;
		again = true;
	}
	if (again && feed_conf_load(&next, f->path, &diag) == 0) {
		feed_conf_free(f->conf);
		f->conf = next;
		log_change_level(next->log_level);
		log_notice("%s is in force", f->path);
	} else if (again) {
		diag_log(&diag);
		log_error("%s is not used: everything stays as it was", f->path);
	}
	diag_free(&diag);
	return again;
}

static int
feed_once(struct feeding *f)
{
	const struct feed_host host = {
		.arg = f, .stop_fd = f->signals, .status = &f->report.status,
		.state_dir = f->conf->state_dir,
		.offer = offer, .changed = changed, .tick = tick,
		.report = report,
	};
	int error = open_feed(f);

	if (error < 0)
		return error;
	changed(f);
	error = run_functions[f->conf->feed.type](&f->conf->feed, &host);
	f->report.running = f->report.status.connected = false;
	write_report(f, monotime_now());
	feed_keep_close(f->keep);
	if (error < 0)
		log_error("feed %s: cannot go on: %s", f->conf->feed.name,
		    strerror(-error));
	return error;
}

int
feed_run(struct feed_conf *conf, const char *path)
{
	struct feeding f = { .conf = conf, .path = path, .signals = -1 };
	int error = start(&f);

	if (error == 0)
		(void)notify("READY=1");
	while (error == 0) {
		error = feed_once(&f);
		if (error < 0 || !goes_on(&f))
			break;
	}
	(void)notify("STOPPING=1");
	if (f.signals >= 0)
		(void)close(f.signals);
	feed_conf_free(f.conf);
	return error < 0 ? EXIT_ERROR : EXIT_OK;
}

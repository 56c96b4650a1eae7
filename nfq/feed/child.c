/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/feed/child.h"

#include <errno.h>
#include <openssl/ssl.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "nfq/feed/keep.h"
#include "nfq/process/child.h"
#include "nfq/process/exit_code.h"
#include "nfq/process/sandbox.h"
#include "policy/log.h"
#include "resolver/feed/kubernetes.h"
#include "resolver/feed/xds.h"

/* What ps(1) shows: 15 octets at most. */
#define PROCESS_NAME "nfdns-feed-one"

struct feeding {
	const struct feed_config *config;
	struct feed_page *page;
	struct feed_keep *keep;
};

static int (*const run_functions[])(const struct feed_config *,
    const struct feed_host *) = {
	[FEED_XDS] = xds_run,
	[FEED_KUBERNETES] = kubernetes_run,
};

static void
changed(void *arg)
{
	struct feeding *f = arg;

	atomic_store(&f->page->changed, true);
}

static enum feed_verdict
offer(void *arg, const struct feed_table *table, char why[FEED_TEXT])
{
	struct feeding *f = arg;
	enum feed_verdict verdict = feed_keep_offer(f->keep, table,
	    f->page->status.peer, (int64_t)time(NULL), monotime_now(), why);

	changed(f);
	return verdict;
}

static bool
is_sound(void *arg, const struct feed_table *table, char why[FEED_TEXT])
{
	const struct feeding *f = arg;

	return feed_keep_is_sound(f->keep, table, why);
}

static void
tick(void *arg)
{
	struct feeding *f = arg;

	feed_keep_tell(f->keep, monotime_now());
	atomic_fetch_add(&f->page->ticks, 1);
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

	log_line(levels[level], "feed %s: %s", f->config->name, text);
}

/* Libraries load modules once; later nothing can be loaded. */
static void
prepare_libraries(void)
{
	(void)OPENSSL_init_ssl(OPENSSL_INIT_LOAD_CONFIG, NULL);
	tzset();
}

static int
confine(const struct feed_config *feed, int stop_fd, pid_t parent)
{
	int error = child_isolate(&stop_fd, 1);

	(void)prctl(PR_SET_NAME, PROCESS_NAME, 0, 0, 0);
	prepare_libraries();
	if (error == 0)
		error = child_die_with(parent);
	if (error == 0)
		error = sandbox_feed();
	if (error < 0)
		log_error("feed %s: cannot confine its process: %s", feed->name,
		    strerror(-error));
	return error;
}

_Noreturn void
feed_child_become(const struct feeds_config *config,
    const struct feed_config *feed, struct feed_page *page, int stop_fd,
    pid_t parent)
{
	struct feeding f = { .config = feed, .page = page };
	const struct feed_host host = {
		.arg = &f, .stop_fd = stop_fd, .status = &page->status,
		.state_dir = config->state_dir,
		.offer = offer, .is_sound = is_sound, .changed = changed,
		.tick = tick, .report = report,
	};
	int error = confine(feed, stop_fd, parent);

	if (error < 0)
		_exit(EXIT_ERROR);
	error = feed_keep_open(&f.keep, config->state_dir, feed->name,
	    (size_t)(feed->limit / KEEP_NAME_OCTETS), &page->kept);
	if (error < 0) {
		log_error("feed %s: cannot write to state_dir \"%s\": %s: it "
		    "must belong to the user of nfdns-feed", feed->name,
		    config->state_dir, strerror(-error));
		_exit(EXIT_ERROR);
	}
	changed(&f);
	error = run_functions[feed->type](feed, &host);
	feed_keep_close(f.keep);
	if (error < 0)
		log_error("feed %s: cannot go on: %s", feed->name,
		    strerror(-error));
	_exit(error < 0 ? EXIT_ERROR : EXIT_OK);
}

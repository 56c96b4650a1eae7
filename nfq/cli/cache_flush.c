/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/cli/cache_flush.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "nfq/cli/commands.h"
#include "nfq/cli/daemon_signal.h"
#include "nfq/cli/message.h"
#include "nfq/handover/flush.h"
#include "nfq/process/exit_code.h"
#include "policy/status/status.h"
#include "resolver/idn.h"
#include "resolver/text/suggest.h"

#define WAIT_MS	10000	/* the daemon replaces a hanging worker in less */
#define TRIES	16	/* for a number that nobody uses now */

struct words {
	bool json, tree, all, named;
	struct dns_name name;
};

const struct command_option cache_flush_options[] = {
	OPTION_FLAG("json", 0, struct words, json),
	OPTION_FLAG("tree", 0, struct words, tree),
	OPTION_FLAG("all", 0, struct words, all),
	{ .name = NULL },
};

/* EXIT_OK, or EXIT_USAGE after a message. */
static int
read_words(struct words *w, int argc, char **argv)
{
	const int first = command_options_read(cache_flush_options,
	    "nfdns cache", w, argc, argv);

	if (first < 0)
		return EXIT_USAGE;
	for (int i = first; i < argc; i++) {
		if (w->named || idn_name_from_text(&w->name, argv[i],
		    strlen(argv[i])) != 0) {
			suggest_usage(stderr, "nfdns cache",
			    "\"%s\" makes no sense here", argv[i]);
			return EXIT_USAGE;
		}
		name_lower(&w->name);
		w->named = true;
	}
	if (w->all != w->named && !(w->all && w->tree))
		return EXIT_OK;
	suggest_usage(stderr, "nfdns cache", "flush needs a NAME, or --all");
	return EXIT_USAGE;
}

/* Leaves the request under a number that is not 0.  0 or a negative errno. */
static int
leave(struct flush *flush, const char *run_dir)
{
	int error = -EEXIST;

	for (int i = 0; i < TRIES && error == -EEXIST; i++) {
		if (getrandom(&flush->number, sizeof(flush->number), 0) !=
		    (ssize_t)sizeof(flush->number))
			return -errno;
		flush->number = flush->number >> 1 | 1;
		error = flush_leave(flush, run_dir);
	}
	return error;
}

static int
show(const struct words *w, uint32_t removed)
{
	const char *plural = removed == 1 ? "" : "s";
	char text[NAME_TEXT_SIZE];

	if (removed == STATUS_NOT_FLUSHED) {
		cli_error("cache: nfdnsd could not flush: see its log");
		return EXIT_ERROR;
	}
	if (w->json)
		(void)printf("{\"removed\": %u}\n", removed);
	else if (w->all)
		(void)printf("%u answer%s removed\n", removed, plural);
	else
		(void)printf("%u answer%s for %s%s removed\n", removed, plural,
		    name_to_text(w->name.octets, text),
		    w->tree ? " and all names below it" : "");
	return EXIT_OK;
}

/* The request is there: makes the daemon read it, and waits. */
static int
ask(struct status_page *page, const struct words *w,
    const struct flush *flush, const char *run_dir)
{
	const int value = (int)flush->number;
	uint32_t removed;
	int error = daemon_signal(page, run_dir, "cache", FLUSH_SIGNAL,
	    &value);

	if (error < 0)
		return error == -ESRCH ? EXIT_NOT_RUNNING : EXIT_ERROR;
	error = status_wait_flush(page, flush->number, WAIT_MS, &removed);
	if (error == 0)
		return show(w, removed);
	if (error != -ETIMEDOUT)
		return cli_no_daemon("cache", run_dir, error);
	cli_error("cache: no result yet: the worker does not answer; see nfdns "
	    "status");
	return EXIT_ERROR;
}

int
cache_flush_running(const struct config *config, int argc, char **argv)
{
	struct words w = { .name = { .length = 1 } };
	struct status_page page;
	struct flush flush;
	int code = read_words(&w, argc, argv), error;

	if (code != EXIT_OK)
		return code;
	error = status_open(&page, config->run_dir);
	if (error < 0)
		return cli_no_daemon("cache", config->run_dir, error);
	flush = (struct flush){ .below = w.tree || w.all, .name = w.name };
	code = EXIT_ERROR;
	if (atomic_load(&page.supervisor->cache_fd) < 0)
		cli_error("cache: nfdnsd has none: set forward.domains and "
		    "forward.cache.size");
	else if ((error = leave(&flush, config->run_dir)) < 0)
		cli_error("cache: cannot write to run_dir \"%s\": %s%s",
		    config->run_dir, strerror(-error),
		    error == -EACCES ? "; run as root" : "");
	else {
		code = ask(&page, &w, &flush, config->run_dir);
		flush_remove(flush.number, config->run_dir);
	}
	status_close(&page);
	return code;
}

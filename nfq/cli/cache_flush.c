/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/cli/cache_flush.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nfq/cli/commands.h"
#include "nfq/cli/daemon_ask.h"
#include "nfq/process/exit_code.h"
#include "resolver/idn.h"
#include "resolver/text/suggest.h"

#define WAIT_MS	10000	/* the daemon replaces a hanging worker in less */

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

static int
show(const struct words *w, uint64_t removed)
{
	const char *plural = removed == 1 ? "" : "s";
	char text[NAME_TEXT_SIZE];

	if (w->json)
		(void)printf("{\"removed\": %" PRIu64 "}\n", removed);
	else if (w->all)
		(void)printf("%" PRIu64 " answer%s removed\n", removed, plural);
	else
		(void)printf("%" PRIu64 " answer%s for %s%s removed\n", removed,
		    plural, name_to_text(w->name.octets, text),
		    w->tree ? " and all names below it" : "");
	return EXIT_OK;
}

int
cache_flush_running(const struct config *config, int argc, char **argv)
{
	struct words w = { .name = { .length = 1 } };
	struct daemon_answer answer;
	char name[NAME_TEXT_SIZE], line[REQUEST_MAX + 1];
	int code = read_words(&w, argc, argv), error;
	uint64_t removed;

	if (code != EXIT_OK)
		return code;
	(void)snprintf(line, sizeof(line), "flush %s%s",
	    w.tree || w.all ? "tree " : "", name_to_text(w.name.octets, name));
	error = daemon_ask(&answer, config->run_dir, line, WAIT_MS);
	if (error < 0)
		return daemon_tell_error(&answer, "cache", config->run_dir,
		    error);
	(void)fputs(answer.err, stderr);
	code = answer.code;
	if (code == EXIT_OK) {
		removed = strtoull(answer.out, NULL, 10);
		code = show(&w, removed);
	}
	daemon_answer_free(&answer);
	return code;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Undoes what join did, for each feed: first nfdnsd no longer reads the table,
 * then nfdns-feed no longer keeps it, then the files go; the record that the
 * machine has joined goes last, so that an interrupted leave can be repeated.
 */
#include <sys/types.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "nfq/cli/commands.h"
#include "nfq/cli/daemon_ask.h"
#include "nfq/cli/join/plan.h"
#include "nfq/cli/join/units.h"
#include "nfq/process/diag_print.h"
#include "nfq/process/exit_code.h"
#include "resolver/sources/feed_file.h"
#include "resolver/text/suggest.h"

#define PROGRAM		"nfdns leave"
#define MAX_FEEDS	16

const char leave_usage[] =
    "usage: nfdns [-c FILE] leave [OPTION ...] [NAME ...]\n"
    "\n"
    "Undoes what \"nfdns join\" did, for the feeds of these names or for all:\n"
    "removes what join wrote and the table that was kept, and stops the feed.\n"
    "What others wrote stays.\n"
    "\n"
    "  -n, --dry-run   only show what would be done\n"
    "  -y, --yes       do not ask\n"
    "      --no-stop   neither disable nor stop units\n"
    "\n"
    "Exit code 0 also if there is nothing to undo.\n";

/* What join writes for a feed; the record goes last. */
static const char *const own_files[] = { JOIN_RECORD, "root-cert.pem",
	"istio-token", "kubeconfig" };

struct leaving {
	const struct config *config;
	const char *name;		/* of the feed */
	bool units;			/* systemd runs them */
	bool last;			/* no other feed is left */
	char *record;			/* what join noted; or NULL */
	struct diag diag;
};

struct feeds {
	char names[MAX_FEEDS][FEED_FILE_NAME_MAX + 1];
	size_t count;
};

static void
add_name(struct feeds *feeds, const char *name, size_t length)
{
	char *to;

	if (feeds->count >= MAX_FEEDS || length > FEED_FILE_NAME_MAX)
		return;
	to = feeds->names[feeds->count];
	memcpy(to, name, length);
	to[length] = '\0';
	if (feed_file_name_is_valid(to))
		feeds->count++;
}

/* Every feed that join has left a record of. */
static void
find_feeds(const struct config *config, struct feeds *feeds)
{
	static const char suffix[] = "." JOIN_RECORD;
	char *path = join_path(config->path, "feeds");
	DIR *directory = path != NULL ? opendir(path) : NULL;
	const struct dirent *entry;

	while (directory != NULL && (entry = readdir(directory)) != NULL) {
		const size_t length = strlen(entry->d_name);
		const size_t end = sizeof(suffix) - 1;

		if (length > end && strcmp(entry->d_name + length - end,
		    suffix) == 0)
			add_name(feeds, entry->d_name, length - end);
	}
	if (directory != NULL)
		(void)closedir(directory);
	free(path);
}

static void
remove_file(struct leaving *l, char *path, bool directory)
{
	if (path == NULL)
		diag_add(&l->diag, DIAG_ERROR, NULL, 0, "out of memory");
	else if (place_remove(path, directory, &l->diag) > 0)
		(void)printf("%s: removed\n", path);
	free(path);
}

/* What others wrote stays, but not unsaid. */
static void
take_out_table(struct leaving *l)
{
	const struct mesh *mesh = &l->config->mesh;
	char *own = join_path_in(l->config->path, JOIN_TABLES, l->name);

	for (size_t i = 0; own != NULL && i < mesh->source_count; i++)
		if (mesh->sources[i].feed != NULL &&
		    strcmp(mesh->sources[i].feed, l->name) == 0 &&
		    strcmp(mesh->sources[i].file, own) != 0)
			diag_add(&l->diag, DIAG_WARNING, mesh->sources[i].file,
			    mesh->sources[i].line, "names the feed's table, "
			    "which is not join's: take it out by hand");
	remove_file(l, own, true);
}

static void
take_out_feed(struct leaving *l)
{
	char *directory = join_path(l->config->path, JOIN_FEEDS);

	/* The directory goes with its last file. */
	remove_file(l, join_path_in(l->config->path, JOIN_FEEDS, l->name), true);
	l->last = directory != NULL && access(directory, F_OK) < 0;
	free(directory);
}

/* Whether join has written anything for such a feed here. */
static bool
is_known(const struct config *config, const char *name)
{
	char *files[] = { join_path_in(config->path, JOIN_TABLES, name),
		join_path_in(config->path, JOIN_FEEDS, name) };
	bool known = false;

	for (size_t i = 0; i < sizeof(own_files) / sizeof(own_files[0]); i++) {
		char *file = join_path_of(config->path, name, own_files[i]);

		known = known || file == NULL || access(file, F_OK) == 0;
		free(file);
	}
	for (size_t i = 0; i < 2; i++) {
		known = known || files[i] == NULL || access(files[i], F_OK) == 0;
		free(files[i]);
	}
	return known;
}

/* Its kept table and its status are another user's files: only unlinked. */
static void
remove_files(struct leaving *l)
{
	const struct config *c = l->config;
	const struct {
		const char *directory, *suffix;
	} kept[] = {
		{ c->state_dir, FEED_FILE_TABLE },
		{ c->state_dir, JOIN_PAIR },
		{ c->feed_run_dir, ".json" },
	};

	for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++) {
		char *path;

		if (asprintf(&path, "%s/%s%s", kept[i].directory, l->name,
		    kept[i].suffix) < 0)
			path = NULL;
		remove_file(l, path, false);
	}
	for (size_t i = 1; i < sizeof(own_files) / sizeof(own_files[0]); i++)
		remove_file(l, join_path_of(c->path, l->name, own_files[i]),
		    false);
	if (strcmp(c->path, CONFIG_DEFAULT_PATH) == 0)
		remove_file(l, join_path_of_drop_in(l->name), true);
}

/* Whether join enabled the unit, which was not enabled before. */
static bool
was_enabled_by_join(const struct leaving *l, const char *unit)
{
	char line[80];

	(void)snprintf(line, sizeof(line), "\n" JOIN_RECORD_ENABLED "%s\n",
	    unit);
	return l->record != NULL && strstr(l->record, line) != NULL;
}

/* Units may be gone with the package, which is not for leave to complain of. */
static void
call(const char *verb, const char *option, const char *unit)
{
	const char *const words[] = { verb, option != NULL ? option : unit,
	    option != NULL ? unit : NULL, NULL };

	(void)units_call(true, words);
}

/* nfdnsd answers without the table, or ends if join had started it. */
static void
tell_daemon(const struct leaving *l)
{
	struct config *now = NULL;
	struct diag diag = DIAG_INIT;

	if (l->units && l->last && was_enabled_by_join(l, UNITS_DAEMON)) {
		call("disable", "--now", UNITS_DAEMON);
		(void)puts(UNITS_DAEMON ": disabled and stopped, as it was "
		    "before the join");
		return;
	}
	if (!daemon_is_there(l->config->run_dir))
		return;
	(void)fflush(stdout);
	if (config_load(&now, l->config->path, &diag) == 0)
		(void)cmd_reload_forced(now);
	else
		diag_print(&diag, "nfdns", stderr);
	diag_free(&diag);
	config_free(now);
}

static bool
leave(struct leaving *l)
{
	bool good;

	l->record = join_record_read(l->config->path, l->name);
	l->diag = (struct diag)DIAG_INIT;
	take_out_table(l);
	take_out_feed(l);
	if (l->diag.errors == 0) {
		char unit[JOIN_UNIT_SIZE];

		tell_daemon(l);
		if (l->units) {
			(void)snprintf(unit, sizeof(unit), JOIN_UNIT, l->name);
			call("disable", "--now", unit);
			if (l->last)
				call("disable", "--now", UNITS_RENEW);
		}
		remove_files(l);
		if (l->units)
			call("daemon-reload", NULL, NULL);
	}
	good = l->diag.errors == 0;
	if (good)
		remove_file(l, join_path_of(l->config->path, l->name,
		    JOIN_RECORD), true);
	if (good && !l->units)
		(void)printf("Stop its nfdns-feed, if it runs (-c .../%s.conf).\n",
		    l->name);
	diag_print(&l->diag, "nfdns", stderr);
	diag_free(&l->diag);
	free(l->record);
	return good;
}

static int
show_and_leave(const struct config *config, const struct feeds *feeds,
    bool units, bool yes, bool dry_run)
{
	int code;

	if (feeds->count == 0) {
		(void)puts("This machine has joined nothing; nothing to do.");
		return EXIT_OK;
	}
	for (size_t i = 0; i < feeds->count; i++)
		(void)printf("Feed \"%s\": its files in conf.d and feeds.d, its "
		    "certificates, its token\nand its kept table are "
		    "removed.\n", feeds->names[i]);
	if (units)
		(void)puts("Units that join enabled are stopped and disabled, "
		    "if no feed is left.");
	if (!confirm("leave", yes, dry_run, &code))
		return code;
	code = EXIT_OK;
	for (size_t i = 0; i < feeds->count; i++) {
		struct leaving l = { .config = config, .units = units,
		    .name = feeds->names[i] };

		if (!leave(&l))
			code = EXIT_ERROR;
	}
	return code;
}

static bool
take_names(struct feeds *feeds, int count, char **words)
{
	for (int i = 0; i < count; i++) {
		const size_t before = feeds->count;

		add_name(feeds, words[i], strlen(words[i]));
		if (feeds->count > before)
			continue;
		suggest_usage(stderr, PROGRAM, "\"%s\" is not the name of a "
		    "feed", words[i]);
		return false;
	}
	return true;
}

struct choice {
	bool dry_run, yes, no_stop;
};

const struct command_option leave_options[] = {
	OPTION_FLAG("dry-run", 'n', struct choice, dry_run),
	OPTION_FLAG("yes", 'y', struct choice, yes),
	OPTION_FLAG("no-stop", 0, struct choice, no_stop),
	{ .name = NULL },
};

int
cmd_leave(const struct config *config, int argc, char **argv)
{
	struct choice choice = { .yes = false };
	struct feeds feeds = { .count = 0 };
	const int first = command_options_read(leave_options, PROGRAM, &choice,
	    argc, argv);
	const bool units = !choice.no_stop && units_are_there() &&
	    strcmp(config->path, CONFIG_DEFAULT_PATH) == 0;

	if (first < 0 || !take_names(&feeds, argc - first, argv + first))
		return EXIT_USAGE;
	if (first == argc)
		find_feeds(config, &feeds);
	for (size_t i = 0; first < argc && i < feeds.count; i++)
		if (!is_known(config, feeds.names[i])) {
			cli_error("leave: there is no feed \"%s\" here; "
			    "without a name, leave undoes every join",
			    feeds.names[i]);
			return EXIT_ERROR;
		}
	return show_and_leave(config, &feeds, units, choice.yes,
	    choice.dry_run);
}

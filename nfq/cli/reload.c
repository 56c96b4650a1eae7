/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "nfq/cli/commands.h"
#include "nfq/cli/daemon_signal.h"
#include "nfq/cli/message.h"
#include "nfq/process/diag_print.h"
#include "nfq/supervisor/supervisor.h"
#include "policy/status/load_report.h"
#include "policy/status/status.h"
#include "nfq/process/exit_code.h"

/* More than a compiler may take. */
#define RELOAD_WAIT_MS	330000
#define BEGIN_WAIT_MS	10000	/* for the daemon to take the signal */

const char reload_usage[] =
    "usage: nfdns [-c FILE] reload [--force]\n"
    "\n"
    "Checks the configuration file, makes the running daemon load it and the\n"
    "mesh tables, and waits for the result.  Prints the warnings and a summary.\n"
    "Exit code 0 if the daemon uses the new configuration and tables, 4 if it\n"
    "refused them and keeps the old ones, 3 if it is not running.\n"
    "\n"
    "  --force   also accept tables or files of rules that have lost more than half\n"
    "            of their names\n";

/*
 * Waits for the reload that our signal starts.  An odd sequence number means
 * that a reload is running already.  It may have read the files before the user
 * wrote them, so the daemon starts another one after it, and that one is ours.
 * -EINPROGRESS: the daemon has not begun one.
 */
static int
wait_for_ours(struct status_page *page, uint32_t before)
{
	const uint32_t ours = before % 2 == 1 ? before + 3 : before + 2;
	int error = status_wait_reload(page, before, BEGIN_WAIT_MS);

	if (error == -ETIMEDOUT &&
	    atomic_load(&page->supervisor->reload_sequence) == before &&
	    before % 2 == 0)
		return -EINPROGRESS;
	if (error == -ETIMEDOUT)
		error = 0;
	while (error == 0 && (int32_t)(before - ours) < 0) {
		error = status_wait_reload(page, before, RELOAD_WAIT_MS);
		before = atomic_load(&page->supervisor->reload_sequence);
		before &= ~1U;
	}
	return error;
}

/*
 * Prints all warnings and errors of our reload.  Returns the number of warnings,
 * or -1 if a later reload has replaced the report.
 */
static long
show_details(const struct config *config, uint32_t sequence)
{
	struct load_report load;
	long warnings = -1;
	int error = load_report_read(&load, config->run_dir);

	if (error == 0 && load.sequence == sequence) {
		diag_print(&load.diag, "nfdns", stderr);
		warnings = (long)load.diag.warnings;
	} else {
		cli_error("reload: cannot show the warnings: %s; see the log "
		    "of nfdnsd", error < 0 ? strerror(-error) :
		    "another reload has followed");
	}
	load_report_free(&load);
	return warnings;
}

static int
show_outcome(const struct config *config, const struct status_page *page)
{
	const struct status_supervisor *s = page->supervisor;
	const uint32_t sequence = atomic_load(&s->reload_sequence);
	const uint64_t names = atomic_load(&s->table_names);
	char text[STATUS_TEXT];
	long warnings;
	bool ok;

	status_reload_error(page, &ok, text);
	warnings = show_details(config, sequence);
	if (!ok) {
		cli_error("reload: refused, everything stays as it was: %s",
		    text);
		return EXIT_INVALID;
	}
	(void)printf("reloaded: table generation %llu\n",
	    (unsigned long long)atomic_load(&s->table_generation));
	if (warnings >= 0)
		diag_print_valid(config->mesh.source_count, names, (size_t)warnings,
		    stdout);
	return EXIT_OK;
}

static int
reload(const struct config *config, bool force)
{
	static const int forced = SUPERVISOR_FORCE;
	struct status_page page;
	uint32_t before;
	int error = status_open(&page, config->run_dir);
	int code = EXIT_ERROR;

	if (error < 0)
		return cli_no_daemon("reload", config->run_dir, error);
	error = status_refresh(&page);
	if (error < 0) {
		status_close(&page);
		return cli_no_daemon("reload", config->run_dir, error);
	}
	before = atomic_load(&page.supervisor->reload_sequence);
	error = daemon_signal(&page, config->run_dir, "reload", SIGHUP,
	    force ? &forced : NULL);
	if (error < 0) {
		status_close(&page);
		return error == -ESRCH ? EXIT_NOT_RUNNING : EXIT_ERROR;
	}
	error = wait_for_ours(&page, before);
	if (error == 0)
		code = show_outcome(config, &page);
	else if (error == -EINPROGRESS)
		cli_error("reload: nfdnsd (pid %d) has not begun to reload: it "
		    "is stopped, or hangs; kill -CONT it, and it reloads, or "
		    "restart it",
		    (int)atomic_load(&page.supervisor->pid));
	else if (error == -ETIMEDOUT)
		cli_error("reload: no result yet; see nfdns status");
	else
		code = cli_no_daemon("reload", config->run_dir, error);
	status_close(&page);
	return code;
}

void
cmd_reload_refused(const char *run_dir)
{
	struct status_page page;
	uint32_t before;

	cli_error("reload: refused, everything stays as it was");
	if (status_open(&page, run_dir) < 0)
		return;
	before = atomic_load(&page.supervisor->reload_sequence);
	if (daemon_signal(&page, run_dir, NULL, SIGHUP, NULL) == 0)
		(void)!wait_for_ours(&page, before);
	status_close(&page);
}

int
cmd_reload(const struct config *config, int argc, char **argv)
{
	(void)argc;
	(void)argv;
	return reload(config, false);
}

int
cmd_reload_forced(const struct config *config, int argc, char **argv)
{
	(void)argc;
	(void)argv;
	return reload(config, true);
}

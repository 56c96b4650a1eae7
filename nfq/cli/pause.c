/* SPDX-License-Identifier: GPL-2.0-or-later */
/* nfdns pause, nfdns resume. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nfq/cli/commands.h"
#include "nfq/cli/daemon_ask.h"
#include "nfq/process/exit_code.h"
#include "resolver/text/suggest.h"

#define DEFAULT_TIME "10m"

const char pause_usage[] =
    "usage: nfdns [-c FILE] pause [TIME]\n"
    "       nfdns [-c FILE] resume\n"
    "\n"
    "Lets every question pass, as if nfdns were not installed, for TIME (90s, 10m,\n"
    "2h; default " DEFAULT_TIME "; at most 24h), or until nfdns resume.  Table, cache and what\n"
    "is under way stay.  It ends by itself, and with a restart of nfdnsd.  Rules\n"
    "of the policy do not hold meanwhile.\n";

/* Seconds; 0: it is no time, or too long. */
static unsigned int
seconds_of(const char *text)
{
	static const struct {
		const char *unit;
		unsigned long seconds;
	} units[] = { { "s", 1 }, { "m", 60 }, { "h", 3600 }, { "", 1 } };
	char *end;
	const unsigned long number = strtoul(text, &end, 10);

	if (text[0] < '0' || text[0] > '9' || number > REQUEST_PAUSE_MAX)
		return 0;
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (strcmp(end, units[i].unit) == 0 &&
		    number * units[i].seconds <= REQUEST_PAUSE_MAX)
			return (unsigned int)(number * units[i].seconds);
	return 0;
}

int
cmd_pause(const struct config *config, int argc, char **argv)
{
	const char *text = argc > 1 ? argv[1] : DEFAULT_TIME;
	const unsigned int seconds = seconds_of(text);
	char line[40];
	int code;

	if (argc > 2 || seconds == 0) {
		suggest_usage(stderr, "nfdns pause", argc > 2 ? "too many "
		    "arguments" : "\"%s\" is not a time such as 90s, 10m or 2h, "
		    "up to 24h", text);
		return EXIT_USAGE;
	}
	(void)snprintf(line, sizeof(line), "pause %u", seconds);
	code = daemon_show("pause", config->run_dir, line, DAEMON_REACTS_MS);
	if (code == EXIT_OK)
		(void)printf("paused for %s: every question passes; nfdns "
		    "resume ends it\n", text);
	return code;
}

int
cmd_resume(const struct config *config, int argc, char **argv)
{
	int code;

	if (argc > 1) {
		suggest_usage(stderr, "nfdns resume", "unknown argument \"%s\"",
		    argv[1]);
		return EXIT_USAGE;
	}
	code = daemon_show("resume", config->run_dir, "resume",
	    DAEMON_REACTS_MS);
	if (code == EXIT_OK)
		(void)puts("questions are taken again");
	return code;
}

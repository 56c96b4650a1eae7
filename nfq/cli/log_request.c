/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/cli/log_request.h"

#include <getopt.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "nfq/cli/commands.h"
#include "nfq/cli/message.h"
#include "nfq/process/diag_print.h"
#include "nfq/process/exit_code.h"
#include "nfq/process/sandbox.h"
#include "policy/config/config.h"
#include "policy/decide.h"
#include "resolver/text/number.h"
#include "resolver/text/suggest.h"

static const struct option options[] = {
	{ "follow", no_argument, NULL, 'f' },
	{ "name", required_argument, NULL, 'n' },
	{ "user", required_argument, NULL, 'u' },
	{ "rule", required_argument, NULL, 'r' },
	{ "verdict", required_argument, NULL, 'v' },
	{ "since", required_argument, NULL, 's' },
	{ "format", required_argument, NULL, 'F' },
	{ NULL, 0, NULL, 0 },
};
const struct command_options log_options = { "fn:u:r:v:s:F:", options };

/* The same without the first and the last. */
static const struct option pcap_options[] = {
	{ "name", required_argument, NULL, 'n' },
	{ "user", required_argument, NULL, 'u' },
	{ "rule", required_argument, NULL, 'r' },
	{ "verdict", required_argument, NULL, 'v' },
	{ "since", required_argument, NULL, 's' },
	{ NULL, 0, NULL, 0 },
};
const struct command_options log_pcap_options = { "n:u:r:v:s:", pcap_options };

static bool
read_user(struct log_filter *filter, const char *text)
{
	const struct passwd *user = getpwnam(text);
	uint64_t number;

	filter->has_user = true;
	if (user != NULL) {
		filter->user = user->pw_uid;
		return true;
	}
	if (!number_from_text(text, UINT32_MAX - 1, &number))
		return false;
	filter->user = (uid_t)number;
	return true;
}

static bool
is_verdict(const char *text)
{
	for (int v = 0; v < VERDICTS; v++)
		if (strcmp(text, decide_verdict_text((enum verdict)v)) == 0)
			return true;
	return false;
}

/* One option; NULL, or what is wrong with its value. */
static const char *
take_option(struct log_request *r, int option, const char *value)
{
	switch (option) {
	case 'f':
		r->follow = true;
		return NULL;
	case 'n':
		r->filter.name = value;
		return NULL;
	case 'u':
		return read_user(&r->filter, value) ? NULL :
		    "there is no such user";
	case 'r':
		r->filter.rule = value;
		return NULL;
	case 'v':
		r->filter.verdict = value;
		return is_verdict(value) ? NULL : "no verdict: give one such "
		    "as answer, nodata, nxdomain, refuse, drop or pass";
	case 's':
		return log_filter_since(&r->filter.since_ns, value,
		    (int64_t)time(NULL)) ? NULL : "no time: give one such as "
		    "10m, 2h, 13:40 or \"2026-11-22 13:40\"";
	case 'F':
		r->json = strcmp(value, "json") == 0;
		return r->json || strcmp(value, "text") == 0 ? NULL :
		    "neither text nor json";
	default:
		return "makes no sense here";
	}
}

bool
log_request_read(struct log_request *r, const struct command_options *allowed,
    const char *command, int words, int argc, char **argv)
{
	const char *why = NULL;
	char name[32];
	int option;

	(void)snprintf(name, sizeof(name), "nfdns %s", command);
	argc -= words - 1;
	argv += words - 1;
	optind = 0;
	opterr = 0;
	while (why == NULL && (option = getopt_long(argc, argv,
	    allowed->letters, allowed->list, NULL)) != -1) {
		why = take_option(r, option, optarg);
		if (why != NULL)
			suggest_usage(stderr, name, "\"%s\": %s",
			    option == '?' || optarg == NULL ? argv[optind - 1] :
			    optarg, why);
	}
	r->files = argv + optind;
	r->file_count = (size_t)(argc - optind);
	r->colour = cli_has_colour(STDOUT_FILENO);
	return why == NULL;
}

char *
log_configured(const char *path, enum audit_format_number format,
    const char *lacking)
{
	struct diag diag = DIAG_INIT;
	struct config *config = NULL;
	char *found = NULL;

	if (config_load(&config, path, &diag) != 0)
		config = NULL;
	diag_print(&diag, "nfdns", stderr);
	diag_free(&diag);
	for (size_t i = 0; config != NULL && i < config->audit_count; i++) {
		const struct config_audit *audit = &config->audits[i];

		if (found == NULL && audit->path != NULL && (format ==
		    AUDIT_FORMATS || audit->sink.format == format))
			found = strdup(audit->path);
	}
	if (config != NULL && found == NULL)
		cli_error("%s %s", path, lacking);
	config_free(config);
	return found;
}

int
log_give_up_rights(const char *command)
{
	const int error = sandbox_reader();

	if (error == 0)
		return EXIT_OK;
	cli_error("%s: cannot give up privileges: %s", command,
	    strerror(-error));
	return EXIT_ERROR;
}

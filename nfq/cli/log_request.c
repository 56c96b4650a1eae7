/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/cli/log_request.h"

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

static const char *
read_user(void *to, const char *value)
{
	struct log_request *r = to;
	const struct passwd *user = getpwnam(value);
	uint64_t number;

	if (user != NULL)
		number = user->pw_uid;
	else if (!number_from_text(value, UINT32_MAX - 1, &number))
		return "there is no such user";
	r->filter.has_user = true;
	r->filter.user = (uid_t)number;
	return NULL;
}

static bool
is_verdict(const char *text)
{
	for (int v = 0; v < VERDICTS; v++)
		if (strcmp(text, decide_verdict_text((enum verdict)v)) == 0)
			return true;
	return false;
}

static const char *
read_verdict(void *to, const char *value)
{
	struct log_request *r = to;

	r->filter.verdict = value;
	return is_verdict(value) ? NULL : "not a verdict: answer, "
	    "nodata, nxdomain, refuse, drop, pass or forward";
}

static const char *
read_since(void *to, const char *value)
{
	struct log_request *r = to;

	return log_filter_since(&r->filter.since_ns, value,
	    (int64_t)time(NULL)) ? NULL : "not a time: give one such as 10m, 2h, "
	    "13:40 or \"2026-11-22 13:40\"";
}

static const char *
read_format(void *to, const char *value)
{
	struct log_request *r = to;

	r->json = strcmp(value, "json") == 0;
	return r->json || strcmp(value, "text") == 0 ? NULL :
	    "neither text nor json";
}

#define FILTERS \
	OPTION_TEXT("name", 'n', struct log_request, filter.name), \
	OPTION_READ("user", 'u', read_user), \
	OPTION_TEXT("rule", 'r', struct log_request, filter.rule), \
	OPTION_READ("verdict", 'v', read_verdict), \
	OPTION_READ("since", 's', read_since)

const struct command_option log_options[] = {
	FILTERS,
	OPTION_FLAG("follow", 'f', struct log_request, follow),
	OPTION_READ("format", 'F', read_format),
	{ .name = NULL },
};

const struct command_option log_pcap_options[] = {
	FILTERS,
	{ .name = NULL },
};

bool
log_request_read(struct log_request *r, const struct command_option *table,
    const char *program, int argc, char **argv)
{
	const int first = command_options_read(table, program, r, argc, argv);

	if (first < 0)
		return false;
	r->files = argv + first;
	r->file_count = (size_t)(argc - first);
	r->colour = cli_has_colour(STDOUT_FILENO);
	return true;
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

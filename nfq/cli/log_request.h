/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the commands that read packet logs share: their options and rights. */
#ifndef NFDNS_NFQ_CLI_LOG_REQUEST_H
#define NFDNS_NFQ_CLI_LOG_REQUEST_H

#include <stdbool.h>
#include <stddef.h>

#include "nfq/cli/logs/log_filter.h"
#include "policy/audit/audit.h"

/* Borrows its texts from argv. */
struct log_request {
	struct log_filter filter;
	bool follow;
	bool json;
	bool colour;
	char **files;
	size_t file_count;
};

struct command_option;			/* command_options.h */

/*
 * Reads options and files; argv[0] is the command's last word.  False after a
 * message as of "program".
 */
bool log_request_read(struct log_request *request,
    const struct command_option *table, const char *program, int argc,
    char **argv);

/*
 * The configuration's first log that is a file in this format; AUDIT_FORMATS:
 * in any.  The caller frees it; NULL after a message: there is none, and the
 * message ends with "lacking".
 */
char *log_configured(const char *path, enum audit_format_number format,
    const char *lacking);

/* Call it before the first octet of a log is read.  An exit code. */
int log_give_up_rights(const char *command);

#endif

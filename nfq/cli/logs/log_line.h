/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The records of any format as lines of the format json. */
#ifndef NFDNS_NFQ_CLI_LOGS_LOG_LINE_H
#define NFDNS_NFQ_CLI_LOGS_LOG_LINE_H

#include <stdbool.h>
#include <stddef.h>

#include "nfq/cli/logs/log_pieces.h"
#include "policy/audit/json.h"
#include "nfq/cli/logs/read_back.h"

/* Starts with zeros. */
struct log_line {
	const char *text;		/* without a line end */
	size_t length;
	struct audit_json json;
	struct audit_read_back back;
	char octets[AUDIT_JSON_MAX];
};

/*
 * The line of a piece, valid until the next call: in JSON the piece itself, in
 * other formats that of its record, without a seal.  False: the piece has none.
 */
bool log_line_of(struct log_line *line, const struct log_pieces *pieces,
    const struct audit_reading *reading);

#endif

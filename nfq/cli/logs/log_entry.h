/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One record of a packet log as "nfdns log" sees it, read from a line of the
 * format json.
 *
 * This room reads packet logs back.  They may have been changed by anybody who
 * may write them.
 */
#ifndef NFDNS_NFQ_CLI_LOGS_LOG_ENTRY_H
#define NFDNS_NFQ_CLI_LOGS_LOG_ENTRY_H

#include <stdbool.h>
#include <stddef.h>

#include "nfq/cli/logs/log_text.h"
#include "resolver/dns/name.h"
#include "resolver/text/json_tree.h"

/* Borrows from the tree that read it, until that reads the next line. */
struct log_entry {
	struct audit_line line;
	char name[NAME_TEXT_SIZE + 1];	/* with the final dot */
	const struct json_node *answers;	/* the first; NULL: none */
};

/*
 * Reads a line.  False: it is no record of a question (a note, another event, no
 * JSON).
 */
bool log_entry_read(struct log_entry *entry, struct json_tree *tree,
    const char *text, size_t length);

/* The entry as a line, without a line end.  Returns the length. */
size_t log_entry_text(const struct log_entry *entry, bool colour,
    char text[static AUDIT_TEXT_MAX]);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The question of "nfdns explain" and "nfdns ask", as it is written. */
#ifndef NFDNS_NFQ_CLI_QUESTION_WORDS_H
#define NFDNS_NFQ_CLI_QUESTION_WORDS_H

#include <stdbool.h>
#include <stdint.h>

#include "nfq/cli/explain/explain.h"

/* What a command line, or a line of the standard input, asks for. */
struct explain_words {
	struct explain_question question;
	bool has_client, has_nameserver, has_gid;
	uint32_t scope_id;		/* of a link-local nameserver */
	bool json, brief, all, configured, reverse, search;
	bool ask;			/* and really send it */
	bool absolute;			/* NAME ends with a dot */
	bool many;			/* NAME is "-" */
};

/* The caller's own user, over UDP. */
void explain_words_defaults(struct explain_words *words);

/*
 * Reads options and words; argv[0] is skipped.  What is not given stays as it
 * is.  False after a message.
 */
bool explain_words_read(struct explain_words *words, int argc, char **argv);

/*
 * Chooses addresses that were not given: the first nameserver of resolv.conf(5),
 * and the address of this machine that is used towards it.  False after a
 * message: the two are of different versions of IP.
 */
bool explain_words_complete(struct explain_words *words);

#endif

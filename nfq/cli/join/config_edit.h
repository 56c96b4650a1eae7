/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * feed.conf and nfdnsd.conf with a feed added or taken out, as text.  Every
 * result has been parsed, and says of everything else what it said before.
 */
#ifndef NFDNS_NFQ_CLI_JOIN_CONFIG_EDIT_H
#define NFDNS_NFQ_CLI_JOIN_CONFIG_EDIT_H

#include <stdbool.h>
#include <stddef.h>

#include "policy/config/config.h"
#include "resolver/text/diag.h"

struct config_edit {
	const struct config *config;	/* nfdnsd.conf as it is; borrowed */
	const char *name;		/* of the feed; borrowed */
	const char *namespace;		/* for mesh.namespace; NULL: none */

	/* What came out; the caller frees it. */
	char *text;			/* NULL: the file need not change */
	size_t length;
	bool adds;			/* nothing is lost of the file */
	char *by_hand;			/* what its user has to change; or NULL */
	char *old_namespace;		/* mesh.namespace if it is another */
};

/*
 * The file at path with the feed, whose group "item" is; a new one if there is
 * none.  What a file with another feed of that name becomes, and with "force"
 * one with errors, replaces it (!adds).  Returns whether all is well; if not,
 * errors are in diag.
 */
bool config_edit_add_feed(struct config_edit *e, const char *path,
    const char *item, bool force, struct diag *diag);

/*
 * nfdnsd.conf with the feed's table, and the namespace if it sets none; or
 * by_hand, if it is written so that it cannot be changed with certainty.
 */
bool config_edit_add_table(struct config_edit *e, struct diag *diag);

/*
 * The same without them.  *empty: of feed.conf nothing is left but what
 * config_edit_add_feed() makes for a new one.
 */
bool config_edit_remove_feed(struct config_edit *e, const char *path,
    bool *empty, struct diag *diag);
bool config_edit_remove_table(struct config_edit *e, struct diag *diag);

#endif

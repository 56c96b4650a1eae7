/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lines of a list of names, in the formats in which lists are published.  A list
 * may mix them:
 *
 *   a.example  *.a.example  .a.example	patterns: policy_pattern_read()
 *   0.0.0.0 a.example b.example	hosts(5): these names, if the address is
 *					unspecified or of the loopback
 *   ||a.example^			AdBlock, and what dnsmasq and unbound read:
 *   address=/a.example/		the name and all below it
 *   local-zone: "a.example" always_nxdomain
 *
 * Comments begin with "#", "!" or ";"; a "#" behind a name begins one, too.
 * Whatever else a line has is told: a name that is read wrongly blocks nothing,
 * and nobody notices.
 */
#ifndef NFDNS_POLICY_MATCH_LIST_LINE_H
#define NFDNS_POLICY_MATCH_LIST_LINE_H

#include "policy/config/capture.h"
#include "resolver/text/span.h"

/* A line, without its end; borrows the text. */
struct list_line {
	struct span text;		/* without blanks around it and comment */
	const char *why;		/* what of it is not read, or NULL: a
					 * sentence's end, behind the text */
	struct span rest;		/* names that are left */
	enum list_form {
		LIST_NONE,
		LIST_PATTERN,
		LIST_WITHIN,		/* the name and all below it */
		LIST_HOSTS,
	} form;
	bool given;			/* HOSTS: the address is not one that
					 * blocks */
};

void list_line_begin(struct list_line *line, struct span text);

/*
 * The next name of the line, of any kind but POLICY_SET; false after the last.
 * line->why may be set before and after, also if the line has names.
 */
bool list_line_next(struct list_line *line, struct policy_name *name);

#endif

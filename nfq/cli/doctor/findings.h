/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What "nfdns doctor" found, line by line.
 *
 * This room looks at a machine: its files, its kernel, the daemon's status page.
 * It changes nothing, but for a table that traces its own packets meanwhile.
 */
#ifndef NFDNS_NFQ_CLI_DOCTOR_FINDINGS_H
#define NFDNS_NFQ_CLI_DOCTOR_FINDINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "policy/config/config.h"

enum finding_level {
	FINDING_OK,
	FINDING_WARNING,		/* may be meant so */
	FINDING_BAD,			/* names are not answered, or not rightly */
	FINDING_UNKNOWN,		/* could not be looked at */
	FINDING_LEVELS
};

#define FINDING_TEXT	480

/* A value.  "todo" is a sentence, empty if there is nothing to do. */
struct finding {
	enum finding_level level;
	const char *topic;		/* a word; static text */
	char text[FINDING_TEXT];
	char todo[FINDING_TEXT];
	char paste[FINDING_TEXT];	/* a command that mends it, or empty */
};

#define FINDINGS_MAX	64

struct findings {
	size_t count;
	struct finding all[FINDINGS_MAX];
};

/*
 * Adds one; todo may be NULL.  Texts become as printable_text() writes them,
 * since they may come from anybody's file.
 */
void findings_add(struct findings *findings, enum finding_level level,
    const char *topic, const char *todo, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/*
 * The last finding gets a command line, which is printed as one line whatever
 * the width, so that it can be pasted.
 */
void findings_paste(struct findings *findings, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Bad ones first, then warnings, unknown ones, and what is ok; else as added. */
void findings_sort(struct findings *findings);

/* Whether a line says that something is, or may be, in the way of packets. */
bool findings_have_obstacle(const struct findings *findings);
#define FINDING_OBSTACLE	"firewall"	/* its topic */

size_t findings_count(const struct findings *findings,
    enum finding_level level);

/*
 * Two columns, and what to do below; colour: the level has one (ECMA-48).  Lines
 * but those to paste have at most "width" characters, at least 40.
 */
void findings_print(const struct findings *findings, bool colour,
    unsigned int width, FILE *out);

/* One JSON array and a line end.  0 or -ENOMEM. */
int findings_print_json(const struct findings *findings, FILE *out)
    __attribute__((warn_unused_result));

/* Networks of containers and guests on this machine, as far as they are bridges. */

#define BRIDGES_TEXT	512

/*
 * If the machine forwards packets and has bridges that no entry of "containers"
 * names: true, and what is to be written for the first dozen, "containers = ( {
 * interfaces = [ "docker0", "br-*" ]; } );", or the entry alone if there are others.
 */
bool bridges_entry(const struct config *config, char text[static BRIDGES_TEXT]);

#endif

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
#include "nfq/cli/doctor/ask.h"
#include "rules/trace.h"
#include "policy/status/status.h"
#include "rules/ruleset.h"
#include "resolver/image/table.h"

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

/*
 * What other programs' chains do to questions and answers: seen on doctor's own
 * asks by the kernel's trace (rules/trace.h).  Of xtables ("legacy") only that they
 * are there.
 */

/*
 * Begins to trace asks whose ports are known.  0 or a negative errno, for
 * chains_check().
 */
int chains_trace(struct trace **trace, const struct ask *asks, size_t count)
    __attribute__((warn_unused_result));

/*
 * Behind ask_all(): adds which rule kept an ask from its answer, with the command
 * that mends it, and where one was led elsewhere.  error: what chains_trace()
 * returned; trace is NULL then.
 */
void chains_check(struct findings *findings, const struct config *config,
    struct trace *trace, int error, const struct ask *asks, size_t count);

/* Whether nfdnsd runs, with this configuration, and its rules are in place. */

/* The configuration that was read, or NULL with its first error in "diag". */
void daemon_check_config(struct findings *findings, const char *path,
    const struct config *config, const struct diag *diag);

/* The files that have changed since the daemon loaded them, a line each. */
void daemon_check_changed(struct findings *findings, const char *files);

/* Why the last start failed, and when (CLOCK_REALTIME seconds); "": it did not. */
struct start_failed {
	const char *why;
	int64_t when;
};

/*
 * The daemon of that run_dir; config may be NULL.  page is NULL, and error a
 * negative errno, if it cannot be asked; then "failed" is needed, and the rest
 * is left out.  -ETIMEDOUT: the process "pid" does not react.
 */
void daemon_check_status(struct findings *findings, const char *run_dir,
    const struct config *config, const struct status_page *page,
    const struct start_failed *failed, int error, pid_t pid);

/*
 * ruleset_build() with the ports of the running daemon's listeners, if page is not
 * NULL.
 */
int daemon_rules(struct ruleset *set, const struct config *config,
    const struct status_page *page, struct diag *diag)
    __attribute__((warn_unused_result));

/* What the daemon says of its rules: as text, and a line for each that differs. */
struct rules_said {
	const char *text, *differences;
};

/* The rules in force against those of config; NULL: nobody could be asked. */
void daemon_check_rules(struct findings *findings, const struct config *config,
    const struct status_page *page, const struct rules_said *said);

/*
 * The nameservers that programs of this machine ask: whether each answers, and
 * whether nfdnsd answers in its place; and what the C library makes of it.
 */

/*
 * Those of resolv.conf, and those that systemd-resolved asks.  For each: UDP,
 * TCP, the canary question over both, and TCP as nfdnsd asks.
 */
#define SERVERS_MAX	(2 * RESOLV_CONF_MAX_SERVERS)
#define SERVERS_ASKS	5

/* Behind them upstreams of forward.domains, but those over TLS: UDP, TCP or both. */
struct servers {
	struct ask asks[SERVERS_MAX * SERVERS_ASKS + 2 * FORWARD_UPSTREAMS];
	size_t count;			/* of nameservers */
	size_t all;
	uint32_t upstream[2 * FORWARD_UPSTREAMS];	/* which asks[count + i] is */
};

/*
 * What there is to ask, with sockets that are open.  config NULL or "runs" false:
 * without the canary, which nobody would answer.
 */
void servers_open(struct servers *servers, const struct config *config,
    bool runs);

/* Asks all at once, and returns after two seconds at most. */
void servers_ask(struct servers *servers);

/* Which upstreams answered, and domains without any that did. */
void servers_check_upstreams(struct findings *findings,
    const struct servers *servers, const struct config *config);

/* config as above. */
void servers_check(struct findings *findings, const struct servers *servers,
    const struct config *config);

/*
 * Has getent(1) look some names of the table up, as programs do, and asks nfdns
 * explain about one that is not found; ends after some seconds.  "path": of the
 * configuration.
 */
void servers_check_names(struct findings *findings, const struct table *table,
    const char *path);

#endif

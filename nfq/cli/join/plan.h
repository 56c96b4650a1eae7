/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What "nfdns join" is to write, made before anything is written. */
#ifndef NFDNS_NFQ_CLI_JOIN_PLAN_H
#define NFDNS_NFQ_CLI_JOIN_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "nfq/cli/join/place.h"
#include "policy/config/config.h"
#include "resolver/sources/feed_file.h"
#include "resolver/text/diag.h"

#define JOIN_UNIT	"nfdns-feed@%s.service"	/* of the feed's name */
#define JOIN_UNIT_SIZE	(sizeof(JOIN_UNIT) + FEED_FILE_NAME_MAX)
#define JOIN_UNIT_DIRECTORY	"/etc/systemd/system"
#define JOIN_RECORD_MAX		4096	/* octets */
#define JOIN_MAX_PLACES		8

/* What the command line, the machine and the clock say; all of it borrowed. */
struct join_request {
	const struct config *config;	/* nfdnsd.conf as it is */
	const char *name;		/* of the feed */
	const char *directory;		/* of istioctl's files; or NULL and: */
	const char *kubeconfig;
	char **namespaces;		/* that are watched; none: all */
	size_t namespace_count;
	const char *context;		/* of the kubeconfig; NULL: its current one */
	bool skip_allocated;		/* no names that lead to a sidecar alone */
	bool force;			/* replace what others wrote */
	bool units;			/* systemd runs nfdns-feed */
	const char *const *enable;	/* units that are not enabled; ends with NULL */
	gid_t group;			/* of nfdns-feed; (gid_t)-1: there is none */
	int64_t now;			/* seconds since 1970 */
};

/* Start from zeros; owns everything. */
struct join_plan {
	/* In the order of writing; a join that was killed can be repeated. */
	struct place places[JOIN_MAX_PLACES];
	size_t count;
	char *peer;			/* "HOST:PORT at ADDRESS, ..." or a URL */
	char *self;			/* how this machine presents itself; or NULL */
	char *namespace;		/* the machine's; or NULL */
	char *old_namespace;		/* that nfdnsd.conf keeps although it differs */
	bool agent;			/* a certificate of Istio's agent is used */
	bool dns_capture;		/* cluster.env has that agent take port 53 */
	int64_t token_end;		/* 0: not known, or no token */
	char *token_file;		/* that stays where it is; or NULL */
	bool insecure;			/* the server's certificate is not verified */
	char *copied[3];		/* files that the kubeconfig named; or NULL */
};

/*
 * Reads all that is named and finds what has to be written.  Every error goes to
 * diag; returns whether there was none.  join_plan_free() in every case.
 */
bool join_plan_make(struct join_plan *plan, const struct join_request *request,
    struct diag *diag) __attribute__((warn_unused_result));
void join_plan_free(struct join_plan *plan);

/*
 * Names of what belongs to a feed, from the root; the caller frees them.  NULL
 * for lack of memory.  "config" is the path of nfdnsd.conf.
 */
char *join_path(const char *config, const char *file);
char *join_path_of(const char *config, const char *name, const char *suffix);
char *join_path_of_drop_in(const char *name);

char *join_path_in(const char *config, const char *directory, const char *name);

/* Where join writes NAME.conf: for nfdns-feed, and for nfdnsd. */
#define JOIN_FEEDS	"feeds.d"
#define JOIN_TABLES	"conf.d"

#define JOIN_PAIR	".pair"	/* behind the feed's name, in state_dir: a
				   certificate of nfdns-feed's own */
#define JOIN_RECORD	"joined"	/* suffix of the file that says "joined" */
#define JOIN_RECORD_TEXT "# Written by nfdns join; nfdns leave reads it.\n"
#define JOIN_RECORD_ENABLED "enabled "	/* lines: units that join enabled */

/* The record of an earlier join, to be freed; NULL if there is none. */
char *join_record_read(const char *config, const char *name);

#endif

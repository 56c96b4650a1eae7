/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The configuration file (libconfig syntax), read once into values.  option.c
 * has one table of all options and their defaults; "nfdns check --defaults"
 * prints it, and tests compare nfdnsd.conf(5) and the packaged file with it.
 *
 * This room reads and checks values.  It does not act on them, and no process
 * that reads packets calls it.
 */
#ifndef NFDNS_POLICY_CONFIG_CONFIG_H
#define NFDNS_POLICY_CONFIG_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "policy/audit/sink.h"
#include "policy/config/forward_settings.h"
#include "policy/config/policy.h"
#include "policy/log.h"
#include "resolver/small_file.h"
#include "resolver/text/diag.h"
#include "resolver/answer/settings.h"
#include "resolver/image/mesh.h"

#define CONFIG_DEFAULT_PATH "/etc/nfdns/nfdnsd.conf"
#define CONFIG_DEFAULT_RUN_DIR "/run/nfdns"
#define CONFIG_DEFAULT_STATE_DIR "/var/lib/nfdns"
#define CONFIG_DEFAULT_FEED_RUN_DIR "/run/nfdns-feed"
#define CONFIG_FEED_USER "nfdns-feed"	/* whose questions are bypassed, if it exists */
#define CONFIG_MAX_WORKERS 64
#define CONFIG_MAX_ITEMS 1024		/* of one list */
#define CONFIG_MAX_OCTETS ((size_t)4 << 20)	/* of the file */

struct config_prefix {
	int family;			/* AF_INET or AF_INET6 */
	uint8_t address[16];		/* host bits cleared */
	uint8_t length;			/* bits */
};

struct config_mark {
	uint32_t value;
	uint32_t mask;
};

struct config_cgroup {
	char *path;			/* relative to the cgroup v2 root, no leading '/' */
	const char *file;		/* of the configuration; */
	unsigned int line;		/* there, for messages */
};

/* Growable arrays; items are owned.  Nothing stands in a list twice. */
struct config_bypass {
	uid_t *users;			size_t user_count;	/* the worker's user included */
	gid_t *groups;			size_t group_count;
	struct config_mark *marks;	size_t mark_count;
	struct config_cgroup *cgroups;	size_t cgroup_count;
	struct config_prefix *destinations; size_t destination_count;
};

struct config_capture {
	bool any_nameserver;
	bool tcp;
	struct config_prefix *nameservers; size_t nameserver_count;
	struct config_bypass bypass;
	uint32_t mark_mask;		/* exactly three bits, low to high: */
	uint32_t mark_passed;		/*   set by the rules, cleared after the queue */
	uint32_t mark_answered;		/*   set by the verdict of an answer */
	uint32_t mark_stream;		/*   on packets of intercepted TCP connections */
	uint16_t zone;
	uint32_t user_rate;		/* packets a second; 0: no limit */
};

/* What no option sets of intercepted TCP connections.  _S: seconds. */
#define STREAM_RAW_MAX 64		/* whose answers are not matched to questions (AXFR) */
#define STREAM_RAW_S 3600	/* until such a connection is closed, in use or not */
#define STREAM_IN_FLIGHT 128	/* questions of one that wait for the nameserver */
#define STREAM_BUFFER 65536	/* octets that may wait, each way; one message may always */
#define STREAM_MESSAGE_S 2	/* for a message that has begun */
#define STREAM_UNREAD_S 10	/* for a client to read its answers */
#define STREAM_RELAY_S 5	/* for the nameserver to accept, and to answer */
#define STREAM_TRACKED 65536	/* in the rules' set, for each version of IP */
#define STREAM_PRIORITY 53	/* of the routing rule that leads to their table */

/* What intercepted TCP connections may cost, and what of the kernel they use. */
struct config_stream {
	uint32_t table;			/* routing table */
	unsigned int connections;	/* in all */
	unsigned int per_client;	/* of one user, or unknown one's address */
	unsigned int idle_s;
};

struct config_queue {
	uint16_t number;		/* first of "workers" consecutive queues */
	unsigned int workers;
	uint32_t maxlen;		/* packets */
	bool absent_drop;		/* absent = "drop" */
	bool overload_pass;		/* overload = "pass": fail open */
};

struct config_audit {
	char *path;			/* of a file; "-"; or "unix:/PATH" */
	bool passes;
	struct audit_sink sink;
	const char *file;		/* of the configuration; */
	unsigned int line;		/* there, for messages */
};

#define CONFIG_AUDIT_UNIX	"unix:"

/* Who asks from behind this machine. */
struct config_container {
	char **interfaces;		size_t interface_count;	/* "*" may end one */
	struct config_prefix *sources;	size_t source_count;	/* none: private ones */
};

struct config {
	char *path;			/* of the file itself */
	char *run_dir;
	char *state_dir;		/* where nfdns-feed keeps tables */
	char *feed_run_dir;		/* where it says how it is: RUN_DIR-feed */
	char *user;
	uid_t uid;
	gid_t gid;
	struct config_capture capture;
	struct config_queue queue;
	struct config_stream stream;
	struct mesh mesh;
	struct answer_settings answers;	/* of "mesh" too, and capture.tcp */
	struct forward_settings forward;
	char *forward_ca;		/* authorities, PEM; "": this machine's */
	struct policy policy;
	struct config_audit *audits;	size_t audit_count;
	struct config_container *containers; size_t container_count;
	uint32_t metrics_interval;	/* seconds; 0: no file of metrics */
	enum log_level log_level;
	size_t warnings;		/* that reading it brought */
	size_t absent;			/* what the machine has not (yet): users,
					 * groups, interfaces, certificates */
	struct config_text *texts;	size_t text_count;	/* what was read: file.h */
	const char *forward_files[FORWARD_DOMAINS];	/* of forward.domains */
	bool machine_search;		/* the search list is resolv.conf's */
	bool machine_upstreams;		/* and so are upstreams */
	bool borrows;			/* config_borrow() has made it */
};

/* Whether one of the upstreams is asked over TLS. */
bool config_forwards_tls(const struct config *config);

/*
 * Reads a file with certificates of authorities (PEM, RFC 7468), or, if the path is
 * "", the first there is of the places where distributions keep the machine's.  0, or
 * a negative errno as small_file_read(): -ENODATA if no certificate begins in it.
 * What the certificates say is not looked at.
 */
int ca_file_read(const char *path, struct small_file *file)
    __attribute__((warn_unused_result));

/* What is wrong, for a person. */
const char *ca_file_error(int error);

/* The path of the socket that it writes to; NULL: it writes to none. */
static inline const char *
config_audit_socket(const struct config_audit *audit)
{
	return strncmp(audit->path, CONFIG_AUDIT_UNIX,
	    sizeof(CONFIG_AUDIT_UNIX) - 1) == 0 ? audit->path +
	    sizeof(CONFIG_AUDIT_UNIX) - 1 : NULL;
}

static inline bool
config_audit_is_file(const struct config_audit *audit)
{
	return audit->path[0] == '/';
}

/*
 * Reads and checks the file at path, and after it, in the order of their names, the
 * files *.conf in the directory conf.d beside it: what lists have is added to them, and
 * of any other option the last one counts.  Every error at once into diag, each with
 * file and line, what was found and what was expected.  Fills in what depends
 * on the machine (user numbers, search list of /etc/resolv.conf).  Relative
 * paths in it are taken from the directory that it stands in.
 * Returns 0 and *config, or -EINVAL with at least one error in diag.
 * Not thread-safe: it asks the user and group databases.
 */
int config_load(struct config **config, const char *path, struct diag *diag)
    __attribute__((warn_unused_result));

/*
 * The same from the text of one file that somebody has read already; path is for
 * messages and relative paths.
 */
int config_parse(struct config **config, const char *path, const char *text,
    size_t length, struct diag *diag) __attribute__((warn_unused_result));
void config_free(struct config *config);

/*
 * The same text once more, whatever stands in the files by now, with what the
 * machine has changed meanwhile: the search list, numbers of users, what was
 * absent.
 */
int config_again(struct config **config, const struct config *running,
    struct diag *diag) __attribute__((warn_unused_result));

/* Whether both were read from the same files with the same text. */
bool config_same_text(const struct config *a, const struct config *b);

/*
 * The running configuration for a reload of its tables alone: what is no setting
 * of mesh.sources (resolver/image/mesh.h) is as before the first, and is its own;
 * all else is borrowed.  NULL for lack of memory.
 */
struct config *config_borrow(const struct config *running)
    __attribute__((warn_unused_result));

/*
 * The run_dir of a file that is not valid otherwise, as far as it can be told,
 * else the default: for commands that look at a running daemon.  The caller
 * frees it; NULL for lack of memory.
 */
char *config_peek_run_dir(const char *path) __attribute__((warn_unused_result));

/*
 * Checks that "next" can take over from "running" without a restart: options
 * without "reload" and "worker" in their rows must be equal.  Each that differs is an error
 * in diag.
 * Returns 0 or -EINVAL.
 */
int config_check_reload(const struct config *running, const struct config *next,
    struct diag *diag) __attribute__((warn_unused_result));

/* Whether a reload to "next" needs another worker. */
bool config_wants_worker(const struct config *running,
    const struct config *next);

/*
 * Every option with its default and what it is for, as a file that
 * config_load() would take (where the default user exists).
 */
void config_print_defaults(FILE *out);

/*
 * Which files differ from what was loaded: the configuration by its text, sources of
 * tables by the time of their last change, lists of rules if they changed after the
 * load.  A change within the second of the one before is not seen.
 */

/* "PATH", or "PATH (gone)"; owned. */
struct config_newer {
	char **files;
	size_t count;
};

/*
 * Of the configuration in use, whose tables were loaded at that time (CLOCK_REALTIME
 * seconds).  Tables of feeds are left out: they are loaded as they come.  0 or
 * -ENOMEM; free it in both cases.
 */
int config_newer(struct config_newer *newer, const struct config *config,
    int64_t loaded) __attribute__((warn_unused_result));
void config_newer_free(struct config_newer *newer);

#endif

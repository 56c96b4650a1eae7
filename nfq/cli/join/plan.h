/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What "nfdns join" is to write, made before anything is written. */
#ifndef NFDNS_NFQ_CLI_JOIN_PLAN_H
#define NFDNS_NFQ_CLI_JOIN_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "resolver/small_file.h"
#include "resolver/text/diag.h"
#include "policy/config/config.h"
#include "resolver/sources/feed_file.h"
#include "resolver/feed/feed.h"

/*
 * Files that are written whole or not at all (replace.h).  Whenever the writer is
 * killed, a file is as before or as it is to be.
 */

enum place_state {
	PLACE_NEW,			/* there is no such file */
	PLACE_SAME,			/* it holds these octets already */
	PLACE_OTHER,			/* it holds others */
};

/* Owns path and octets. */
struct place {
	char *path;			/* from the root */
	char *octets;
	size_t length;
	mode_t mode;			/* of a new file; another keeps its own */
	gid_t group;			/* of a new file; (gid_t)-1: the writer's */
	bool replace;			/* PLACE_OTHER was made by nfdns join */
	bool backup;			/* keep what is replaced: PATH.backup */
	enum place_state state;		/* as place_look() found it */
};

/*
 * Finds the state.  What is no regular file is an error in diag, links too:
 * nothing is written through them.  Returns whether all is well.
 */
bool place_look(struct place *place, struct diag *diag)
    __attribute__((warn_unused_result));

/*
 * Makes the directory that the file is to be in, if it is the last that is
 * missing, and writes the file; nothing if it is the same already.  Returns
 * whether that went well; if not, an error is in diag.
 */
bool place_write(const struct place *place, struct diag *diag)
    __attribute__((warn_unused_result));
void place_free(struct place *place);

/*
 * Removes a file, what an interrupted place_write() left of it, and its
 * directory if that is empty and "directory" is true.  1 if there was a file,
 * 0 if not, -1 after an error in diag.
 */
int place_remove(const char *path, bool directory, struct diag *diag);

/* The files of a directory that may be another user's. */

struct input {
	char *path;			/* for messages */
	struct small_file file;
};

/* A descriptor of the directory, or -1 after an error in diag. */
int input_directory(const char *path, struct diag *diag);

/*
 * Reads a regular file of at most "limit" octets in it; links are not followed,
 * since the reader may be root, and the directory's owner is not.  0; or a
 * negative errno, for which there is an error in diag unless it is -ENOENT.
 * input_free() in every case.
 */
int input_read(struct input *input, int directory, const char *directory_path,
    const char *name, size_t limit, struct diag *diag)
    __attribute__((warn_unused_result));

/* Overwrites the octets, which may be a token.  Start from zeros. */
void input_free(struct input *input);

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

/*
 * A kubeconfig for nfdns-feed, made of a person's: of one context (NULL: the current)
 * alone, with the certificates and keys in it that the other one names as
 * files, since nfdns-feed cannot read a person's home directory.
 */

/* Start from zeros; owns everything. */
struct kubeconfig_copy {
	char *text;			/* holds keys */
	size_t length;
	char *server;			/* "https://HOST:PORT" */
	char *token_file;		/* stays a file, since it rotates; or NULL */
	bool insecure;			/* insecure-skip-tls-verify */
	char *files[3];			/* that are copied into it; NULL: none */
};

/* Returns whether all is well; if not, an error is in diag. */
bool kubeconfig_copy_make(struct kubeconfig_copy *copy, const char *path,
    const char *context, struct diag *diag) __attribute__((warn_unused_result));
void kubeconfig_copy_free(struct kubeconfig_copy *copy);

/*
 * What a cluster has to have, as YAML for kubectl apply: an account for the feed, its
 * rights and its token; and, as comments, the commands that make a kubeconfig of them.
 */
void kubeconfig_print_manifest(FILE *out);

/*
 * What "nfdns join" makes of the files that "istioctl x workload entry
 * configure" writes (istioctl/pkg/workload/workload.go in istio/istio).
 *
 * This room reads these files, or a kubeconfig, says what is to be written, and
 * writes and removes it whole or not at all.  The files read may be another
 * user's: they are input like any other.  The room prints nothing and asks
 * nothing; it starts units only where it is told to.
 *
 * This header: variables, of cluster.env and of mesh.yaml.
 */

#define ENV_MAX_ENTRIES	256
#define ENV_MAX_KEY	128	/* octets */
#define ENV_MAX_VALUE	16384

struct env_entry {
	char *key;
	char *value;
	unsigned int line;
};

/* Start from zeros; owns its entries. */
struct env {
	const char *path;		/* for messages; borrowed */
	struct env_entry *entries;
	size_t count;
};

/* The last entry of that key, as a shell sees it; NULL if there is none. */
const struct env_entry *env_find(const struct env *env, const char *key);
void env_free(struct env *env);

/*
 * Reads cluster.env: lines KEY=VALUE whose value is quoted as a shell's words
 * are.  What only a shell could work out ($, `, ;, blanks) is an error with its
 * line.  Every error goes to diag; the entries without one are added.
 */
void cluster_env_read(struct env *env, const char *text, size_t length,
    struct diag *diag);

/*
 * Reads mesh.yaml: defaultConfig.proxyMetadata into env, and
 * defaultConfig.discoveryAddress as the entry MESH_YAML_SERVER, which no
 * variable's name can be.  Other keys are the agent's and ignored.
 */
#define MESH_YAML_SERVER "discoveryAddress:"
void mesh_yaml_read(struct env *env, const char *text, size_t length,
    struct diag *diag);

/*
 * A virtual machine of a mesh, as its files say: cluster.env, mesh.yaml,
 * istio-token, root-cert.pem and hosts.
 */

#define WORKLOAD_MAX_ADDRESSES	16	/* of istiod */
#define WORKLOAD_MAX_LABELS	64	/* FEED_CONFIG_MAX_LABELS */

/* Start from zeros; owns everything. */
struct workload {
	char *server;			/* istiod's HOST:PORT */
	char *addresses[WORKLOAD_MAX_ADDRESSES];
	size_t address_count;
	struct feed_node node;
	char *agent;			/* where Istio's agent keeps its pair */
	bool dns_capture;		/* the agent takes port 53, too */
	struct input token;		/* without the end of its line */
	int64_t token_end;		/* seconds since 1970; 0: it has none */
	struct input roots;
	struct env env, mesh;		/* as they were read */
	struct input env_file, mesh_file, hosts;
};

/*
 * Reads all of them.  Every error goes to diag with file and line; returns
 * whether there was none.  workload_free() in every case.
 */
bool workload_read(struct workload *workload, const char *directory,
    struct diag *diag) __attribute__((warn_unused_result));
void workload_free(struct workload *workload);

/* The parts that take octets of one file, for tests; errors go to diag. */
void workload_read_hosts(struct workload *workload, const char *path,
    const char *text, size_t length, struct diag *diag);

/* Seconds since 1970; 0: it does not say. */
struct token_times {
	int64_t begin, end;
};

/* NULL, or what is wrong with the token. */
const char *workload_token_times(struct token_times *times, const char *token,
    size_t length);

#endif

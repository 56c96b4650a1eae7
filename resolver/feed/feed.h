/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A feed: one connection to a control plane that keeps one table up to date.
 * This room speaks the protocols (xds.c, kubernetes.c) and knows nothing of
 * where tables are kept, of the daemon or of its image: it offers each table it
 * receives to its host.  It does not log, and writes no file but a key and
 * certificate of its own (xds, with "ca").
 */
#ifndef NFDNS_RESOLVER_FEED_FEED_H
#define NFDNS_RESOLVER_FEED_FEED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "resolver/clock.h"

enum feed_type {
	FEED_XDS,			/* Istio's NameTable, from istiod */
	FEED_KUBERNETES,		/* an API server's objects */
};

struct feed_label {
	char *key;
	char *value;
};

/* How the VM presents itself to istiod; a text may be NULL. */
struct feed_node {
	char *namespace;
	char *cluster;			/* its ID: metadata and "clusterid" */
	char *network;
	char *service_account;
	char *ip;			/* this machine's; NULL: found out */
	struct feed_label *labels;
	size_t label_count;
};

/* Frees what it owns, not the value itself. */
void feed_node_free(struct feed_node *node);

/* What feed.conf says of a feed; owns its texts, any of which may be NULL. */
struct feed_config {
	char *name;			/* of the table: letters, digits, '-', '_' */
	enum feed_type type;
	uint64_t limit;			/* octets of one message */

	/* FEED_XDS */
	char *server;			/* "HOST:PORT" */
	char **addresses;		/* of HOST; none: it is resolved */
	size_t address_count;
	char *root_cert;		/* PEM; NULL: the system's */
	char *cert;			/* PEM, read anew for each connection */
	char *key;
	char *token;			/* a file, read anew for each connection */
	bool plaintext;
	bool ca;			/* the server signs a pair of our own: no
					   cert and key, but host->state_dir */
	struct feed_node node;

	/* FEED_KUBERNETES */
	char *kubeconfig;		/* NULL: the pod's service account */
	char **namespaces;		/* none: all */
	size_t namespace_count;
	bool pods;			/* those too: many, and few need their names */
};

/* Why a connection ended that was wanted; feed_cause_name() has the words. */
enum feed_cause {
	FEED_CAUSE_PLANNED,		/* GOAWAY, or the end of a watch */
	FEED_CAUSE_CONNECT,		/* resolution, refused, unreachable */
	FEED_CAUSE_TLS,			/* handshake or certificate */
	FEED_CAUSE_RESET,		/* ended by the peer in the middle */
	FEED_CAUSE_TIMEOUT,		/* a deadline, or no sign of life */
	FEED_CAUSE_STATUS,		/* the peer refused: gRPC or HTTP status */
	FEED_CAUSE_PROTOCOL,		/* it said what the protocol forbids */
	FEED_CAUSE_CONTENT,		/* tables that cannot be decoded */
	FEED_CAUSES
};

#define FEED_TEXT	256		/* octets, with NUL */
#define FEED_TICK_MS	2000

/*
 * What is known of a feed: for nfdns status and metrics.  Texts are printable:
 * whoever writes them has made the peer's octets harmless.  Times are of
 * CLOCK_REALTIME in seconds since 1970; 0: never.
 */
struct feed_status {
	/* And the table that the peer sent last is the one that is kept. */
	bool connected;
	int64_t since;			/* connected or not */
	int64_t last_life;		/* any octet from the peer */
	int64_t attempted;		/* the last attempt to connect */
	char peer[FEED_TEXT];		/* address of the connection */
	char error[FEED_TEXT];		/* the last one; "" while all is well */
	char version[FEED_TEXT];	/* of the last table received */
	uint64_t attempts;		/* to connect */
	uint64_t pushes;		/* tables received */
	uint64_t same;			/* of them, equal to the one before */
	uint64_t nacks;			/* tables refused */
	uint64_t reconnects[FEED_CAUSES];
	int64_t cert_begin;		/* of the client certificate in use */
	int64_t cert_end;
};

/* A whole table as it came; borrowed for the call, which does not copy it. */
struct feed_table {
	const char *format;		/* a row of the table of formats: "nds-proto" */
	const char *version;		/* opaque; "" if it has none */
	const struct iovec *parts;	/* its octets, in this order */
	size_t part_count;
	size_t length;			/* of all parts */
	uint64_t names;			/* or objects, as the format counts */
};

enum feed_verdict {
	FEED_APPLIED,			/* kept, and the daemon will see it */
	FEED_SAME,			/* equal to the one that is kept */
	FEED_FAILED,			/* cannot be kept: disk full.  Offer it again */
};

enum feed_level {
	FEED_ERROR,			/* somebody has to do something */
	FEED_NOTICE,			/* connected, lost */
	FEED_DEBUG,
};

/*
 * What a protocol is given by the process that runs it.  All of it belongs to
 * one thread; the functions do not block but for the disk.
 */
struct feed_host {
	void *arg;			/* of the functions */
	int stop_fd;			/* readable: the run function returns */
	struct feed_status *status;	/* the protocol writes it */
	const char *state_dir;		/* for NAME.pair, of a feed with "ca" */
	/* A table that can be decoded.  "why" is one short line after FEED_FAILED. */
	enum feed_verdict (*offer)(void *arg, const struct feed_table *table,
	    char why[FEED_TEXT]);
	/* *status has changed. */
	void (*changed)(void *arg);
	/* To be called every FEED_TICK_MS at the latest: a sign of life. */
	void (*tick)(void *arg);
	void (*report)(void *arg, enum feed_level level, const char *text);
};

/*
 * Istio's NameTable as istiod pushes it: xDS, state of the world, over an
 * aggregated stream (ADS; envoyproxy.io, "xDS REST and gRPC protocol").
 */

/*
 * Connects, and connects again, until host->stop_fd is readable.  Returns 0, or
 * a negative errno if it cannot even begin or poll(2) fails.  Ignores SIGPIPE
 * from then on: OpenSSL's writes raise it.
 *
 * Opens sockets of AF_INET, AF_INET6 and AF_NETLINK (this machine's addresses,
 * as getifaddrs(3) reads them), the files of the config, and what c-ares
 * reads: /etc/resolv.conf, hosts, host.conf, nsswitch.conf.
 */
int xds_run(const struct feed_config *config, const struct feed_host *host)
    __attribute__((warn_unused_result));

/*
 * The objects of a Kubernetes API server, by list and watch: what is offered is
 * a text of the format "kubernetes".  See reflector.h for the protocol.
 */

/*
 * Connects, and connects again, until host->stop_fd is readable.  Returns 0, or
 * a negative errno if it cannot even begin (no memory) or go on (poll(2)).
 */
int kubernetes_run(const struct feed_config *config,
    const struct feed_host *host) __attribute__((warn_unused_result));

#endif

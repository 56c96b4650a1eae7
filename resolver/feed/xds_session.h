/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What xds_run() does between two calls of poll(2): which streams there are,
 * when one replaces the other, and what becomes of tables.  Time is a
 * parameter.
 *
 *   no stream --retry--> current --GOAWAY, or it is time--> current and next
 *   next answers: it becomes current, and the old one is cancelled
 *   current ends: next becomes current; or without one: retry after a delay
 *
 * A stream that replaces another never makes anything worse: until it has
 * answered, the old one goes on.
 */
#ifndef NFDNS_RESOLVER_FEED_XDS_SESSION_H
#define NFDNS_RESOLVER_FEED_XDS_SESSION_H

#include <netinet/in.h>
#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <openssl/evp.h>

#include "resolver/feed/feed.h"
#include "resolver/feed/protobuf_writer.h"
#include "resolver/text/span.h"
#include "resolver/feed/link.h"
#include "resolver/feed/backoff.h"

/* How this machine presents itself to istiod: envoy.config.core.v3.Node. */

/* What is known of the machine; a text may be "". */
struct node_machine {
	char name[64];			/* its host name, without domain */
	char ipv4[INET_ADDRSTRLEN];
	char ipv6[INET6_ADDRSTRLEN];
};

/*
 * Reads the host name and, unless node->ip says which, the first address of
 * each family that is neither loopback nor link-local.
 */
void node_machine_read(const struct feed_node *node,
    struct node_machine *machine);

/*
 * Writes the node as a field of the writer's message.
 *
 * istiod looks an event about a workload up by the *first* of a connection's
 * INSTANCE_IPS, and pushes to one connection only.  With this machine's own
 * address first, the feed could take a push that is meant for the machine's
 * Envoy.  So an address of documentation (RFC 5737, RFC 3849) of the same
 * family stands before it.
 */
void node_write(struct protobuf_writer *writer, uint32_t field,
    const struct feed_node *node, const struct node_machine *machine);

/*
 * The two messages of xDS in its state-of-the-world form (data-plane-api,
 * envoy/service/discovery/v3/discovery.proto), for one type: NameTable.
 */

#define DISCOVERY_PATH "/envoy.service.discovery.v3.AggregatedDiscoveryService" \
	"/StreamAggregatedResources"
#define DISCOVERY_NAME_TABLE \
	"type.googleapis.com/istio.networking.nds.v1.NameTable"

/* All are borrowed; versions and nonces are opaque octets. */
struct discovery_request {
	const struct feed_node *node;	/* of the first request; then NULL */
	const struct node_machine *machine;
	struct span version;		/* accepted last; empty: none */
	struct span nonce;		/* of what this answers; empty: nothing */
	const char *refusal;		/* of that answer; NULL: it is accepted */
};

/* Resource names are never written: NDS has none, and new ones cost a push. */
void discovery_request_write(struct protobuf_writer *writer,
    const struct discovery_request *request);

/* Borrows from the message. */
struct discovery_response {
	struct span version;
	struct span type;
	struct span nonce;
	struct span table;		/* the last NameTable's octets */
	size_t tables;			/* NameTables among the resources */
	size_t others;			/* of other types */
	size_t broken;			/* no resources at all */
};

/* Returns 0, or -EBADMSG if the octets are no such message. */
int discovery_response_read(const void *octets, size_t length,
    struct discovery_response *response) __attribute__((warn_unused_result));

/*
 * One stream of xDS on a link of its own: asks for the NameTable, takes each
 * response, and answers each exactly once.
 */

#define ADS_FIRST_MS	30000		/* from the question to an answer */
/* A message that comes must grow by as much in that time. */
#define ADS_PROGRESS	((size_t)64 << 10)
#define ADS_PROGRESS_MS	60000
#define ADS_OPAQUE_MOST	4096		/* octets of a version or nonce */

struct ads {
	struct link *link;
	const struct feed_config *config;
	const struct node_machine *machine;
	bool asked;
	bool answered;			/* a response has come */
	bool accepted;			/* a table of it, by the caller */
	bool postponed;			/* its last table is offered again */
	uint8_t *version;		/* accepted last on this stream */
	size_t version_length;
	monotime_t deadline;		/* of the first response, or progress */
	size_t progress;
	unsigned int strange;		/* responses of other types */
	/* The response, while take() has it. */
	uint8_t *message;
	size_t message_length;
	struct discovery_response response;
	/* Answers the response, and may take its message. */
	void (*take)(void *arg, struct ads *ads, monotime_t now);
	void *arg;
};

/*
 * Config and machine are borrowed; the caller sets take and arg.  NULL: no memory.
 * free accepts NULL.
 */
struct ads *ads_new(const struct feed_config *config,
    const struct link_options *options,
    const struct node_machine *machine, monotime_t now)
    __attribute__((warn_unused_result));
void ads_free(struct ads *ads);

monotime_t ads_deadline(struct ads *ads, monotime_t now);
void ads_step(struct ads *ads, const struct pollfd *fds, size_t count,
    monotime_t now);

/* Inside take(): accepts the response, or says why not. */
void ads_answer(struct ads *ads, const char *refusal);
/* Likewise: its message, which the caller frees. */
uint8_t *ads_take(struct ads *ads);

/*
 * Keeps a certificate of our own alive: asks istiod for one (istio.v1.auth,
 * IstioCertificateService/CreateCertificate) when there is none, and again at
 * half of its life.  The first request is authenticated by the token, the later
 * ones by the certificate before.
 */

#define CA_ANSWER_MS	30000
#define CA_LOOK_MS	30000		/* how often the clock is looked at */
#define CA_APART_MS	2000		/* one certificate after the other */
#define CA_VALIDITY_S	86400		/* that is asked for */

struct ca {
	const struct feed_config *config;	/* cert and key: the pair's file */
	const struct feed_host *host;
	struct link *link;			/* NULL: nothing is asked */
	EVP_PKEY *key;				/* of the request */
	bool asked;
	monotime_t due;				/* to look, or to ask */
	monotime_t deadline;			/* of the answer */
	struct backoff backoff;
	bool refused;				/* the pair, by the server */
	bool complained;			/* of the failure that lasts */
};

/* Config and host are borrowed.  config->server is the authority's address. */
void ca_init(struct ca *ca, const struct feed_config *config,
    const struct feed_host *host, monotime_t now);
void ca_end(struct ca *ca);

/* At most LINK_FDS to wait for, and until when. */
size_t ca_poll(struct ca *ca, struct pollfd *fds, monotime_t now);
monotime_t ca_deadline(struct ca *ca, monotime_t now);

/* After poll(2).  "today": seconds since 1970; "random": for the back-off. */
void ca_step(struct ca *ca, const struct pollfd *fds, size_t count,
    monotime_t now, int64_t today, uint64_t random);

#define XDS_FDS		(3 * LINK_FDS)

/* A stream that lived for less is no success, whatever it sent. */
#define XDS_STEADY_MS	10000
/* istiod ends its connections after half an hour; others may never. */
#define XDS_RESYNC_MS	3600000
/* After a refused table nothing but a new stream makes istiod repeat it. */
#define XDS_REFUSED_MS	30000
#define XDS_REFUSED_MOST_MS 600000
/* A table that could not be kept is offered again. */
#define XDS_AGAIN_MS	5000
#define XDS_AGAIN_MOST_MS 60000
/* A certificate and key that do not match: somebody is writing them. */
#define XDS_TORN_MS	1000

/* A table that the host could not keep. */
struct xds_again {
	uint8_t *message;		/* NULL: there is none */
	struct feed_table table;	/* borrows from all of these */
	struct iovec part;
	char version[FEED_TEXT];
	monotime_t when;
	int64_t delay_ms;
};

struct xds_session {
	const struct feed_config *config;
	const struct feed_host *host;
	struct node_machine machine;
	struct ads *current;		/* NULL: at "retry" there will be one */
	struct ads *next;		/* is to replace it; or NULL */
	monotime_t retry;
	monotime_t replace;		/* when next is to begin; never: not */
	monotime_t resync;		/* of current */
	monotime_t steady;		/* when current will be a success */
	bool is_steady;			/* it is */
	struct ca ca;			/* if config->ca */
	size_t current_fds, next_fds;	/* as xds_session_poll() laid them out */
	size_t ca_fds;
	struct backoff backoff;
	int64_t refused_ms;
	int64_t ping_ms;
	size_t turn;			/* of addresses */
	bool gave_time;			/* to whoever writes the pair */
	bool refused;			/* the pair, by the server */
	bool changed;			/* the status, for the host */
	struct xds_again again;
	uint64_t random;
};

/*
 * "seed": random bits.  The first attempt is due at "now".  With config->ca,
 * cert and key of the config are the file of the pair that is made.
 */
void xds_session_init(struct xds_session *session,
    const struct feed_config *config, const struct feed_host *host,
    uint64_t seed, monotime_t now);
void xds_session_end(struct xds_session *session);

/* At most XDS_FDS to wait for, and until when. */
size_t xds_session_poll(struct xds_session *session, struct pollfd *fds,
    monotime_t now);
monotime_t xds_session_deadline(struct xds_session *session, monotime_t now);

/* After poll(2). */
void xds_session_step(struct xds_session *session, const struct pollfd *fds,
    monotime_t now);

/*
 * A certificate of our own: the key is made here and never leaves this machine;
 * what is sent is the request to certify it.  Key and certificates are kept in
 * ONE file, so that one rename(2) replaces both: they can never be torn.
 */

/* A new key, for ECDSA with P-256.  NULL: no memory.  Free: EVP_PKEY_free(). */
EVP_PKEY *own_pair_key(void) __attribute__((warn_unused_result));

/*
 * The request (PKCS #10) as PEM, which the caller frees; NULL: no memory.  It
 * names nobody: istiod takes the identity from whoever is authenticated.
 */
char *own_pair_request(EVP_PKEY *key) __attribute__((warn_unused_result));

/*
 * Writes the key and these certificates (PEM, the leaf first) to the file, with
 * mode 0600, so that after a crash it is the old one or the new one.  Returns
 * 0; -EBADMSG, and the reason, if the first is no valid certificate of that key
 * now; or another negative errno, and the reason.
 */
int own_pair_write(const char *path, EVP_PKEY *key, const struct span *chain,
    size_t count, int64_t now, char why[static FEED_TEXT])
    __attribute__((warn_unused_result));

/* When the file's certificate began and ends.  False: there is no sound pair. */
bool own_pair_life(const char *path, int64_t *begin, int64_t *end);

#endif

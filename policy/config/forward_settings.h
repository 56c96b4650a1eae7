/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The settings of forwarding as one flat value, a part of the settings that the
 * supervisor sends to the worker process.  It has no pointers, all numbers are
 * 32 bits wide and all arrays of octets are multiples of four long, so it has no
 * padding.  All zero means: nothing is forwarded.
 *
 * _s: seconds; _ms: milliseconds.
 */
#ifndef NFDNS_POLICY_CONFIG_FORWARD_SETTINGS_H
#define NFDNS_POLICY_CONFIG_FORWARD_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "resolver/dns/name.h"

#define FORWARD_UPSTREAMS	64	/* in all */
#define FORWARD_SLOTS	(2 * FORWARD_UPSTREAMS)
#define FORWARD_DOMAINS		64
#define FORWARD_PER_DOMAIN	15	/* upstreams of one domain */
#define FORWARD_NAME		256	/* octets: a wire name, or text with NUL */

enum forward_transport {
	FORWARD_AUTO,		/* UDP; TCP after a truncated reply */
	FORWARD_UDP,		/* UDP only: truncated replies are handed on */
	FORWARD_TCP,
	FORWARD_TLS,		/* RFC 7858 */
	FORWARD_TRANSPORTS
};

/* A nameserver.  One that several domains use stands here once. */
struct forward_upstream {
	uint32_t family;		/* AF_INET or AF_INET6 */
	uint8_t address[16];		/* network order; IPv4: the first four */
	uint32_t scope;			/* interface of a link-local one, or 0 */
	uint32_t port;
	uint32_t transport;		/* enum forward_transport */
	uint32_t mix_case;		/* 0 or 1: random case in the question */
	uint32_t slot;			/* forward_settings_place() */
	char tls_name[FORWARD_NAME];	/* certificate's name; "": the address */
};

enum forward_select {
	SELECT_FASTEST,		/* least smoothed round-trip time */
	SELECT_ORDERED,
	SELECT_RANDOM,
	SELECT_ROUND_ROBIN,
	SELECT_ALL,		/* every one at once */
	SELECT_WAYS
};

/* What happens when no upstream of the domain has an answer. */
enum forward_fallback {
	FALLBACK_NONE,		/* SERVFAIL */
	FALLBACK_DEFAULT,	/* the upstreams of the domain "." are asked */
	FALLBACK_PASS,		/* the packet goes to the nameserver it is for */
	FALLBACKS
};

/* Questions for a name and all names below it; the longest one wins. */
struct forward_domain {
	uint8_t name[FORWARD_NAME];	/* wire format, lower case */
	uint32_t upstreams;		/* how many of: */
	uint32_t upstream[FORWARD_PER_DOMAIN];	/* indices, in order */
	uint32_t select;		/* enum forward_select */
	uint32_t fallback;		/* enum forward_fallback */
	uint32_t cache;			/* 0 or 1 */
	uint32_t negative_max_s;	/* TTL of negative answers, at most */
	uint32_t line;			/* of the config file, for messages */
};

enum forward_stale { STALE_OFF, STALE_AFTER_WAIT, STALE_AT_ONCE, STALE_WAYS };

struct forward_cache_settings {
	uint32_t size;			/* answers; 0: no cache */
	uint32_t min_ttl_s;
	uint32_t max_ttl_s;
	uint32_t negative;		/* 0 or 1: negative answers are kept */
	uint32_t failure_s;		/* how long a failure is kept; 0: not */
	uint32_t stale;			/* enum forward_stale */
	uint32_t stale_s;		/* after expiry */
	uint32_t stale_ttl_s;		/* TTL of a stale answer, at most */
	uint32_t stale_wait_ms;		/* for the upstream, before it */
	uint32_t stale_retry_s;		/* after a failure; doubled each time ... */
	uint32_t stale_retry_max_s;	/* ... up to this */
	uint32_t prefetch;		/* last percent of the TTL; 0: off */
	uint32_t prefetch_hits;		/* since it was stored, at least */
};

struct forward_attempt_settings {
	uint32_t per_server;		/* of one question, at most */
	uint32_t most;			/* of one question; 0: per_server decides */
	uint32_t wait_ms;		/* before the next; 0: as measured */
	uint32_t budget_ms;		/* of one question */
	uint32_t explore;		/* percent of questions that ask one more */
	uint32_t failure_rcodes;	/* bit n: rcode n is a failure */
	uint32_t failure_nodata;	/* 0 or 1: so is an answer without records */
	uint32_t join;			/* 0 or 1: equal questions are asked once */
	uint32_t pass_ad;		/* 0 or 1: the AD flag is handed on */
};

struct forward_health_settings {
	uint32_t losses;		/* in a row; with more a server is down */
	uint32_t probe_ms;		/* interval, doubled each time ... */
	uint32_t probe_max_ms;		/* ... up to this */
	uint32_t probe_wait_ms;		/* a probe is lost after that */
	uint32_t probe_rd;		/* 0 or 1: RD of the probe "NAME NS" */
	uint8_t probe_name[FORWARD_NAME];
	uint32_t fail_fast;		/* 0 or 1: all down: none is asked */
	uint32_t loops;			/* 0 or 1: loops are looked for ... */
	uint32_t loop_retry_s;		/* ... and again while there is one */
};

/* Questions that each thread has, at most; those above are refused. */
struct forward_limits {
	uint32_t held;			/* clients in all: forward_has_room() */
	uint32_t domain;		/* questions under way of one domain */
};

struct forward_settings {
	uint32_t chase;			/* 0 or 1 */
	uint32_t cut;			/* 1: TCP is not captured, and TC leads nowhere */
	uint32_t upstreams;		/* how many of: */
	struct forward_upstream upstream[FORWARD_UPSTREAMS];
	uint32_t domains;		/* how many of: */
	struct forward_domain domain[FORWARD_DOMAINS];
	struct forward_cache_settings cache;
	struct forward_attempt_settings attempts;
	struct forward_health_settings health;
	struct forward_limits limits;
};

/*
 * Whether a user who has so many questions of all that are held may have one more: he
 * has at most four times as many as places are left, so that one user has four fifths
 * and others find places, however many there are (dynamic thresholds, as for the
 * queues of a switch).
 */
static inline bool
forward_has_room(uint32_t users, uint32_t held, uint32_t most)
{
	return held < most && users < 4 * (most - held);
}

/* The values of a configuration that says nothing; no upstreams, no domains. */
void forward_settings_defaults(struct forward_settings *settings);

/* Index of the domain that a name belongs to, lower case; -1: none. */
int forward_settings_domain(const struct forward_settings *settings,
    const struct dns_name *name);

/*
 * Gives each upstream a slot below FORWARD_SLOTS, by which threads know it: the one
 * that it had in the settings before, else one that those do not use.  before: NULL
 * at first.
 */
void forward_settings_place(struct forward_settings *settings,
    const struct forward_settings *before);

/* Whether two are the same nameserver: address, port, transport, TLS name. */
bool forward_upstream_same(const struct forward_upstream *a,
    const struct forward_upstream *b);

/*
 * As it stands in nfdnsd.conf: "10.1.1.53", "10.1.2.53@5353", "tcp://10.1.3.53",
 * "tls://10.1.3.53#dns.corp.example".  Returns text.
 */
#define FORWARD_UPSTREAM_TEXT	(FORWARD_NAME + 88)
const char *forward_upstream_text(const struct forward_upstream *upstream,
    char text[static FORWARD_UPSTREAM_TEXT]);

/* Nameservers as people write them in forward.domains[].upstreams. */

#define UPSTREAM_TLS_PORT	853	/* RFC 7858 section 3.1 */

/*
 * ADDRESS, ADDRESS@PORT, udp://ADDRESS, tcp://ADDRESS@PORT and
 * tls://ADDRESS@PORT#NAME, where NAME is whom the certificate is for (RFC 8310
 * section 8.1); IPv6 with or without brackets, link-local with %INTERFACE.
 * True: it is one; *why is NULL, or says what the machine lacks to ask it.
 * False: it is none; *why is a text that says so, or NULL if the allowed forms
 * say enough.
 */
bool upstream_from_text(struct forward_upstream *upstream, const char *text,
    const char **why);

#endif

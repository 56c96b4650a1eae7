/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What forwarding shows on the status page: its upstreams, domains and probes.
 * There are as many places as a configuration may name.  The worker's main
 * thread writes this part, every STATUS_FORWARD_MS at most; counters go on when a
 * worker replaces another, and stay with what a reload leaves in the configuration.
 *
 * Times are CLOCK_REALTIME seconds, 0: never.  A worker that an attacker took
 * over may write anything here: who reads takes forward_status_read().
 */
#ifndef NFDNS_POLICY_STATUS_FORWARD_STATUS_H
#define NFDNS_POLICY_STATUS_FORWARD_STATUS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "policy/config/forward_settings.h"
#include "resolver/dns/rr.h"

#define STATUS_FORWARD_MS	100

enum status_upstream_state {
	STATUS_UPSTREAM_UP,
	STATUS_UPSTREAM_PROBING,	/* the last attempt was lost */
	STATUS_UPSTREAM_DOWN,
	STATUS_UPSTREAM_LOOP,		/* it leads back to us: switched off */
	STATUS_UPSTREAM_STATES
};

/* What went wrong last, with a code: errno, or a DNS response code. */
enum status_trouble {
	TROUBLE_NONE,
	TROUBLE_TIMEOUT,
	TROUBLE_NETWORK,	/* errno */
	TROUBLE_RCODE,		/* SERVFAIL, REFUSED, ... */
	TROUBLE_MALFORMED,	/* its reply does not parse */
	TROUBLE_LAME,		/* it refers to other nameservers */
	TROUBLE_LOOP,
	TROUBLES
};

enum status_upstream_count {
	UPSTREAM_SENT,		/* messages to it, our own probes among them */
	UPSTREAM_SENT_TCP,	/* of these */
	UPSTREAM_SENT_TLS,
	UPSTREAM_REPLIES,
	UPSTREAM_TIMEOUTS,
	UPSTREAM_ERRORS,	/* of the network */
	UPSTREAM_FAILURES,	/* replies that were a reason to ask another one */
	UPSTREAM_MISMATCHED,	/* replies to other questions: spoofed ones, too */
	UPSTREAM_COUNTERS
};

enum status_domain_count {
	DOMAIN_QUESTIONS,
	DOMAIN_WAITING,		/* now */
	DOMAIN_ANSWERED,	/* by an upstream */
	DOMAIN_HITS,		/* from the cache */
	DOMAIN_STALE,		/* by expired answers */
	DOMAIN_FAILED,		/* SERVFAIL: no upstream answered */
	DOMAIN_REFUSED,		/* above a limit */
	DOMAIN_PASSED,
	DOMAIN_COUNTERS
};

#define STATUS_TLS_TEXT	256

struct status_upstream {
	char text[FORWARD_UPSTREAM_TEXT];
	char tls[STATUS_TLS_TEXT];	/* why TLS fails with it; "": it does not */
	_Atomic uint32_t state;
	_Atomic uint32_t srtt_us;	/* 0: unknown */
	_Atomic uint64_t since;		/* of the state */
	_Atomic uint64_t trouble;	/* enum status_trouble << 32 | code */
	_Atomic uint64_t trouble_at;
	_Atomic uint64_t counters[UPSTREAM_COUNTERS];
};

struct status_domain {
	uint8_t name[FORWARD_NAME];	/* wire format */
	uint32_t upstreams;		/* how many of: */
	uint32_t upstream[FORWARD_PER_DOMAIN];	/* places of upstreams */
	_Atomic uint64_t counters[DOMAIN_COUNTERS];
};

struct status_forwarding {
	_Atomic uint32_t sequence;	/* odd while names and places change */
	uint32_t upstreams, domains;	/* places in use */
	uint32_t zero;
	struct status_upstream upstream[FORWARD_UPSTREAMS];
	struct status_domain domain[FORWARD_DOMAINS];
};

/*
 * A copy in which counts, places, names and texts are what this header says, to
 * be freed; NULL without memory.
 */
struct status_forwarding *forward_status_read(
    const struct status_forwarding *page);

/* "up", "probing", "down", "loop". */
const char *forward_status_state(uint32_t state);

/* "no reply in time", "SERVFAIL"; "" for TROUBLE_NONE; lives as long as buf. */
const char *forward_status_trouble(uint64_t trouble,
    char buf[static RR_TEXT_SIZE]);

static inline uint64_t
forward_trouble(enum status_trouble kind, uint32_t code)
{
	return (uint64_t)kind << 32 | code;
}

#endif

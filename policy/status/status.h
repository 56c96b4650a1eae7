/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The status page: memory that the daemon's processes share and write.  A counter
 * costs the packet path one relaxed store.
 *
 * The page has two parts with a page boundary between them, since they have
 * different writers: the supervisor's part; and that of the worker, one slot
 * for each thread and behind them what forwarding shows.  The supervisor trusts
 * nothing in the workers' part.  It prints the page for whoever asks for the status;
 * commands that show it otherwise get a copy.
 *
 * This room holds the state that the daemon shows, and prints it.  It collects
 * none: the supervisor and the worker threads write it.
 */
#ifndef NFDNS_POLICY_STATUS_STATUS_H
#define NFDNS_POLICY_STATUS_STATUS_H

#include <net/if.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "policy/config/config.h"
#include "policy/decide.h"
#include "policy/status/forward_status.h"
#include "policy/status/hitters.h"
#include "policy/status/policy_status.h"

#define STATUS_MAGIC	0x6e66646e73737431ULL	/* "nfdnsst1" */
#define STATUS_TEXT	256
#define STATUS_MAX_SLOTS (CONFIG_MAX_WORKERS + 2)	/* TCP, the main thread */

/* The daemon's state; "ready" is STATUS_READY or STATUS_DEGRADED. */
enum status_state { STATUS_STARTING, STATUS_READY, STATUS_DEGRADED, STATUS_STOPPING };
const char *status_state_text(uint32_t state);	/* "ready" */

/* How packets get to the queue. */
enum status_queue_mode { STATUS_QUEUE_NONE, STATUS_QUEUE_NATIVE, STATUS_QUEUE_XT };

/* What workers died of. */
enum status_death {
	STATUS_DEATH_CRASH,	/* a signal such as SIGSEGV */
	STATUS_DEATH_HANG,	/* it made no progress, so the supervisor ended it */
	STATUS_DEATH_KILLED,	/* SIGKILL from elsewhere: a person, the OOM killer */
	STATUS_DEATH_FAILED,	/* anything else */
	STATUS_DEATHS
};

/* Written by the supervisor only.  Times are CLOCK_REALTIME seconds. */
struct status_supervisor {
	_Atomic uint64_t magic;		/* written last */
	uint32_t size;			/* of the whole page, octets */
	uint32_t workers;		/* slots in use */
	uint32_t layout;		/* of a slot: programs of one build agree */
	_Atomic uint32_t state;		/* enum status_state */
	_Atomic uint32_t queue_mode;
	_Atomic int32_t pid;
	_Atomic int32_t worker_pid;
	_Atomic uint64_t started;
	_Atomic uint64_t restarts;	/* of the worker */
	_Atomic uint64_t deaths[STATUS_DEATHS];
	_Atomic uint64_t table_generation;	/* 0: never loaded */
	_Atomic uint64_t table_names;
	_Atomic uint64_t table_octets;
	_Atomic uint64_t table_loaded;	/* time */
	_Atomic uint64_t paused_until;	/* time; 0: it is not paused */
	_Atomic uint64_t rule_packets;	/* the queue rules' counters when last read */
	_Atomic uint64_t surplus;	/* packets over capture.user_rate: passed */
	_Atomic uint64_t queue_dropped;	/* by the kernel: queue full, or socket full */
	uint32_t queue_number;		/* of the first queue */
	uint32_t queues;		/* how many there are */
	/* Packets of each queue that have no verdict yet, a second ago at most. */
	_Atomic uint32_t queue_waiting[CONFIG_MAX_WORKERS];
	/* Of the listeners on 127.0.0.1 and ::1; 0: no TCP, or not yet. */
	uint16_t stream_ports[2];
	_Atomic uint32_t streams[2];	/* TCP connections in the sets: IPv4, IPv6 */
	_Atomic uint32_t streams_max;	/* room of each set; 0: no TCP */
	_Atomic uint64_t streams_passed;	/* passed, as a set was full */
	/* Of reloads, and what came of the last one. */
	_Atomic uint64_t reloads;
	uint32_t reload_ok;
	uint64_t reload_time;
	char reload_error[STATUS_TEXT];		/* first error, "" if ok */
	char degraded[STATUS_TEXT];		/* why it is; "" if it is not */
};

/* What the TCP thread counts about connections. */
enum status_stream {
	STREAM_OPEN,		/* open now */
	STREAM_ACCEPTED,
	STREAM_QUESTIONS,	/* also counted as received */
	STREAM_OVER_ALL,	/* closed: too many in all */
	STREAM_OVER_CLIENT,	/* too many of one client */
	STREAM_OVER_RAW,	/* closed: too many raw ones */
	STREAM_EVICTED,		/* closed: a new one needed its place */
	STREAM_IDLE,		/* closed: idle for too long */
	STREAM_SLOW,		/* closed: a message took too long */
	STREAM_UNREAD,		/* closed: the client did not read */
	STREAM_THROTTLED,	/* times that questions were left unread */
	STREAM_RELAYS,		/* connections to nameservers */
	STREAM_RAW,		/* relayed as octets, not as messages */
	STREAM_RAW_EXPIRED,	/* of these, closed: too old */
	STREAM_UNREACHABLE,	/* questions that no nameserver answered */
	STREAM_COUNTERS
};

/* What threads that forward count. */
enum status_forward {
	FORWARD_HELD,		/* questions that wait now */
	FORWARD_ANSWERED,	/* by an upstream */
	FORWARD_HITS,		/* from the cache, besides REASON_CACHE */
	FORWARD_STALE,		/* by expired answers */
	FORWARD_PREFETCHED,	/* before they expired */
	FORWARD_FAILED,		/* SERVFAIL: no upstream answered */
	FORWARD_REFUSED,	/* above a limit */
	FORWARD_PASSED,		/* to the nameservers they were sent to */
	FORWARD_JOINED,		/* asked together with an equal question */
	FORWARD_ATTEMPTS,	/* messages to upstreams */
	FORWARD_MISMATCHED,	/* replies to other questions */
	FORWARD_MALFORMED,	/* replies */
	FORWARD_TRUNCATED,	/* replies that were asked for again over TCP */
	FORWARD_LATE,		/* replies for which nobody waited any more */
	FORWARD_LOOPS,		/* probes of ours that came back */
	FORWARD_TLS_CONNECTIONS,	/* to upstreams, with a good certificate */
	FORWARD_TLS_RESUMED,	/* of these, by the session of an earlier one */
	FORWARD_TLS_FAILED,	/* connections without any answer */
	FORWARD_TLS_AGAIN,	/* questions sent once more, by another connection */
	FORWARD_TLS_UNASKED,	/* answers that nobody asked for */
	FORWARD_TCP_CONNECTIONS,	/* to upstreams, without TLS; also these: */
	FORWARD_TCP_AGAIN,
	FORWARD_TCP_UNASKED,
	FORWARD_COUNTERS
};

/* Types of questions that are counted apart, in this order. */
enum status_type {
	ASKED_OTHER,
	ASKED_A, ASKED_AAAA, ASKED_CNAME, ASKED_HTTPS, ASKED_MX, ASKED_NS,
	ASKED_PTR, ASKED_SOA, ASKED_SRV, ASKED_SVCB, ASKED_TXT,
	ASKED_TYPES
};

enum status_type status_type_of(uint16_t type);
const char *status_type_text(enum status_type type);	/* "AAAA"; "other" */

enum status_family { ASKED_IPV4, ASKED_IPV6, ASKED_FAMILIES };

#define STATUS_RCODES	24	/* RFC 6895 section 2.3; the last: any other */

/*
 * How long answers took, up to so many microseconds; the last: above.  Of the
 * batches of a queue, one in STATUS_SPENT_EACH is measured: a look at the clock
 * costs a tenth of an answer.  So the numbers of answers are not in it, but how
 * they are spread.
 */
#define STATUS_SPENT	20
#define STATUS_SPENT_US	{ 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, \
	10000, 20000, 50000, 100000, 200000, 500000, 1000000, 2000000, 5000000 }
#define STATUS_SPENT_EACH 16

/*
 * Questions of containers and guests, by the interface by which they came: by its
 * name, since one that comes again, as podman's bridge does, has another index.  The
 * last is of those without a name any more, and those for which there was no room.
 */
#define STATUS_INTERFACES 256

struct status_interfaces {
	_Atomic uint32_t devices[STATUS_INTERFACES];	/* indices; 0: free */
	struct status_interface {
		char name[IF_NAMESIZE];
		_Atomic uint64_t verdicts[VERDICTS];
	} of[STATUS_INTERFACES];
};

/*
 * Written by one thread of the worker only, and aligned to cache lines, so that
 * no two threads write to the same line.  The worker's main thread writes the
 * last two members: audit_lost once a second, table_generation after a reload.
 */
struct status_worker {
	_Alignas(64) _Atomic uint64_t verdicts[VERDICTS];
	_Atomic uint64_t reasons[REASONS];
	_Atomic uint64_t received;
	_Atomic uint32_t is_stream;	/* 1: the TCP thread writes it */
	_Atomic uint64_t asked[ASKED_FAMILIES][ASKED_TYPES];
	_Atomic uint64_t refusals[STATUS_RCODES];	/* by response code */
	_Atomic uint64_t forwarded_rcodes[STATUS_RCODES];	/* of upstreams */
	_Atomic uint64_t spent[STATUS_SPENT];	/* questions, by their time */
	_Atomic uint64_t spent_ns;	/* the sum of it */
	_Atomic uint64_t streams;	/* TCP connections sent to lo */
	_Atomic uint64_t stream[STREAM_COUNTERS];	/* of the TCP thread's slot */
	_Atomic uint64_t forward[FORWARD_COUNTERS];	/* of all slots together */
	/* Of a queue thread, by the domain's place in the settings. */
	_Atomic uint64_t domains[FORWARD_DOMAINS][DOMAIN_COUNTERS];
	_Atomic uint64_t malformed;
	_Atomic uint64_t canaries;
	_Atomic uint64_t id_gaps;	/* missing packet ids: the kernel dropped them */
	_Atomic uint64_t verdict_errors;
	_Atomic uint32_t last_id;	/* newest packet id read */
	_Atomic uint32_t busy;		/* 1 between recv and send of a batch */
	_Atomic uint32_t thread;	/* gettid(2); 0: no thread writes this slot */
	_Atomic uint64_t batches;
	_Atomic uint64_t recorded;	/* questions that got a number of the audit */
	_Atomic uint64_t audit_lost;
	/* Of the first slot only: questions that nobody read, counted by the
	 * supervisor, and as many of them as packet logs know. */
	_Atomic uint64_t unread, unread_told;
	_Atomic uint64_t table_generation;	/* that the thread answers from */
	struct status_interfaces interfaces;
};

/*
 * The page of a process: pointers into memory that the daemon's processes share,
 * or into a reader's own copy.
 */
struct status_page {
	struct status_supervisor *supervisor;
	struct status_worker *workers;
	size_t worker_slots;
	struct status_forwarding *forwarding;	/* of the workers' part, */
	struct status_policy *policy;		/* and this as well */
	size_t size;
	struct hitters hitters;	/* the daemon's; none of readers */
};

/* The daemon's page.  0 or a negative errno. */
int status_create(struct status_page *page, unsigned int workers)
    __attribute__((warn_unused_result));

/*
 * A copy of the page, by its supervisor, as a memory file that nobody can change: a
 * descriptor, or a negative errno.
 */
int status_copy(const struct status_page *page)
    __attribute__((warn_unused_result));

/*
 * Reads such a file, and trusts nothing in it.  0; -EPROTO if it is not a page, or
 * that of another version; or another negative errno.  The fd stays the caller's.
 */
int status_open(struct status_page *page, int fd)
    __attribute__((warn_unused_result));

/* Unmaps the supervisor's part.  The worker calls it before it reads a packet. */
void status_forget_supervisor(struct status_page *page);
void status_close(struct status_page *page);

/* A reload has ended; "error" is the first error, NULL if it succeeded. */
void status_reload_end(struct status_page *page, const char *error);

/* Sets the state; "why" is the reason for STATUS_DEGRADED, else NULL. */
void status_set_state(struct status_page *page, enum status_state state,
    const char *why);

/* Sums over the workers' slots. */
struct status_counters {
	uint64_t streams;	/* first packets of TCP connections */
	uint64_t stream[STREAM_COUNTERS];
	uint64_t forward[FORWARD_COUNTERS];
	uint64_t cached;	/* answered by queue threads from the cache */
	uint64_t forwarded;	/* questions that were to be forwarded */
	uint64_t received, answered, passed, refused, dropped, malformed;
	uint64_t unseen;	/* counted by the rules, never read: not queued */
	uint64_t queue_dropped;	/* by the kernel: the larger of its two counts */
	uint64_t canaries, verdict_errors, audit_lost, recorded;
	uint64_t oldest_generation;	/* that a thread still answers from */
	uint64_t reasons[REASONS];
	uint64_t verdicts[VERDICTS];
	uint64_t asked[2][ASKED_FAMILIES][ASKED_TYPES];	/* over UDP, over TCP */
	uint64_t received_tcp;
	uint64_t refusals[STATUS_RCODES];	/* by response code */
	uint64_t forwarded_rcodes[STATUS_RCODES];
	uint64_t spent[STATUS_SPENT];
	uint64_t spent_ns;
};
void status_counters(const struct status_page *page, struct status_counters *sum);

enum status_form {
	STATUS_SUMMARY,			/* a dozen lines; config is needed */
	STATUS_JSON,			/* one object on one line */
	STATUS_ALL,			/* a line for each number */
};

/*
 * Prints the page; and of config, unless it is NULL, the age of each source, the
 * feeds, and which files have changed since.  0, -ENOMEM or -EIO.
 */
int status_print(const struct status_page *page, const struct config *config,
    enum status_form form, FILE *out) __attribute__((warn_unused_result));

/* Logs the same lines at level notice. */
void status_log(const struct status_page *page);

/* Copies why the state is STATUS_DEGRADED; text always ends with NUL. */
void status_degraded(const struct status_page *page,
    char text[static STATUS_TEXT]);

/* Copies the last reload's outcome; text always ends with NUL. */
void status_reload_error(const struct status_page *page, bool *ok,
    char text[static STATUS_TEXT]);

#endif

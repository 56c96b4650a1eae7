/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is known of an upstream, and the order in which upstreams are asked.
 * Values and pure functions; times are of CLOCK_BOOTTIME.
 *
 * All threads of a worker share one table, and note in it what they see.  One of
 * them probes.
 *
 * A server is up until more than "losses" attempts in a row were lost.  It is
 * probed from its first loss on until it replies to anything, with any code, and
 * is then up again at once.  One that leads back to us is looping, and is asked
 * nothing but loop probes.
 *
 * One that may be asked over UDP and TCP is asked over TCP at once, for a minute,
 * if it has truncated several answers in a row, or if it was silent over UDP and
 * then replied to a probe over TCP.  A failure over TCP ends that.
 */
#ifndef NFDNS_NFQ_ASK_UPSTREAM_H
#define NFDNS_NFQ_ASK_UPSTREAM_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "policy/config/forward_settings.h"
#include "policy/status/forward_status.h"
#include "resolver/clock.h"

enum upstream_state { UPSTREAM_UP, UPSTREAM_DOWN, UPSTREAM_LOOPING };

struct upstream {
	_Atomic enum upstream_state state;
	_Atomic uint32_t srtt_us;	/* smoothed (RFC 6298 section 2); 0: unknown */
	_Atomic uint32_t lost;		/* attempts in a row */
	_Atomic uint32_t probe_ms;	/* the interval before probe_at */
	_Atomic monotime_t since;	/* of the state */
	_Atomic monotime_t probe_at;	/* next probe; NEVER: none is needed */
	_Atomic uint32_t truncated;	/* answers over UDP in a row */
	_Atomic bool mute;		/* over UDP, but not over TCP */
	_Atomic monotime_t tcp_until;	/* it is asked over TCP; NEVER: it is not */
	_Atomic monotime_t forged;	/* when wrong replies last ended an attempt */
	_Atomic uint32_t loop_open;	/* loop probes under way */
	_Atomic monotime_t loop_at;	/* next loop probe; NEVER: none */
	_Atomic uint64_t loop_token;	/* of the last loop probes; 0: none sent */
	_Atomic monotime_t loop_sent;	/* when they were sent */
	_Atomic uint64_t trouble;	/* the last one: policy/status/forward_status.h */
	_Atomic monotime_t trouble_at;
	_Atomic uint64_t sent, replies;	/* counters, as the rest */
	_Atomic uint64_t sent_tcp, sent_tls;	/* of those sent */
	_Atomic uint64_t losses, errors, timeouts, failures, mismatched;
	_Atomic uint64_t probes, loop_probes;
};

/* Two places more are the engine's: engine_state.h. */
#define UPSTREAM_PLACES	(FORWARD_SLOTS + 2)

/* What is known of all upstreams of the settings, by their slots. */
struct upstreams {
	struct upstream upstream[UPSTREAM_PLACES];
};

/*
 * What tells how to ask one whose transport is AUTO: an answer over UDP, a reply to
 * a probe over TCP, an attempt over TCP that was lost.
 */
void upstream_udp_answer(struct upstream *upstream, monotime_t now,
    bool truncated);
void upstream_tcp_probe_replied(struct upstream *upstream, monotime_t now);
void upstream_tcp_lost(struct upstream *upstream);

/* Whether it is asked over TCP; "again": an attempt was lost. */
bool upstream_over_tcp(const struct upstream *upstream, monotime_t now,
    bool again);

/*
 * Of upstreams that the settings before did not have nothing is known: before any
 * thread has these settings.  before: NULL at first.
 */
void upstreams_enter(struct upstreams *all, monotime_t now,
    const struct forward_settings *settings,
    const struct forward_settings *before);

/* An upstream of which nothing is known, to be probed for loops if wanted. */
void upstream_init(struct upstream *upstream, monotime_t now,
    const struct forward_health_settings *health);

/* Whether that is so lately that the case of names is mixed: more to be guessed. */
bool upstream_is_forged(const struct upstream *upstream, monotime_t now);

/* A reply came, after so long. */
void upstream_replied(struct upstream *upstream, monotime_t now,
    uint32_t rtt_us);

/* An attempt was lost: no reply in its time, or an error of the network. */
void upstream_lost(struct upstream *upstream, monotime_t now,
    const struct forward_health_settings *health);

/* Notes what went wrong; "code" as enum status_trouble says. */
void upstream_trouble(struct upstream *upstream, monotime_t now,
    enum status_trouble trouble, uint32_t code);

/* Its probe goes out now: sets the time of the next. */
void upstream_probed(struct upstream *upstream, monotime_t now,
    const struct forward_health_settings *health);

/*
 * Loop probes with that token are about to be sent; then, how many were.  In between
 * and from then on, any thread may call upstream_looped().
 */
void upstream_loop_probing(struct upstream *upstream, monotime_t now,
    uint64_t token);
void upstream_loop_probed(struct upstream *upstream, monotime_t now,
    uint32_t sent, const struct forward_health_settings *health);

/*
 * One of them was answered or lost: if it was the last and none has come back,
 * the loop is gone.
 */
void upstream_loop_over(struct upstream *upstream, monotime_t now);

/* The loop probe came back as a question to us. */
void upstream_looped(struct upstream *upstream, monotime_t now,
    const struct forward_health_settings *health);

/*
 * How long to wait for a reply before another server is asked; "pressed": there
 * will soon be no room for questions that wait.
 */
uint32_t upstream_wait_ms(const struct upstream *upstream,
    const struct forward_attempt_settings *attempts, bool pressed);

/*
 * The order in which a domain's servers are asked: their slots, those that
 * are up first, then those that are down; none that loops.  "turn" counts the
 * domain's questions; "random" is any number.  Returns how many.
 */
uint32_t upstream_order(const struct forward_settings *settings,
    const struct forward_domain *domain, const struct upstream *all,
    uint32_t turn, uint64_t random,
    uint32_t order[static FORWARD_PER_DOMAIN]);

#endif

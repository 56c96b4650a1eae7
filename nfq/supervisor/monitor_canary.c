/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The canary question, which the loop sends every few seconds.  Two states:
 *
 *   idle      after the interval, or when a new worker is ready: sent
 *   sent      answered: idle.  Refused, answered by somebody else, or not
 *             answered for two seconds: idle and "unanswered"
 */
#include <errno.h>
#include <string.h>

#include "nfq/supervisor/parts.h"
#include "policy/log.h"

#define INTERVAL_MS	5000
#define WAIT_MS		2000

void
monitor_canary_start(struct monitor_canary *m, int watchdog_ms, int tick_ms,
    monotime_t now)
{
	m->canary.fd = -1;
	/* One canary before each answer to the watchdog. */
	m->interval_ms = watchdog_ms > 0 && watchdog_ms / 4 < INTERVAL_MS ?
	    watchdog_ms / 4 : INTERVAL_MS;
	m->answered = now;		/* the start had its canary */
	m->next = monotime_add_ms(now, tick_ms);
}

/* Ends a canary: 0 if it was answered, else a negative errno. */
static void
end_canary(struct supervisor *s, int error, monotime_t now)
{
	struct monitor_canary *m = &s->monitor.canary;

	canary_close(&m->canary);
	if (error == 0) {
		m->answered = now;
		if (m->unanswered)
			log_notice("the canary question is answered again");
	} else if (!m->unanswered) {
		log_error("the canary question is not answered: %s",
		    strerror(-error));
	}
	if (m->unanswered != (error != 0)) {
		m->unanswered = error != 0;
		supervisor_show_state(s);
	}
}

static void
send_canary(struct supervisor *s, monotime_t now)
{
	struct monitor_canary *m = &s->monitor.canary;
	int error;

	m->next = monotime_add_ms(now, m->interval_ms);
	m->sent = now;
	error = canary_send(&m->canary, s->config);
	if (error < 0)
		end_canary(s, error, now);
}

void
monitor_canary_tick(struct supervisor *s, monotime_t now)
{
	const struct monitor_canary *m = &s->monitor.canary;

	if (m->canary.fd < 0) {
		if (monotime_is_past(now, m->next))
			send_canary(s, now);
	} else if (monotime_ms_since(now, m->sent) >= WAIT_MS) {
		end_canary(s, -ETIMEDOUT, now);
	}
}

void
monitor_canary_ready(struct supervisor *s, monotime_t now)
{
	int error;

	/* A new worker in the same round of the loop may have ended it. */
	if (s->monitor.canary.canary.fd < 0)
		return;
	error = canary_receive(&s->monitor.canary.canary);
	if (error != -EAGAIN)
		end_canary(s, error, now);
}

/*
 * A canary in flight was for the last worker.  It may have passed to the
 * nameserver, so its outcome says nothing about the new worker.
 */
void
monitor_worker_ready(struct supervisor *s, monotime_t now)
{
	canary_close(&s->monitor.canary.canary);
	send_canary(s, now);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolver/feed/http2.h"

void
keepalive_start(struct keepalive *keepalive, int64_t interval_ms,
    monotime_t now)
{
	*keepalive = (struct keepalive){ .interval_ms = interval_ms,
		.heard = now, .sent = MONOTIME_NEVER, .waits = false };
}

void
keepalive_heard(struct keepalive *keepalive, monotime_t now)
{
	keepalive->heard = now;
	keepalive->waits = false;
}

void
keepalive_sent(struct keepalive *keepalive, monotime_t now)
{
	keepalive->sent = now;
	keepalive->waits = true;
}

monotime_t
keepalive_deadline(const struct keepalive *keepalive)
{
	monotime_t due, allowed;

	if (keepalive->waits)
		return monotime_add_ms(keepalive->sent, KEEPALIVE_TIMEOUT_MS);
	due = monotime_add_ms(keepalive->heard, keepalive->interval_ms);
	if (!monotime_is_set(keepalive->sent))
		return due;
	allowed = monotime_add_ms(keepalive->sent, KEEPALIVE_APART_MS);
	return monotime_is_past(due, allowed) ? due : allowed;
}

enum keepalive_step
keepalive_step(const struct keepalive *keepalive, monotime_t now)
{
	if (!monotime_is_past(now, keepalive_deadline(keepalive)))
		return KEEPALIVE_WAIT;
	return keepalive->waits ? KEEPALIVE_DEAD : KEEPALIVE_PING;
}

void
keepalive_suspect(struct keepalive *keepalive, monotime_t now)
{
	keepalive->heard = monotime_add_ms(now, -keepalive->interval_ms);
}

int64_t
keepalive_slower(int64_t interval_ms)
{
	return interval_ms >= KEEPALIVE_INTERVAL_MOST_MS / 2 ?
	    KEEPALIVE_INTERVAL_MOST_MS : interval_ms * 2;
}

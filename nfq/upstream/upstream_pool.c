/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/upstream/upstream_pool.h"

#include <stdlib.h>
#include <unistd.h>

#include "nfq/sockets/open.h"

void
upstream_pool_shut(struct upstream_socket *u)
{
	if (u->fd >= 0)
		(void)close(u->fd);
	u->watched = false;
	u->fd = -1;
}

void
upstream_pool_spare(struct upstream_sockets *w, struct upstream_socket *u)
{
	upstream_pool_shut(u);
	TAILQ_INSERT_HEAD(&w->spare, u, entry);
}

static void
close_idle(struct upstream_sockets *w, struct upstream_socket *u)
{
	TAILQ_REMOVE(&w->idle, u, entry);
	w->idle_count--;
	upstream_pool_spare(w, u);
}

/* What its attempt has left is idle from now on, or closed. */
void
upstream_pool_rest(struct upstream_sockets *w, struct upstream_socket *u,
    monotime_t now)
{
	TAILQ_REMOVE(&w->dead, u, entry);
	if (u->fd < 0 || w->idle_count >= w->idle_most ||
	    sockets_disconnect(u->fd) < 0) {
		upstream_pool_spare(w, u);
		return;
	}
	u->idle_since = now;
	TAILQ_INSERT_HEAD(&w->idle, u, entry);
	w->idle_count++;
}

struct upstream_socket *
upstream_pool_new(struct upstream_sockets *w)
{
	struct upstream_socket *u = TAILQ_FIRST(&w->spare);

	if (u != NULL)
		TAILQ_REMOVE(&w->spare, u, entry);
	else
		u = malloc(sizeof(*u));
	if (u != NULL)
		*u = (struct upstream_socket){ .fd = -1 };
	return u;
}

struct upstream_socket *
upstream_pool_take(struct upstream_sockets *w, int family)
{
	struct upstream_socket *u;

	TAILQ_FOREACH(u, &w->idle, entry) {
		if (u->request.family != family)
			continue;
		TAILQ_REMOVE(&w->idle, u, entry);
		w->idle_count--;
		*u = (struct upstream_socket){ .fd = u->fd, .watched = true };
		return u;
	}
	return NULL;
}

/* When the one that was used the longest ago is closed. */
monotime_t
upstream_pool_next(const struct upstream_sockets *w)
{
	const struct upstream_socket *u =
	    TAILQ_LAST(&w->idle, upstream_socket_list);

	return u == NULL ? MONOTIME_NEVER :
	    monotime_add_ms(u->idle_since, UPSTREAM_SOCKETS_IDLE_MS);
}

void
upstream_pool_age(struct upstream_sockets *w, monotime_t now)
{
	struct upstream_socket *u;

	while ((u = TAILQ_LAST(&w->idle, upstream_socket_list)) != NULL &&
	    monotime_is_past(now, upstream_pool_next(w)))
		close_idle(w, u);
}

void
upstream_pool_empty(struct upstream_sockets *w)
{
	struct upstream_socket *u;

	while ((u = TAILQ_FIRST(&w->idle)) != NULL)
		close_idle(w, u);
	while ((u = TAILQ_FIRST(&w->spare)) != NULL) {
		TAILQ_REMOVE(&w->spare, u, entry);
		free(u);
	}
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/upstream/upstream_pool.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "nfq/sockets/open.h"

/*
 * Closing a socket takes it out of the epoll, unless nfdns-sockets still has it, too:
 * then its events would be taken for another one's, and never end.
 */
void
upstream_pool_shut(struct upstream_sockets *w, struct upstream_socket *u)
{
	if (u->watched && u->fd >= 0 && w->helper)
		(void)epoll_ctl(w->epoll, EPOLL_CTL_DEL, u->fd, NULL);
	if (u->fd >= 0)
		(void)close(u->fd);
	u->watched = false;
	u->fd = -1;
	free(u->buffer);
	u->buffer = NULL;
}

void
upstream_pool_spare(struct upstream_sockets *w, struct upstream_socket *u)
{
	upstream_pool_shut(w, u);
	TAILQ_INSERT_HEAD(&w->spare, u, entry);
}

static void
close_idle(struct upstream_sockets *w, struct upstream_socket *u)
{
	TAILQ_REMOVE(&w->idle, u, entry);
	w->idle_count--;
	upstream_pool_spare(w, u);
}

static void
close_ready(struct upstream_sockets *w, struct upstream_socket *u)
{
	TAILQ_REMOVE(&w->ready, u, entry);
	w->ready_count--;
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

/* An idle socket, which is watched by epoll already, or NULL. */
static struct upstream_socket *
take_idle(struct upstream_sockets *w, int family)
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

/*
 * A socket that was opened ahead for that upstream, or NULL.  What comes to one
 * before it is used was guessed by somebody.
 */
static struct upstream_socket *
take_ready(struct upstream_sockets *w, const struct sockets_request *request)
{
	struct upstream_socket *u, *next;
	uint8_t octet;

	for (u = TAILQ_FIRST(&w->ready); u != NULL; u = next) {
		next = TAILQ_NEXT(u, entry);
		if (!sockets_request_same(&u->request, request))
			continue;
		if (recv(u->fd, &octet, sizeof(octet), MSG_DONTWAIT) >= 0 ||
		    errno != EAGAIN) {
			close_ready(w, u);
			continue;
		}
		TAILQ_REMOVE(&w->ready, u, entry);
		w->ready_count--;
		*u = (struct upstream_socket){ .fd = u->fd };
		return u;
	}
	return NULL;
}

struct upstream_socket *
upstream_pool_take(struct upstream_sockets *w,
    const struct sockets_request *request)
{
	return w->helper ? take_ready(w, request) :
	    take_idle(w, request->family);
}

void
upstream_pool_keep(struct upstream_sockets *w, struct upstream_socket *u,
    int fd)
{
	u->fd = fd;
	if (fd < 0)
		w->refused = w->now;
	if (fd < 0 || w->ready_count >= UPSTREAM_SOCKETS_READY) {
		upstream_pool_spare(w, u);
		return;
	}
	u->idle_since = w->now;
	TAILQ_INSERT_HEAD(&w->ready, u, entry);
	w->ready_count++;
}

bool
upstream_pool_wants(const struct upstream_sockets *w,
    const struct sockets_request *request)
{
	const struct upstream_socket *u;
	unsigned int count = 0;

	/* Asked again at once, who refuses at once would keep both busy. */
	if (monotime_is_set(w->refused) && monotime_ms_since(w->now,
	    w->refused) < UPSTREAM_SOCKETS_REFUSED_MS)
		return false;
	TAILQ_FOREACH(u, &w->ready, entry)
		count += sockets_request_same(&u->request, request);
	for (unsigned int i = 0; i < w->asked_count; i++) {
		u = w->asked[(w->oldest + i) % UPSTREAM_SOCKETS_ASKED];
		count += u != NULL && u->ahead &&
		    sockets_request_same(&u->request, request);
	}
	return count < UPSTREAM_SOCKETS_AHEAD &&
	    w->ready_count < UPSTREAM_SOCKETS_READY;
}

/* When the one that was used or opened before the others is closed. */
static monotime_t
end_of(const struct upstream_socket_list *list, int64_t ms)
{
	const struct upstream_socket *u =
	    TAILQ_LAST(list, upstream_socket_list);

	return u == NULL ? MONOTIME_NEVER :
	    monotime_add_ms(u->idle_since, ms);
}

static monotime_t
end_of_idle(const struct upstream_sockets *w)
{
	return end_of(&w->idle, UPSTREAM_SOCKETS_IDLE_MS);
}

static monotime_t
end_of_ready(const struct upstream_sockets *w)
{
	return end_of(&w->ready, UPSTREAM_SOCKETS_AHEAD_MS);
}

monotime_t
upstream_pool_next(const struct upstream_sockets *w)
{
	return monotime_first(end_of_idle(w), end_of_ready(w));
}

void
upstream_pool_age(struct upstream_sockets *w, monotime_t now)
{
	struct upstream_socket *u;

	while ((u = TAILQ_LAST(&w->idle, upstream_socket_list)) != NULL &&
	    monotime_is_past(now, end_of_idle(w)))
		close_idle(w, u);
	while ((u = TAILQ_LAST(&w->ready, upstream_socket_list)) != NULL &&
	    monotime_is_past(now, end_of_ready(w)))
		close_ready(w, u);
	w->now = now;
}

void
upstream_pool_empty(struct upstream_sockets *w)
{
	struct upstream_socket *u;

	while ((u = TAILQ_FIRST(&w->idle)) != NULL)
		close_idle(w, u);
	while ((u = TAILQ_FIRST(&w->ready)) != NULL)
		close_ready(w, u);
	while ((u = TAILQ_FIRST(&w->spare)) != NULL) {
		TAILQ_REMOVE(&w->spare, u, entry);
		free(u);
	}
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/upstream/upstream_sockets.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "nfq/upstream/upstream_pool.h"
#include "nfq/sockets/client.h"
#include "nfq/sockets/open.h"
#include "policy/log.h"

#define WANT_EVERY_MS	1000

void
upstream_sockets_init(struct upstream_sockets *w, int epoll, uint32_t mark)
{
	w->epoll = epoll;
	w->mark = mark;
	w->idle_most = UPSTREAM_SOCKETS_IDLE;
	for (size_t i = 0; i < UPSTREAM_SOCKET_LISTS; i++)
		TAILQ_INIT(&w->open[i]);
	TAILQ_INIT(&w->dead);
	TAILQ_INIT(&w->idle);
	TAILQ_INIT(&w->spare);
	TAILQ_INIT(&w->waiting);
	TAILQ_INIT(&w->ready);
	w->channel = -1;
}

static struct upstream_socket_list *
list_of(struct upstream_sockets *w, uint32_t attempt)
{
	return &w->open[attempt % UPSTREAM_SOCKET_LISTS];
}

/* A socket stays as it is until the round is over. */
static void
bury(struct upstream_sockets *w, struct upstream_socket *u)
{
	if (!u->watched || w->helper)
		upstream_pool_shut(w, u);
	if (u->waiting)
		TAILQ_REMOVE(&w->waiting, u, in_waiting);
	u->waiting = false;
	u->over = true;
	u->cause.known = false;
	for (size_t i = 0; i < UPSTREAM_SOCKETS_ASKED; i++)
		if (w->asked[i] == u)
			w->asked[i] = NULL;	/* its socket will come */
	TAILQ_REMOVE(list_of(w, u->attempt), u, entry);
	TAILQ_INSERT_TAIL(&w->dead, u, entry);
}

monotime_t
upstream_sockets_next(const struct upstream_sockets *w)
{
	return upstream_pool_next(w);
}

void
upstream_sockets_end_round(struct upstream_sockets *w, monotime_t now)
{
	struct upstream_socket *u;

	while ((u = TAILQ_FIRST(&w->dead)) != NULL)
		upstream_pool_rest(w, u, now);
	upstream_pool_age(w, now);
}

/* Those that were not opened yet. */
static void
forget_ahead(struct upstream_sockets *w)
{
	struct upstream_socket *u;

	while ((u = TAILQ_FIRST(&w->waiting)) != NULL) {
		TAILQ_REMOVE(&w->waiting, u, in_waiting);
		upstream_pool_spare(w, u);
	}
	for (size_t i = 0; i < UPSTREAM_SOCKETS_ASKED; i++) {
		if (w->asked[i] != NULL)
			upstream_pool_spare(w, w->asked[i]);
		w->asked[i] = NULL;
	}
}

void
upstream_sockets_close(struct upstream_sockets *w)
{
	struct upstream_socket *u;

	for (size_t i = 0; i < UPSTREAM_SOCKET_LISTS; i++)
		while ((u = TAILQ_FIRST(&w->open[i])) != NULL)
			bury(w, u);
	upstream_sockets_end_round(w, MONOTIME_NEVER);
	forget_ahead(w);
	if (w->channel >= 0)
		sockets_leave(w->channel);
	w->channel = -1;
	upstream_pool_empty(w);
}

static struct sockets_request
request_for(const struct forward_upstream *to)
{
	struct sockets_request request = {
		.kind = SOCKETS_ASKING,
		.family = (int)to->family,
		.port = (uint16_t)to->port,
		.scope_id = to->scope,
	};

	memcpy(request.address, to->address, to->family == AF_INET ? 4 : 16);
	return request;
}

/* Keeps a message until it can be sent. */
static int
keep_message(struct upstream_socket *u, const uint8_t *octets,
    size_t length)
{
	u->buffer = malloc(length);
	if (u->buffer == NULL)
		return -ENOMEM;
	memcpy(u->buffer, octets, length);
	u->length = length;
	return 0;
}

static int
watch(struct upstream_sockets *w, struct upstream_socket *u)
{
	struct epoll_event event = {
		.events = EPOLLIN,
		.data.ptr = u,
	};

	if (!u->watched &&
	    epoll_ctl(w->epoll, EPOLL_CTL_ADD, u->fd, &event) < 0)
		return -errno;
	u->watched = true;
	return 0;
}

/* The socket is there: the message is sent. */
static int
begin(struct upstream_sockets *w, struct upstream_socket *u,
    const uint8_t *octets, size_t length)
{
	if (send(u->fd, octets, length, MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
		return -errno;
	return watch(w, u);
}

static void
wait_for_socket(struct upstream_sockets *w, struct upstream_socket *u)
{
	TAILQ_INSERT_TAIL(&w->waiting, u, in_waiting);
	u->waiting = true;
}

/* Asks for as many sockets as may be asked for at a time. */
static void
ask(struct upstream_sockets *w)
{
	struct upstream_socket *u;

	while (w->channel >= 0 && w->asked_count < UPSTREAM_SOCKETS_ASKED &&
	    (u = TAILQ_FIRST(&w->waiting)) != NULL) {
		/* If the channel broke, epoll reports that, too. */
		if (sockets_request(w->channel, &u->request) < 0)
			return;
		TAILQ_REMOVE(&w->waiting, u, in_waiting);
		u->waiting = false;
		w->asked[(w->oldest + w->asked_count++) %
		    UPSTREAM_SOCKETS_ASKED] = u;
	}
}

/* The one that was asked for first; NULL: it was given up. */
static struct upstream_socket *
take_oldest(struct upstream_sockets *w)
{
	struct upstream_socket *u = w->asked[w->oldest];

	w->asked[w->oldest] = NULL;
	w->oldest = (w->oldest + 1) % UPSTREAM_SOCKETS_ASKED;
	w->asked_count--;
	return u;
}

static void
lose_channel(struct upstream_sockets *w, int error)
{
	struct upstream_socket *u;

	if (w->channel < 0)
		return;
	sockets_leave(w->channel);
	w->channel = -1;
	while (w->asked_count > 0)
		if ((u = take_oldest(w)) != NULL)
			wait_for_socket(w, u);
	if (error < 0 && !w->lost)
		log_warning("forwarding: nfdns-sockets is gone: %s",
		    sockets_why_left(error));
	w->lost = error < 0;
}

void
upstream_sockets_use(struct upstream_sockets *w, int channel)
{
	struct epoll_event event = { .events = EPOLLIN, .data.ptr = w };

	lose_channel(w, 0);
	if (epoll_ctl(w->epoll, EPOLL_CTL_ADD, channel, &event) < 0) {
		sockets_leave(channel);
		return;
	}
	w->channel = channel;
	ask(w);
}

/* The socket for an attempt has come.  0 or a negative errno. */
static int
use_socket(struct upstream_sockets *w, struct upstream_socket *u, int fd)
{
	int error = fd;

	if (fd >= 0) {
		u->fd = fd;
		error = begin(w, u, u->buffer, u->length);
	}
	if (error < 0)
		upstream_pool_shut(w, u);
	return error;
}

/* What has come for the oldest: as sockets_answer(). */
static int
take_answer(const struct upstream_sockets *w, int *fd)
{
	const struct upstream_socket *u = w->asked_count == 0 ? NULL :
	    w->asked[w->oldest];
	const int error = sockets_answer(w->channel, w->uid,
	    u != NULL ? &u->request : NULL, fd);

	return error == 0 && w->asked_count == 0 ? -EPROTO : error;
}

bool
upstream_sockets_refused(struct upstream_sockets *w, uint32_t *attempt,
    int *error)
{
	struct upstream_socket *u;
	int fd, result = 0;

	while (w->channel >= 0 && (result = take_answer(w, &fd)) == 0) {
		w->lost = false;
		u = take_oldest(w);
		if (u == NULL)
			continue;
		if (u->ahead) {
			upstream_pool_keep(w, u, fd);
			continue;
		}
		*attempt = u->attempt;
		*error = use_socket(w, u, fd);
		if (*error < 0)
			return true;
	}
	if (result < 0 && result != -EAGAIN)
		lose_channel(w, result);
	ask(w);
	return false;
}

bool
upstream_sockets_wants(struct upstream_sockets *w, monotime_t now)
{
	if (!w->helper || w->channel >= 0 || TAILQ_EMPTY(&w->waiting) ||
	    (monotime_is_set(w->wanted) &&
	    monotime_ms_since(now, w->wanted) < WANT_EVERY_MS))
		return false;
	w->wanted = now;
	return true;
}

/* For one that is used two are asked for, up to a bound, if no attempt waits. */
static void
ask_ahead(struct upstream_sockets *w, const struct sockets_request *request)
{
	struct upstream_socket *u;

	for (int i = 0; i < 2 && TAILQ_EMPTY(&w->waiting) &&
	    upstream_pool_wants(w, request); i++) {
		u = upstream_pool_new(w);
		if (u == NULL)
			return;
		u->ahead = true;
		u->request = *request;
		wait_for_socket(w, u);
		ask(w);
	}
}

/* Opens its socket, or connects the one that it has, and sends. */
static int
open_and_send(struct upstream_sockets *w, struct upstream_socket *u,
    const uint8_t *octets, size_t length)
{
	int error = 0;

	if (u->fd >= 0)
		error = sockets_reconnect(u->fd, &u->request);
	else
		u->fd = sockets_open(&u->request, w->mark);
	if (u->fd < 0)
		error = u->fd;
	return error < 0 ? error : begin(w, u, octets, length);
}

int
upstream_sockets_send(struct upstream_sockets *w, uint32_t attempt, const struct asking *cause,
    const struct forward_upstream *to, const uint8_t *octets, size_t length)
{
	const struct sockets_request request = request_for(to);
	struct upstream_socket *u = upstream_pool_take(w, &request);
	int error = 0;

	if (u == NULL)
		u = upstream_pool_new(w);
	if (u == NULL)
		return -ENOMEM;
	u->attempt = attempt;
	u->cause = *cause;
	TAILQ_INSERT_TAIL(list_of(w, attempt), u, entry);
	u->request = request;
	if (w->helper && u->fd < 0)
		error = keep_message(u, octets, length);
	if (error == 0 && w->helper && u->fd >= 0) {
		error = begin(w, u, octets, length);
	} else if (error == 0 && w->helper) {
		wait_for_socket(w, u);
		ask(w);
	} else if (error == 0) {
		error = open_and_send(w, u, octets, length);
	}
	if (w->helper)
		ask_ahead(w, &u->request);
	if (error < 0)
		bury(w, u);
	return error;
}

int
upstream_sockets_ahead(struct upstream_sockets *w,
    const struct forward_upstream *to)
{
	const struct sockets_request request = request_for(to);
	struct upstream_socket *u = upstream_pool_take(w, &request);
	int fd = -EAGAIN;

	ask_ahead(w, &request);
	if (u != NULL) {
		fd = u->fd;
		u->fd = -1;
		upstream_pool_spare(w, u);
	}
	return fd;
}

int
upstream_sockets_adopt(struct upstream_sockets *w, uint32_t attempt,
    const struct asking *cause, const struct forward_upstream *to, int fd)
{
	struct upstream_socket *u = upstream_pool_new(w);
	int error;

	if (u == NULL) {
		(void)close(fd);
		return -ENOMEM;
	}
	u->fd = fd;
	u->attempt = attempt;
	u->cause = *cause;
	u->request = request_for(to);
	TAILQ_INSERT_TAIL(list_of(w, attempt), u, entry);
	error = watch(w, u);
	if (error < 0)
		bury(w, u);
	return error;
}

void
upstream_sockets_forget(struct upstream_sockets *w, uint32_t attempt)
{
	struct upstream_socket *u;

	TAILQ_FOREACH(u, list_of(w, attempt), entry) {
		if (u->attempt != attempt)
			continue;
		bury(w, u);
		return;
	}
}

ssize_t
upstream_sockets_receive(struct upstream_sockets *w, struct upstream_socket *u, const uint8_t **octets)
{
	ssize_t n;

	if (u->over && monotime_is_set(u->idle_since))
		(void)!sockets_disconnect(u->fd);	/* a straggler */
	if (u->over || u->fd < 0)
		return -EAGAIN;		/* since this round began */
	n = recv(u->fd, w->datagram, sizeof(w->datagram), MSG_DONTWAIT);
	*octets = w->datagram;
	return n < 0 ? -errno : n;
}

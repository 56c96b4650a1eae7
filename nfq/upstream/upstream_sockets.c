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
#include "nfq/sockets/open.h"

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
	if (!u->watched)
		upstream_pool_shut(u);
	u->over = true;
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

void
upstream_sockets_close(struct upstream_sockets *w)
{
	struct upstream_socket *u;

	for (size_t i = 0; i < UPSTREAM_SOCKET_LISTS; i++)
		while ((u = TAILQ_FIRST(&w->open[i])) != NULL)
			bury(w, u);
	upstream_sockets_end_round(w, MONOTIME_NEVER);
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

static int
begin(struct upstream_sockets *w, struct upstream_socket *u,
    const uint8_t *octets, size_t length)
{
	if (send(u->fd, octets, length, MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
		return -errno;
	return watch(w, u);
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
upstream_sockets_send(struct upstream_sockets *w, uint32_t attempt,
    const struct forward_upstream *to, const uint8_t *octets, size_t length)
{
	const struct sockets_request request = request_for(to);
	struct upstream_socket *u = upstream_pool_take(w, request.family);
	int error;

	if (u == NULL)
		u = upstream_pool_new(w);
	if (u == NULL)
		return -ENOMEM;
	u->attempt = attempt;
	TAILQ_INSERT_TAIL(list_of(w, attempt), u, entry);
	u->request = request;
	error = open_and_send(w, u, octets, length);
	if (error < 0)
		bury(w, u);
	return error;
}

int
upstream_sockets_adopt(struct upstream_sockets *w, uint32_t attempt,
    const struct forward_upstream *to, int fd)
{
	struct upstream_socket *u = upstream_pool_new(w);
	int error;

	if (u == NULL) {
		(void)close(fd);
		return -ENOMEM;
	}
	u->fd = fd;
	u->attempt = attempt;
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

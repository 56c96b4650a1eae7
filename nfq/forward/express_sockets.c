/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/forward/express_sockets.h"

#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "nfq/sockets/open.h"

#define IDLE_MS		10000	/* then a socket is closed */
#define SOURCE_MS	1000	/* then its source may be another */
#define OFTEN		8	/* times that it was used, then it keeps its source */
#define LOOKED_AT	8	/* of idle sockets, for one that will do */
#define PORT_QUESTIONS	64
#define PORT_MS		20

void
express_sockets_init(struct express_sockets *s)
{
	TAILQ_INIT(&s->ready);
	TAILQ_INIT(&s->idle);
	TAILQ_INIT(&s->resting);
	TAILQ_INIT(&s->closed);
}

void
express_sockets_free(struct express_sockets *s)
{
	for (unsigned int i = 0; i < s->used; i++)
		if (s->sockets[i].fd >= 0)
			(void)close(s->sockets[i].fd);
}

static void
put(struct express_socket_list *list, struct express_socket *one)
{
	one->list = list;
	TAILQ_INSERT_HEAD(list, one, entry);
}

static void
take_out(struct express_socket *one)
{
	if (one->list != NULL)
		TAILQ_REMOVE(one->list, one, entry);
	one->list = NULL;
}

static struct express_socket *
take_first(struct express_socket_list *list)
{
	struct express_socket *one = TAILQ_FIRST(list);

	if (one != NULL)
		take_out(one);
	return one;
}

static void
forget(struct express_sockets *s, struct express_socket *one)
{
	take_out(one);
	*one = (struct express_socket){ .fd = -1 };
	put(&s->closed, one);
}

void
express_sockets_close(struct express_sockets *s, struct express_socket *one)
{
	if (one->fd >= 0)
		(void)close(one->fd);
	forget(s, one);
}

/* 0 or a negative errno. */
static int
disconnect(struct express_socket *one)
{
	if (one->keeps_source || one->to.family != AF_INET ||
	    ++one->uses < OFTEN)
		return sockets_release_port(one->fd);
	one->keeps_source = true;
	return sockets_keep_source(one->fd);
}

static void
give_up_port(struct express_sockets *s, struct express_socket *one)
{
	one->asked = 0;
	if (disconnect(one) < 0)
		express_sockets_close(s, one);
	else
		put(&s->resting, one);
}

void
express_sockets_keep_ports(struct express_sockets *s, bool keeps)
{
	struct express_socket *one;

	s->keeps_ports = keeps;
	while (!keeps && (one = take_first(&s->ready)) != NULL)
		give_up_port(s, one);
}

static struct express_socket *
take_closed(struct express_sockets *s)
{
	struct express_socket *one = take_first(&s->closed);

	if (one == NULL && s->used < EXPRESS_SOCKETS) {
		one = &s->sockets[s->used++];
		one->fd = -1;
	}
	return one;
}

/* A source is good for one address, and not for long. */
static bool
is_old(const struct express_socket *one, monotime_t now)
{
	return one->keeps_source &&
	    monotime_ms_since(now, one->opened) >= SOURCE_MS;
}

static bool
may_be_used(const struct express_socket *one, const struct sockets_request *to)
{
	return one->to.family == to->family && (!one->keeps_source ||
	    (one->to.scope_id == to->scope_id &&
	    memcmp(one->to.address, to->address, sizeof(to->address)) == 0));
}

static bool
has_old_port(const struct express_socket *one, monotime_t now)
{
	return monotime_ms_since(now, one->connected) >= PORT_MS;
}

/* One that kept its port; NULL: none of the last ones will do. */
static struct express_socket *
take_ready(struct express_sockets *s, const struct sockets_request *to,
    monotime_t now)
{
	struct express_socket *one, *next;

	/* Those below were used before, and may never be looked at again. */
	while ((one = TAILQ_LAST(&s->ready, express_socket_list)) != NULL &&
	    has_old_port(one, now)) {
		take_out(one);
		give_up_port(s, one);
	}
	one = TAILQ_FIRST(&s->ready);
	for (int n = 0; one != NULL && n < LOOKED_AT; n++, one = next) {
		next = TAILQ_NEXT(one, entry);
		if (has_old_port(one, now)) {
			take_out(one);
			give_up_port(s, one);
		} else if (sockets_request_same(&one->to, to)) {
			take_out(one);
			return one;
		}
	}
	return NULL;
}

/* The same without a port. */
static struct express_socket *
take_idle(struct express_sockets *s, const struct sockets_request *to,
    monotime_t now)
{
	struct express_socket *one = TAILQ_FIRST(&s->idle), *next;

	for (int n = 0; one != NULL && n < LOOKED_AT; n++, one = next) {
		next = TAILQ_NEXT(one, entry);
		if (is_old(one, now)) {
			express_sockets_close(s, one);
		} else if (may_be_used(one, to)) {
			take_out(one);
			return one;
		}
	}
	return NULL;
}

/* One of others is closed, the one that was used the longest ago. */
static struct express_socket *
take_place(struct express_sockets *s)
{
	struct express_socket *one = TAILQ_LAST(&s->idle, express_socket_list);

	if (one == NULL)
		one = TAILQ_LAST(&s->ready, express_socket_list);
	if (one != NULL) {
		express_sockets_close(s, one);
		take_out(one);
	}
	return one;
}

/* One without a port, open or closed; NULL: all are taken. */
static struct express_socket *
take_any(struct express_sockets *s, const struct sockets_request *to,
    monotime_t now)
{
	struct express_socket *one = take_idle(s, to, now);

	if (one == NULL)
		one = take_closed(s);
	return one != NULL ? one : take_place(s);
}

/* The source that it keeps may be gone: then a new one is opened. */
static bool
connect_to(struct express_sockets *s, struct express_socket *one,
    monotime_t now)
{
	struct sockets_request to = one->to;

	if (one->fd >= 0 && sockets_reconnect(one->fd, &to) == 0)
		return true;
	if (one->fd >= 0)
		(void)close(one->fd);
	*one = (struct express_socket){ .to = to, .opened = now,
		.fd = sockets_open(&to, s->mark) };
	return one->fd >= 0;
}

static bool
watch(const struct express_sockets *s, struct express_socket *one)
{
	struct epoll_event event = { .events = EPOLLIN, .data.ptr = one };

	if (!one->watched)
		one->watched = epoll_ctl(s->epoll, EPOLL_CTL_ADD, one->fd,
		    &event) == 0;
	return one->watched;
}

/* One that is to have a port of its own; NULL: there is none to be had. */
static struct express_socket *
connect_any(struct express_sockets *s, const struct sockets_request *to,
    monotime_t now)
{
	struct express_socket *one = take_any(s, to, now);

	if (one == NULL)
		return NULL;
	one->to = *to;
	if (!connect_to(s, one, now) || !watch(s, one)) {
		express_sockets_close(s, one);
		return NULL;
	}
	one->connected = now;
	return one;
}

struct express_socket *
express_sockets_take(struct express_sockets *s, struct express_attempt *attempt,
    const struct forward_upstream *to, monotime_t now)
{
	struct sockets_request request = { .kind = SOCKETS_ASKING,
		.family = (int)to->family, .port = (uint16_t)to->port,
		.scope_id = to->scope };
	struct express_socket *one;

	memcpy(request.address, to->address, to->family == AF_INET ? 4 : 16);
	one = take_ready(s, &request, now);
	if (one == NULL)
		one = connect_any(s, &request, now);
	if (one == NULL)
		return NULL;
	one->attempt = attempt;
	one->asked++;
	return one;
}

void
express_sockets_done(struct express_sockets *s, struct express_socket *one)
{
	one->attempt = NULL;
	if (s->keeps_ports && one->asked < PORT_QUESTIONS)
		put(&s->ready, one);
	else
		give_up_port(s, one);
}

void
express_sockets_give(struct express_sockets *s, struct express_socket *one)
{
	/* It stays open: closing it here would not end its events. */
	(void)epoll_ctl(s->epoll, EPOLL_CTL_DEL, one->fd, NULL);
	forget(s, one);
}

/* So that the last used is the first again. */
void
express_sockets_are_empty(struct express_sockets *s)
{
	struct express_socket *one;

	while ((one = TAILQ_LAST(&s->resting, express_socket_list)) != NULL) {
		take_out(one);
		put(&s->idle, one);
	}
}

void
express_sockets_rest(struct express_sockets *s)
{
	struct express_socket *one;

	while ((one = TAILQ_LAST(&s->resting, express_socket_list)) != NULL) {
		take_out(one);
		if (sockets_drain(one->fd) < 0)
			express_sockets_close(s, one);
		else
			put(&s->idle, one);
	}
}

static void
close_all(struct express_sockets *s, struct express_socket_list *list)
{
	struct express_socket *one;

	while ((one = take_first(list)) != NULL)
		express_sockets_close(s, one);
}

void
express_sockets_age(struct express_sockets *s, monotime_t now)
{
	if (monotime_ms_since(now, s->aged) < IDLE_MS)
		return;
	s->aged = now;
	close_all(s, &s->ready);
	close_all(s, &s->idle);
	close_all(s, &s->resting);
}

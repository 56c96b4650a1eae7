/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/upstream/ports.h"

#include <errno.h>
#include <stdlib.h>
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

int
ports_init(struct ports *s, int epoll, uint32_t mark, unsigned int most)
{
	*s = (struct ports){ .epoll = epoll, .mark = mark, .most = most,
		.ports = calloc(most, sizeof(*s->ports)) };
	for (size_t i = 0; i < PORTS_LISTS; i++)
		TAILQ_INIT(&s->open[i]);
	TAILQ_INIT(&s->ready);
	TAILQ_INIT(&s->idle);
	TAILQ_INIT(&s->resting);
	TAILQ_INIT(&s->closed);
	return s->ports != NULL ? 0 : -ENOMEM;
}

void
ports_free(struct ports *s)
{
	for (unsigned int i = 0; i < s->used; i++)
		if (s->ports[i].fd >= 0)
			(void)close(s->ports[i].fd);
	free(s->ports);
	s->ports = NULL;
	s->used = 0;
}

static void
put(struct port_list *list, struct port *one)
{
	one->list = list;
	TAILQ_INSERT_HEAD(list, one, entry);
}

static void
take_out(struct port *one)
{
	if (one->list != NULL)
		TAILQ_REMOVE(one->list, one, entry);
	one->list = NULL;
}

static struct port *
take_first(struct port_list *list)
{
	struct port *one = TAILQ_FIRST(list);

	if (one != NULL)
		take_out(one);
	return one;
}

static void
close_port(struct ports *s, struct port *one)
{
	if (one->fd >= 0)
		(void)close(one->fd);
	take_out(one);
	*one = (struct port){ .fd = -1, .attempt = PORTS_NOBODY };
	put(&s->closed, one);
}

/* 0 or a negative errno. */
static int
disconnect(struct port *one)
{
	if (one->keeps_source || one->to.family != AF_INET ||
	    ++one->uses < OFTEN)
		return sockets_release_port(one->fd);
	one->keeps_source = true;
	return sockets_keep_source(one->fd);
}

static void
give_up_port(struct ports *s, struct port *one)
{
	one->asked = 0;
	if (disconnect(one) < 0)
		close_port(s, one);
	else
		put(&s->resting, one);
}

void
ports_keep(struct ports *s, bool keeps)
{
	struct port *one;

	s->keeps_ports = keeps;
	while (!keeps && (one = take_first(&s->ready)) != NULL)
		give_up_port(s, one);
}

/* A source is good for one address, and not for long. */
static bool
is_old(const struct port *one, monotime_t now)
{
	return one->keeps_source &&
	    monotime_ms_since(now, one->opened) >= SOURCE_MS;
}

static bool
may_be_used(const struct port *one, const struct sockets_request *to)
{
	return one->to.family == to->family && (!one->keeps_source ||
	    (one->to.scope_id == to->scope_id &&
	    memcmp(one->to.address, to->address, sizeof(to->address)) == 0));
}

static bool
has_old_port(const struct port *one, monotime_t now)
{
	return monotime_ms_since(now, one->connected) >= PORT_MS;
}

/* One that kept its port; NULL: none of the last ones will do. */
static struct port *
take_ready(struct ports *s, const struct sockets_request *to,
    monotime_t now)
{
	struct port *one, *next;

	/* Those below were used before, and may never be looked at again. */
	while ((one = TAILQ_LAST(&s->ready, port_list)) != NULL &&
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
static struct port *
take_idle(struct ports *s, const struct sockets_request *to,
    monotime_t now)
{
	struct port *one = TAILQ_FIRST(&s->idle), *next;

	for (int n = 0; one != NULL && n < LOOKED_AT; n++, one = next) {
		next = TAILQ_NEXT(one, entry);
		if (is_old(one, now)) {
			close_port(s, one);
		} else if (may_be_used(one, to)) {
			take_out(one);
			return one;
		}
	}
	return NULL;
}

/* One of others is closed, the one that was used the longest ago. */
static struct port *
take_place(struct ports *s)
{
	struct port *one = TAILQ_LAST(&s->idle, port_list);

	if (one == NULL)
		one = TAILQ_LAST(&s->ready, port_list);
	if (one != NULL) {
		close_port(s, one);
		take_out(one);
	}
	return one;
}

/* One without a port, open or closed; NULL: all are taken. */
static struct port *
take_any(struct ports *s, const struct sockets_request *to,
    monotime_t now)
{
	struct port *one = take_idle(s, to, now);

	if (one == NULL) {
		one = take_first(&s->closed);
		if (one == NULL && s->used < s->most) {
			one = &s->ports[s->used++];
			one->fd = -1;
		}
	}
	return one != NULL ? one : take_place(s);
}

/* Closes one that nobody uses.  False: there is none. */
static bool
close_idle(struct ports *s)
{
	struct port *one = take_place(s);

	if (one == NULL)
		return false;
	put(&s->closed, one);
	return true;
}

/* The source that it keeps may be gone: then a new one is opened. */
static int
connect_to(struct ports *s, struct port *one,
    monotime_t now)
{
	struct sockets_request to = one->to;

	if (one->fd >= 0 && sockets_reconnect(one->fd, &to) == 0)
		return 0;
	if (one->fd >= 0)
		(void)close(one->fd);
	*one = (struct port){ .to = to, .opened = now,
		.attempt = PORTS_NOBODY, .fd = sockets_open(&to, s->mark) };
	/* Those that nobody uses leave their descriptors to others. */
	if ((one->fd == -EMFILE || one->fd == -ENFILE) && close_idle(s))
		one->fd = sockets_open(&to, s->mark);
	return one->fd >= 0 ? 0 : one->fd;
}

static int
watch(const struct ports *s, struct port *one)
{
	struct epoll_event event = { .events = EPOLLIN, .data.ptr = one };

	if (!one->watched &&
	    epoll_ctl(s->epoll, EPOLL_CTL_ADD, one->fd, &event) < 0)
		return -errno;
	one->watched = true;
	return 0;
}

/* One that is to have a port of its own. */
static int
connect_any(struct ports *s, const struct sockets_request *to, monotime_t now,
    struct port **taken)
{
	struct port *one = take_any(s, to, now);
	int error;

	*taken = one;
	if (one == NULL)
		return -EMFILE;
	one->to = *to;
	error = connect_to(s, one, now);
	one->connected = now;
	if (error == 0)
		error = watch(s, one);
	if (error < 0)
		close_port(s, one);
	return error;
}

static struct port_list *
list_of(struct ports *s, uint32_t attempt)
{
	return &s->open[attempt % PORTS_LISTS];
}

int
ports_send(struct ports *s, monotime_t now, uint32_t attempt,
    const struct forward_upstream *to, const uint8_t *octets, size_t length)
{
	struct sockets_request request = { .kind = SOCKETS_ASKING,
		.family = (int)to->family, .port = (uint16_t)to->port,
		.scope_id = to->scope };
	struct port *one;
	int error = 0;

	memcpy(request.address, to->address, to->family == AF_INET ? 4 : 16);
	one = take_ready(s, &request, now);
	if (one == NULL)
		error = connect_any(s, &request, now, &one);
	if (error < 0)
		return error;
	if (send(one->fd, octets, length, MSG_DONTWAIT | MSG_NOSIGNAL) < 0) {
		error = -errno;
		close_port(s, one);
		return error;
	}
	one->attempt = attempt;
	one->asked++;
	one->replied = one->doubtful = false;
	put(list_of(s, attempt), one);
	return 0;
}

/* Its port serves another question only if its reply came, and nothing else did. */
void
ports_forget(struct ports *s, uint32_t attempt)
{
	struct port *one;

	TAILQ_FOREACH(one, list_of(s, attempt), entry)
		if (one->attempt == attempt)
			break;
	if (one == NULL)
		return;
	take_out(one);
	one->attempt = PORTS_NOBODY;
	if (s->keeps_ports && one->replied && !one->doubtful &&
	    one->asked < PORT_QUESTIONS)
		put(&s->ready, one);
	else
		give_up_port(s, one);
}

ssize_t
ports_receive(struct ports *s, struct port *one, const uint8_t **octets)
{
	ssize_t n;

	if (one->attempt == PORTS_NOBODY)
		return -EAGAIN;		/* since this round began */
	/* What came before did not end its attempt. */
	one->doubtful = one->replied;
	n = recv(one->fd, s->datagram, sizeof(s->datagram), MSG_DONTWAIT);
	*octets = s->datagram;
	if (n < 0)
		return -errno;
	one->replied = true;
	return n;
}

void
ports_close_straggler(struct ports *s, struct port *one)
{
	if (one->fd >= 0 && one->attempt == PORTS_NOBODY)
		close_port(s, one);
}

/* So that the last used is the first again. */
void
ports_are_empty(struct ports *s)
{
	struct port *one;

	while ((one = TAILQ_LAST(&s->resting, port_list)) != NULL) {
		take_out(one);
		put(&s->idle, one);
	}
}

void
ports_rest(struct ports *s)
{
	struct port *one;

	while ((one = TAILQ_LAST(&s->resting, port_list)) != NULL) {
		take_out(one);
		if (sockets_drain(one->fd) < 0)
			close_port(s, one);
		else
			put(&s->idle, one);
	}
}

static void
close_all(struct ports *s, struct port_list *list)
{
	struct port *one;

	while ((one = take_first(list)) != NULL)
		close_port(s, one);
}

void
ports_age(struct ports *s, monotime_t now)
{
	if (monotime_ms_since(now, s->aged) < IDLE_MS)
		return;
	s->aged = now;
	close_all(s, &s->ready);
	close_all(s, &s->idle);
	close_all(s, &s->resting);
}

monotime_t
ports_next(const struct ports *s)
{
	return TAILQ_EMPTY(&s->ready) && TAILQ_EMPTY(&s->idle) &&
	    TAILQ_EMPTY(&s->resting) ? MONOTIME_NEVER :
	    monotime_add_ms(s->aged, IDLE_MS);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/upstream/dialer.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "nfq/sockets/client.h"
#include "nfq/sockets/open.h"
#include "nfq/sockets/received.h"

#define WANT_EVERY_MS	1000

void
dialer_init(struct dialer *d, int epoll, uint32_t mark)
{
	d->epoll = epoll;
	d->mark = mark;
	d->channel = -1;
}

void
dialer_lose(struct dialer *d)
{
	if (d->channel >= 0)
		sockets_leave(d->channel);
	d->channel = -1;
}

void
dialer_close(struct dialer *d)
{
	dialer_lose(d);
	d->asked_count = 0;
}

uint32_t
dialer_number(struct dialer *d)
{
	if (++d->last == 0)
		d->last++;
	return d->last;
}

bool
dialer_ready(const struct dialer *d)
{
	return !d->helper ||
	    (d->channel >= 0 && d->asked_count < DIALER_ASKED);
}

static struct sockets_request
request_for(const struct forward_upstream *to)
{
	struct sockets_request request = {
		.kind = SOCKETS_CONNECTION,
		.family = (int)to->family,
		.port = (uint16_t)to->port,
		.scope_id = to->scope,
	};

	memcpy(request.address, to->address, to->family == AF_INET ? 4 : 16);
	return request;
}

int
dialer_open(struct dialer *d, uint32_t number,
    const struct forward_upstream *to)
{
	const struct sockets_request request = request_for(to);
	int error;

	if (!d->helper)
		return sockets_open(&request, d->mark);
	error = sockets_request(d->channel, &request);
	if (error < 0)
		return error;
	d->asked[(d->oldest + d->asked_count++) % DIALER_ASKED] =
	    (struct dialer_asked){ number, request };
	return -EINPROGRESS;
}

int
dialer_check(const struct dialer *d, int fd, const struct forward_upstream *to)
{
	const struct sockets_request request = request_for(to);

	return d->helper ? sockets_check_peer(fd, &request) : 0;
}

void
dialer_shut(const struct dialer *d, int fd)
{
	if (d->helper)
		sockets_discard(fd);
	else
		(void)close(fd);
}

void
dialer_use(struct dialer *d, int channel)
{
	struct epoll_event event = { .events = EPOLLIN, .data.ptr = d };

	if (epoll_ctl(d->epoll, EPOLL_CTL_ADD, channel, &event) < 0) {
		sockets_leave(channel);
		return;
	}
	d->channel = channel;
}

bool
dialer_take(struct dialer *d, uint32_t *number, int *fd)
{
	const struct dialer_asked *asked = &d->asked[d->oldest];
	int error = -EPIPE;

	if (d->channel >= 0)
		error = sockets_answer(d->channel, d->uid,
		    d->asked_count > 0 ? &asked->request : NULL, fd);
	if (error == -EAGAIN)
		return false;
	if (error == 0 && d->asked_count == 0)
		error = -EPROTO;
	if (error < 0) {
		dialer_lose(d);
		*fd = -EPIPE;
	}
	if (d->asked_count == 0)
		return false;
	*number = asked->number;
	d->oldest = (d->oldest + 1) % DIALER_ASKED;
	d->asked_count--;
	return true;
}

bool
dialer_wants(struct dialer *d, monotime_t now, bool any_waits)
{
	if (!d->helper || d->channel >= 0 || !any_waits ||
	    (monotime_is_set(d->wanted) &&
	    monotime_ms_since(now, d->wanted) < WANT_EVERY_MS))
		return false;
	d->wanted = now;
	return true;
}

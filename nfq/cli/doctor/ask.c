/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/cli/doctor/ask.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "nfq/sockets/open.h"
#include "policy/decide.h"
#include "resolver/dns/message.h"
#include "resolver/dns/name.h"
#include "resolver/dns/rr.h"
#include "resolver/dns/wire.h"

#define QUESTION_MAX	(2 + ASK_MESSAGE)

/* Behind two octets of length, which UDP leaves out; returns octets in all. */
static size_t
write_question(const struct ask *ask, uint8_t octets[static QUESTION_MAX])
{
	struct wire_writer w = wire_writer_over(octets + 2, QUESTION_MAX - 2);
	size_t length;

	wire_write_u16(&w, ask->id);
	if (ask->message != NULL) {
		wire_write_octets(&w, ask->message + 2,
		    ask->message_length - 2);
	} else {
		const char *text = ask->canary ? DECIDE_CANARY_NAME : ".";
		struct dns_name name;

		(void)!name_from_text(&name, text, strlen(text));
		wire_write_u16(&w, 0);
		wire_write_u16(&w, 1);		/* QDCOUNT */
		wire_write_u16(&w, 0);
		wire_write_u32(&w, 0);
		wire_write_octets(&w, name.octets, name.length);
		wire_write_u16(&w, ask->canary ? TYPE_TXT : TYPE_NS);
		wire_write_u16(&w, ask->canary ? CLASS_CH : CLASS_IN);
	}
	length = wire_written(&w);
	octets[0] = (uint8_t)(length >> 8);
	octets[1] = (uint8_t)length;
	return length + 2;
}

static void
end(struct ask *ask, enum ask_result result, int error)
{
	ask->result = result;
	ask->error = error;
	ask->spent_us = (monotime_now().ns - ask->begun.ns) / 1000;
	ask->done = true;
	if (ask->fd >= 0)
		(void)close(ask->fd);
	ask->fd = -1;
}

static void
end_with_errno(struct ask *ask, int error)
{
	switch (error) {
	case EPERM:
		end(ask, ASK_BLOCKED, error);
		break;
	case ECONNREFUSED:
	case ECONNRESET:
	case EPIPE:
		end(ask, ASK_REFUSED, error);
		break;
	case ENETUNREACH:
	case EHOSTUNREACH:
	case ENETDOWN:
	case EADDRNOTAVAIL:
	case EAFNOSUPPORT:
	case ENODEV:
	case EINVAL:
		end(ask, ASK_NO_ROUTE, error);
		break;
	default:
		end(ask, ASK_FAILED, error);
		break;
	}
}

static void
send_question(struct ask *ask)
{
	uint8_t octets[QUESTION_MAX];
	const size_t length = write_question(ask, octets);
	const size_t skip = ask->tcp ? 0 : 2;

	if (send(ask->fd, octets + skip, length - skip,
	    MSG_DONTWAIT | MSG_NOSIGNAL) < 0) {
		if (errno != EAGAIN)
			end_with_errno(ask, errno);
		return;
	}
	ask->sent = true;
}

/* As that user, whom rules see: root may. */
static int
open_socket(const struct ask *ask)
{
	const bool other = geteuid() == 0;
	int fd;

	if (other) {
		(void)setfsgid(ask->gid);
		(void)setfsuid(ask->uid);
	}
	fd = socket(ask->server.family, (ask->tcp ? SOCK_STREAM :
	    SOCK_DGRAM) | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (other) {
		(void)setfsuid(geteuid());
		(void)setfsgid(getegid());
	}
	return fd;
}

/* Takes a port now: connect(2) would take one when the packet leaves. */
static int
bind_port(struct ask *ask)
{
	static const uint8_t any[16];
	union sockets_address own;
	socklen_t size = sockets_address_make(&own, ask->server.family, any, 0,
	    0);

	if (bind(ask->fd, &own.any, size) < 0 ||
	    getsockname(ask->fd, &own.any, &size) < 0)
		return -errno;
	ask->source_port = ntohs(own.v4.sin_port);	/* at the same place */
	return 0;
}

static void
open_ask(struct ask *ask)
{
	ask->sent = ask->done = false;
	ask->length = 0;
	ask->source_port = 0;
	ask->result = ASK_SILENT;
	ask->fd = open_socket(ask);
	if (ask->fd < 0 || getrandom(&ask->id, sizeof(ask->id), 0) !=
	    (ssize_t)sizeof(ask->id) || (ask->mark != 0 && setsockopt(ask->fd,
	    SOL_SOCKET, SO_MARK, &ask->mark, sizeof(ask->mark)) < 0) ||
	    bind_port(ask) < 0)
		end_with_errno(ask, errno);
}

void
ask_open(struct ask *asks, size_t count)
{
	for (size_t i = 0; i < count && i < ASKS_MAX; i++)
		open_ask(&asks[i]);
}

static void
begin(struct ask *ask)
{
	union sockets_address to;
	const socklen_t size = sockets_address_make(&to, ask->server.family,
	    ask->server.address, ask->port, ask->server.scope_id);

	if (ask->done)
		return;
	ask->begun = monotime_now();
	if (connect(ask->fd, &to.any, size) < 0 && errno != EINPROGRESS)
		end_with_errno(ask, errno);
	else if (!ask->tcp)
		send_question(ask);
}

/* A whole message.  False if it is not an answer to our question. */
static bool
take_message(struct ask *ask, const uint8_t *octets, size_t length)
{
	struct wire_reader r = wire_reader_over(octets, length);
	const uint16_t id = wire_read_u16(&r);
	const uint16_t flags = wire_read_u16(&r);
	uint16_t answers;

	wire_skip(&r, 2);
	answers = wire_read_u16(&r);
	if (r.failed || id != ask->id || (flags & DNS_FLAG_QR) == 0)
		return false;
	ask->rcode = (uint8_t)(flags & DNS_RCODE_MASK);
	end(ask, !ask->canary || (answers == 1 &&
	    ask->rcode == RCODE_NOERROR) ? ASK_ANSWERED :
	    ASK_PASSED, 0);
	return true;
}

/* Of what came over TCP: the header says all, unless the message is wanted. */
static bool
is_whole(const struct ask *ask, const uint8_t *input)
{
	return ask->length >= 2 + 12 && (ask->answer == NULL ||
	    ask->length - 2 >= wire_load_u16(input));
}

static void
receive(struct ask *ask)
{
	uint8_t *input = ask->answer != NULL ? ask->answer : ask->input;
	const size_t room = ask->answer != NULL ? ASK_ANSWER :
	    sizeof(ask->input);
	const ssize_t n = recv(ask->fd, input + ask->length,
	    room - ask->length, MSG_DONTWAIT);

	if (n < 0) {
		if (errno != EAGAIN && errno != EINTR)
			end_with_errno(ask, errno);
		return;
	}
	ask->answer_length = (size_t)n;
	if (!ask->tcp) {
		(void)take_message(ask, input, (size_t)n);
		return;
	}
	ask->length += (size_t)n;
	ask->answer_length = ask->length - (ask->length < 2 ? 0 : 2);
	if (is_whole(ask, input) &&
	    take_message(ask, input + 2, ask->answer_length)) {
		memmove(input, input + 2, ask->answer_length);
		return;
	}
	if (n == 0 || ask->length == room)
		end(ask, ASK_REFUSED, ECONNRESET);
}

static void
go_on(struct ask *ask, short events)
{
	socklen_t size = sizeof(int);
	int error = 0;

	if (ask->tcp && !ask->sent && (events & (POLLOUT | POLLERR)) != 0) {
		(void)getsockopt(ask->fd, SOL_SOCKET, SO_ERROR, &error, &size);
		if (error != 0)
			end_with_errno(ask, error);
		else
			send_question(ask);
	} else if ((events & (POLLIN | POLLERR | POLLHUP)) != 0)
		receive(ask);
}

/* Waits until one is ready, or for so long.  False if none is under way. */
static bool
wait_for_one(struct ask *asks, size_t count, int timeout_ms)
{
	struct pollfd waits[ASKS_MAX];
	size_t under_way = 0;

	for (size_t i = 0; i < count; i++) {
		waits[i] = (struct pollfd){ .fd = asks[i].done ? -1 :
		    asks[i].fd, .events = asks[i].tcp && !asks[i].sent ?
		    POLLOUT : POLLIN };
		under_way += !asks[i].done;
	}
	if (under_way == 0)
		return false;
	if (poll(waits, count, timeout_ms) > 0)
		for (size_t i = 0; i < count; i++)
			if (waits[i].revents != 0)
				go_on(&asks[i], waits[i].revents);
	return true;
}

void
ask_all(struct ask *asks, size_t count, int timeout_ms)
{
	const monotime_t begun = monotime_now();
	const monotime_t deadline = monotime_add_ms(begun, timeout_ms);
	const monotime_t again = monotime_add_ms(begun, timeout_ms / 2);
	bool repeated = false;

	if (count > ASKS_MAX)
		count = ASKS_MAX;
	for (size_t i = 0; i < count; i++)
		begin(&asks[i]);
	for (;;) {
		const int left = monotime_poll_timeout(monotime_now(),
		    repeated ? deadline : again);

		/* Also late: what came while we did not run is no silence. */
		if (!wait_for_one(asks, count, left))
			break;
		if (left > 0)
			continue;
		if (repeated)
			break;
		repeated = true;
		for (size_t i = 0; i < count; i++)
			if (!asks[i].done && !asks[i].tcp)
				send_question(&asks[i]);
	}
	for (size_t i = 0; i < count; i++)
		if (!asks[i].done)
			end(&asks[i], ASK_SILENT, 0);
}

const char *
ask_result_text(const struct ask *ask)
{
	switch (ask->result) {
	case ASK_SILENT:
		return "does not answer in time";
	case ASK_REFUSED:
		return ask->tcp ? "refuses or ends the connection" :
		    "has nobody who listens at its port";
	case ASK_BLOCKED:
		return "cannot be asked: a chain drops the question";
	case ASK_NO_ROUTE:
		return "cannot be reached: there is no route to it";
	case ASK_FAILED:
		return strerror(ask->error);
	default:
		return "answers";
	}
}

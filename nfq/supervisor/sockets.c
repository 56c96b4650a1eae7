/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sockets that another process opens for us (nfq/sockets/server.h).  At the
 * start, those that the supervisor has for good: so it needs nobody from then
 * on.  Later, channels for the worker, which relays.
 */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "nfq/sockets/client.h"
#include "nfq/supervisor/parts.h"
#include "policy/log.h"
#include "nfq/process/exit_code.h"

#define ANSWER_MS	5000	/* the service manager may have to start it */

static int
say_why(const struct supervisor *s, int error)
{
	if (error == -EPERM)
		log_error("%s: who opens sockets there is not user \"%s\": run "
			  "it as that user, whose packets the rules let by",
		    s->sockets, s->config->user);
	else
		log_error("%s: cannot have sockets opened there: %s: systemctl "
			  "start nfdns-sockets.socket, or start nfdnsd without "
			  "--sockets",
		    s->sockets, strerror(-error));
	return EXIT_ERROR;
}

/* The sockets for canaries. */
int
supervisor_start_sockets(struct supervisor *s)
{
	static const int families[CANARY_SOCKETS] = { AF_INET, AF_INET6 };
	int channel, fd = 0;

	if (s->sockets == NULL)
		return EXIT_OK;
	s->canary_sockets.given = true;
	channel = sockets_connect(s->sockets);
	if (channel < 0)
		return say_why(s, channel);
	for (size_t i = 0; i < CANARY_SOCKETS && fd >= 0; i++) {
		const struct sockets_request request = {
		    .kind = SOCKETS_DATAGRAM, .family = families[i]};

		fd = sockets_ask(channel, s->config->uid, &request, ANSWER_MS);
		s->canary_sockets.fds[i] = fd >= 0 ? fd : -1;
		if (fd == -EAFNOSUPPORT && families[i] == AF_INET6)
			fd = 0;		/* this kernel has no IPv6 */
	}
	(void)close(channel);
	return fd < 0 ? say_why(s, fd) : EXIT_OK;
}

void
supervisor_stop_sockets(struct supervisor *s)
{
	for (size_t i = 0; i < CANARY_SOCKETS; i++) {
		if (s->canary_sockets.fds[i] >= 0)
			(void)close(s->canary_sockets.fds[i]);
		s->canary_sockets.fds[i] = -1;
	}
}

int
supervisor_open_listener(
    const struct supervisor *s, const struct sockets_request *request)
{
	int channel = sockets_connect(s->sockets), fd;

	if (channel < 0)
		return channel;
	fd = sockets_ask(channel, s->config->uid, request, ANSWER_MS);
	(void)close(channel);
	return fd;
}

void
supervisor_give_sockets(struct supervisor *s)
{
	const struct control_message order = {.kind = CONTROL_SOCKETS};
	int channel;

	if (s->sockets == NULL)
		return;			/* it asks for what it cannot need */
	channel = sockets_connect_restricted(s->sockets);
	if (channel < 0 && !s->sockets_gone)
		log_warning("%s: cannot have sockets opened there: %s: other "
			    "names are not answered over TCP",
		    s->sockets, strerror(-channel));
	s->sockets_gone = channel < 0;
	/* To a worker that is dying it does not matter. */
	(void)!control_send(
	    s->worker.control, &order, &channel, channel >= 0 ? 1 : 0);
	if (channel >= 0)
		(void)close(channel);
}

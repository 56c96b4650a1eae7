/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolver/feed/resolve.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ares.h>

struct resolve {
	ares_channel channel;
	bool has_channel;
	bool done;
	uint16_t port;
	const char *why;		/* c-ares' static text */
	struct resolve_addresses found;
};

static bool
add(struct resolve_addresses *all, const void *address, size_t length)
{
	struct resolve_address *a = &all->list[all->count];

	if (all->count == RESOLVE_ADDRESSES || length > sizeof(a->address))
		return false;
	memset(a, 0, sizeof(*a));
	memcpy(&a->address, address, length);
	a->length = (socklen_t)length;
	all->count++;
	return true;
}

bool
resolve_literal(const char *text, uint16_t port,
    struct resolve_addresses *addresses)
{
	struct sockaddr_in in = { .sin_family = AF_INET,
		.sin_port = htons(port) };
	struct sockaddr_in6 in6 = { .sin6_family = AF_INET6,
		.sin6_port = htons(port) };

	if (inet_pton(AF_INET, text, &in.sin_addr) == 1)
		return add(addresses, &in, sizeof(in));
	if (inet_pton(AF_INET6, text, &in6.sin6_addr) == 1)
		return add(addresses, &in6, sizeof(in6));
	return false;
}

void
resolve_print(const struct resolve_address *address,
    char out[static FEED_TEXT])
{
	char host[INET6_ADDRSTRLEN], port[8];
	bool v6 = address->address.ss_family == AF_INET6;

	if (getnameinfo((const struct sockaddr *)&address->address,
	    address->length, host, sizeof(host), port, sizeof(port),
	    NI_NUMERICHOST | NI_NUMERICSERV) != 0) {
		(void)snprintf(out, FEED_TEXT, "unknown address");
		return;
	}
	(void)snprintf(out, FEED_TEXT, "%s%s%s:%s", v6 ? "[" : "", host,
	    v6 ? "]" : "", port);
}

static void
on_addresses(void *arg, int status, int timeouts, struct ares_addrinfo *info)
{
	struct resolve *r = arg;

	(void)timeouts;
	r->done = true;
	if (status != ARES_SUCCESS)
		r->why = ares_strerror(status);
	if (info == NULL)
		return;
	for (const struct ares_addrinfo_node *n = info->nodes; n != NULL;
	    n = n->ai_next)
		(void)add(&r->found, n->ai_addr, n->ai_addrlen);
	ares_freeaddrinfo(info);
}

struct resolve *
resolve_new(const char *host, uint16_t port)
{
	struct ares_options options = { .timeout = 1500, .tries = 2 };
	const struct ares_addrinfo_hints hints = {
		.ai_flags = ARES_AI_NUMERICSERV, .ai_family = AF_UNSPEC,
		.ai_socktype = SOCK_STREAM };
	struct resolve *r = calloc(1, sizeof(*r));
	char service[8];

	if (r == NULL)
		return NULL;
	r->why = "the name has no address";
	if (ares_library_init(ARES_LIB_INIT_ALL) != ARES_SUCCESS) {
		free(r);
		return NULL;
	}
	if (ares_init_options(&r->channel, &options,
	    ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES) != ARES_SUCCESS) {
		resolve_free(r);
		return NULL;
	}
	r->has_channel = true;
	(void)snprintf(service, sizeof(service), "%u", port);
	ares_getaddrinfo(r->channel, host, service, &hints, on_addresses, r);
	return r;
}

void
resolve_free(struct resolve *resolve)
{
	if (resolve == NULL)
		return;
	if (resolve->has_channel)
		ares_destroy(resolve->channel);
	ares_library_cleanup();
	free(resolve);
}

size_t
resolve_poll(struct resolve *resolve, struct pollfd *fds)
{
	ares_socket_t sockets[ARES_GETSOCK_MAXNUM];
	/* c-ares' own macros shift a signed 1 into the sign. */
	unsigned int bits = (unsigned int)ares_getsock(resolve->channel,
	    sockets, ARES_GETSOCK_MAXNUM);
	size_t count = 0;

	for (unsigned int i = 0; i < ARES_GETSOCK_MAXNUM && i < RESOLVE_FDS;
	    i++) {
		short events = (short)((bits >> i & 1 ? POLLIN : 0) |
		    (bits >> (i + ARES_GETSOCK_MAXNUM) & 1 ? POLLOUT : 0));

		if (events != 0)
			fds[count++] = (struct pollfd){ sockets[i], events, 0 };
	}
	return count;
}

int
resolve_timeout_ms(struct resolve *resolve)
{
	struct timeval tv;

	if (resolve->done)
		return 0;
	if (ares_timeout(resolve->channel, NULL, &tv) == NULL)
		return -1;
	return tv.tv_sec > 60 ? 60000 :
	    (int)(tv.tv_sec * 1000 + tv.tv_usec / 1000 + 1);
}

bool
resolve_step(struct resolve *resolve, const struct pollfd *fds, size_t count)
{
	for (size_t i = 0; i < count && !resolve->done; i++) {
		bool in = (fds[i].revents & (POLLIN | POLLERR | POLLHUP)) != 0;
		bool out = (fds[i].revents & POLLOUT) != 0;

		if (in || out)
			ares_process_fd(resolve->channel,
			    in ? fds[i].fd : ARES_SOCKET_BAD,
			    out ? fds[i].fd : ARES_SOCKET_BAD);
	}
	/* Its timers. */
	if (!resolve->done)
		ares_process_fd(resolve->channel, ARES_SOCKET_BAD,
		    ARES_SOCKET_BAD);
	return resolve->done;
}

const struct resolve_addresses *
resolve_result(const struct resolve *resolve, const char **why)
{
	*why = resolve->why;
	return resolve->found.count > 0 ? &resolve->found : NULL;
}

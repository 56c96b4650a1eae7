/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the two programs that ask many questions share. */
#ifndef NFDNS_TESTS_TOOLS_LOAD_H
#define NFDNS_TESTS_TOOLS_LOAD_H

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static inline uint64_t
clock_ns(clockid_t clock)
{
	struct timespec t;

	(void)clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000U + (uint64_t)t.tv_nsec;
}

static inline uint64_t
now_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

static inline _Noreturn void
fail(const char *what, const char *why)
{
	(void)fprintf(stderr, "%s: %s: %s\n", program_invocation_short_name,
	    what, why);
	exit(EXIT_FAILURE);
}

static inline void *
allocate(size_t count, size_t size)
{
	void *memory = calloc(count, size);

	if (memory == NULL)
		fail("memory", strerror(errno));
	return memory;
}

/* A whole number from 1 to max. */
static inline uint64_t
number(const char *text, uint64_t max)
{
	char *end;
	unsigned long value;

	errno = 0;
	value = strtoul(text, &end, 10);
	if (errno != 0 || *end != '\0' || end == text || value < 1 ||
	    value > max)
		fail(text, "not a number in range");
	return value;
}

struct server {
	struct sockaddr_storage address;
	socklen_t length;
};

static inline struct server
read_server(const char *text, uint16_t port)
{
	struct server server = { .length = 0 };
	struct sockaddr_in *v4 = (struct sockaddr_in *)&server.address;
	struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)&server.address;

	if (inet_pton(AF_INET6, text, &v6->sin6_addr) == 1) {
		v6->sin6_family = AF_INET6;
		v6->sin6_port = htons(port);
		server.length = sizeof(*v6);
	} else if (inet_pton(AF_INET, text, &v4->sin_addr) == 1) {
		v4->sin_family = AF_INET;
		v4->sin_port = htons(port);
		server.length = sizeof(*v4);
	} else
		fail(text, "not an address");
	return server;
}

/* As large as root may have them. */
static inline void
set_buffers(int fd, int octets)
{
	(void)setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &octets,
	    sizeof(octets));
	(void)setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &octets,
	    sizeof(octets));
}

#endif

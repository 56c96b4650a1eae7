/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * echo: the least that a DNS server can do.  Every datagram goes back with the
 * header of an answer and one ready A record behind it; nothing is looked up
 * and nothing is parsed.  What any server behind the same path can reach is
 * bounded by this one.
 *
 *   echo ADDRESS PORT
 *
 * One thread, up to 64 datagrams a system call.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define BATCH		64
#define HEADER		12
#define DATAGRAM_MAX	1500

/* Owner: the question's name.  A, IN, 30 seconds, 10.1.2.3. */
static const uint8_t record[] = "\xc0\x0c\0\1\0\1\0\0\0\36\0\4\12\1\2\3";
#define RECORD_OCTETS	(sizeof(record) - 1)

struct server {
	int fd;
	struct mmsghdr messages[BATCH];
	struct iovec vectors[BATCH];
	struct sockaddr_in6 peers[BATCH];
	uint8_t octets[BATCH][DATAGRAM_MAX + RECORD_OCTETS];
};

static _Noreturn void
fail(const char *what)
{
	(void)fprintf(stderr, "echo: %s: %s\n", what, strerror(errno));
	exit(EXIT_FAILURE);
}

static int
open_socket(const char *address, const char *port)
{
	const uint16_t number = htons((uint16_t)strtoul(port, NULL, 10));
	struct sockaddr_in v4 = { .sin_family = AF_INET, .sin_port = number };
	struct sockaddr_in6 v6 = { .sin6_family = AF_INET6,
		.sin6_port = number };
	const bool is_v6 = inet_pton(AF_INET6, address, &v6.sin6_addr) == 1;
	int fd, buffer = 8 << 20;

	if (!is_v6 && inet_pton(AF_INET, address, &v4.sin_addr) != 1)
		fail(address);
	fd = socket(is_v6 ? AF_INET6 : AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		fail("socket");
	/* What may fail without harm: an unprivileged one has smaller buffers. */
	(void)setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &buffer,
	    sizeof(buffer));
	(void)setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &buffer, sizeof(buffer));
	if (bind(fd, is_v6 ? (struct sockaddr *)&v6 : (struct sockaddr *)&v4,
	    is_v6 ? sizeof(v6) : sizeof(v4)) != 0)
		fail(address);
	return fd;
}

/* Makes the answer in place; its length. */
static size_t
answer(uint8_t *octets, size_t length)
{
	octets[2] |= 0x84;		/* QR, AA */
	octets[3] = 0x80;		/* RA, NOERROR */
	octets[7] = 1;			/* ANCOUNT */
	octets[11] = 0;			/* an OPT is cut off */
	for (size_t at = HEADER; at + 5 <= length; at += 1u + octets[at]) {
		if (octets[at] == 0) {
			length = at + 5;
			break;
		}
	}
	memcpy(octets + length, record, RECORD_OCTETS);
	return length + RECORD_OCTETS;
}

static void
prepare(struct server *s)
{
	for (unsigned int i = 0; i < BATCH; i++) {
		struct msghdr *m = &s->messages[i].msg_hdr;

		s->vectors[i] = (struct iovec){ s->octets[i], DATAGRAM_MAX };
		m->msg_iov = &s->vectors[i];
		m->msg_iovlen = 1;
		m->msg_name = &s->peers[i];
		m->msg_namelen = sizeof(s->peers[i]);
	}
}

static void
serve(struct server *s)
{
	int got, sent;

	got = recvmmsg(s->fd, s->messages, BATCH, MSG_WAITFORONE, NULL);
	if (got < 0 && errno != EINTR && errno != ECONNREFUSED)
		fail("recvmmsg");
	for (int i = 0; i < got; i++) {
		const size_t length = s->messages[i].msg_len;

		s->vectors[i].iov_len = length < HEADER ? length :
		    answer(s->octets[i], length);
	}
	for (int done = 0; done < got; done += sent) {
		sent = sendmmsg(s->fd, s->messages + done,
		    (unsigned int)(got - done), 0);
		if (sent <= 0)
			sent = 1;	/* its asker is gone */
	}
	for (int i = 0; i < got; i++) {
		s->vectors[i].iov_len = DATAGRAM_MAX;
		s->messages[i].msg_hdr.msg_namelen = sizeof(s->peers[i]);
	}
}

int
main(int argc, char **argv)
{
	static struct server s;

	if (argc != 3) {
		(void)fprintf(stderr, "usage: echo ADDRESS PORT\n");
		return 2;
	}
	s.fd = open_socket(argv[1], argv[2]);
	prepare(&s);
	for (;;)
		serve(&s);
}

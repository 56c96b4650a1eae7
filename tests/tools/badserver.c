/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * badserver: a nameserver over UDP and TCP that behaves as it is told.
 *
 *   badserver ADDRESS PORT ANSWER		(IPv4)
 *
 * Every question is answered by ANSWER, an A record.  Lines of standard input
 * change what it does; it says "done" after each, and ends with the input.
 *
 *   good		answers
 *   mute		says nothing over UDP
 *   slow MS		answers over UDP after so long
 *   id, question, type	lies over UDP: another id, name or type than was asked,
 *			and LIE as the address; no other answer
 *   TIMES id good	the same so many times, then the answer
 *   truncated		over UDP no records, and TC
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>

#include "resolver/dns/wire.h"
#include "tests/tools/load.h"

#define HEADER		12
#define MESSAGE_MAX	512
#define LATER_MAX	65536
#define STREAMS_MAX	4000
#define LIE		"\6\6\6\6"	/* 6.6.6.6 */
#define FIXED		3		/* standard input, UDP, TCP */

enum lie { LIE_NONE, LIE_ID, LIE_QUESTION, LIE_TYPE };

struct message {
	uint8_t octets[MESSAGE_MAX];
	size_t length;
};

struct later {
	struct message message;
	struct sockaddr_in to;
	uint64_t due;
};

struct stream {
	int fd;
	size_t used;
	uint8_t octets[2 + MESSAGE_MAX];
};

static struct {
	int udp, tcp;
	uint8_t address[4];
	bool mute, truncated, good;
	enum lie lie;
	unsigned int lies;
	uint64_t delay_ns;
	struct later *later;		/* a ring */
	size_t first, count;
	struct stream streams[STREAMS_MAX];
	size_t stream_count;
} s;

/* The end of the first question; 0: there is none. */
static size_t
question_end(const struct message *m)
{
	size_t at = HEADER;

	while (at < m->length && m->octets[at] != 0)
		at += 1U + m->octets[at];
	return at + 5 <= m->length ? at + 5 : 0;
}

/* Turns a question into its answer.  False: it is none. */
static bool
answer(struct message *m, enum lie lie, bool truncated)
{
	static const uint8_t record[12] = "\xc0\x0c\0\1\0\1\0\0\0\36\0\4";
	const size_t end = m->length < HEADER ? 0 : question_end(m);

	if (end == 0 || end + sizeof(record) + 4 > MESSAGE_MAX)
		return false;
	m->octets[2] = (uint8_t)(0x80 | (m->octets[2] & 1) |
	    (truncated ? 2 : 0));
	m->octets[3] = 0x80;
	memset(m->octets + 4, 0, 8);
	m->octets[5] = 1;
	m->octets[7] = truncated ? 0 : 1;
	m->length = end;
	if (!truncated) {
		memcpy(m->octets + end, record, sizeof(record));
		memcpy(m->octets + end + sizeof(record),
		    lie == LIE_NONE ? s.address : (const uint8_t *)LIE, 4);
		m->length = end + sizeof(record) + 4;
	}
	if (lie == LIE_ID)
		m->octets[1] ^= 0x55;
	else if (lie == LIE_QUESTION)
		m->octets[HEADER + 1] ^= 1;
	else if (lie == LIE_TYPE)
		m->octets[end - 3] = 16;
	return true;
}

static void
send_to(const struct message *m, const struct sockaddr_in *to)
{
	(void)!sendto(s.udp, m->octets, m->length, 0,
	    (const struct sockaddr *)to, sizeof(*to));
}

static void
give_later(void)
{
	const uint64_t now = now_ns();

	while (s.count > 0 && s.later[s.first].due <= now) {
		send_to(&s.later[s.first].message, &s.later[s.first].to);
		s.first = (s.first + 1) % LATER_MAX;
		s.count--;
	}
}

static void
take_datagram(const struct message *question, const struct sockaddr_in *from)
{
	struct message m = *question;

	for (unsigned int i = 0; i < s.lies; i++) {
		m = *question;
		if (answer(&m, s.lie, false))
			send_to(&m, from);
	}
	m = *question;
	if (s.mute || !s.good || !answer(&m, LIE_NONE, s.truncated))
		return;
	if (s.delay_ns == 0 || s.count == LATER_MAX) {
		send_to(&m, from);
		return;
	}
	s.later[(s.first + s.count++) % LATER_MAX] =
	    (struct later){ m, *from, now_ns() + s.delay_ns };
}

static void
take_datagrams(void)
{
	struct sockaddr_in from;
	struct message m;

	for (int i = 0; i < 64; i++) {
		socklen_t size = sizeof(from);
		ssize_t n = recvfrom(s.udp, m.octets, sizeof(m.octets),
		    MSG_DONTWAIT, (struct sockaddr *)&from, &size);

		if (n < 0)
			return;
		m.length = (size_t)n;
		take_datagram(&m, &from);
	}
}

static void
take_connection(void)
{
	const int fd = accept4(s.tcp, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

	if (fd < 0)
		return;
	if (s.stream_count == STREAMS_MAX)
		(void)close(fd);
	else
		s.streams[s.stream_count++] = (struct stream){ .fd = fd };
}

/* Answers what is whole.  False: it is over. */
static bool
take_stream(struct stream *t)
{
	const ssize_t n = recv(t->fd, t->octets + t->used,
	    sizeof(t->octets) - t->used, 0);

	if (n <= 0)
		return n < 0 && errno == EAGAIN;
	t->used += (size_t)n;
	while (t->used >= 2 && t->used >= 2U + wire_load_u16(t->octets)) {
		struct message m = { .length = wire_load_u16(t->octets) };
		uint8_t out[2 + MESSAGE_MAX];

		memcpy(m.octets, t->octets + 2, m.length);
		t->used -= 2 + m.length;
		memmove(t->octets, t->octets + 2 + m.length, t->used);
		if (!answer(&m, LIE_NONE, false))
			return false;
		wire_store_u16(out, (uint16_t)m.length);
		memcpy(out + 2, m.octets, m.length);
		if (send(t->fd, out, 2 + m.length, MSG_NOSIGNAL) < 0)
			return false;
	}
	return t->used < sizeof(t->octets);
}

static void
obey(char *line)
{
	char *save, *word = strtok_r(line, " \n", &save);

	s.mute = s.truncated = s.good = false;
	s.lies = 0;
	s.delay_ns = 0;
	for (; word != NULL; word = strtok_r(NULL, " \n", &save)) {
		if (strcmp(word, "good") == 0) {
			s.good = true;
		} else if (strcmp(word, "mute") == 0) {
			s.mute = true;
		} else if (strcmp(word, "truncated") == 0) {
			s.good = s.truncated = true;
		} else if (strcmp(word, "slow") == 0) {
			s.good = true;
			s.delay_ns = UINT64_C(1000000) *
			    number(strtok_r(NULL, " \n", &save), 60000);
		} else if (*word >= '1' && *word <= '9') {
			s.lies = (unsigned int)number(word, 1000);
		} else {
			s.lies += s.lies == 0;
			s.lie = strcmp(word, "id") == 0 ? LIE_ID :
			    strcmp(word, "type") == 0 ? LIE_TYPE : LIE_QUESTION;
		}
	}
	(void)puts("done");
	(void)fflush(stdout);
}

static int
open_socket(const struct server *at, int type)
{
	const int fd = socket(AF_INET, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	const int yes = 1;

	(void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
	if (fd < 0 || bind(fd, (const struct sockaddr *)&at->address,
	    at->length) < 0)
		fail("socket", strerror(errno));
	set_buffers(fd, 8 << 20);
	return fd;
}

static void
run(void)
{
	static struct pollfd poll_fds[FIXED + STREAMS_MAX];
	char line[128];

	for (;;) {
		const size_t streams = s.stream_count;

		poll_fds[0] = (struct pollfd){ STDIN_FILENO, POLLIN, 0 };
		poll_fds[1] = (struct pollfd){ s.udp, POLLIN, 0 };
		poll_fds[2] = (struct pollfd){ s.tcp, POLLIN, 0 };
		for (size_t i = 0; i < streams; i++)
			poll_fds[FIXED + i] = (struct pollfd){ s.streams[i].fd,
				POLLIN, 0 };
		(void)poll(poll_fds, FIXED + streams, s.count > 0 ? 1 : -1);
		give_later();
		if (poll_fds[0].revents != 0) {
			if (fgets(line, sizeof(line), stdin) == NULL)
				return;
			obey(line);
		}
		if (poll_fds[1].revents != 0)
			take_datagrams();
		/* From the last: the place of one that ends is the last one's. */
		for (size_t i = streams; i-- > 0; ) {
			if (poll_fds[FIXED + i].revents == 0 ||
			    take_stream(&s.streams[i]))
				continue;
			(void)close(s.streams[i].fd);
			s.streams[i] = s.streams[--s.stream_count];
		}
		if (poll_fds[2].revents != 0)
			take_connection();
	}
}

int
main(int argc, char **argv)
{
	struct server at;

	if (argc != 4 || inet_pton(AF_INET, argv[3], s.address) != 1) {
		(void)fprintf(stderr, "usage: badserver ADDRESS PORT ANSWER\n");
		return 2;
	}
	at = read_server(argv[1], (uint16_t)number(argv[2], 65535));
	s.later = allocate(LATER_MAX, sizeof(*s.later));
	s.udp = open_socket(&at, SOCK_DGRAM);
	s.tcp = open_socket(&at, SOCK_STREAM);
	if (listen(s.tcp, 1024) < 0)
		fail("listen", strerror(errno));
	s.good = true;
	(void)puts("ready");
	(void)fflush(stdout);
	run();
	return EXIT_SUCCESS;
}

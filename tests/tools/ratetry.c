/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ratetry: many users ask the same question in turn, together at a fixed rate
 * whatever the answers do, and each counts its own answers.
 *
 *   ratetry -u UID -n USERS -r RATE -s SECONDS SERVER NAME
 *
 * Users have the numbers from UID on; started by root.  Prints a JSON object:
 * for each user how many questions were sent, answered with NOERROR, answered
 * otherwise, and the seconds between its first and its last question.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <sys/epoll.h>

#include "resolver/dns/name.h"
#include "resolver/dns/wire.h"
#include "tests/tools/load.h"

#define USERS_MAX	1000
#define RATE_MAX	200000
#define SECONDS_MAX	60
#define WAIT_NS		UINT64_C(2000000000)	/* for the last answers */
#define BUFFER		(4 << 20)
#define HEADER		12
#define BATCH		256		/* questions, before answers are read */

struct user {
	int fd;
	uint64_t sent, answered, other;
	uint64_t first, last;		/* when it asked */
};

struct load {
	struct user users[USERS_MAX];
	size_t count;
	int epoll;
	uint8_t query[HEADER + NAME_MAX_OCTETS + 4];
	size_t length;
};

static void
make_query(struct load *load, const char *text)
{
	struct dns_name name;
	uint8_t *q = load->query;

	if (name_from_text(&name, text, strlen(text)) < 0)
		fail(text, "no domain name");
	q[2] = 1;			/* RD */
	q[5] = 1;			/* one question */
	memcpy(q + HEADER, name.octets, name.length);
	q[HEADER + name.length + 1] = 1;	/* A */
	q[HEADER + name.length + 3] = 1;	/* IN */
	load->length = HEADER + name.length + 4u;
}

/* A socket is of the user who opens it. */
static void
open_socket(struct load *load, size_t n, uid_t uid,
    const struct server *server)
{
	struct epoll_event event = { .events = EPOLLIN, .data.u64 = n };
	const int buffer = BUFFER;
	struct user *user = &load->users[n];

	if (setegid(uid) < 0 || seteuid(uid) < 0)
		fail("seteuid", strerror(errno));
	user->fd = socket(server->address.ss_family,
	    SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (seteuid(0) < 0 || setegid(0) < 0)
		fail("seteuid", strerror(errno));
	if (user->fd < 0 || connect(user->fd,
	    (const struct sockaddr *)&server->address, server->length) < 0)
		fail("socket", strerror(errno));
	(void)setsockopt(user->fd, SOL_SOCKET, SO_RCVBUFFORCE, &buffer,
	    sizeof(buffer));
	(void)setsockopt(user->fd, SOL_SOCKET, SO_SNDBUFFORCE, &buffer,
	    sizeof(buffer));
	if (epoll_ctl(load->epoll, EPOLL_CTL_ADD, user->fd, &event) < 0)
		fail("epoll", strerror(errno));
}

static void
read_answers(struct user *user)
{
	uint8_t answer[512];
	ssize_t n;

	while ((n = recv(user->fd, answer, sizeof(answer), 0)) >= HEADER)
		if ((answer[3] & 0xf) == 0)
			user->answered++;
		else
			user->other++;
}

static void
take_answers(struct load *load, int wait_ms)
{
	struct epoll_event events[64];
	const int n = epoll_wait(load->epoll, events, 64, wait_ms);

	for (int i = 0; i < n; i++)
		read_answers(&load->users[events[i].data.u64]);
}

static void
ask(struct load *load, struct user *user)
{
	if (send(user->fd, load->query, load->length, 0) < 0)
		return;
	user->last = now_ns();
	if (user->sent++ == 0)
		user->first = user->last;
	wire_store_u16(load->query, (uint16_t)user->sent);
}

static void
run(struct load *load, uint64_t rate, uint64_t seconds)
{
	const uint64_t begun = now_ns(), end = begun + seconds * 1000000000U;
	uint64_t now = begun, done = 0;

	for (; now < end; now = now_ns()) {
		const uint64_t due = (now - begun) * rate / 1000000000U;

		for (unsigned int n = 0; done < due && n < BATCH; n++)
			ask(load, &load->users[done++ % load->count]);
		take_answers(load, 1);
	}
	while (now_ns() < end + WAIT_NS) {
		uint64_t open = 0;

		for (size_t i = 0; i < load->count; i++)
			open += load->users[i].sent - load->users[i].answered -
			    load->users[i].other;
		if (open == 0)
			break;
		take_answers(load, 10);
	}
}

static void
print(const struct load *load)
{
	printf("[");
	for (size_t i = 0; i < load->count; i++) {
		const struct user *u = &load->users[i];

		printf("%s{\"sent\":%" PRIu64 ",\"answered\":%" PRIu64
		    ",\"other\":%" PRIu64 ",\"seconds\":%.6f}", i > 0 ? "," : "",
		    u->sent, u->answered, u->other,
		    (double)(u->last - u->first) / 1e9);
	}
	printf("]\n");
}

int
main(int argc, char **argv)
{
	struct load *load = allocate(1, sizeof(*load));
	uint64_t rate = 1000, seconds = 1;
	struct server server;
	uid_t uid = 0;
	int option;

	load->count = 1;
	while ((option = getopt(argc, argv, "u:n:r:s:")) != -1) {
		if (option == 'u')
			uid = (uid_t)number(optarg, UINT32_MAX - USERS_MAX);
		else if (option == 'n')
			load->count = number(optarg, USERS_MAX);
		else if (option == 'r')
			rate = number(optarg, RATE_MAX);
		else if (option == 's')
			seconds = number(optarg, SECONDS_MAX);
		else
			return 2;
	}
	if (argc - optind != 2)
		fail("usage", "ratetry -u UID -n USERS -r RATE -s SECONDS "
		    "SERVER NAME");
	server = read_server(argv[optind], 53);
	make_query(load, argv[optind + 1]);
	load->epoll = epoll_create1(EPOLL_CLOEXEC);
	for (size_t i = 0; i < load->count; i++)
		open_socket(load, i, uid + (uid_t)i, &server);
	run(load, rate, seconds);
	print(load);
	return 0;
}

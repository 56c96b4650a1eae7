/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * dnsrate: the load of the benchmark.  It costs as little as a client can, so
 * that what is measured is the other side.
 *
 *   dnsrate [-s SECONDS] [-n SOCKETS] [-w WINDOW] [-r RATE] [-p PORT]
 *           [-t TYPE] [-e] [-f] SERVER NAMES
 *
 * Without -r a closed loop: each socket has WINDOW questions under way, and
 * asks the next one when an answer comes; one socket and a window of one is
 * one question at a time, in blocking calls.  With -r an open loop: that many
 * questions a second, whatever the answers do.  -e adds an OPT.  -f, in a closed
 * loop, takes a fresh socket for each question, and so a port that was not used
 * before, as the resolvers of C libraries do.  NAMES has one name a line; they
 * are asked in a scattered order.
 *
 * An answer counts if its id is under way and QR is set; a question that has
 * none after half a second is lost.  Prints one JSON object.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <sys/epoll.h>
#include <sys/mman.h>

#include "resolver/dns/name.h"
#include "resolver/dns/rr.h"
#include "resolver/dns/wire.h"
#include "tests/tools/load.h"

#define HEADER		12
#define OPT_OCTETS	11
#define ANSWER_MAX	1500
#define SOCKETS_MAX	256
#define WINDOW_MAX	64
#define SLOTS		1024	/* ids of one socket; a power of two */
#define SECONDS_MAX	600
#define RATE_MAX	2000000
#define NAMES_MAX	1000000
#define LARGE_PAGE	((size_t)2 << 20)
#define LOST_AFTER_NS	((uint64_t)500000000)
#define LOOK_EVERY_NS	((uint64_t)100000000)

/*
 * Latencies are counted, not kept: for each power of two of nanoseconds 128
 * counters, so that a percentile is within 0.8 %.
 */
#define STEP_BITS	7
#define STEPS		(1u << STEP_BITS)
#define COUNTERS	(64 * STEPS)

struct questions {		/* whole messages, one behind the other */
	uint8_t *octets;
	uint32_t *offsets;	/* count + 1 of them */
	uint32_t count;
	uint32_t next;
	uint32_t stride;	/* without a common divisor with count */
};

struct client {
	int fd;
	uint16_t next_id;
	unsigned int under_way;
	uint64_t sent_ns[SLOTS];	/* by id; 0: not under way */
};

struct load {
	struct questions questions;
	struct client *clients;
	unsigned int client_count, window;
	uint64_t rate, milliseconds;
	uint16_t port, type;
	bool edns, fresh;
	struct server server;
	int epoll;
	uint64_t sent, received, lost, wrong, failed, empty;
	uint64_t latencies[COUNTERS];
};

/* Buffers of one system call. */
static struct mmsghdr messages[WINDOW_MAX];
static struct iovec vectors[WINDOW_MAX];
static uint8_t headers[WINDOW_MAX][2];
static struct iovec parts[WINDOW_MAX][2];
static uint8_t answers[WINDOW_MAX][ANSWER_MAX];

/* Everything behind the id. */
static size_t
write_question(const struct load *load, uint8_t *octets, size_t size,
    const struct dns_name *name)
{
	struct wire_writer w = wire_writer_over(octets, size);

	wire_write_u16(&w, 0x0100);			/* RD */
	wire_write_u16(&w, 1);
	wire_write_octets(&w, "\0\0\0\0\0", 5);
	wire_write_u8(&w, load->edns);
	wire_write_octets(&w, name->octets, name->length);
	wire_write_u16(&w, load->type);
	wire_write_u16(&w, CLASS_IN);
	if (load->edns)
		wire_write_octets(&w, "\0\0\51\4\320\0\0\0\0\0\0", OPT_OCTETS);
	return wire_written(&w);
}

static uint32_t
common_divisor(uint32_t a, uint32_t b)
{
	while (b != 0) {
		const uint32_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

/*
 * Into large pages, where the kernel gives some: the client's own waiting for
 * memory is not what is to be measured.
 */
static void
move_to_large_pages(struct questions *q, size_t used)
{
	const size_t size = (used + LARGE_PAGE) & ~(LARGE_PAGE - 1);
	uint8_t *octets = aligned_alloc(LARGE_PAGE, size);

	if (octets == NULL)
		fail("memory", strerror(errno));
	(void)madvise(octets, size, MADV_HUGEPAGE);
	memcpy(octets, q->octets, used);
	free(q->octets);
	q->octets = octets;
}

static void
read_names(struct load *load, const char *path)
{
	struct questions *q = &load->questions;
	size_t room = 1 << 20, used = 0;
	FILE *file = fopen(path, "r");
	struct dns_name name;
	char line[512];

	if (file == NULL)
		fail(path, strerror(errno));
	q->octets = allocate(room, 1);
	q->offsets = allocate(NAMES_MAX + 1, sizeof(*q->offsets));
	while (q->count < NAMES_MAX && fgets(line, sizeof(line), file) != NULL) {
		line[strcspn(line, " \n")] = '\0';
		if (name_from_text(&name, line, strlen(line)) != 0)
			fail(path, "a line is no name");
		if (room - used < ANSWER_MAX) {
			room *= 2;
			q->octets = realloc(q->octets, room);
			if (q->octets == NULL)
				fail("memory", strerror(errno));
		}
		used += write_question(load, q->octets + used, room - used,
		    &name);
		q->offsets[++q->count] = (uint32_t)used;
	}
	(void)fclose(file);
	if (q->count == 0)
		fail(path, "no names in it");
	move_to_large_pages(q, used);
	/* The golden section scatters; any stride that reaches all will do. */
	q->stride = (uint32_t)(q->count * 0.618) + 1;
	while (common_divisor(q->stride, q->count) != 1)
		q->stride++;
}

static void
set_options(const struct client *client)
{
	struct timeval patience = { .tv_usec = 100000 };

	set_buffers(client->fd, 4 << 20);
	(void)setsockopt(client->fd, SOL_SOCKET, SO_RCVTIMEO, &patience,
	    sizeof(patience));
}

static void
open_client(const struct load *load, struct client *client)
{
	const bool alone = load->client_count == 1 && load->rate == 0;

	client->fd = socket(load->server.address.ss_family, SOCK_DGRAM |
	    SOCK_CLOEXEC | (alone ? 0 : SOCK_NONBLOCK), 0);
	if (client->fd < 0)
		fail("socket", strerror(errno));
	/* Of a socket's life of one question they would be a good part. */
	if (!load->fresh)
		set_options(client);
	if (connect(client->fd, (const struct sockaddr *)&load->server.address,
	    load->server.length) != 0)
		fail("connect", strerror(errno));
}

static void
watch_client(const struct load *load, const struct client *client)
{
	struct epoll_event e = { .events = EPOLLIN,
		.data.u32 = (uint32_t)(client - load->clients) };

	if (epoll_ctl(load->epoll, EPOLL_CTL_ADD, client->fd, &e) != 0)
		fail("epoll", strerror(errno));
}

/* Moves on to the next question, and has those that follow it fetched. */
static uint32_t
take_question(struct questions *q)
{
	const uint32_t taken = q->next;
	const uint32_t near = (uint32_t)((q->next + 4ULL * q->stride) %
	    q->count);
	const uint32_t far = (uint32_t)((q->next + 8ULL * q->stride) %
	    q->count);

	__builtin_prefetch(&q->offsets[far]);
	__builtin_prefetch(q->octets + q->offsets[near]);
	__builtin_prefetch(q->octets + q->offsets[near] + 63);
	q->next = (uint32_t)(((uint64_t)q->next + q->stride) % q->count);
	return taken;
}

/* Sends n questions by one socket; returns how many went. */
static unsigned int
ask(struct load *load, struct client *client, unsigned int n, uint64_t now)
{
	struct questions *q = &load->questions;
	int sent;

	for (unsigned int i = 0; i < n; i++) {
		const uint16_t id = (uint16_t)(client->next_id + i);
		const uint32_t taken = take_question(q);
		const uint32_t start = q->offsets[taken];

		wire_store_u16(headers[i], id);
		parts[i][0] = (struct iovec){ headers[i], 2 };
		parts[i][1] = (struct iovec){ q->octets + start,
			q->offsets[taken + 1] - start };
		messages[i].msg_hdr = (struct msghdr){ .msg_iov = parts[i],
			.msg_iovlen = 2 };
		client->sent_ns[id % SLOTS] = now;
	}
	sent = sendmmsg(client->fd, messages, n, 0);
	if (sent < 0) {
		load->failed++;
		sent = 0;
	}
	for (unsigned int i = (unsigned int)sent; i < n; i++)
		client->sent_ns[(uint16_t)(client->next_id + i) % SLOTS] = 0;
	client->next_id = (uint16_t)(client->next_id + sent);
	client->under_way += (unsigned int)sent;
	load->sent += (unsigned int)sent;
	return (unsigned int)sent;
}

static void
count_latency(struct load *load, uint64_t ns)
{
	const unsigned int top = 63 - (unsigned int)__builtin_clzll(ns | STEPS);
	const unsigned int shift = top - STEP_BITS;

	load->latencies[shift * STEPS + (ns >> shift)]++;
}

static void
take_answer(struct load *load, struct client *client, const uint8_t *octets,
    size_t length, uint64_t now)
{
	const size_t slot = (size_t)(octets[0] << 8 | octets[1]) % SLOTS;

	if (length < HEADER || (octets[2] & 0x80) == 0 ||
	    client->sent_ns[slot] == 0) {
		load->wrong++;
		return;
	}
	count_latency(load, now - client->sent_ns[slot]);
	client->sent_ns[slot] = 0;
	client->under_way--;
	load->received++;
	if ((octets[3] & 0x0f) != 0)
		load->wrong++;
	if (octets[6] == 0 && octets[7] == 0)
		load->empty++;
}

/* Takes what has come; the number of datagrams. */
static unsigned int
receive(struct load *load, struct client *client, uint64_t *now)
{
	int got;

	for (unsigned int i = 0; i < load->window; i++) {
		vectors[i] = (struct iovec){ answers[i], ANSWER_MAX };
		messages[i].msg_hdr = (struct msghdr){ .msg_iov = &vectors[i],
			.msg_iovlen = 1 };
	}
	got = recvmmsg(client->fd, messages, load->window, MSG_WAITFORONE,
	    NULL);
	*now = now_ns();
	if (got < 0 && errno != EAGAIN && errno != EINTR)
		load->failed++;
	for (int i = 0; i < got; i++)
		take_answer(load, client, answers[i], messages[i].msg_len,
		    *now);
	return got > 0 ? (unsigned int)got : 0;
}

/* Gives up on questions that wait too long. */
static void
forget_lost(struct load *load, struct client *client, uint64_t now)
{
	for (size_t i = 0; i < SLOTS; i++) {
		if (client->sent_ns[i] != 0 &&
		    now - client->sent_ns[i] > LOST_AFTER_NS) {
			client->sent_ns[i] = 0;
			client->under_way--;
			load->lost++;
		}
	}
}

static void
refill(struct load *load, struct client *client, uint64_t now)
{
	if (client->under_way < load->window)
		(void)ask(load, client, load->window - client->under_way, now);
}

/* The next questions, by another socket if each is to have its own. */
static void
go_on(struct load *load, struct client *client, uint64_t now)
{
	if (load->fresh && client->under_way == 0) {
		(void)close(client->fd);
		open_client(load, client);
		watch_client(load, client);
	}
	refill(load, client, now);
}

/* One socket, in calls that block. */
static void
run_alone(struct load *load, uint64_t end)
{
	struct client *client = &load->clients[0];
	uint64_t now = now_ns();

	while (now < end) {
		refill(load, client, now);
		if (receive(load, client, &now) == 0)
			forget_lost(load, client, now);
	}
}

static void
watch(struct load *load)
{
	load->epoll = epoll_create1(EPOLL_CLOEXEC);
	for (unsigned int i = 0; i < load->client_count; i++)
		watch_client(load, &load->clients[i]);
}

static void
forget_all_lost(struct load *load, uint64_t now, uint64_t *look)
{
	if (now < *look)
		return;
	*look = now + LOOK_EVERY_NS;
	for (unsigned int i = 0; i < load->client_count; i++) {
		forget_lost(load, &load->clients[i], now);
		if (load->rate == 0)
			go_on(load, &load->clients[i], now);
	}
}

/* Answers of the sockets that have some; in a closed loop, new questions. */
static void
take_turn(struct load *load, int timeout_ms, uint64_t *now)
{
	struct epoll_event events[SOCKETS_MAX];
	int ready = epoll_wait(load->epoll, events, SOCKETS_MAX, timeout_ms);

	for (int i = 0; i < ready; i++) {
		struct client *client = &load->clients[events[i].data.u32];

		(void)receive(load, client, now);
		if (load->rate == 0)
			go_on(load, client, *now);
	}
	if (ready <= 0)
		*now = now_ns();
}

static void
run_closed(struct load *load, uint64_t end)
{
	uint64_t now = now_ns(), look = now + LOOK_EVERY_NS;

	watch(load);
	for (unsigned int i = 0; i < load->client_count; i++)
		refill(load, &load->clients[i], now);
	while (now < end) {
		take_turn(load, 10, &now);
		forget_all_lost(load, now, &look);
	}
	(void)close(load->epoll);
}

static void
run_open(struct load *load, uint64_t start, uint64_t end)
{
	uint64_t now = start, look = start + LOOK_EVERY_NS, due = 0;
	unsigned int turn = 0;

	watch(load);
	while (now < end) {
		const uint64_t wanted = (now - start) / 1000 * load->rate /
		    1000000;

		/* Behind time: in bursts, what cannot be sent is not made up. */
		while (due < wanted) {
			const uint64_t left = wanted - due;
			const unsigned int n = left < 4 ? (unsigned int)left : 4;

			(void)ask(load, &load->clients[turn++ %
			    load->client_count], n, now);
			due += n;
		}
		take_turn(load, 0, &now);
		forget_all_lost(load, now, &look);
	}
	(void)close(load->epoll);
}

/* The latency in microseconds that this share of all does not exceed. */
static double
percentile(const struct load *load, double share)
{
	const double wanted = share * (double)load->received;
	uint64_t seen = 0;

	for (unsigned int i = 0; i < COUNTERS; i++) {
		const unsigned int shift = i < 2 * STEPS ? 0 : i / STEPS - 1;

		seen += load->latencies[i];
		if (seen > 0 && (double)seen >= wanted)
			return (double)((uint64_t)(i - shift * STEPS) <<
			    shift) / 1000;
	}
	return 0;
}

static void
print(const struct load *load, uint64_t elapsed_ns, uint64_t cpu_ns)
{
	const double answered = load->received > 0 ?
	    (double)load->received : 1;

	printf("{\"sent\": %" PRIu64 ", \"received\": %" PRIu64
	    ", \"lost\": %" PRIu64 ", \"wrong\": %" PRIu64
	    ", \"failed\": %" PRIu64 ", \"empty\": %" PRIu64
	    ", \"seconds\": %.6f, \"rate\": %.0f, \"client_us\": %.4f"
	    ", \"p50\": %.3f, \"p99\": %.3f, \"p999\": %.3f}\n",
	    load->sent, load->received, load->lost, load->wrong, load->failed,
	    load->empty, (double)elapsed_ns / 1e9,
	    (double)load->received / ((double)elapsed_ns / 1e9),
	    (double)cpu_ns / 1000 / answered, percentile(load, 0.5),
	    percentile(load, 0.99), percentile(load, 0.999));
}

static void
run(struct load *load)
{
	/* On a CPU, as the scheduler counts it. */
	const uint64_t cpu = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	const uint64_t start = now_ns();
	const uint64_t end = start + load->milliseconds * 1000000U;

	if (load->rate > 0)
		run_open(load, start, end);
	else if (load->client_count == 1)
		run_alone(load, end);
	else
		run_closed(load, end);
	print(load, now_ns() - start,
	    clock_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu);
}

/* Milliseconds of "1", "0.5". */
static uint64_t
milliseconds(const char *text)
{
	char *end;
	const double value = strtod(text, &end);

	if (*end != '\0' || end == text || !(value > 0 && value <= SECONDS_MAX))
		fail(text, "not a number of seconds");
	return (uint64_t)(value * 1000);
}

static bool
take_option(struct load *load, int option, const char *value)
{
	switch (option) {
	case 's':
		load->milliseconds = milliseconds(value);
		return true;
	case 'n':
		load->client_count = (unsigned int)number(value, SOCKETS_MAX);
		return true;
	case 'w':
		load->window = (unsigned int)number(value, WINDOW_MAX);
		return true;
	case 'r':
		load->rate = number(value, RATE_MAX);
		return true;
	case 'p':
		load->port = (uint16_t)number(value, UINT16_MAX);
		return true;
	case 't':
		load->type = (uint16_t)number(value, UINT16_MAX);
		return true;
	case 'e':
		load->edns = true;
		return true;
	case 'f':
		load->fresh = true;
		return true;
	default:
		return false;
	}
}

int
main(int argc, char **argv)
{
	static struct load load = { .client_count = 64, .window = 8,
		.milliseconds = 1000, .port = 53, .type = TYPE_A };
	bool good = true;
	int option;

	while (good && (option = getopt(argc, argv, "s:n:w:r:p:t:ef")) != -1)
		good = take_option(&load, option, optarg);
	if (!good || argc - optind != 2) {
		(void)fprintf(stderr, "usage: dnsrate [-s SECONDS]"
		    " [-n SOCKETS] [-w WINDOW] [-r RATE] [-p PORT] [-t TYPE]"
		    " [-e] [-f] SERVER NAMES\n");
		return 2;
	}
	load.server = read_server(argv[optind], load.port);
	read_names(&load, argv[optind + 1]);
	load.clients = allocate(load.client_count, sizeof(*load.clients));
	for (unsigned int i = 0; i < load.client_count; i++)
		open_client(&load, &load.clients[i]);
	if (load.rate > 0)
		load.window = WINDOW_MAX;
	run(&load);
	return EXIT_SUCCESS;
}

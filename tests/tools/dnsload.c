/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * dnsload: asks questions at a fixed rate, whatever the answers do (an open
 * loop), never twice, and checks every answer.  For tests that must not lose
 * a question.
 *
 *   dnsload [-r RATE] [-s SECONDS] [-n SOCKETS] [-w SECONDS] [-f] SERVER NAMES
 *
 * NAMES is a file of lines "name addressA [addressB]" (IPv4): an answer is
 * right if its id and question are those that were sent, its rcode is NOERROR
 * and its addresses are all A's or all B's.  A question without an answer
 * after five seconds, for which C libraries wait, is lost; "late" counts those
 * of them that were answered after all, for which -w waits longer at the end.
 * With -f, SERVFAIL, REFUSED and TC are not wrong: "failed" counts those, which
 * are among the lost ones.  SIGTERM ends the asking before -s does.  Prints one JSON
 * object; where the machine is too slow for the rate, "asking_ms" is more than -s.
 */
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>

#include "resolver/dns/name.h"
#include "resolver/dns/rr.h"
#include "resolver/dns/wire.h"
#include "tests/tools/load.h"

#define LOST_AFTER_NS	((uint64_t)5000000000)
#define SOCKETS_MAX	1024
#define SECONDS_MAX	3600
#define RATE_MAX	200000
#define NAMES_MAX	1000000
#define BATCH		32
#define QUERY_MAX	(12 + NAME_MAX_OCTETS + 4)
#define HEADER		12
/*
 * A packet in the queue counts against its sender's buffer: this one must hold
 * what is sent while a worker restarts.
 */
#define BUFFER		(32 << 20)

struct target {			/* one name, and what it may answer */
	uint8_t question[NAME_MAX_OCTETS + 4];
	uint16_t question_length;
	uint32_t allowed[2];	/* network order; 0: none */
};

struct slot {			/* one outstanding question, by id */
	uint64_t sent;		/* 0: none */
	uint32_t target;
};

struct client {
	int fd;
	uint16_t next_id;
	struct slot *slots;	/* 65536 */
};

struct result {
	uint64_t sent, received, wrong, late, failed, side[2], refused,
	    errors;
	uint64_t asking;	/* from the first question to the last */
	uint64_t last_receipt, max_gap, max_latency;
	uint32_t *latencies;	/* microseconds */
	size_t latency_room;
	char first_wrong[80];	/* what it was, and when */
};

struct load {
	struct target *targets;
	size_t target_count;
	struct client clients[SOCKETS_MAX];
	unsigned int client_count;
	uint64_t rate, seconds, wait;
	bool may_fail;
	struct result result;
};

static volatile sig_atomic_t told_to_end;

/* One line of the names file; false for an empty one. */
static bool
read_target(struct target *target, char *line, const char *path)
{
	char name[300], a[64] = "", b[64] = "";
	struct dns_name wire;
	struct wire_writer w = wire_writer_over(target->question,
	    sizeof(target->question));
	int fields = sscanf(line, "%299s %63s %63s", name, a, b);

	if (fields <= 0)
		return false;
	if (name_from_text(&wire, name, strlen(name)) != 0 ||
	    inet_pton(AF_INET, a, &target->allowed[0]) != 1 ||
	    (fields == 3 && inet_pton(AF_INET, b, &target->allowed[1]) != 1))
		fail(path, "lines are \"name addressA [addressB]\"");
	wire_write_octets(&w, wire.octets, wire.length);
	wire_write_u16(&w, TYPE_A);
	wire_write_u16(&w, CLASS_IN);
	target->question_length = (uint16_t)wire_written(&w);
	return true;
}

static void
read_targets(struct load *load, const char *path)
{
	char line[512];
	FILE *file = fopen(path, "r");

	if (file == NULL)
		fail(path, strerror(errno));
	load->targets = allocate(NAMES_MAX, sizeof(*load->targets));
	while (load->target_count < NAMES_MAX &&
	    fgets(line, sizeof(line), file) != NULL) {
		if (read_target(&load->targets[load->target_count], line, path))
			load->target_count++;
	}
	(void)fclose(file);
	if (load->target_count == 0)
		fail(path, "no names in it");
}

static void
open_client(struct client *client, const struct server *server)
{
	client->fd = socket(server->address.ss_family,
	    SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (client->fd < 0)
		fail("socket", strerror(errno));
	set_buffers(client->fd, BUFFER);
	if (connect(client->fd, (const struct sockaddr *)&server->address,
	    server->length) != 0)
		fail("connect", strerror(errno));
	client->slots = allocate(65536, sizeof(*client->slots));
}

/* Sends up to "due" questions by one socket; returns how many went. */
static unsigned int
send_batch(struct load *load, struct client *client, unsigned int due)
{
	uint8_t octets[BATCH][QUERY_MAX];
	struct mmsghdr messages[BATCH] = { 0 };
	struct iovec iov[BATCH];
	uint32_t targets[BATCH];
	unsigned int n = due < BATCH ? due : BATCH;
	uint64_t now = now_ns();
	int sent;

	for (unsigned int i = 0; i < n; i++) {
		struct wire_writer w = wire_writer_over(octets[i], QUERY_MAX);
		const struct target *t;

		targets[i] = (uint32_t)((load->result.sent + i) %
		    load->target_count);
		t = &load->targets[targets[i]];
		wire_write_u16(&w, (uint16_t)(client->next_id + i));
		wire_write_u16(&w, 0x0100);
		wire_write_u16(&w, 1);
		wire_write_octets(&w, "\0\0\0\0\0", 6);
		wire_write_octets(&w, t->question, t->question_length);
		iov[i] = (struct iovec){ octets[i], wire_written(&w) };
		messages[i].msg_hdr.msg_iov = &iov[i];
		messages[i].msg_hdr.msg_iovlen = 1;
		client->slots[(uint16_t)(client->next_id + i)] =
		    (struct slot){ now, targets[i] };
	}
	sent = sendmmsg(client->fd, messages, n, 0);
	if (sent < 0 && (errno == EAGAIN || errno == EINTR))
		sent = 0;
	if (sent < 0) {
		/* The kernel dropped the first one (the queue was full): lost. */
		load->result.refused++;
		sent = 1;
	}
	for (unsigned int i = (unsigned int)sent; i < n; i++)
		client->slots[(uint16_t)(client->next_id + i)].sent = 0;
	client->next_id = (uint16_t)(client->next_id + sent);
	load->result.sent += (unsigned int)sent;
	return (unsigned int)sent;
}

static void
skip_name(struct wire_reader *r)
{
	for (;;) {
		uint8_t length = wire_read_u8(r);

		if (length >= 0xc0) {
			wire_skip(r, 1);
			return;
		}
		if (length == 0)
			return;
		wire_skip(r, length);
	}
}

/* Which of the allowed addresses the answer gives; -1: neither, or not only. */
static int
judge(const struct target *target, const uint8_t *octets, size_t length)
{
	struct wire_reader r = wire_reader_over(octets, length);
	uint16_t flags, questions, answers;
	const uint8_t *question;
	int side = -1;

	wire_skip(&r, 2);
	flags = wire_read_u16(&r);
	questions = wire_read_u16(&r);
	answers = wire_read_u16(&r);
	wire_skip(&r, 4);
	question = wire_read_octets(&r, target->question_length);
	if (question == NULL || questions != 1 || (flags & 0x800f) != 0x8000 ||
	    memcmp(question, target->question, target->question_length) != 0)
		return -1;
	while (answers-- > 0) {
		uint16_t type, size;
		const uint8_t *rdata;
		uint32_t address;
		int this;

		skip_name(&r);
		type = wire_read_u16(&r);
		wire_skip(&r, 6);
		size = wire_read_u16(&r);
		rdata = wire_read_octets(&r, size);
		if (rdata == NULL)
			return -1;
		if (type != TYPE_A)
			continue;
		if (size != sizeof(address))
			return -1;
		memcpy(&address, rdata, sizeof(address));
		if (address != target->allowed[0] &&
		    (address != target->allowed[1] || address == 0))
			return -1;
		this = address == target->allowed[0] ? 0 : 1;
		if (side >= 0 && this != side)
			return -1;
		side = this;
	}
	return side;
}

static bool
is_failure(const struct target *target, const uint8_t *octets, size_t length)
{
	const int rcode = length > HEADER ? octets[3] & 15 : RCODE_NOERROR;

	return length >= HEADER + (size_t)target->question_length &&
	    (octets[2] & 0x80) != 0 &&
	    (rcode == RCODE_SERVFAIL || rcode == RCODE_REFUSED ||
	    (octets[2] & 0x02) != 0) &&
	    memcmp(octets + HEADER, target->question,
	    target->question_length) == 0;
}

/* One more wrong answer; the first of them is described. */
static void
note_wrong(struct result *result, const uint8_t *octets, size_t length,
    uint64_t latency)
{
	if (result->wrong++ > 0)
		return;
	if (length < HEADER)
		(void)snprintf(result->first_wrong, sizeof(result->first_wrong),
		    "%zu octets", length);
	else
		(void)snprintf(result->first_wrong, sizeof(result->first_wrong),
		    "rcode %d, %d answers, after %" PRIu64 " us, as number %"
		    PRIu64, octets[3] & 15, octets[6] << 8 | octets[7],
		    latency / 1000, result->received);
}

static void
take_answer(struct load *load, struct client *client, const uint8_t *octets,
    size_t length, uint64_t now)
{
	struct result *result = &load->result;
	struct slot *slot;
	uint64_t latency;
	int side;

	slot = length < HEADER ? NULL :
	    &client->slots[(octets[0] << 8 | octets[1]) & 0xffff];
	if (slot == NULL || slot->sent == 0) {
		/* Nobody asked: a second answer, or junk. */
		note_wrong(result, octets, length, 0);
		return;
	}
	latency = now - slot->sent;
	side = judge(&load->targets[slot->target], octets, length);
	slot->sent = 0;
	if (load->may_fail && is_failure(&load->targets[slot->target], octets,
	    length)) {
		result->failed++;
		return;
	}
	if (latency > LOST_AFTER_NS) {
		result->late++;
		if (side < 0)
			note_wrong(result, octets, length, latency);
		return;
	}
	if (result->received < result->latency_room)
		result->latencies[result->received] = (uint32_t)(latency / 1000);
	result->received++;
	if (side < 0)
		note_wrong(result, octets, length, latency);
	else
		result->side[side]++;
	if (latency > result->max_latency)
		result->max_latency = latency;
	if (result->last_receipt != 0 && now - result->last_receipt > result->max_gap)
		result->max_gap = now - result->last_receipt;
	result->last_receipt = now;
}

static void
receive_all(struct load *load, struct client *client)
{
	static uint8_t octets[BATCH][4096];
	struct mmsghdr messages[BATCH] = { 0 };
	struct iovec iov[BATCH];
	int got;

	do {
		for (unsigned int i = 0; i < BATCH; i++) {
			iov[i] = (struct iovec){ octets[i], sizeof(octets[i]) };
			messages[i].msg_hdr.msg_iov = &iov[i];
			messages[i].msg_hdr.msg_iovlen = 1;
		}
		got = recvmmsg(client->fd, messages, BATCH, 0, NULL);
		if (got < 0 && errno != EAGAIN && errno != EINTR)
			load->result.errors++;	/* an ICMP error, for one */
		for (int i = 0; i < got; i++)
			take_answer(load, client, octets[i], messages[i].msg_len,
			    now_ns());
	} while (got == BATCH);
}

static void
run(struct load *load)
{
	uint64_t total = load->rate * load->seconds;
	uint64_t start = now_ns(), end = start + load->seconds * 1000000000U;
	struct result *result = &load->result;
	unsigned int turn = 0;

	for (;;) {
		uint64_t now = now_ns(), due;
		struct pollfd poll_fds[SOCKETS_MAX];

		if (told_to_end && now < end) {
			total = result->sent;
			end = now;
		}
		due = now < end ?
		    (now - start) / 1000 * load->rate / 1000000 : total;
		/* Behind time: catch up, as far as the sockets' buffers go. */
		while (result->sent < due) {
			uint64_t left = due - result->sent;

			if (send_batch(load, &load->clients[turn++ %
			    load->client_count],
			    left < BATCH ? (unsigned int)left : BATCH) == 0)
				break;
			result->asking = now_ns() - start;
		}
		for (unsigned int i = 0; i < load->client_count; i++) {
			receive_all(load, &load->clients[i]);
			poll_fds[i] = (struct pollfd){ load->clients[i].fd,
			    POLLIN, 0 };
		}
		if (now >= end + load->wait * 1000000000U ||
		    (result->sent >= total && result->received + result->late +
		    result->refused + result->failed >= result->sent))
			return;
		(void)poll(poll_fds, load->client_count, 1);
	}
}

static int
compare(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static void
print(const struct load *load)
{
	const struct result *r = &load->result;
	size_t n = r->received < r->latency_room ? r->received : r->latency_room;

	qsort(r->latencies, n, sizeof(*r->latencies), compare);
	printf("{\"sent\": %" PRIu64 ", \"received\": %" PRIu64 ", \"lost\": %" PRIu64
	    ", \"late\": %" PRIu64 ", \"failed\": %" PRIu64 ", \"wrong\": %" PRIu64 ", \"refused\": %" PRIu64 ", \"errors\": %" PRIu64
	    ", \"old\": %" PRIu64 ", \"new\": %" PRIu64
	    ", \"asking_ms\": %.1f, \"max_gap_ms\": %.1f, \"max_ms\": %.1f"
	    ", \"p50_us\": %" PRIu32 ", \"p99_us\": %" PRIu32 ", \"first_wrong\": \"%s\"}\n",
	    r->sent, r->received, r->sent - r->received, r->late, r->failed,
	    r->wrong, r->refused, r->errors, r->side[0], r->side[1],
	    (double)r->asking / 1e6, (double)r->max_gap / 1e6,
	    (double)r->max_latency / 1e6, n > 0 ? r->latencies[n / 2] : 0,
	    n > 0 ? r->latencies[n - 1 - n / 100] : 0, r->first_wrong);
}

static void
end_asking(int signal_number)
{
	(void)signal_number;
	told_to_end = 1;
}

int
main(int argc, char **argv)
{
	static struct load load = { .client_count = 16, .rate = 20000,
		.seconds = 10, .wait = LOST_AFTER_NS / 1000000000U };
	struct server server;
	int option;

	while ((option = getopt(argc, argv, "r:s:n:w:f")) != -1) {
		if (option == 'r')
			load.rate = number(optarg, RATE_MAX);
		else if (option == 's')
			load.seconds = number(optarg, SECONDS_MAX);
		else if (option == 'n')
			load.client_count = (unsigned int)number(optarg, SOCKETS_MAX);
		else if (option == 'w')
			load.wait = number(optarg, SECONDS_MAX);
		else if (option == 'f')
			load.may_fail = true;
		else
			return 2;
	}
	if (argc - optind != 2) {
		(void)fprintf(stderr, "usage: dnsload [-r RATE] [-s SECONDS]"
		    " [-n SOCKETS] [-w SECONDS] [-f] SERVER NAMES\n");
		return 2;
	}
	server = read_server(argv[optind], 53);
	read_targets(&load, argv[optind + 1]);
	for (unsigned int i = 0; i < load.client_count; i++)
		open_client(&load.clients[i], &server);
	load.result.latency_room = load.rate * load.seconds;
	load.result.latencies = allocate(load.result.latency_room,
	    sizeof(*load.result.latencies));
	(void)signal(SIGTERM, end_asking);
	run(&load);
	print(&load);
	return EXIT_SUCCESS;
}

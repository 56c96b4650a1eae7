/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nfq/queue/queue.h for tests in a namespace:
 *
 *   queue_tool NUMBER MAXLEN [fail-open]
 *
 * binds the queue and then takes orders, one a line; prints what comes of each
 * and ends it with a line "done ...".
 *
 *   receive           one batch; a line for each packet
 *   judge             verdicts for that batch, sent in one go
 *   serve N           batches until N packets have been judged
 *   reader            a child that receives one batch and then does nothing
 *   kill              kill -9 of that child
 *   recover LAST HOW  queue_recover(); HOW is repeat or accept
 *   adopt MAXLEN      queue_adopt()
 *   numbers           gaps, verdict errors, last id, drops of the socket
 *   sndbuf OCTETS     no longer message is sent than about twice that
 *
 * The first octet of a UDP payload says what becomes of the packet: P passes,
 * D is dropped, R is turned round; R4000 makes the answer 4000 octets long.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "nfq/packet/packet.h"
#include "nfq/queue/queue.h"

/* The mark of turned packets, for rules that count them. */
#define MARK 0x20000000

static int fd;
static uint16_t number;
static struct queue_reader *reader;
static struct queue_packet packets[QUEUE_BATCH];
static int count;
static pid_t child;

/* The whole packet may have been cut; then it is "P" whatever it says. */
static char
wish(const struct queue_packet *queued, struct packet *packet)
{
	if (queued->length < queued->whole_length ||
	    packet_parse(packet, queued->octets, queued->length,
	    queued->length) != PACKET_OK ||
	    packet->payload_length == 0)
		return 'P';
	return (char)packet->payload[0];
}

static void
show(const struct queue_packet *queued)
{
	size_t i;

	printf("packet %u %d %d %#x %zu %zu ", queued->id, (int)queued->uid,
	    (int)queued->gid, queued->mark, queued->length,
	    queued->whole_length);
	for (i = 0; i < queued->length; i++)
		printf("%02x", queued->octets[i]);
	printf("\n");
}

static void
turn_round(const struct queue_packet *queued, const struct packet *packet)
{
	static uint8_t reply[QUEUE_REPLY_MAX];
	size_t at = packet_reply_offset(packet), length;
	char digits[6] = "";
	unsigned long wanted;

	length = packet->payload_length - 1;
	if (length > sizeof(digits) - 1)
		length = sizeof(digits) - 1;
	memcpy(digits, packet->payload + 1, length);
	wanted = strtoul(digits, NULL, 10);
	length = packet->payload_length;
	memset(reply, 0, sizeof(reply));
	memcpy(reply + at, packet->payload, length);
	reply[at] = 'A';
	if (wanted > length && wanted <= sizeof(reply) - at)
		length = wanted;
	queue_reply(reader, queued->id, MARK, reply,
	    packet_reply(packet, reply, length));
}

static int
judge(void)
{
	struct packet packet;
	int i;

	for (i = 0; i < count; i++) {
		switch (wish(&packets[i], &packet)) {
		case 'R':
			turn_round(&packets[i], &packet);
			break;
		case 'D':
			queue_drop(reader, packets[i].id);
			break;
		default:
			queue_pass(reader, packets[i].id);
			break;
		}
	}
	count = 0;
	return queue_send(reader);
}

static int
receive(void)
{
	count = queue_receive(reader, packets);
	return count;
}

/* 0, or the first error. */
static int
serve(long wanted)
{
	int error;

	while (wanted > 0) {
		if (receive() < 0)
			return count;
		wanted -= count;
		error = judge();
		if (error != 0)
			return error;
	}
	return 0;
}

static void
start_reader(void)
{
	child = fork();
	if (child == 0) {
		printf("done reader %d\n", receive());
		fflush(stdout);
		for (;;)
			pause();
	}
}

static void
kill_reader(void)
{
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

static const char *
outcome(int result)
{
	static char text[16];
	const char *name = result < 0 ? strerrorname_np(-result) : NULL;

	if (name != NULL)
		return name;
	snprintf(text, sizeof(text), "%d", result);
	return text;
}

static void
numbers(void)
{
	uint32_t octets, drops = 0;
	int error = queue_backlog(fd, &octets, &drops);

	printf("done numbers %s %llu %llu %u %u\n", outcome(error),
	    (unsigned long long)queue_gaps(reader),
	    (unsigned long long)queue_verdict_errors(reader),
	    queue_last_id(reader), drops);
}

static int
limit_sending(int octets)
{
	return setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &octets,
	    sizeof(octets)) < 0 ? -errno : 0;
}

static void
obey(const char *order, const char *first, const char *second)
{
	int i, result;

	if (strcmp(order, "reader") == 0) {
		start_reader();		/* it says "done" when it has its batch */
		return;
	}
	if (strcmp(order, "numbers") == 0) {
		numbers();
		return;
	}
	if (strcmp(order, "receive") == 0) {
		result = receive();
		for (i = 0; i < result; i++)
			show(&packets[i]);
	} else if (strcmp(order, "judge") == 0) {
		result = judge();
	} else if (strcmp(order, "serve") == 0) {
		result = serve(strtol(first, NULL, 10));
	} else if (strcmp(order, "recover") == 0) {
		result = queue_recover(fd, number,
		    (uint32_t)strtoul(first, NULL, 10),
		    strcmp(second, "accept") == 0 ? QUEUE_PASS :
		    QUEUE_REPEAT);
	} else if (strcmp(order, "adopt") == 0) {
		result = queue_adopt(fd, number,
		    (uint32_t)strtoul(first, NULL, 10), false);
	} else if (strcmp(order, "sndbuf") == 0) {
		result = limit_sending((int)strtol(first, NULL, 10));
	} else {
		kill_reader();
		result = 0;
	}
	printf("done %s %s\n", order, outcome(result));
}

int
main(int argc, char **argv)
{
	char line[200], order[20], first[20], second[20];
	static queue_buffer received[QUEUE_BATCH];
	const bool fail_open = argc > 3 && strcmp(argv[3], "fail-open") == 0;

	if (argc < 3) {
		fprintf(stderr, "usage: queue_tool NUMBER MAXLEN [fail-open]\n");
		return 2;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	number = (uint16_t)strtoul(argv[1], NULL, 10);
	fd = queue_open(number, (uint32_t)strtoul(argv[2], NULL, 10),
	    fail_open);
	printf("done open %s\n", fd < 0 ? outcome(fd) : "0");
	if (fd < 0 || queue_reader_new(&reader, fd, number, received) != 0)
		return 1;
	while (fgets(line, sizeof(line), stdin) != NULL) {
		first[0] = second[0] = '\0';
		if (sscanf(line, "%19s %19s %19s", order, first, second) >= 1)
			obey(order, first, second);
	}
	queue_reader_free(reader);
	return 0;
}

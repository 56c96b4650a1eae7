/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Replies to packets that were gone, found among the verdicts that were sent. */
#include "tests/check.h"

#include <errno.h>
#include <linux/netlink.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "nfq/queue/queue.h"

#define LARGE	8000		/* octets of a reply */
#define MANY	100

static _Alignas(64) queue_buffer received[QUEUE_BATCH];
static struct queue_packet packets[QUEUE_BATCH];
static struct queue_reader *reader;
static int ours, kernel;

static void
set_up(void)
{
	int ends[2];

	CHECK(socketpair(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0, ends) == 0);
	ours = ends[0];
	kernel = ends[1];
	CHECK(queue_reader_new(&reader, ours, 5300, received) == 0);
}

static void
tear_down(void)
{
	queue_reader_free(reader);
	(void)close(ours);
	(void)close(kernel);
}

/* The kernel has read what was sent, and says that these packets are gone. */
static void
tell_gone(uint32_t first, uint32_t last)
{
	static uint8_t octets[1 << 20];
	struct {
		struct nlmsghdr header;
		struct nlmsgerr error;
	} message = { .header = { .nlmsg_len = sizeof(message),
		.nlmsg_type = NLMSG_ERROR }, .error.error = -ENOENT };

	while (recv(kernel, octets, sizeof(octets), 0) > 0)
		continue;
	for (uint32_t id = first; id <= last; id++) {
		message.header.nlmsg_seq = id;
		CHECK(send(kernel, &message, sizeof(message), 0) ==
		    sizeof(message));
		if (id % 8 == 0)
			(void)queue_receive_now(reader, packets);
	}
	(void)queue_receive_now(reader, packets);
}

static void
reply(uint32_t id, size_t length)
{
	uint8_t octets[LARGE];

	memset(octets, (int)(id & 0xff), sizeof(octets));
	queue_reply(reader, id, 0, octets, length);
}

/* That the next packet that was gone is this one, and has its reply. */
static bool
is_found(uint32_t id, size_t length)
{
	const uint8_t *octets;
	size_t found = 0;
	uint32_t gone;

	if (!queue_next_gone(reader, &gone) || gone != id)
		return false;
	octets = queue_lost_reply(reader, id, &found);
	return octets != NULL && found == length &&
	    octets[0] == (id & 0xff) && octets[length - 1] == (id & 0xff);
}

static void
replies_of_the_last_send(void)
{
	size_t length;
	uint32_t id;

	set_up();
	reply(1, 100);
	queue_drop(reader, 2);
	reply(3, 60);
	CHECK(queue_send(reader) == 0);
	tell_gone(1, 3);
	CHECK(is_found(1, 100));
	CHECK(queue_next_gone(reader, &id) && id == 2);
	CHECK(queue_lost_reply(reader, 2, &length) == NULL);
	CHECK(is_found(3, 60));
	CHECK(!queue_next_gone(reader, &id));
	CHECK(queue_lost_reply(reader, 4, &length) == NULL);
	tear_down();
}

/* The kernel's word comes late: behind what waits in the socket. */
static void
replies_of_sends_before(void)
{
	set_up();
	for (uint32_t id = 1; id <= 40; id++) {
		reply(id, 100);
		CHECK(queue_send(reader) == 0);
	}
	tell_gone(1, 8);
	for (uint32_t id = 1; id <= 8; id++)
		CHECK(is_found(id, 100));
	tear_down();
}

/* What was overwritten is not found, and nothing else in its place. */
static void
old_ones_are_forgotten(void)
{
	size_t length, found = 0;
	uint32_t id;

	set_up();
	for (id = 1; id <= MANY; id++) {
		reply(id, LARGE);
		CHECK(queue_send(reader) == 0);
		while (recv(kernel, received, sizeof(received), 0) > 0)
			continue;
	}
	for (id = 1; id <= MANY; id++) {
		const uint8_t *octets = queue_lost_reply(reader, id, &length);

		CHECK(octets == NULL || (length == LARGE &&
		    octets[0] == id && octets[LARGE - 1] == id));
		found += octets != NULL;
	}
	CHECK(found >= 16 && found <= 64);
	CHECK(queue_lost_reply(reader, MANY, &length) != NULL);
	tear_down();
}

/* A verdict that is collected meanwhile does not make the next send forget. */
static void
collected_while_the_socket_is_read(void)
{
	set_up();
	reply(1, 100);
	tell_gone(1000, 1000);
	reply(2, 100);
	CHECK(queue_send(reader) == 0);
	reply(3, 100);
	CHECK(queue_send(reader) == 0);
	tell_gone(1, 3);
	(void)is_found(1000, 0);
	for (uint32_t id = 1; id <= 3; id++)
		CHECK(is_found(id, 100));
	tear_down();
}

int
main(void)
{
	TEST(replies_of_the_last_send);
	TEST(replies_of_sends_before);
	TEST(old_ones_are_forgotten);
	TEST(collected_while_the_socket_is_read);
	return test_summary();
}

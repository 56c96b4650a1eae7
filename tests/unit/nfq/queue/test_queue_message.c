/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is read from the queue's messages when their lengths are not right, and
 * what is written into verdicts.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/netfilter.h>
#include <stdlib.h>
#include <string.h>

#include <libnetfilter_queue/libnetfilter_queue.h>

#include "nfq/queue/message.h"
#include "tests/check.h"

/* A datagram under construction; every message is made of attributes. */
static _Alignas(8) uint8_t datagram[1024];
static size_t used, message_at;

static struct nlmsghdr *
header(void)
{
	return (void *)(datagram + message_at);
}

static void
start(uint16_t type)
{
	message_at = used;
	memset(datagram + used, 0, 20);
	used += 20;
	header()->nlmsg_type = type;
	header()->nlmsg_len = 20;
}

static void
attribute(uint16_t type, const void *value, size_t length)
{
	struct nlattr head = { (uint16_t)(4 + length), type };

	memcpy(datagram + used, &head, sizeof(head));
	memcpy(datagram + used + sizeof(head), value, length);
	used += (4 + length + 3) & ~(size_t)3;
	header()->nlmsg_len = (uint32_t)(used - message_at);
}

static void
attribute_u32(uint16_t type, uint32_t value)
{
	value = htonl(value);
	attribute(type, &value, sizeof(value));
}

static void
packet_message(uint32_t id, const void *payload, size_t length)
{
	uint8_t head[7] = { 0 };

	id = htonl(id);
	memcpy(head, &id, sizeof(id));
	start(QUEUE_TYPE_PACKET);
	attribute(NFQA_PACKET_HDR, head, sizeof(head));
	attribute_u32(NFQA_MARK, 0x539);
	attribute_u32(NFQA_UID, 998);
	attribute_u32(NFQA_GID, 997);
	attribute(NFQA_PAYLOAD, payload, length);
}

/*
 * Reads the first message of the first "length" octets, in memory of exactly
 * that size; the view's payload is not to be looked at afterwards.
 */
static bool
read_first(size_t length, struct queue_packet *packet)
{
	uint8_t *copy = aligned_alloc(8, (length + 7) & ~(size_t)7);
	const uint8_t *at = copy;
	const struct nlmsghdr *nlh;
	size_t left = length, there;
	bool found;

	memcpy(copy, datagram, length);
	nlh = queue_message_next(&at, &left, &there);
	found = nlh != NULL && queue_message_packet(nlh, there, packet);
	if (found && packet->octets != NULL)
		found = packet->octets >= copy &&
		    packet->octets + packet->length <= copy + length;
	free(copy);
	return found;
}

TEST(whole_message)
{
	const uint8_t *at = datagram;
	const struct nlmsghdr *nlh;
	struct queue_packet p;
	size_t left, length;

	used = 0;
	packet_message(7, "abcde", 5);
	packet_message(8, "fg", 2);
	left = used;
	nlh = queue_message_next(&at, &left, &length);
	CHECK(nlh != NULL && queue_message_packet(nlh, length, &p));
	CHECK(p.id == 7 && p.mark == 0x539 && p.uid == 998 && p.gid == 997);
	CHECK(p.length == 5 && p.whole_length == 5);
	CHECK(p.octets != NULL && memcmp(p.octets, "abcde", 5) == 0);
	nlh = queue_message_next(&at, &left, &length);
	CHECK(nlh != NULL && queue_message_packet(nlh, length, &p));
	CHECK(p.id == 8 && p.length == 2);
	CHECK(queue_message_next(&at, &left, &length) == NULL);
	CHECK(left == 0);
}

/* What was queued at prerouting, by its hook and its interface. */
TEST(what_containers_ask)
{
	struct queue_packet p;

	used = 0;
	start(QUEUE_TYPE_PACKET);
	attribute(NFQA_PACKET_HDR, "\0\0\0\011\010\0\0", 7);
	attribute_u32(NFQA_IFINDEX_INDEV, 12);
	CHECK(read_first(used, &p) && p.guest && p.device == 12);
	used = 0;
	start(QUEUE_TYPE_PACKET);
	attribute(NFQA_PACKET_HDR, "\0\0\0\011\010\0\003", 7);
	attribute_u32(NFQA_IFINDEX_OUTDEV, 13);
	CHECK(read_first(used, &p) && !p.guest && p.device == 13);
	/* A header that was cut says nothing. */
	used = 0;
	start(QUEUE_TYPE_PACKET);
	attribute(NFQA_PACKET_HDR, "\0\0\0\011", 4);
	CHECK(read_first(used, &p) && !p.guest);
}

TEST(what_is_absent)
{
	struct queue_packet p;

	used = 0;
	start(QUEUE_TYPE_PACKET);
	attribute(NFQA_PACKET_HDR, "\0\0\0\011\0\0\0", 7);
	CHECK(read_first(used, &p));
	CHECK(p.id == 9 && p.uid == (uid_t)-1 && p.gid == (gid_t)-1);
	CHECK(p.mark == 0 && p.octets == NULL && p.length == 0);
	CHECK(p.whole_length > 0);
	/* Cut by the copy range. */
	attribute_u32(NFQA_CAP_LEN, 3000);
	attribute(NFQA_PAYLOAD, "abcd", 4);
	CHECK(read_first(used, &p));
	CHECK(p.length == 4 && p.whole_length == 3000);
	/* No id, no packet. */
	used = 0;
	start(QUEUE_TYPE_PACKET);
	attribute(NFQA_PAYLOAD, "abcd", 4);
	CHECK(!read_first(used, &p));
}

/* However little of it arrived: no octet behind it is read or handed on. */
TEST(cut_anywhere)
{
	struct queue_packet p;
	size_t length;

	used = 0;
	packet_message(7, "abcdefgh", 8);
	for (length = 1; length < used; length++) {
		if (!read_first(length, &p))
			continue;
		CHECK(p.id == 7);
		CHECK(p.length < p.whole_length);
	}
}

TEST(wrong_lengths)
{
	static const uint16_t wrong[] = { 0, 1, 3, 9, 200, 0xffff };
	struct queue_packet p;
	struct nlattr *payload;
	size_t i;

	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		used = 0;
		packet_message(7, "abcd", 4);
		payload = (void *)(datagram + used - 8);
		payload->nla_len = wrong[i];
		CHECK(read_first(used, &p));
		CHECK(p.octets == NULL && p.length < p.whole_length);
	}
	used = 0;
	packet_message(7, "abcd", 4);
	header()->nlmsg_len = 0xffffffff;
	CHECK(read_first(used, &p) && p.length == 4);
	header()->nlmsg_len = 15;
	CHECK(!read_first(used, &p));
	header()->nlmsg_len = 0;
	CHECK(!read_first(used, &p));
}

TEST(errors)
{
	const int32_t error = -EPERM;
	const struct nlmsghdr *nlh = (const void *)datagram;

	used = 0;
	start(NLMSG_ERROR);
	memcpy(datagram + 16, &error, sizeof(error));
	CHECK(queue_message_error(nlh, used) == -EPERM);
	CHECK(queue_message_error(nlh, 19) == -EBADMSG);
	memset(datagram + 16, 0, sizeof(error));
	CHECK(queue_message_error(nlh, used) == 0);
}

/*
 * Verdicts are what libnetfilter_queue writes, octet for octet, but for the
 * number of the message, which is the packet's.
 */
TEST(verdicts)
{
	static _Alignas(8) uint8_t ours[256], theirs[256];
	struct nlmsghdr *nlh, *wanted;
	size_t length;

	for (length = 0; length < 100; length++) {
		memset(ours, 0xaa, sizeof(ours));
		nlh = queue_message_verdict(ours, NFQNL_MSG_VERDICT, 5300,
		    0x01020304, NF_ACCEPT);
		queue_message_add_mark(nlh, 0x539);
		queue_message_add_packet(nlh, datagram, length);
		wanted = nfq_nlmsg_put((char *)theirs, NFQNL_MSG_VERDICT, 5300);
		nfq_nlmsg_verdict_put(wanted, 0x01020304, NF_ACCEPT);
		nfq_nlmsg_verdict_put_mark(wanted, 0x539);
		nfq_nlmsg_verdict_put_pkt(wanted, datagram, (uint32_t)length);
		wanted->nlmsg_seq = 0x01020304;
		CHECK(nlh->nlmsg_len == wanted->nlmsg_len);
		CHECK(memcmp(ours, theirs, wanted->nlmsg_len) == 0);
		CHECK(ours[wanted->nlmsg_len] == 0xaa);
	}
	nlh = queue_message_verdict(ours, NFQNL_MSG_VERDICT_BATCH, 5300, 7,
	    NF_DROP);
	wanted = nfq_nlmsg_put((char *)theirs, NFQNL_MSG_VERDICT_BATCH, 5300);
	nfq_nlmsg_verdict_put(wanted, 7, NF_DROP);
	wanted->nlmsg_seq = 7;
	CHECK(nlh->nlmsg_len == wanted->nlmsg_len);
	CHECK(memcmp(ours, theirs, wanted->nlmsg_len) == 0);
}

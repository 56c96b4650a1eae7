/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/queue/message.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/netfilter.h>
#include <string.h>
#include <sys/socket.h>

/* Without NLA_F_NESTED and NLA_F_NET_BYTEORDER. */
#define TYPE_BITS 0x3fffU

/* Messages and attributes begin at multiples of 4 octets. */
static size_t
align(size_t length)
{
	return (length + 3) & ~(size_t)3;
}

int
queue_message_send(int fd, const void *octets, size_t length)
{
	ssize_t n;

	do
		n = send(fd, octets, length, 0);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : 0;
}

const struct nlmsghdr *
queue_message_next(const uint8_t **octets, size_t *left, size_t *length)
{
	const struct nlmsghdr *nlh = (const void *)*octets;
	size_t step;

	if (*left < sizeof(*nlh) || nlh->nlmsg_len < sizeof(*nlh))
		return NULL;
	*length = nlh->nlmsg_len < *left ? nlh->nlmsg_len : *left;
	step = align(*length);
	if (step > *left)
		step = *left;
	*octets += step;
	*left -= step;
	return nlh;
}

int
queue_message_error(const struct nlmsghdr *nlh, size_t length)
{
	int error;

	if (length < sizeof(*nlh) + sizeof(error))
		return -EBADMSG;
	memcpy(&error, nlh + 1, sizeof(error));
	return error;
}

static uint32_t
load_be32(const void *octets)
{
	uint32_t value;

	memcpy(&value, octets, sizeof(value));
	return ntohl(value);
}

static void
take_attribute(struct queue_packet *packet, unsigned int type,
    const uint8_t *value, size_t length, bool *has_id)
{
	if (type == NFQA_PAYLOAD) {
		packet->octets = value;
		packet->length = length;
		return;
	}
	if (length < sizeof(uint32_t))
		return;
	switch (type) {
	case NFQA_PACKET_HDR:
		packet->id = load_be32(value);
		packet->guest = length >= sizeof(struct nfqnl_msg_packet_hdr) &&
		    value[offsetof(struct nfqnl_msg_packet_hdr, hook)] ==
		    NF_INET_PRE_ROUTING;
		*has_id = true;
		break;
	case NFQA_MARK:
		packet->mark = load_be32(value);
		break;
	case NFQA_IFINDEX_INDEV:	/* at output there is none */
	case NFQA_IFINDEX_OUTDEV:
		packet->device = load_be32(value);
		break;
	case NFQA_CAP_LEN:
		packet->whole_length = load_be32(value);
		break;
	case NFQA_UID:
		packet->uid = load_be32(value);
		break;
	case NFQA_GID:
		packet->gid = load_be32(value);
		break;
	}
}

bool
queue_message_packet(const struct nlmsghdr *nlh, size_t length,
    struct queue_packet *packet)
{
	const size_t headers = sizeof(*nlh) + sizeof(struct nfgenmsg);
	const uint8_t *octets = (const uint8_t *)nlh;
	const struct nlattr *attribute;
	bool has_id = false;
	size_t at, whole;

	*packet = (struct queue_packet){
		.uid = (uid_t)-1,
		.gid = (gid_t)-1,
	};
	for (at = headers; at + sizeof(*attribute) <= length;
	    at += align(whole)) {
		attribute = (const void *)(octets + at);
		whole = attribute->nla_len;
		if (whole < sizeof(*attribute) || whole > length - at)
			break;
		take_attribute(packet, attribute->nla_type & TYPE_BITS,
		    octets + at + sizeof(*attribute),
		    whole - sizeof(*attribute), &has_id);
	}
	/* A payload that was cut off by our buffer leaves whole_length > 0. */
	if (packet->octets == NULL && packet->whole_length == 0)
		packet->whole_length = 1;
	if (packet->whole_length < packet->length)
		packet->whole_length = packet->length;
	return has_id;
}

/*
 * A verdict's front, as libnetfilter_queue would write it too; but there each
 * attribute takes calls into two libraries, and this is done for every answer.
 */
struct verdict_message {
	struct nlmsghdr netlink;
	struct nfgenmsg netfilter;
	struct nlattr attribute;
	struct nfqnl_msg_verdict_hdr verdict;
};

struct nlmsghdr *
queue_message_verdict(uint8_t *buf, int type, uint16_t number, uint32_t id,
    int verdict)
{
	const struct verdict_message message = {
		.netlink.nlmsg_len = sizeof(message),
		.netlink.nlmsg_type =
		    (uint16_t)(NFNL_SUBSYS_QUEUE << 8 | type),
		.netlink.nlmsg_flags = NLM_F_REQUEST,
		.netlink.nlmsg_seq = id,	/* an error comes back with it */
		.netfilter.version = NFNETLINK_V0,
		.netfilter.res_id = htons(number),
		.attribute.nla_len =
		    sizeof(message.attribute) + sizeof(message.verdict),
		.attribute.nla_type = NFQA_VERDICT_HDR,
		.verdict.verdict = htonl((uint32_t)verdict),
		.verdict.id = htonl(id),
	};

	memcpy(buf, &message, sizeof(message));
	return (void *)buf;
}

/* An attribute behind what there is; returns where its value goes. */
static uint8_t *
add_attribute(struct nlmsghdr *nlh, uint16_t type, size_t length)
{
	uint8_t *at = (uint8_t *)nlh + nlh->nlmsg_len;
	const struct nlattr attribute = {
		.nla_len = (uint16_t)(sizeof(attribute) + length),
		.nla_type = type,
	};
	const size_t whole = align(attribute.nla_len);

	/* The last word is padded; what else is in it is written after that. */
	memset(at + whole - sizeof(uint32_t), 0, sizeof(uint32_t));
	memcpy(at, &attribute, sizeof(attribute));
	nlh->nlmsg_len += (uint32_t)whole;
	return at + sizeof(attribute);
}

void
queue_message_add_mark(struct nlmsghdr *verdict, uint32_t mark)
{
	mark = htonl(mark);
	memcpy(add_attribute(verdict, NFQA_MARK, sizeof(mark)), &mark,
	    sizeof(mark));
}

void
queue_message_add_packet(struct nlmsghdr *verdict, const uint8_t *octets,
    size_t length)
{
	memcpy(add_attribute(verdict, NFQA_PAYLOAD, length), octets, length);
}

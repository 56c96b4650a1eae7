/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <libnftnl/common.h>

#include "rules/netlink/netlink.h"

/* The kernel fills a buffer of this size with as many objects as go in. */
#define RECEIVE_SIZE	32768

struct nlmsghdr *
netlink_request_of(struct netlink *netlink, uint8_t family, char *buffer,
    uint16_t type, uint16_t flags)
{
	/* libmnl 1.0.4 leaves the octets behind a text as they are. */
	memset(buffer, 0, NETLINK_REQUEST_MAX);
	return nftnl_nlmsg_build_hdr(buffer, type, family, flags,
	    ++netlink->sequence);
}

struct nlmsghdr *
netlink_request(struct netlink *netlink, char *buffer, uint16_t type,
    uint16_t flags)
{
	return netlink_request_of(netlink, NFPROTO_INET, buffer, type, flags);
}

/*
 * Takes one received buffer apart.  Returns 1 when the answer is complete, 0
 * when more is to come, or a negative errno.  *torn: a change by another
 * program fell into the dump (NLM_F_DUMP_INTR).
 */
static int
take(const struct netlink *netlink, const char *buffer, size_t length,
    netlink_receive_fn receive, void *data, bool *torn)
{
	const struct nlmsghdr *message = (const void *)buffer;
	int left = (int)length, rc;

	for (; mnl_nlmsg_ok(message, left);
	    message = mnl_nlmsg_next(message, &left)) {
		if (message->nlmsg_seq != netlink->sequence)
			continue;	/* what an abandoned request left */
		if (message->nlmsg_flags & NLM_F_DUMP_INTR)
			*torn = true;
		if (message->nlmsg_type == NLMSG_DONE) {
			const int *error = mnl_nlmsg_get_payload(message);

			return mnl_nlmsg_get_payload_len(message) >=
			    sizeof(*error) && *error < 0 ? *error : 1;
		}
		if (message->nlmsg_type == NLMSG_ERROR) {
			const struct nlmsgerr *error =
			    mnl_nlmsg_get_payload(message);

			return error->error == 0 ? 1 : error->error;
		}
		if (receive == NULL)
			continue;
		rc = receive(message, data);
		if (rc != 0)
			return rc;
	}
	return 0;
}

int
netlink_talk(struct netlink *netlink, const struct nlmsghdr *message,
    netlink_receive_fn receive, void *data)
{
	_Alignas(struct nlmsghdr) char buffer[RECEIVE_SIZE];
	bool torn = false;
	int rc = 0;

	if (mnl_socket_sendto(netlink->socket, message, message->nlmsg_len) < 0)
		return -errno;
	while (rc == 0) {
		ssize_t length = mnl_socket_recvfrom(netlink->socket, buffer,
		    sizeof(buffer));

		if (length < 0 && errno == EINTR)
			continue;
		if (length < 0)
			return -errno;
		rc = take(netlink, buffer, (size_t)length, receive, data,
		    &torn);
	}
	if (rc < 0)
		return rc;
	return torn ? -EINTR : 0;
}

/* The number of the rule set's last change; any change counts it up. */
static int
take_generation(const struct nlattr *attribute, void *data)
{
	uint32_t *generation = data;

	if (mnl_attr_get_type(attribute) == NFTA_GEN_ID &&
	    mnl_attr_validate(attribute, MNL_TYPE_U32) == 0)
		*generation = ntohl(mnl_attr_get_u32(attribute));
	return MNL_CB_OK;
}

static int
receive_generation(const struct nlmsghdr *message, void *data)
{
	return mnl_attr_parse(message, sizeof(struct nfgenmsg),
	    take_generation, data) < 0 ? -EINVAL : 0;
}

int
netlink_generation(struct netlink *netlink, uint32_t *generation)
{
	_Alignas(struct nlmsghdr) char buffer[NETLINK_REQUEST_MAX];

	return netlink_talk(netlink, netlink_request(netlink, buffer,
	    NFT_MSG_GETGEN, NLM_F_ACK), receive_generation, generation);
}

int
netlink_open(struct netlink *netlink, const char *table)
{
	uint32_t generation = 0;
	int rc, on = 1;

	*netlink = (struct netlink){ .table = table };
	netlink->socket = mnl_socket_open2(NETLINK_NETFILTER, SOCK_CLOEXEC);
	if (netlink->socket == NULL)
		return -errno;
	if (mnl_socket_bind(netlink->socket, 0, MNL_SOCKET_AUTOPID) < 0) {
		rc = -errno;
		goto fail;
	}
	/* Acknowledgements without a copy of what they acknowledge. */
	(void)mnl_socket_setsockopt(netlink->socket, NETLINK_CAP_ACK, &on,
	    sizeof(on));
	rc = netlink_generation(netlink, &generation);
	if (rc == 0)
		return 0;
	/* nfnetlink_rcv_msg(): EINVAL when no subsystem has that number. */
	if (rc == -EINVAL || rc == -EOPNOTSUPP)
		rc = -EPROTONOSUPPORT;
fail:
	netlink_close(netlink);
	return rc;
}

int
netlink_adopt(struct netlink *netlink, const char *table, int fd)
{
	char discarded[1];
	int error;

	*netlink = (struct netlink){ .table = table };
	while (recv(fd, discarded, sizeof(discarded), MSG_DONTWAIT) >= 0 ||
	    errno == EINTR)
		;
	netlink->socket = mnl_socket_fdopen(fd);
	if (netlink->socket != NULL)
		return 0;
	error = -errno;
	(void)close(fd);
	return error;
}

void
netlink_close(struct netlink *netlink)
{
	if (netlink->socket != NULL)
		mnl_socket_close(netlink->socket);
	netlink->socket = NULL;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "rules/conntrack.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <linux/netfilter/nf_conntrack_common.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netfilter/nfnetlink_conntrack.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include <libmnl/libmnl.h>

#include "resolver/dns/message.h"

#define RECEIVE_SIZE	32768
#define ORDERS_SIZE	65536	/* deletions of what one receive brings */
#define ORDER_MAX	512	/* one deletion at most */
#define MAX_WAITING	4096	/* entries that are remembered */

/*
 * Which fields of a tuple the kernel is to compare (Linux 5.8; older ones list
 * everything).  The bits are in no header: net/netfilter/nf_conntrack_netlink.c.
 */
#define FILTER_PROTOCOL	(1U << 3)
#define FILTER_TO_PORT	(1U << 5)

struct conntrack {
	struct mnl_socket *list;	/* NULL: no sweep is under way */
	struct mnl_socket *orders;
	uint32_t sequence;
	bool unfiltered;		/* the kernel did not take the filter */
	enum conntrack_side side;
	uint16_t zone;
	bool again;			/* only what is in "waited" */
	struct ifaddrs *addresses;	/* of this machine */
	uint32_t waited[MAX_WAITING];	/* identifiers of entries */
	size_t waited_count;
	size_t deleted, waiting;
	char *buffer;			/* of RECEIVE_SIZE */
	char *order;			/* of ORDERS_SIZE */
	size_t order_length;
};

/* What matters of an entry; the attributes are in the message. */
struct entry {
	const struct nlattr *original;	/* CTA_TUPLE_ORIG */
	const struct nlattr *source;
	uint8_t protocol;
	uint16_t to_port;
	uint16_t zone, reply_zone, both_zones;
	uint32_t status, id;
};

static struct mnl_socket *
open_socket(void)
{
	struct mnl_socket *s = mnl_socket_open2(NETLINK_NETFILTER,
	    SOCK_CLOEXEC);

	if (s == NULL || mnl_socket_bind(s, 0, MNL_SOCKET_AUTOPID) == 0)
		return s;
	(void)mnl_socket_close(s);
	return NULL;
}

int
conntrack_open(struct conntrack **conntrack)
{
	struct conntrack *c = calloc(1, sizeof(*c));
	int error = 0;

	*conntrack = NULL;
	if (c == NULL)
		return -ENOMEM;
	c->buffer = malloc(RECEIVE_SIZE);
	c->order = malloc(ORDERS_SIZE);
	if (c->buffer == NULL || c->order == NULL)
		error = -ENOMEM;
	else if ((c->orders = open_socket()) == NULL)
		error = -errno;
	if (error != 0)
		conntrack_close(c);
	else
		*conntrack = c;
	return error;
}

static void
end_list(struct conntrack *c)
{
	if (c->list != NULL)
		(void)mnl_socket_close(c->list);
	c->list = NULL;
}

void
conntrack_close(struct conntrack *c)
{
	if (c == NULL)
		return;
	end_list(c);
	if (c->orders != NULL)
		(void)mnl_socket_close(c->orders);
	freeifaddrs(c->addresses);
	free(c->buffer);
	free(c->order);
	free(c);
}

static struct nlmsghdr *
put_header(void *buffer, uint16_t type, uint8_t family)
{
	struct nlmsghdr *message = mnl_nlmsg_put_header(buffer);
	struct nfgenmsg *header = mnl_nlmsg_put_extra_header(message,
	    sizeof(*header));

	message->nlmsg_type = (uint16_t)(NFNL_SUBSYS_CTNETLINK << 8 | type);
	message->nlmsg_flags = NLM_F_REQUEST;
	header->nfgen_family = family;
	header->version = NFNETLINK_V0;
	return message;
}

static int
ask_list(struct conntrack *c)
{
	_Alignas(struct nlmsghdr) char buffer[256];
	struct nlmsghdr *message = put_header(buffer, IPCTNL_MSG_CT_GET,
	    AF_UNSPEC);

	end_list(c);
	message->nlmsg_flags |= NLM_F_DUMP;
	message->nlmsg_seq = ++c->sequence;
	if (!c->unfiltered) {
		struct nlattr *tuple, *protocol, *filter;

		tuple = mnl_attr_nest_start(message, CTA_TUPLE_ORIG);
		protocol = mnl_attr_nest_start(message, CTA_TUPLE_PROTO);
		mnl_attr_put_u8(message, CTA_PROTO_NUM, IPPROTO_UDP);
		mnl_attr_put_u16(message, CTA_PROTO_DST_PORT, htons(DNS_PORT));
		mnl_attr_nest_end(message, protocol);
		mnl_attr_nest_end(message, tuple);
		filter = mnl_attr_nest_start(message, CTA_FILTER);
		mnl_attr_put_u32(message, CTA_FILTER_ORIG_FLAGS,
		    FILTER_PROTOCOL | FILTER_TO_PORT);
		mnl_attr_put_u32(message, CTA_FILTER_REPLY_FLAGS, 0);
		mnl_attr_nest_end(message, filter);
	}
	c->list = open_socket();
	if (c->list == NULL)
		return -errno;
	if (mnl_socket_sendto(c->list, message, message->nlmsg_len) >= 0)
		return 0;
	const int error = -errno;
	end_list(c);
	return error;
}

static int
begin(struct conntrack *c)
{
	c->deleted = c->waiting = 0;
	freeifaddrs(c->addresses);
	c->addresses = NULL;
	if (getifaddrs(&c->addresses) < 0)
		return -errno;
	return ask_list(c);
}

int
conntrack_begin(struct conntrack *c, enum conntrack_side side, uint16_t zone)
{
	c->side = side;
	c->zone = zone;
	c->again = false;
	c->waited_count = 0;
	return begin(c);
}

int
conntrack_begin_again(struct conntrack *c)
{
	c->again = true;
	return begin(c);
}

static uint16_t
port_of(const struct nlattr *attribute)
{
	return mnl_attr_validate(attribute, MNL_TYPE_U16) < 0 ? 0 :
	    ntohs(mnl_attr_get_u16(attribute));
}

static int
take_protocol(const struct nlattr *attribute, void *data)
{
	struct entry *entry = data;

	switch (mnl_attr_get_type(attribute)) {
	case CTA_PROTO_NUM:
		if (mnl_attr_validate(attribute, MNL_TYPE_U8) == 0)
			entry->protocol = mnl_attr_get_u8(attribute);
		break;
	case CTA_PROTO_DST_PORT:
		entry->to_port = port_of(attribute);
		break;
	}
	return MNL_CB_OK;
}

static int
take_source(const struct nlattr *attribute, void *data)
{
	struct entry *entry = data;

	if (mnl_attr_get_type(attribute) == CTA_IP_V4_SRC ||
	    mnl_attr_get_type(attribute) == CTA_IP_V6_SRC)
		entry->source = attribute;
	return MNL_CB_OK;
}

static int
take_original(const struct nlattr *attribute, void *data)
{
	struct entry *entry = data;

	switch (mnl_attr_get_type(attribute)) {
	case CTA_TUPLE_IP:
		return mnl_attr_parse_nested(attribute, take_source, entry);
	case CTA_TUPLE_PROTO:
		return mnl_attr_parse_nested(attribute, take_protocol, entry);
	case CTA_TUPLE_ZONE:
		entry->zone = port_of(attribute);
		break;
	}
	return MNL_CB_OK;
}

static int
take_reply(const struct nlattr *attribute, void *data)
{
	struct entry *entry = data;

	if (mnl_attr_get_type(attribute) == CTA_TUPLE_ZONE)
		entry->reply_zone = port_of(attribute);
	return MNL_CB_OK;
}

static int
take_attribute(const struct nlattr *attribute, void *data)
{
	struct entry *entry = data;

	switch (mnl_attr_get_type(attribute)) {
	case CTA_TUPLE_ORIG:
		entry->original = attribute;
		return mnl_attr_parse_nested(attribute, take_original, entry);
	case CTA_TUPLE_REPLY:
		return mnl_attr_parse_nested(attribute, take_reply, entry);
	case CTA_ZONE:
		entry->both_zones = port_of(attribute);
		break;
	case CTA_STATUS:
		if (mnl_attr_validate(attribute, MNL_TYPE_U32) == 0)
			entry->status = ntohl(mnl_attr_get_u32(attribute));
		break;
	case CTA_ID:
		if (mnl_attr_validate(attribute, MNL_TYPE_U32) == 0)
			entry->id = mnl_attr_get_u32(attribute);
		break;
	}
	return MNL_CB_OK;
}

/* All of 127.0.0.0/8 is lo's, which has one of its addresses. */
static bool
is_local(const struct conntrack *c, const struct nlattr *source)
{
	const uint8_t *octets = mnl_attr_get_payload(source);
	const size_t length = mnl_attr_get_payload_len(source);
	const int family = length == 4 ? AF_INET : AF_INET6;

	if (length != 4 && length != 16)
		return false;
	if (length == 4 && octets[0] == 127)
		return true;
	for (const struct ifaddrs *one = c->addresses; one != NULL;
	    one = one->ifa_next) {
		const void *own = one->ifa_addr;

		if (own == NULL || one->ifa_addr->sa_family != family)
			continue;
		if (memcmp(length == 4 ? (const void *)&((const struct
		    sockaddr_in *)own)->sin_addr : &((const struct
		    sockaddr_in6 *)own)->sin6_addr, octets, length) == 0)
			return true;
	}
	return false;
}

/* Whether its replies look the same as those of an entry of the other side. */
static bool
is_in_the_way(const struct conntrack *c, const struct entry *entry)
{
	return entry->original != NULL && entry->source != NULL &&
	    entry->protocol == IPPROTO_UDP && entry->to_port == DNS_PORT &&
	    entry->both_zones == 0 && entry->reply_zone == 0 &&
	    (entry->zone == c->zone) == (c->side == CONNTRACK_INSIDE) &&
	    is_local(c, entry->source);
}

static bool
has_waited(const struct conntrack *c, uint32_t id)
{
	for (size_t i = 0; i < c->waited_count; i++)
		if (c->waited[i] == id)
			return true;
	return false;
}

/*
 * By tuple, zone and identifier: it is this entry, and not another that has
 * come in its place, or none.
 */
static void
put_deletion(struct conntrack *c, uint8_t family, const struct entry *entry)
{
	struct nlmsghdr *message;

	if (c->order_length + ORDER_MAX > ORDERS_SIZE ||
	    entry->original->nla_len > ORDER_MAX / 2)
		return;			/* the next sweep has it */
	message = put_header(c->order + c->order_length, IPCTNL_MSG_CT_DELETE,
	    family);
	mnl_attr_put(message, CTA_TUPLE_ORIG | NLA_F_NESTED,
	    mnl_attr_get_payload_len(entry->original),
	    mnl_attr_get_payload(entry->original));
	mnl_attr_put_u32(message, CTA_ID, entry->id);
	c->order_length += message->nlmsg_len;
	c->deleted++;
}

static int
take_entry(const struct nlmsghdr *message, void *data)
{
	struct conntrack *c = data;
	const struct nfgenmsg *header = mnl_nlmsg_get_payload(message);
	struct entry entry = { .original = NULL };

	if (mnl_nlmsg_get_payload_len(message) < sizeof(*header) ||
	    mnl_attr_parse(message, sizeof(*header), take_attribute,
	    &entry) < 0 || !is_in_the_way(c, &entry) ||
	    (c->again && !has_waited(c, entry.id)))
		return MNL_CB_OK;
	if (entry.status & IPS_SEEN_REPLY) {
		put_deletion(c, header->nfgen_family, &entry);
		return MNL_CB_OK;
	}
	c->waiting++;
	if (!c->again && c->waited_count < MAX_WAITING)
		c->waited[c->waited_count++] = entry.id;
	return MNL_CB_OK;
}

/* An entry that is gone by itself is fine, so nobody reads what came of it. */
static void
send_deletions(struct conntrack *c)
{
	char ignored[1];
	const int fd = mnl_socket_get_fd(c->orders);

	if (c->order_length == 0)
		return;
	(void)mnl_socket_sendto(c->orders, c->order, c->order_length);
	c->order_length = 0;
	while (recv(fd, ignored, sizeof(ignored), MSG_DONTWAIT) >= 0)
		;
}

static int64_t
cpu_time_ms(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* One piece of the list, which the kernel makes when it is fetched. */
static int
take_piece(struct conntrack *c)
{
	ssize_t length = mnl_socket_recvfrom(c->list, c->buffer, RECEIVE_SIZE);
	int rc;

	if (length < 0)
		return errno == EINTR ? -EAGAIN : -errno;
	rc = mnl_cb_run(c->buffer, (size_t)length, c->sequence,
	    mnl_socket_get_portid(c->list), take_entry, c);
	if (rc < 0)
		rc = errno == EINTR ? -EAGAIN : -errno;
	else
		rc = rc > MNL_CB_STOP ? -EAGAIN : 0;
	send_deletions(c);
	return rc;
}

int
conntrack_step(struct conntrack *c, int limit_ms)
{
	const int64_t end = cpu_time_ms() + limit_ms;
	int rc = 0;

	if (c->list == NULL)
		return 0;
	do {
		rc = take_piece(c);
		/* Linux 5.8 and later have the filter, but not all take it. */
		if ((rc == -EINVAL || rc == -EOPNOTSUPP) && !c->unfiltered) {
			c->unfiltered = true;
			rc = ask_list(c);
			rc = rc == 0 ? -EAGAIN : rc;
		}
	} while (rc == -EAGAIN && cpu_time_ms() < end);
	if (rc != -EAGAIN)
		end_list(c);
	return rc;
}

size_t
conntrack_deleted(const struct conntrack *c)
{
	return c->deleted;
}

size_t
conntrack_waiting(const struct conntrack *c)
{
	return c->waiting;
}

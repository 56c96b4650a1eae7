/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "rules/netlink/route_message.h"

#include <errno.h>
#include <linux/fib_rules.h>
#include <linux/rtnetlink.h>
#include <string.h>
#include <sys/socket.h>

#define RECEIVE_SIZE	32768
#define REQUEST_SIZE	256

int
route_socket_open(struct route_socket *s)
{
	int on = 1;

	s->sequence = 0;
	s->socket = mnl_socket_open2(NETLINK_ROUTE, SOCK_CLOEXEC);
	if (s->socket == NULL)
		return -errno;
	/* Without it the kernel lists all tables, however large. */
	(void)mnl_socket_setsockopt(s->socket, NETLINK_GET_STRICT_CHK, &on,
	    sizeof(on));
	if (mnl_socket_bind(s->socket, 0, MNL_SOCKET_AUTOPID) == 0)
		return 0;
	on = -errno;
	route_socket_close(s);
	return on;
}

void
route_socket_close(struct route_socket *s)
{
	if (s->socket != NULL)
		(void)mnl_socket_close(s->socket);
	s->socket = NULL;
}

static struct nlmsghdr *
request(struct route_socket *s, char buffer[static REQUEST_SIZE], uint16_t type,
    int flags)
{
	struct nlmsghdr *message;

	/* Attributes are padded with what stands there: nothing of our stack. */
	memset(buffer, 0, REQUEST_SIZE);
	message = mnl_nlmsg_put_header(buffer);
	message->nlmsg_type = type;
	message->nlmsg_flags = (uint16_t)(NLM_F_REQUEST | flags);
	message->nlmsg_seq = ++s->sequence;
	return message;
}

/* Sends, and hands every message of the answer to "take".  0 or an errno. */
static int
talk(struct route_socket *s, const struct nlmsghdr *message, mnl_cb_t take,
    void *data)
{
	_Alignas(struct nlmsghdr) char buffer[RECEIVE_SIZE];
	ssize_t length;
	int rc;

	if (mnl_socket_sendto(s->socket, message, message->nlmsg_len) < 0)
		return -errno;
	do {
		length = mnl_socket_recvfrom(s->socket, buffer, sizeof(buffer));
		if (length < 0 && errno == EINTR) {
			rc = MNL_CB_OK;
			continue;
		}
		if (length < 0)
			return -errno;
		rc = mnl_cb_run(buffer, (size_t)length, s->sequence,
		    mnl_socket_get_portid(s->socket), take, data);
	} while (rc > MNL_CB_STOP);
	return rc < 0 ? -errno : 0;
}

/* As talk(), for a change: it is fine if there is nothing to do. */
static int
change(struct route_socket *s, const struct nlmsghdr *message)
{
	int error = talk(s, message, NULL, NULL);

	if (message->nlmsg_type == RTM_NEWRULE ||
	    message->nlmsg_type == RTM_NEWROUTE)
		return error == -EEXIST ? 1 : error;
	return error == -ENOENT || error == -ESRCH ? 1 : error;
}

int
route_rule_change(struct route_socket *s, bool add,
    const struct route_rule *rule)
{
	_Alignas(struct nlmsghdr) char buffer[REQUEST_SIZE];
	struct nlmsghdr *message = request(s, buffer, add ? RTM_NEWRULE :
	    RTM_DELRULE, NLM_F_ACK | (add ? NLM_F_CREATE | NLM_F_EXCL : 0));
	struct fib_rule_hdr *header = mnl_nlmsg_put_extra_header(message,
	    sizeof(*header));

	header->family = (uint8_t)rule->family;
	header->action = FR_ACT_TO_TBL;
	mnl_attr_put_u32(message, FRA_TABLE, rule->table);
	mnl_attr_put_u32(message, FRA_PRIORITY, rule->priority);
	mnl_attr_put_u32(message, FRA_FWMARK, rule->mark);
	mnl_attr_put_u32(message, FRA_FWMASK, rule->mask);
	mnl_attr_put_u8(message, FRA_PROTOCOL, rule->protocol);
	return change(s, message);
}

int
route_entry_change(struct route_socket *s, bool add,
    const struct route_entry *entry)
{
	_Alignas(struct nlmsghdr) char buffer[REQUEST_SIZE];
	struct nlmsghdr *message = request(s, buffer, add ? RTM_NEWROUTE :
	    RTM_DELROUTE, NLM_F_ACK | (add ? NLM_F_CREATE | NLM_F_EXCL : 0));
	struct rtmsg *header = mnl_nlmsg_put_extra_header(message,
	    sizeof(*header));

	header->rtm_family = (uint8_t)entry->family;
	header->rtm_type = RTN_LOCAL;
	header->rtm_scope = RT_SCOPE_HOST;
	header->rtm_protocol = entry->protocol;
	mnl_attr_put_u32(message, RTA_TABLE, entry->table);
	mnl_attr_put_u32(message, RTA_OIF, entry->device);
	/* One of each metric, lo's before all: no two are the same route. */
	mnl_attr_put_u32(message, RTA_PRIORITY, entry->device);
	return change(s, message);
}

/* A list in the making. */
struct list {
	void *items;
	size_t room, count;
	int family;
	uint32_t table;
};

static bool
attribute_u32(const struct nlattr *attribute, uint32_t *value)
{
	if (mnl_attr_validate(attribute, MNL_TYPE_U32) < 0)
		return false;
	*value = mnl_attr_get_u32(attribute);
	return true;
}

static int
take_rule_attribute(const struct nlattr *attribute, void *data)
{
	struct route_rule *rule = data;

	switch (mnl_attr_get_type(attribute)) {
	case FRA_TABLE:
		(void)attribute_u32(attribute, &rule->table);
		break;
	case FRA_PRIORITY:
		(void)attribute_u32(attribute, &rule->priority);
		break;
	case FRA_FWMARK:
		(void)attribute_u32(attribute, &rule->mark);
		break;
	case FRA_FWMASK:
		(void)attribute_u32(attribute, &rule->mask);
		break;
	case FRA_PROTOCOL:
		if (mnl_attr_validate(attribute, MNL_TYPE_U8) == 0)
			rule->protocol = mnl_attr_get_u8(attribute);
		break;
	default:
		break;
	}
	return MNL_CB_OK;
}

static int
take_rule(const struct nlmsghdr *message, void *data)
{
	struct list *list = data;
	const struct fib_rule_hdr *header = mnl_nlmsg_get_payload(message);
	struct route_rule rule = { .family = 0 };

	if (message->nlmsg_type != RTM_NEWRULE ||
	    mnl_nlmsg_get_payload_len(message) < sizeof(*header))
		return MNL_CB_OK;
	rule.family = header->family;
	rule.table = header->table;
	(void)mnl_attr_parse(message, sizeof(*header), take_rule_attribute,
	    &rule);
	if (list->count < list->room)
		((struct route_rule *)list->items)[list->count] = rule;
	list->count++;
	return MNL_CB_OK;
}

/* What a version of IP that is not there answers to a question for its lists. */
static int
nothing_there(int error)
{
	return error == -EAFNOSUPPORT || error == -EOPNOTSUPP ||
	    error == -ENOENT ? 0 : error;
}

int
route_rules_list(struct route_socket *s, int family, struct route_rule *rules,
    size_t room, size_t *count)
{
	_Alignas(struct nlmsghdr) char buffer[REQUEST_SIZE];
	struct nlmsghdr *message = request(s, buffer, RTM_GETRULE, NLM_F_DUMP);
	struct fib_rule_hdr *header = mnl_nlmsg_put_extra_header(message,
	    sizeof(*header));
	struct list list = { .items = rules, .room = room };
	int error;

	header->family = (uint8_t)family;
	error = nothing_there(talk(s, message, take_rule, &list));
	*count = list.count;
	return error;
}

static int
take_entry_attribute(const struct nlattr *attribute, void *data)
{
	struct route_entry *entry = data;

	if (mnl_attr_get_type(attribute) == RTA_TABLE)
		(void)attribute_u32(attribute, &entry->table);
	else if (mnl_attr_get_type(attribute) == RTA_OIF)
		(void)attribute_u32(attribute, &entry->device);
	return MNL_CB_OK;
}

static int
take_entry(const struct nlmsghdr *message, void *data)
{
	struct list *list = data;
	const struct rtmsg *header = mnl_nlmsg_get_payload(message);
	struct route_entry entry = { .device = 0 };

	if (message->nlmsg_type != RTM_NEWROUTE ||
	    mnl_nlmsg_get_payload_len(message) < sizeof(*header))
		return MNL_CB_OK;
	entry.family = header->rtm_family;
	entry.table = header->rtm_table;
	entry.protocol = header->rtm_protocol;
	(void)mnl_attr_parse(message, sizeof(*header), take_entry_attribute,
	    &entry);
	/* A kernel before 4.20 does not look at the table we asked for. */
	if (entry.table != list->table || entry.family != list->family)
		return MNL_CB_OK;
	if (list->count < list->room)
		((struct route_entry *)list->items)[list->count] = entry;
	list->count++;
	return MNL_CB_OK;
}

int
route_entries_list(struct route_socket *s, int family, uint32_t table,
    struct route_entry *entries, size_t room, size_t *count)
{
	_Alignas(struct nlmsghdr) char buffer[REQUEST_SIZE];
	struct nlmsghdr *message = request(s, buffer, RTM_GETROUTE, NLM_F_DUMP);
	struct rtmsg *header = mnl_nlmsg_put_extra_header(message,
	    sizeof(*header));
	struct list list = { .items = entries, .room = room, .family = family,
		.table = table };
	int error;

	header->rtm_family = (uint8_t)family;
	mnl_attr_put_u32(message, RTA_TABLE, table);
	error = nothing_there(talk(s, message, take_entry, &list));
	*count = list.count;
	return error;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * In the place of libmnl's socket a kernel of the test's own, which keeps rules
 * and routes and answers as rtnetlink does.  tests/net has the same with the
 * real one.
 */
#ifndef NFDNS_TESTS_UNIT_RULES_OWN_RTNETLINK_H
#define NFDNS_TESTS_UNIT_RULES_OWN_RTNETLINK_H

#include "rules/routes.h"

#include <errno.h>
#include <linux/fib_rules.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "rules/netlink/route_message.h"
#include "tests/check.h"

#define PORT_ID		4242
#define ROOM		16
#define LO		1

struct table_route {
	struct route_entry entry;
	uint32_t metric;
};

static struct {
	struct route_rule rules[ROOM];
	size_t rule_count;
	struct table_route routes[ROOM];
	size_t route_count;
	uint32_t devices[4];		/* that are up */
	size_t device_count;
	bool ipv6;			/* lo has ::1 */
	uint16_t failing;		/* type of message that is refused */
	int error;			/* and how */
	uint8_t sent[64][128];		/* changes, in order */
	size_t sent_count;
	_Alignas(struct nlmsghdr) char answer[16384];
	size_t length;
	uint32_t sequence;
} kernel;

static const struct config config = {
	.capture = { .mark_mask = 0x70000000, .mark_stream = 0x40000000 },
	.stream = { .table = 5300 },
};
static struct diag diag;

static inline struct nlmsghdr *
answer_header(uint16_t type)
{
	struct nlmsghdr *message =
	    mnl_nlmsg_put_header(kernel.answer + kernel.length);

	message->nlmsg_type = type;
	message->nlmsg_flags = NLM_F_MULTI;
	message->nlmsg_seq = kernel.sequence;
	message->nlmsg_pid = PORT_ID;
	return message;
}

static inline void
answer_end(const struct nlmsghdr *message)
{
	kernel.length += message->nlmsg_len;
}

static inline void
answer_error(int error)
{
	struct nlmsghdr *message = answer_header(NLMSG_ERROR);
	struct nlmsgerr *body = mnl_nlmsg_put_extra_header(message,
	    sizeof(*body));

	body->error = -error;
	answer_end(message);
}

static inline void
list_rules(int family)
{
	for (size_t i = 0; i < kernel.rule_count; i++) {
		const struct route_rule *rule = &kernel.rules[i];
		struct nlmsghdr *message;
		struct fib_rule_hdr *header;

		if (rule->family != family)
			continue;
		message = answer_header(RTM_NEWRULE);
		header = mnl_nlmsg_put_extra_header(message, sizeof(*header));
		header->family = (uint8_t)family;
		header->action = FR_ACT_TO_TBL;
		mnl_attr_put_u32(message, FRA_TABLE, rule->table);
		mnl_attr_put_u32(message, FRA_PRIORITY, rule->priority);
		mnl_attr_put_u32(message, FRA_FWMARK, rule->mark);
		mnl_attr_put_u32(message, FRA_FWMASK, rule->mask);
		mnl_attr_put_u8(message, FRA_PROTOCOL, rule->protocol);
		if (!rule->plain)
			mnl_attr_put_strz(message, FRA_IIFNAME, "eth0");
		answer_end(message);
	}
}

/* All tables, as a kernel before 4.20 does. */
static inline void
list_routes(int family)
{
	for (size_t i = 0; i < kernel.route_count; i++) {
		const struct route_entry *entry = &kernel.routes[i].entry;
		struct nlmsghdr *message;
		struct rtmsg *header;

		if (entry->family != family)
			continue;
		message = answer_header(RTM_NEWROUTE);
		header = mnl_nlmsg_put_extra_header(message, sizeof(*header));
		header->rtm_family = (uint8_t)family;
		header->rtm_type = entry->local_default ? RTN_LOCAL :
		    RTN_UNICAST;
		header->rtm_protocol = entry->protocol;
		mnl_attr_put_u32(message, RTA_TABLE, entry->table);
		mnl_attr_put_u32(message, RTA_OIF, entry->device);
		answer_end(message);
	}
}

static inline void
list_addresses(void)
{
	struct nlmsghdr *message = answer_header(RTM_NEWADDR);
	struct ifaddrmsg *header = mnl_nlmsg_put_extra_header(message,
	    sizeof(*header));

	header->ifa_family = AF_INET6;
	if (kernel.ipv6)
		mnl_attr_put(message, IFA_ADDRESS, sizeof(in6addr_loopback),
		    &in6addr_loopback);
	answer_end(message);
}

static inline void
list_devices(void)
{
	for (size_t i = 0; i < kernel.device_count; i++) {
		struct nlmsghdr *message = answer_header(RTM_NEWLINK);
		struct ifinfomsg *header = mnl_nlmsg_put_extra_header(message,
		    sizeof(*header));

		header->ifi_index = (int)kernel.devices[i];
		header->ifi_flags = IFF_UP;
		answer_end(message);
	}
}

static inline int
rule_attribute(const struct nlattr *attribute, void *data)
{
	struct route_rule *rule = data;
	uint32_t *const places[FRA_MAX + 1] = {
		[FRA_TABLE] = &rule->table, [FRA_PRIORITY] = &rule->priority,
		[FRA_FWMARK] = &rule->mark, [FRA_FWMASK] = &rule->mask,
	};
	const uint16_t type = mnl_attr_get_type(attribute);

	if (type == FRA_PROTOCOL)
		rule->protocol = mnl_attr_get_u8(attribute);
	else if (type <= FRA_MAX && places[type] != NULL)
		*places[type] = mnl_attr_get_u32(attribute);
	return MNL_CB_OK;
}

static inline int
change_rule(const struct nlmsghdr *message)
{
	const struct fib_rule_hdr *header = mnl_nlmsg_get_payload(message);
	struct route_rule rule;
	size_t i = 0;

	memset(&rule, 0, sizeof(rule));
	rule.family = header->family;
	rule.plain = true;
	(void)mnl_attr_parse(message, sizeof(*header), rule_attribute, &rule);
	while (i < kernel.rule_count &&
	    memcmp(&kernel.rules[i], &rule, sizeof(rule)) != 0)
		i++;
	if (message->nlmsg_type == RTM_NEWRULE && i < kernel.rule_count)
		return EEXIST;
	if (message->nlmsg_type == RTM_DELRULE && i == kernel.rule_count)
		return ENOENT;
	if (message->nlmsg_type == RTM_NEWRULE)
		kernel.rules[kernel.rule_count++] = rule;
	else
		kernel.rules[i] = kernel.rules[--kernel.rule_count];
	return 0;
}

static inline int
route_attribute(const struct nlattr *attribute, void *data)
{
	struct table_route *route = data;

	if (mnl_attr_get_type(attribute) == RTA_TABLE)
		route->entry.table = mnl_attr_get_u32(attribute);
	else if (mnl_attr_get_type(attribute) == RTA_OIF)
		route->entry.device = mnl_attr_get_u32(attribute);
	else if (mnl_attr_get_type(attribute) == RTA_PRIORITY)
		route->metric = mnl_attr_get_u32(attribute);
	return MNL_CB_OK;
}

static inline int
change_route(const struct nlmsghdr *message)
{
	const struct rtmsg *header = mnl_nlmsg_get_payload(message);
	struct table_route route;
	size_t i = 0;

	memset(&route, 0, sizeof(route));
	route.entry.family = header->rtm_family;
	route.entry.protocol = header->rtm_protocol;
	route.entry.local_default = header->rtm_type == RTN_LOCAL;
	(void)mnl_attr_parse(message, sizeof(*header), route_attribute, &route);
	while (i < kernel.route_count &&
	    memcmp(&kernel.routes[i], &route, sizeof(route)) != 0)
		i++;
	if (message->nlmsg_type == RTM_NEWROUTE && i < kernel.route_count)
		return EEXIST;
	if (message->nlmsg_type == RTM_DELROUTE && i == kernel.route_count)
		return ESRCH;
	if (message->nlmsg_type == RTM_NEWROUTE)
		kernel.routes[kernel.route_count++] = route;
	else
		kernel.routes[i] = kernel.routes[--kernel.route_count];
	return 0;
}

/* What libmnl would do with a socket. */

struct mnl_socket *
mnl_socket_open2(int bus, int flags)
{
	(void)flags;
	return bus == NETLINK_ROUTE ? (struct mnl_socket *)&kernel : NULL;
}

int
mnl_socket_setsockopt(const struct mnl_socket *socket, int type, void *value,
    socklen_t length)
{
	(void)socket;
	(void)type;
	(void)value;
	(void)length;
	return 0;
}

int
mnl_socket_bind(struct mnl_socket *socket, unsigned int groups, pid_t pid)
{
	(void)socket;
	(void)groups;
	(void)pid;
	return 0;
}

int
mnl_socket_close(struct mnl_socket *socket)
{
	(void)socket;
	return 0;
}

unsigned int
mnl_socket_get_portid(const struct mnl_socket *socket)
{
	(void)socket;
	return PORT_ID;
}

ssize_t
mnl_socket_sendto(const struct mnl_socket *socket, const void *octets,
    size_t length)
{
	const struct nlmsghdr *message = octets;
	const bool change = (message->nlmsg_flags & NLM_F_DUMP) != NLM_F_DUMP;
	const struct rtgenmsg *body = mnl_nlmsg_get_payload(message);

	(void)socket;
	kernel.length = 0;
	kernel.sequence = message->nlmsg_seq;
	if (change && length <= sizeof(kernel.sent[0]) &&
	    kernel.sent_count < sizeof(kernel.sent) / sizeof(kernel.sent[0]))
		memcpy(kernel.sent[kernel.sent_count++], octets, length);
	if (message->nlmsg_type == kernel.failing)
		answer_error(kernel.error);
	else if (message->nlmsg_type == RTM_NEWRULE ||
	    message->nlmsg_type == RTM_DELRULE)
		answer_error(change_rule(message));
	else if (change)
		answer_error(change_route(message));
	else if (message->nlmsg_type == RTM_GETRULE)
		list_rules(body->rtgen_family);
	else if (message->nlmsg_type == RTM_GETROUTE)
		list_routes(body->rtgen_family);
	else if (message->nlmsg_type == RTM_GETADDR)
		list_addresses();
	else
		list_devices();
	if (!change && message->nlmsg_type != kernel.failing)
		answer_end(answer_header(NLMSG_DONE));
	return (ssize_t)length;
}

ssize_t
mnl_socket_recvfrom(const struct mnl_socket *socket, void *buffer, size_t room)
{
	(void)socket;
	CHECK(kernel.length > 0 && kernel.length <= room);
	memcpy(buffer, kernel.answer, kernel.length);
	return (ssize_t)kernel.length;
}

static inline void
begin(void)
{
	memset(&kernel, 0, sizeof(kernel));
	kernel.ipv6 = true;
	kernel.devices[0] = LO;
	kernel.devices[1] = 7;
	kernel.device_count = 2;
	diag_free(&diag);
	diag = (struct diag)DIAG_INIT;
}

static inline bool
said(const char *text)
{
	for (size_t i = 0; i < diag.kept; i++)
		if (strstr(diag.entries[i].text, text) != NULL)
			return true;
	return false;
}

static inline struct routes *
installed(void)
{
	struct routes *routes;

	CHECK(routes_install(&routes, &config, &diag) == 0);
	CHECK(routes != NULL && diag.errors == 0);
	return routes;
}

#endif

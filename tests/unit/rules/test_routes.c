/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Policy routing as messages.  In the place of libmnl's socket stands a kernel
 * of this test's own, which keeps rules and routes and answers as rtnetlink
 * does; what it was sent is compared octet for octet, and what it then holds.
 * tests/net has the same with the real one.
 */
#include "rules/routes.h"

#include <arpa/inet.h>
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
	.stream = { .table = 5300, .priority = 53 },
};
static struct diag diag;

static struct nlmsghdr *
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

static void
answer_end(const struct nlmsghdr *message)
{
	kernel.length += message->nlmsg_len;
}

static void
answer_error(int error)
{
	struct nlmsghdr *message = answer_header(NLMSG_ERROR);
	struct nlmsgerr *body = mnl_nlmsg_put_extra_header(message,
	    sizeof(*body));

	body->error = -error;
	answer_end(message);
}

static void
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
static void
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

static void
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

static void
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

static int
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

static int
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

static int
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

static int
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

static void
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

static struct route_rule *
add_rule_of(int family, uint8_t protocol, uint32_t table, uint32_t priority)
{
	struct route_rule *rule = &kernel.rules[kernel.rule_count++];

	memset(rule, 0, sizeof(*rule));
	rule->family = family;
	rule->protocol = protocol;
	rule->table = table;
	rule->priority = priority;
	rule->plain = true;
	return rule;
}

static void
add_route_of(int family, uint8_t protocol, uint32_t table, uint32_t device)
{
	struct table_route *route = &kernel.routes[kernel.route_count++];

	memset(route, 0, sizeof(*route));
	route->entry.family = family;
	route->entry.table = table;
	route->entry.device = device;
	route->entry.protocol = protocol;
	route->entry.local_default = protocol == ROUTES_PROTOCOL;
	route->metric = device;
}

static bool
said(const char *text)
{
	for (size_t i = 0; i < diag.kept; i++)
		if (strstr(diag.entries[i].text, text) != NULL)
			return true;
	return false;
}

static struct routes *
installed(void)
{
	struct routes *routes;

	CHECK(routes_install(&routes, &config, &diag) == 0);
	CHECK(routes != NULL && diag.errors == 0);
	return routes;
}

/* The whole of what one version of IP is sent: lo's route, rule, eth's route. */
static void
messages_as_octets(void)
{
	/* Behind the header: in the order of the machine's octets. */
	static const uint8_t route[] = {
		2, 0, 0, 0, 0, 53, 254, 2, 0, 0, 0, 0,
		8, 0, 15, 0, 0xb4, 0x14, 0, 0,		/* table 5300 */
		8, 0, 4, 0, 1, 0, 0, 0,			/* device lo */
		8, 0, 6, 0, 1, 0, 0, 0,			/* metric */
	};
	static const uint8_t rule[] = {
		2, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0,
		8, 0, 15, 0, 0xb4, 0x14, 0, 0,		/* table 5300 */
		8, 0, 6, 0, 53, 0, 0, 0,		/* priority */
		8, 0, 10, 0, 0, 0, 0, 0x40,		/* mark */
		8, 0, 16, 0, 0, 0, 0, 0x70,		/* its mask */
		5, 0, 21, 0, 53, 0, 0, 0,		/* protocol */
	};
	const struct nlmsghdr *first = (const void *)kernel.sent[0];
	const struct nlmsghdr *second = (const void *)kernel.sent[1];

	begin();
	kernel.ipv6 = false;
	routes_leave(installed());
	/* lo is asked for once more with the devices: it is there. */
	CHECK(kernel.sent_count == 5);
	CHECK(first->nlmsg_type == RTM_NEWROUTE &&
	    second->nlmsg_type == RTM_NEWRULE &&
	    first->nlmsg_len == NLMSG_HDRLEN + sizeof(route) &&
	    second->nlmsg_len == NLMSG_HDRLEN + sizeof(rule));
	CHECK(first->nlmsg_flags == second->nlmsg_flags &&
	    first->nlmsg_flags ==
	    (NLM_F_REQUEST | NLM_F_ACK | NLM_F_CREATE | NLM_F_EXCL));
	if (htons(1) == 1)
		return;			/* the octets above are of the others */
	CHECK(memcmp(kernel.sent[0] + NLMSG_HDRLEN, route, sizeof(route)) == 0);
	CHECK(memcmp(kernel.sent[1] + NLMSG_HDRLEN, rule, sizeof(rule)) == 0);
}

static void
both_versions_and_every_device(void)
{
	struct routes *routes;

	begin();
	routes = installed();
	CHECK(routes_fd(routes) >= 0);
	CHECK(kernel.rule_count == 2 && kernel.route_count == 4);
	CHECK(kernel.rules[0].family == AF_INET &&
	    kernel.rules[1].family == AF_INET6);
	routes_remove(routes);
	CHECK(kernel.rule_count == 0 && kernel.route_count == 0);
	routes_remove(NULL);
	begin();
	kernel.ipv6 = false;
	routes = installed();
	CHECK(kernel.rule_count == 1 && kernel.route_count == 2);
	routes_leave(routes);
	CHECK(kernel.rule_count == 1 && kernel.route_count == 2);
	routes_leave(NULL);
}

/* A run that was killed left a rule and a table of other numbers. */
static void
leftovers_go_and_others_stay(void)
{
	begin();
	add_rule_of(AF_INET, ROUTES_PROTOCOL, 99, 60);
	add_route_of(AF_INET, ROUTES_PROTOCOL, 99, LO);
	add_rule_of(AF_INET6, 0, 52, 5210);
	add_rule_of(AF_INET, 0, 254, 53);	/* of our priority */
	add_route_of(AF_INET, 3, 254, 7);
	routes_remove(installed());
	CHECK(said("routing rule of priority 53, too: change stream.priority"));
	CHECK(diag.warnings == 1);
	CHECK(kernel.rule_count == 2 && kernel.route_count == 1);
	CHECK(kernel.rules[0].protocol == 0 && kernel.rules[1].protocol == 0);
	CHECK(kernel.routes[0].entry.table == 254);

	begin();
	add_rule_of(AF_INET6, ROUTES_PROTOCOL, 99, 60);
	add_route_of(AF_INET6, ROUTES_PROTOCOL, 99, LO);
	add_rule_of(AF_INET6, 0, 99, 61);
	CHECK(routes_clean() == 0);
	CHECK(kernel.rule_count == 1 && kernel.rules[0].priority == 61);
	CHECK(kernel.route_count == 0);
}

static void
another_programs_table_is_not_used(void)
{
	struct routes *routes;

	begin();
	add_route_of(AF_INET6, 3, 5300, 7);
	CHECK(routes_install(&routes, &config, &diag) == -EBUSY);
	CHECK(routes == NULL && diag.errors == 1);
	CHECK(said("IPv6 routing table 5300: change stream.table"));
	/* IPv4's, which came first, are out again. */
	CHECK(kernel.rule_count == 0 && kernel.route_count == 1);
}

static void
refusals_are_named(void)
{
	static const struct {
		uint16_t type;
		int error;
		const char *text;
	} cases[] = {
		{ RTM_GETRULE, EPERM, "cannot read or clean the IPv4" },
		{ RTM_NEWROUTE, ENETDOWN, "ip link set lo up" },
		{ RTM_NEWROUTE, EPERM, "CONFIG_IP_MULTIPLE_TABLES" },
		{ RTM_NEWRULE, EOPNOTSUPP, "CONFIG_IP_MULTIPLE_TABLES" },
	};
	struct routes *routes;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		begin();
		kernel.failing = cases[i].type;
		kernel.error = cases[i].error;
		CHECK(routes_install(&routes, &config, &diag) ==
		    -cases[i].error);
		CHECK(routes == NULL && diag.errors == 1);
		CHECK(said(cases[i].text));
		CHECK(kernel.rule_count == 0 && kernel.route_count == 0);
	}
}

static void
what_is_gone_comes_back(void)
{
	struct routes *routes;

	begin();
	routes = installed();
	CHECK(!routes_watch(routes));
	kernel.devices[kernel.device_count++] = 9;
	CHECK(!routes_watch(routes));		/* new, not gone */
	CHECK(kernel.route_count == 6);
	kernel.rule_count = 0;
	CHECK(routes_watch(routes) && kernel.rule_count == 2);
	kernel.route_count = 0;
	CHECK(routes_watch(routes) && kernel.route_count == 6);
	CHECK(!routes_watch(routes));
	routes_remove(routes);
}

/* With this done to what was installed, the kernel differs, and why. */
static void
differs(void (*spoil)(void), const char *text)
{
	enum rules_state state = RULES_ABSENT;

	begin();
	routes_leave(installed());
	spoil();
	CHECK(routes_verify(&config, &state, &diag) == 0);
	CHECK(state == RULES_DIFFER && diag.errors == 1);
	CHECK(said(text));
}

static void
lose_rule(void)
{
	kernel.rules[1].mark = 1;
	kernel.rules[1].protocol = 0;
}

static void
limit_rule(void)
{
	kernel.rules[0].plain = false;
}

static void
lose_route(void)
{
	for (size_t i = 0; i < kernel.route_count; i++)
		if (kernel.routes[i].entry.family == AF_INET6 &&
		    kernel.routes[i].entry.device == LO)
			kernel.routes[i].entry.device = 8;
}

static void
change_route_of_ours(void)
{
	kernel.routes[0].entry.local_default = false;
}

static void
verify_says_what_differs(void)
{
	enum rules_state state = RULES_ABSENT;

	begin();
	routes_leave(installed());
	CHECK(routes_verify(&config, &state, &diag) == 0);
	CHECK(state == RULES_EQUAL && diag.errors == 0);
	differs(lose_rule, "IPv6 routing rule 53 is missing: fwmark "
	    "0x40000000/0x70000000 lookup 5300");
	differs(limit_rule, "IPv4 routing rule 53 of nfdnsd is not wanted");
	differs(lose_route, "IPv6 routing table 5300: route is missing");
	differs(change_route_of_ours, "IPv4 routing table 5300 has a route "
	    "that is not ours");
	begin();
	kernel.failing = RTM_GETROUTE;
	kernel.error = EPERM;
	CHECK(routes_verify(&config, &state, &diag) == -EPERM);
}

int
main(void)
{
	TEST(messages_as_octets);
	TEST(both_versions_and_every_device);
	TEST(leftovers_go_and_others_stay);
	TEST(another_programs_table_is_not_used);
	TEST(refusals_are_named);
	TEST(what_is_gone_comes_back);
	TEST(verify_says_what_differs);
	diag_free(&diag);
	return test_summary();
}

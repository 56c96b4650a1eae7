/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Policy routing as messages: what the kernel is sent is compared octet for octet,
 * and what it then holds.
 */
#include <arpa/inet.h>

#include "tests/unit/rules/own_rtnetlink.h"

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

/* The whole of what one version of IP is sent: lo's route, rule, eth's route. */
TEST(messages_as_octets)
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

TEST(both_versions_and_every_device)
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
TEST(leftovers_go_and_others_stay)
{
	begin();
	add_rule_of(AF_INET, ROUTES_PROTOCOL, 99, 60);
	add_route_of(AF_INET, ROUTES_PROTOCOL, 99, LO);
	add_rule_of(AF_INET6, 0, 52, 5210);
	add_rule_of(AF_INET, 0, 254, 53);	/* of our priority */
	add_route_of(AF_INET, 3, 254, 7);
	routes_remove(installed());
	CHECK(said("routing rule of priority 53, too"));
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

TEST(another_programs_table_is_not_used)
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

TEST(refusals_are_named)
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

int
main(void)
{
	test_run();
	diag_free(&diag);
	return test_summary();
}

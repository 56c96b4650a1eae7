/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What differs from what was installed is said, and comes back. */
#include "tests/unit/rules/own_rtnetlink.h"

TEST(what_is_gone_comes_back)
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

TEST(verify_says_what_differs)
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
	test_run();
	diag_free(&diag);
	return test_summary();
}

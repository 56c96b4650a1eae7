/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From config values to rules, in nft's words; no kernel takes part. */
#include <arpa/inet.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "rules/address_set.h"
#include "rules/cgroup.h"
#include "rules/ruleset.h"
#include "tests/check.h"
#include "tests/unit/rules/plain_config.h"

/* The text of the rules, to be freed; NULL if they could not be made. */
static char *
printed(const struct config *config, enum rules_stage stage)
{
	struct diag diag = DIAG_INIT;
	struct ruleset set;
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	if (out == NULL)
		return NULL;
	if (ruleset_build(&set, config, stage, &diag) == 0) {
		ruleset_listen_at(&set, (const uint16_t[2]){ 5300, 5300 });
		CHECK(ruleset_print(&set, out) == 0);
		ruleset_free(&set);
	}
	fclose(out);
	CHECK(diag.errors == 0);
	diag_free(&diag);
	return text;
}

/* Whether the parts stand in text in that order; the last is NULL. */
static bool
in_order(const char *text, const char *const *parts)
{
	for (; text != NULL && *parts != NULL; parts++) {
		text = strstr(text, *parts);
		if (text == NULL)
			printf("  not there, or too early: %s\n", *parts);
		else
			text += strlen(*parts);
	}
	return text != NULL;
}

/* With TCP: two more chains, two sets that fill themselves. */
TEST(rules_of_containers)
{
	static const char *const parts[] = {
		"table inet nfdns {\n", "}\ntable ip nfdns {\n",
		"\tset interfaces4 {\n\t\ttype iface_index\n",
		"\tset sources4 {\n\t\ttype iface_index . ipv4_addr\n",
		"\tset containers4 {", "elements = { 10.0.0.0/8,",
		"172.16.0.0/12,", "\tchain asked4 {\n",
		"type filter hook prerouting priority -310; policy accept;\n",
		"iif \"lo\" counter accept comment \"from lo\"\n",
		"fib saddr . iif oif missing counter accept",
		"meta mark & 0x70000000 != 0x00000000 meta mark set meta mark & "
		"0x8fffffff comment \"not marked by others\"\n",
		"iifname \"docker0\" ip saddr @containers4 counter meta mark "
		"set meta mark | 0x10000000 comment \"containers: docker0\"\n",
		"iifname \"br-*\" ip saddr @containers4",
		"iifname \"cni0\" ip saddr 10.88.0.0/16 counter",
		"meta mark & 0x70000000 == 0x10000000 update @sources4 { iif . ip "
		"saddr limit rate over 251/second burst 251 packets } counter",
		"update @interfaces4 { iif limit rate over 1000/second",
		"meta mark & 0x70000000 == 0x10000000 udp dport 53 counter queue "
		"flags bypass to 5300 comment \"containers' questions\"\n",
		"\tchain back4 {\n", "meta mark & 0x70000000 == 0x10000000 counter "
		"meta mark set meta mark & 0x8fffffff accept comment \"passed\"\n",
		"meta mark & 0x70000000 == 0x30000000 counter meta mark set meta "
		"mark & 0xafffffff | 0x20000000 dup to ip daddr device iif drop",
		"table ip6 nfdns {\n", "fc00::/7,", "dup to ip6 daddr device iif drop",
		NULL
	};
	char *bridges[] = { (char[]){ "docker0" }, (char[]){ "br-*" } };
	char *cni[] = { (char[]){ "cni0" } };
	struct config_prefix source = prefix("10.88.0.0", 16);
	struct config_container containers[] = {
		{ .interfaces = bridges, .interface_count = 2 },
		{ .interfaces = cni, .interface_count = 1, .sources = &source,
		    .source_count = 1 },
	};
	struct config config = plain;
	char *text;

	config.containers = containers + 1;
	config.container_count = 1;
	text = printed(&config, RULES_FULL);
	/* Its sources are IPv4 alone. */
	CHECK(text != NULL && strstr(text, "chain asked6") != NULL &&
	    strstr(text, "ip6 saddr") == NULL &&
	    strstr(text, "set containers") == NULL);
	free(text);
	config.containers = containers;
	config.container_count = 2;
	config.capture.user_rate = 1000;
	text = printed(&config, RULES_FULL);
	CHECK(in_order(text, parts));
	free(text);
	/* The chains stay where nothing is queued: without them packets would be lost. */
	text = printed(&config, RULES_PAUSED);
	CHECK(text != NULL && strstr(text, "chain back6") != NULL &&
	    strstr(text, "containers") == NULL);
	free(text);
}

TEST(rules_of_tcp)
{
	static const char *const parts[] = {
		"set streams4 {\n\t\ttype ipv4_addr . inet_service . ipv4_addr\n",
		"flags dynamic,timeout",
		"set streams6 {",
		"chain question {\n",
		"\t\tth dport != 53 counter accept comment \"not DNS\"\n",
		"comment \"canary\"",
		"meta mark & 0x70000000 == 0x60000000 counter accept "
		"comment \"relay: our own connections\"\n",
		"comment \"questions\"",
		"\t\ttcp dport 53 tcp flags & (fin | syn | rst | ack) == syn "
		"counter queue flags bypass to 5300 comment \"connections\"\n",
		"chain verdict {",
		"meta mark & 0x70000000 == 0x40000000 counter notrack",
		"chain stream {\n\t\ttype route hook output priority -307; ",
		"th dport != 53 meta mark & 0x70000000 != 0x20000000 counter",
		"meta mark & 0x70000000 == 0x20000000 meta nfproto ipv4 "
		"tcp flags & (fin | rst) != 0 "
		"ip daddr . tcp dport . ip saddr @streams4 counter "
		"update @streams4 { ip daddr . tcp dport . ip saddr timeout 2s }"
		" accept comment \"ended by us (IPv4)\"\n",
		"meta mark & 0x70000000 == 0x20000000 meta nfproto ipv4 "
		"tcp flags & psh == psh ",
		"update @streams4 { ip daddr . tcp dport . ip saddr timeout 15s }"
		" accept",
		"th dport != 53 counter accept comment \"to clients\"\n",
		"update @streams4 { ip saddr . tcp sport . ip daddr timeout 9s }"
		" accept",
		"syn counter meta mark set meta mark & 0x8fffffff accept "
		"comment \"too many to remember: not intercepted\"\n",
		"delete @streams4 {",
		"tcp flags & rst == rst ip saddr . tcp sport . ip daddr "
		"@streams4 counter update @streams4 { ip saddr . tcp sport . "
		"ip daddr timeout 2s } meta mark set meta mark | 0x40000000",
		"tcp flags & psh == psh ip saddr . tcp sport . ip daddr "
		"@streams4 counter update @streams4 { ip saddr . tcp sport . "
		"ip daddr timeout 15s } meta mark set meta mark | 0x40000000",
		"meta nfproto ipv4 ip saddr . tcp sport . ip daddr @streams4 "
		"counter meta mark set meta mark | 0x40000000 accept",
		"chain arrival {\n\t\ttype filter hook prerouting priority -150",
		"tproxy ip to 127.0.0.1:5300 accept",
		"tproxy ip6 to [::1]:5300 accept", NULL
	};
	struct config config = plain;
	char *text;

	config.capture.tcp = true;
	config.stream.idle_s = 7;
	text = printed(&config, RULES_FULL);
	CHECK(in_order(text, parts));
	CHECK(text != NULL && strstr(text, "not UDP") == NULL);
	free(text);
	/* No connection is queued for the canary; what there is goes on. */
	text = printed(&config, RULES_CANARY);
	CHECK(text != NULL && strstr(text, "\"connections\"") == NULL &&
	    strstr(text, "chain stream") != NULL);
	free(text);
	/* However patient the daemon is, nobody holds a place by a SYN alone. */
	config.stream.idle_s = 3600;
	text = printed(&config, RULES_FULL);
	CHECK(text != NULL && strstr(text, "ip daddr timeout 30s }") != NULL &&
	    strstr(text, "ip daddr timeout 3605s }") != NULL);
	free(text);
}

/* In the end what was queued with the zone still to come passes without. */
TEST(leaving_passes_without_a_zone)
{
	struct config config = plain;
	char *text;

	config.capture.zone = 53;
	text = printed(&config, RULES_LEAVING);
	CHECK(in_order(text, (const char *const[]){
	    "comment \"canary\"\n\t}\n", "chain verdict",
	    "accept comment \"passed\"",
	    "ct original zone set 53", NULL }));
	free(text);
	config.capture.zone = 0;
	text = printed(&config, RULES_LEAVING);
	CHECK(text != NULL && strstr(text, "zone") == NULL);
	free(text);
}

/* Where the policy could deny, no packet of a program goes by unread: issue 22. */
TEST(nothing_goes_by_unread)
{
	static const char *const parts[] = {
		"# Packets that a full queue has no room for are dropped.\n",
		"comment \"bypass: user 998\"",
		"meta mark & 0x10000000 == 0x10000000 udp dport 53 meta skuid != "
		"4294967295 counter queue flags bypass to 5300 comment "
		"\"repeated: counted before\"\n",
		"meta mark & 0x70000000 == 0x10000000 udp dport 53 meta mark set "
		"meta mark | 0x50000000 comment \"repeated: its socket is "
		"closed\"\n",
		"meta mark & 0x10000000 == 0x10000000 udp dport 53 counter queue "
		"flags bypass to 5300 comment \"repeated: of no socket\"\n",
		"fib saddr type != local counter meta mark set meta mark | "
		"0x20000000 comment",
		"fib daddr type broadcast counter meta mark set",
		"meta mark & 0x70000000 == 0x20000000 meta skuid != 4294967295 "
		"meta mark set meta mark | 0x10000000 comment",
		"meta mark & 0x70000000 == 0x20000000 counter meta mark set "
		"meta mark & 0x8fffffff accept comment \"of no program\"\n",
		"packets } counter drop comment \"over capture.user_rate: "
		"questions\"\n",
		"packets } counter drop comment \"over capture.user_rate: "
		"connections\"\n",
		"meta mark & 0x70000000 == 0x30000000 meta l4proto tcp counter "
		"meta mark set meta mark & 0x8fffffff accept",
		"syn counter drop comment \"too many to remember: dropped\"\n",
		NULL
	};
	struct policy_rule rule = { .line = 1, .action = RULE_REFUSE };
	uid_t users[] = { 998 };
	struct config config = plain;
	char *text;

	config.capture.tcp = true;
	config.capture.user_rate = 70;
	config.capture.bypass.users = users;
	config.capture.bypass.user_count = 1;
	config.queue.overload_pass = true;
	config.policy.rules = &rule;
	config.policy.rule_count = 1;
	text = printed(&config, RULES_FULL);
	CHECK(in_order(text, parts));
	free(text);
	/* Rules that only observe deny nothing. */
	rule.observe = 1;
	text = printed(&config, RULES_FULL);
	CHECK(text != NULL && strstr(text, " drop") == NULL &&
	    strstr(text, "meta skuid != 4294967295") == NULL &&
	    strstr(text, "no room for pass unread.\n") != NULL);
	free(text);
}

TEST(queue_statement)
{
	struct config config = plain;
	char *text;

	config.queue.workers = 4;
	text = printed(&config, RULES_FULL);
	CHECK(text != NULL &&
	    strstr(text, "queue flags bypass,fanout to 5300-5303 ") != NULL);
	free(text);
	config.queue.absent_drop = true;
	text = printed(&config, RULES_FULL);
	CHECK(text != NULL &&
	    strstr(text, "queue flags fanout to 5300-5303 ") != NULL);
	free(text);
	config.queue.workers = 1;
	text = printed(&config, RULES_FULL);
	CHECK(text != NULL && strstr(text, "counter queue to 5300 ") != NULL);
	free(text);
}

/* The elements of one prefix as text: "10.0.0.0 -11.0.0.0", - before an end. */
static bool
has_elements(const char *address, uint8_t length, const char *start,
    const char *end)
{
	struct config_prefix of = prefix(address, length);
	struct address_element elements[2];
	char text[INET6_ADDRSTRLEN];
	size_t count = address_elements(&of, elements);

	inet_ntop(of.family, elements[0].key, text, sizeof(text));
	if (elements[0].end || strcmp(text, start) != 0 ||
	    count != (end != NULL ? 2 : 1))
		return false;
	inet_ntop(of.family, elements[1].key, text, sizeof(text));
	return end == NULL || (elements[1].end && strcmp(text, end) == 0);
}

TEST(intervals)
{
	CHECK(has_elements("10.0.0.0", 8, "10.0.0.0", "11.0.0.0"));
	CHECK(has_elements("10.255.255.255", 32, "10.255.255.255", "11.0.0.0"));
	CHECK(has_elements("192.0.2.64", 26, "192.0.2.64", "192.0.2.128"));
	CHECK(has_elements("127.255.255.254", 31, "127.255.255.254",
	    "128.0.0.0"));
	/* To the end of all addresses. */
	CHECK(has_elements("0.0.0.0", 0, "0.0.0.0", NULL));
	CHECK(has_elements("128.0.0.0", 1, "128.0.0.0", NULL));
	CHECK(has_elements("255.255.255.255", 32, "255.255.255.255", NULL));
	CHECK(has_elements("::", 0, "::", NULL));
	CHECK(has_elements("ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", 128,
	    "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", NULL));
	CHECK(has_elements("2001:db8:0:ffff::", 64, "2001:db8:0:ffff::",
	    "2001:db8:1::"));
	CHECK(has_elements("::", 1, "::", "8000::"));
}

TEST(sets_do_not_overlap)
{
	struct config_prefix given[] = {
		prefix("10.1.0.0", 16), prefix("::1", 128),
		prefix("10.0.0.0", 8), prefix("192.0.2.1", 32),
		prefix("10.0.0.0", 8), prefix("10.0.0.0", 24),
		prefix("192.0.2.0", 31), prefix("9.255.255.255", 32),
		prefix("11.0.0.0", 32), prefix("192.0.2.2", 32),
	};
	static const struct { const char *address; uint8_t length; } left[] = {
		{ "9.255.255.255", 32 }, { "10.0.0.0", 8 }, { "11.0.0.0", 32 },
		{ "192.0.2.0", 31 }, { "192.0.2.2", 32 },
	};
	struct address_set set = { .name = "test", .family = AF_INET };

	CHECK(address_set_fill(&set, given, sizeof(given) / sizeof(*given)) == 0);
	CHECK(set.count == sizeof(left) / sizeof(*left));
	for (size_t i = 0; i < set.count; i++) {
		struct config_prefix want = prefix(left[i].address,
		    left[i].length);

		CHECK(memcmp(set.prefixes[i].address, want.address, 4) == 0);
		CHECK(set.prefixes[i].length == want.length);
	}
	address_set_free(&set);

	/* Everything swallows all else. */
	given[3] = prefix("0.0.0.0", 0);
	CHECK(address_set_fill(&set, given, sizeof(given) / sizeof(*given)) == 0);
	CHECK(set.count == 1 && set.prefixes[0].length == 0);
	address_set_free(&set);
	CHECK(address_set_fill(&set, NULL, 0) == 0 && set.count == 0);
}

/* Every cgroup that cannot be looked up is told, with its line. */
TEST(cgroups_that_cannot_be_are_errors)
{
	struct config_cgroup cgroups[] = {
		{ (char[]){ "cgroup.procs" }, "test.conf", 7 },
		{ (char[]){ "cgroup.procs" }, "test.conf", 8 },
	};
	struct config config = plain;
	struct diag diag = DIAG_INIT;
	struct ruleset set;

	config.capture.bypass.cgroups = cgroups;
	config.capture.bypass.cgroup_count = 2;
	CHECK(ruleset_build(&set, &config, RULES_FULL, &diag) == -EINVAL);
	CHECK(diag.errors == 2);
	CHECK(strncmp(diag.entries[0].text, "test.conf:7: ", 13) == 0);
	CHECK(strstr(diag.entries[0].text, "cgroup.procs") != NULL);
	CHECK(strncmp(diag.entries[1].text, "test.conf:8: ", 13) == 0);
	diag_free(&diag);
	/* What only the full rules need does not stop the canary's. */
	diag = (struct diag)DIAG_INIT;
	CHECK(ruleset_build(&set, &config, RULES_CANARY, &diag) == 0);
	ruleset_free(&set);
	diag_free(&diag);
}

/* What a restart of a service leaves alike is its path. */
TEST(cgroups_are_told_apart_by_number)
{
	const struct condition user = condition_number(SUBJECT_SKUID,
	    OPERATOR_EQUAL, 7);
	struct rule one[] = { { .conditions = { user } },
		{ .conditions = { condition_cgroup(7, 2, "a/b") } },
		{ .conditions = { user } } };
	struct rule other[] = {
		{ .conditions = { condition_cgroup(7, 2, "a/b") } },
		{ .conditions = { condition_cgroup(8, 2, "a/c") } } };
	struct ruleset a = { .rules = one, .count = 3 };
	struct ruleset b = { .rules = other, .count = 1 };
	struct ruleset none = { .count = 0 };

	CHECK(ruleset_same_cgroups(&a, &b) && ruleset_same_cgroups(&b, &a));
	CHECK(ruleset_same_cgroups(&none, &none));
	CHECK(!ruleset_same_cgroups(&a, &none));
	CHECK(!ruleset_same_cgroups(&none, &a));
	b.count = 2;
	CHECK(!ruleset_same_cgroups(&a, &b) && !ruleset_same_cgroups(&b, &a));
	b.count = 1;
	other[0].conditions[0] = condition_cgroup(9, 2, "a/b");
	CHECK(!ruleset_same_cgroups(&a, &b));
}

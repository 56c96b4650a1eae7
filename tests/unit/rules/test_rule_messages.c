/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From config values to the octets that the kernel gets, for every kind of rule
 * and both forms of queue.  messages.expected has a line for each rule: what
 * nft would show, and a hash of its netlink message.  "--print" writes such a
 * file; compare it by eye before it replaces the old one.
 */
#include <arpa/inet.h>
#include <inttypes.h>
#include <libmnl/libmnl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include <libnftnl/common.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>

#include "rules/expressions.h"
#include "rules/ruleset.h"
#include "tests/check.h"
#include "tests/unit/rules/plain_config.h"

#define EXPECTED "tests/unit/rules/messages.expected"

/* FNV-1a. */
static uint64_t
hash(const void *data, size_t size)
{
	const uint8_t *octets = data;
	uint64_t value = 0xcbf29ce484222325;

	for (size_t i = 0; i < size; i++)
		value = (value ^ octets[i]) * 0x100000001b3;
	return value;
}

static uint64_t
hash_of(const struct rule *rule, enum queue_form form)
{
	static _Alignas(struct nlmsghdr) char buffer[65536];
	struct nlmsghdr *message = nftnl_nlmsg_build_hdr(buffer,
	    NFT_MSG_NEWRULE, NFPROTO_INET, 0, 0);
	struct nftnl_rule *made = expressions_rule(rule, form);

	CHECK(made != NULL);
	if (made == NULL)
		return 0;
	nftnl_rule_nlmsg_build_payload(message, made);
	nftnl_rule_free(made);
	return hash(message, message->nlmsg_len);
}

static void
print_messages(const char *title, const struct config *config,
    enum rules_stage stage, FILE *out)
{
	struct diag diag = DIAG_INIT;
	struct ruleset set;
	char *text = NULL;
	size_t size = 0;
	FILE *whole = open_memstream(&text, &size);

	CHECK(whole != NULL);
	CHECK(ruleset_build(&set, config, stage, &diag) == 0);
	ruleset_listen_at(&set, (const uint16_t[2]){ 5353, 5353 });
	CHECK(ruleset_print(&set, whole) == 0);
	fclose(whole);
	fprintf(out, "%s %016" PRIx64 "\n", title, hash(text, size));
	free(text);
	for (size_t i = 0; i < set.count; i++) {
		const struct rule *rule = &set.rules[i];

		fprintf(out, "%016" PRIx64 " %016" PRIx64 " ",
		    hash_of(rule, QUEUE_NATIVE), hash_of(rule, QUEUE_XT));
		rule_print(rule, out);
		fprintf(out, " (%s)\n", rule->comment);
	}
	ruleset_free(&set);
	diag_free(&diag);
}

static void
print_all(FILE *out)
{
	struct policy_rule denies = { .line = 1, .action = RULE_REFUSE };
	uid_t users[] = { 998, 0 };
	gid_t groups[] = { 4294967294U };
	struct config_mark marks[] = { { 0x539, 0xfff }, { 7, UINT32_MAX } };
	struct config_prefix addresses[] = {
		prefix("169.254.169.254", 32), prefix("fd00::", 8),
	};
	struct config config = plain;

	config.stream.idle_s = 7;
	fputs("# SPDX-License-Identifier: GPL-2.0-or-later\n", out);
	print_messages("plain", &config, RULES_FULL, out);
	print_messages("plain, canary", &config, RULES_CANARY, out);
	print_messages("plain, leaving", &config, RULES_LEAVING, out);
	config.capture.bypass = (struct config_bypass){
		.users = users, .user_count = 2,
		.groups = groups, .group_count = 1,
		.marks = marks, .mark_count = 2,
		.destinations = addresses, .destination_count = 2,
	};
	config.capture.tcp = true;
	config.capture.user_rate = 70;
	config.queue.workers = 4;
	print_messages("all, any nameserver", &config, RULES_FULL, out);
	config.capture.zone = 0;
	config.capture.any_nameserver = false;
	config.capture.nameservers = addresses;
	config.capture.nameserver_count = 2;
	config.queue.absent_drop = true;
	print_messages("all, named nameservers", &config, RULES_FULL, out);
	print_messages("all, canary", &config, RULES_CANARY, out);
	config = plain;
	config.capture.tcp = true;
	config.capture.user_rate = 70;
	config.policy.rules = &denies;
	config.policy.rule_count = 1;
	print_messages("a policy that denies", &config, RULES_FULL, out);
	print_messages("the same, leaving", &config, RULES_LEAVING, out);
}

/* The first line in which both differ is printed. */
TEST(rules_and_messages_are_as_expected)
{
	char made[1024], wanted[1024];
	FILE *expected = fopen(EXPECTED, "r"), *actual = tmpfile();

	CHECK(expected != NULL && actual != NULL);
	if (expected == NULL || actual == NULL)
		return;
	print_all(actual);
	rewind(actual);
	for (int line = 1; ; line++) {
		bool more = fgets(made, sizeof(made), actual) != NULL;
		bool more_wanted = fgets(wanted, sizeof(wanted), expected) !=
		    NULL;

		if (!more && !more_wanted)
			break;
		CHECK(more && more_wanted && strcmp(made, wanted) == 0);
		if (test_failed_here) {
			printf("  " EXPECTED ":%d: wanted %s  made %s", line,
			    more_wanted ? wanted : "no more\n",
			    more ? made : "no more\n");
			break;
		}
	}
	fclose(actual);
	fclose(expected);
}

int
main(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "--print") == 0) {
		print_all(stdout);
		return 0;
	}
	return test_run();
}

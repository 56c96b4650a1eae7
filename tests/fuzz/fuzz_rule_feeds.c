/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the compiler process says of files of rules, which may be an attacker's:
 * reports, requests; and any octets as the kept file of a list and as the list.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "nfq/process/rule_feeds.h"
#include "tests/fuzz/fuzz.h"

#define FEEDS	3

static void
say(char *text)
{
	struct rule_feeds feeds = { .directory = -1 };
	struct diag diag = DIAG_INIT;

	feeds.list = calloc(FEEDS + 1, sizeof(*feeds.list));
	check(feeds.list != NULL);
	for (; feeds.count < FEEDS; feeds.count++) {
		feeds.list[feeds.count].input.file = -1;
		feeds.list[feeds.count].input.kept = -1;
		feeds.list[feeds.count].memory = -1;
	}
	for (char *line; (line = strsep(&text, "\n")) != NULL;) {
		(void)!rule_feeds_report(&feeds, line, &diag);
		check(rule_feeds_draft(&feeds, line) < 0);
	}
	for (size_t i = 0; i < FEEDS; i++) {
		check(feeds.list[i].state < RULES_FEED_STATES);
		check(strpbrk(feeds.list[i].problem, "\r\n\033") == NULL);
	}
	diag_free(&diag);
	rule_feeds_close(&feeds);
}

static int
file_of(const uint8_t *data, size_t size)
{
	const int fd = memfd_create("file", MFD_CLOEXEC);

	check(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	return fd;
}

/* The list begins behind the last octet 0xff. */
static void
compile(const uint8_t *data, size_t size)
{
	static char path[] = "/etc/names";
	struct policy_set set = { .path = path };
	struct policy_name name = { .kind = POLICY_SET };
	struct policy_rule rule = { .action = RULE_DROP,
		.match.names = { .count = 1 } };
	const struct policy policy = { .rules = &rule, .rule_count = 1,
		.names = &name, .name_count = 1, .sets = &set, .set_count = 1,
		.refuse_unloaded = size & 1 };
	const uint8_t *middle = memrchr(data, 0xff, size);
	const size_t kept = middle != NULL ? (size_t)(middle - data) : 0;
	const size_t skip = middle != NULL ? kept + 1 : 0;
	struct rules_feed_input input = { .file = file_of(data + skip,
		size - skip), .kept = file_of(data, kept) };
	/* Nobody answers at this socket: what is included cannot be had. */
	static const int nobody = -1;
	struct rules_feed feed = { .text = NULL };
	struct diag diag = DIAG_INIT;
	uint8_t *octets = NULL;
	size_t length;

	/* Whatever stands in the files, they are no error. */
	check(rules_feeds_build(&(struct rules_feeds_job){ .policy = &policy,
	    .path = "/etc/test.conf", .inputs = &input, .limit = 50,
	    .broker = &nobody }, &feed, &diag, &octets, &length) == 0);
	check(diag.errors == 0);
	check(feed.state < RULES_FEED_STATES);
	rules_feeds_clear(&feed, 1);
	diag_free(&diag);
	free(octets);
	(void)close(input.file);
	(void)close(input.kept);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);

	if (text == NULL)
		return 0;
	if (size > 0)
		memcpy(text, data, size);
	text[size] = '\0';
	if (size > 0 && data[0] == '+')
		say(text + 1);
	else if (size > 0)
		compile(data, size);
	free(text);
	return 0;
}

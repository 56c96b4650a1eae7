/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A configuration that says no more than it must, for rules. */
#ifndef NFDNS_TESTS_UNIT_RULES_PLAIN_CONFIG_H
#define NFDNS_TESTS_UNIT_RULES_PLAIN_CONFIG_H

#include <arpa/inet.h>
#include <string.h>
#include <sys/socket.h>

#include "policy/config/config.h"
#include "tests/check.h"

static const struct config plain = {
	.path = (char[]){ "test.conf" },
	.capture = {
		.any_nameserver = true,
		.mark_mask = 0x70000000,
		.mark_passed = 0x10000000,
		.mark_answered = 0x20000000,
		.mark_stream = 0x40000000,
		.zone = 53,
	},
	.queue = { .number = 5300, .workers = 1 },
};

static inline struct config_prefix
prefix(const char *address, uint8_t length)
{
	struct config_prefix made = {
		.family = strchr(address, ':') != NULL ? AF_INET6 : AF_INET,
		.length = length,
	};

	CHECK(inet_pton(made.family, address, made.address) == 1);
	return made;
}

#endif

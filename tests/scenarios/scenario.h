/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a scenario file says, between its readers and test_scenarios.c. */
#ifndef NFDNS_TESTS_SCENARIO_H
#define NFDNS_TESTS_SCENARIO_H

#include <stdbool.h>	/* before ldns.h, which else makes a bool of its own */
#include <ldns/ldns.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "policy/decide.h"
#include "resolver/image/mesh.h"
#include "resolver/image/table.h"

#define SCENARIO_MAX_SOURCES	4
#define SCENARIO_MAX_LINE	4096
#define SCENARIO_COUNT_ANY	SIZE_MAX

/* One question and what is expected of it. */
struct exchange {
	unsigned int line;		/* 0: none yet */
	bool expected;			/* a verdict line was there */
	uint8_t message[4096];
	size_t length;
	uint32_t turn;
	bool stream;
	enum verdict verdict;
	enum reason reason;
	int rcode;
	bool truncated;
	bool any_order;
	size_t fits;
	size_t count;
	char flags[64];
	ldns_rr_list *records;
	ldns_rr_list *authority;
	ldns_rr_list *additional;
};

struct scenario {
	const char *path;
	unsigned int line;
	FILE *file;
	bool failed;
	unsigned int questions;
	struct mesh mesh;
	struct mesh_source sources[SCENARIO_MAX_SOURCES];
	int fds[SCENARIO_MAX_SOURCES];
	struct answer_settings settings;
	bool unloaded;
	struct dns_name own_name;
	struct table *table;		/* compiled at the first question */
	struct exchange x;
};

/* Notes that the scenario has failed, and says where and why. */
void scenario_complain(struct scenario *s, unsigned int line,
    const char *format, ...) __attribute__((format(printf, 3, 4)));

/* The next word of *rest, or NULL. */
char *scenario_word(char **rest);

/* A decimal number; 0 and a complaint if it is none. */
unsigned long scenario_number(struct scenario *s, const char *text);

/* What a statement does with the rest of its line. */
typedef void scenario_take(struct scenario *s, char *rest);

/* Settings: mesh.c. */
scenario_take scenario_set_domain, scenario_set_namespace, scenario_set_search,
    scenario_set_zone, scenario_set_ttl, scenario_set_negative_ttl,
    scenario_set_udp_size, scenario_set_suppress_https, scenario_set_tcp,
    scenario_set_unloaded,
    scenario_set_own_name, scenario_set_table;

/* Questions and what is expected of them: exchange.c. */
scenario_take scenario_ask, scenario_more, scenario_expect_record,
    scenario_expect_authority, scenario_expect_additional,
    scenario_expect_rcode, scenario_expect_flags,
    scenario_expect_truncated, scenario_expect_any_order,
    scenario_expect_fits, scenario_expect_count;

/* "VERDICT REASON"; false if first is no verdict. */
bool scenario_expect_verdict(struct scenario *s, const char *first, char *rest);

#endif

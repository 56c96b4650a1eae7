/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is shown of the daemon, as one table with a row a fact.  The lines and
 * the JSON of nfdns status (print.c) and the metrics (metrics.c) walk over it.
 */
#ifndef NFDNS_POLICY_STATUS_FACTS_H
#define NFDNS_POLICY_STATUS_FACTS_H

#include <net/if.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "policy/config/config.h"
#include "policy/status/feed_status.h"
#include "policy/status/status.h"

/* Where a fact is: in struct facts itself, or in each element of a list. */
enum facts_list {
	FACTS_DAEMON,			/* struct status_facts */
	FACTS_REASONS,			/* uint64_t */
	FACTS_SOURCES,			/* struct mesh_source */
	FACTS_UPSTREAMS,		/* struct status_upstream */
	FACTS_DOMAINS,			/* struct status_domain */
	FACTS_RULES,			/* struct policy_shown */
	FACTS_FEEDS,			/* struct feed_shown */
	FACTS_INTERFACES,		/* struct interface_shown */
	FACTS_LISTS
};

/* Questions of containers that came by one interface; the others' (status.h). */
struct interface_shown {
	char name[IF_NAMESIZE];
	uint64_t answered, passed, forwarded, refused, dropped;
};
#define INTERFACES_OTHER "(other)"

/* All that is shown, at one moment. */
struct status_facts {
	uint64_t now;			/* CLOCK_REALTIME seconds */
	struct status_supervisor s;	/* a copy */
	struct status_counters c;
	uint64_t pid, worker_pid;	/* 0: there is none */
	uint64_t threads, hits, reloads, rates_full;
	bool reload_ok, paused;
	char reload_error[STATUS_TEXT], degraded[STATUS_TEXT];
	struct status_forwarding *forwarding;	/* a copy */
	struct policy_shown *rules;	/* behind them, all others together */
	size_t rule_count;		/* without those */
	struct interface_shown *interfaces;
	bool files;			/* whether sources and feeds are shown */
	struct feeds_shown feeds;
	struct config_newer newer;	/* the printer of status fills it in */
	struct {
		const void *first;
		size_t count, size;	/* of an element */
	} lists[FACTS_LISTS];
};

enum fact_kind {
	FACT_NUMBER,
	FACT_COUNT,			/* a number that its element's line says */
	FACT_AGE,			/* a moment, shown as seconds since then */
	FACT_MICROSECONDS,		/* seconds as a metric */
	FACT_FLAG,			/* the number's bit of the mask */
	/* Texts: */
	FACT_CHARS,
	FACT_POINTER,			/* to a text */
	FACT_NAME,			/* in wire format */
	FACT_REASON,			/* by the place of its counter */
	FACT_STATE,
	FACT_MODE,
	FACT_UPSTREAM_STATE,
	FACT_TROUBLE,
	/* What has a form of its own: */
	FACT_LIST,			/* JSON: all elements */
	FACT_SERVERS,			/* JSON: of a domain */
	FACT_METRIC,			/* metrics only */
};

struct fact {
	enum facts_list list;
	enum fact_kind kind;
	/* A section of nfdns status, "" for the top.  NULL: of the elements. */
	const char *section;
	const char *key;		/* NULL: the element's label, or not shown */
	size_t offset, size;
	const char *metric;		/* its family; NULL: none */
	const char *label;		/* whose value is the key; NULL: the list's */
	const char *help;		/* in the first row of a family */
	uint32_t mask;			/* of FACT_FLAG; of FACT_LIST: which */
};

extern const struct fact facts_table[];
extern const size_t facts_rows;

/*
 * Reads the page, and of config's sources and feeds how old they are, unless that is
 * NULL; borrows from it.  0 or -ENOMEM; free it in both cases.
 */
int facts_read(struct status_facts *facts, const struct status_page *page,
    const struct config *config) __attribute__((warn_unused_result));
void facts_free(struct status_facts *facts);

const void *facts_element(const struct status_facts *facts,
    enum facts_list list, size_t i);

/* What the row says of an element: a moment, or a number; a flag is 0 or 1. */
uint64_t fact_number(const struct fact *fact, const void *element);

#define FACT_TEXT_SIZE	NAME_TEXT_SIZE

/* And the text; NULL for other kinds.  Lives as long as buf and the facts. */
const char *fact_text(const struct status_facts *facts, const struct fact *fact,
    const void *element, char buf[static FACT_TEXT_SIZE]);

/* The row's key; of a list's, what the element is called.  Likewise. */
const char *fact_key(const struct status_facts *facts, const struct fact *fact,
    const void *element, char buf[static FACT_TEXT_SIZE]);

/* Seconds since then; 0 if it never happened or the clock was set back. */
static inline uint64_t
status_age(uint64_t then, uint64_t now)
{
	return then == 0 || then > now ? 0 : now - then;
}

#endif

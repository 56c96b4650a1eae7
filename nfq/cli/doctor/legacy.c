/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rules are looked at one by one: what names port 53, and policies.  A packet is
 * not taken through them, so a rule before that accepts it is not seen.
 */
#include "nfq/cli/doctor/legacy.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nfq/cli/doctor/program.h"

#define TEXT_MAX	((size_t)4 * 1024 * 1024)
#define WAIT_MS		2000
#define WORDS		64
#define NAME		64

/* One line "-A CHAIN ...", as words. */
struct rule {
	char *words[WORDS];
	size_t count;
};

/* A table while its lines are read. */
struct reading {
	struct findings *findings;
	const struct config *config;
	const char *program;
	char table[NAME];
	bool unanswered;
	bool accepted[2];		/* a rule before: UDP, TCP */
};

static void
split(struct rule *rule, char *line)
{
	char *word;

	rule->count = 0;
	while ((word = strsep(&line, " ")) != NULL && rule->count < WORDS)
		if (*word != '\0')
			rule->words[rule->count++] = word;
}

/* The word behind an option; NULL if it is not there, or behind "!". */
static const char *
value_of(const struct rule *rule, const char *option)
{
	for (size_t i = 0; i + 1 < rule->count; i++)
		if (strcmp(rule->words[i], option) == 0)
			return i > 0 && strcmp(rule->words[i - 1], "!") == 0 ?
			    NULL : rule->words[i + 1];
	return NULL;
}

/* "53", "50:60", "22,53,80". */
static bool
has_port53(const char *ports)
{
	while (ports != NULL && *ports != '\0') {
		char *end;
		const unsigned long first = strtoul(ports, &end, 10);
		const unsigned long last = *end == ':' ?
		    strtoul(end + 1, &end, 10) : first;

		if (first <= 53 && last >= 53)
			return true;
		if (*end != ',')
			return false;
		ports = end + 1;
	}
	return false;
}

static bool
is_any(const char *word, const char *const *words)
{
	for (; word != NULL && *words != NULL; words++)
		if (strcmp(word, *words) == 0)
			return true;
	return false;
}

/* Whether it has no condition but protocol and port. */
static bool
is_plain(const struct rule *rule)
{
	static const char *const known[] = { "-A", "-p", "-m", "--dport",
	    "--dports", "--comment", "-j", "--to-ports", "--to-destination",
	    "--reject-with", NULL };
	static const char *const modules[] = { "udp", "tcp", "multiport",
	    "comment", NULL };

	for (size_t i = 0; i < rule->count; i++)
		if (strcmp(rule->words[i], "!") == 0 ||
		    (rule->words[i][0] == '-' &&
		    !is_any(rule->words[i], known)) ||
		    (strcmp(rule->words[i], "-m") == 0 && i + 1 < rule->count &&
		    !is_any(rule->words[i + 1], modules)))
			return false;
	return true;
}

static void
tell_rule(const struct reading *r, const struct rule *rule, const char *target,
    bool redirects)
{
	const char *protocol = value_of(rule, "-p");
	const char *to = value_of(rule, "--to-ports");

	if (to == NULL)
		to = value_of(rule, "--to-destination");
	findings_add(r->findings, is_plain(rule) ? FINDING_BAD :
	    FINDING_WARNING, FINDING_OBSTACLE, "If that is not "
	    "meant so, paste this line, and mend the program that made the "
	    "rule.", "%s: a rule of table %s, chain %s (-j %s%s%s) %s "
	    "questions to port 53: %s", r->program, r->table, rule->words[1],
	    target, to != NULL ? " " : "", to != NULL ? to : "",
	    redirects ? "redirects" : "drops", redirects ?
	    "whoever listens there answers what nfdnsd lets pass or forwards" :
	    "names are not resolved");
	findings_paste(r->findings, "%s -t %s -I OUTPUT -p %s --dport 53 -j "
	    "ACCEPT", r->program, r->table, protocol != NULL ? protocol :
	    "udp");
}

static void
take_rule(struct reading *r, char *line)
{
	static const char *const nats[] = { "REDIRECT", "DNAT", NULL };
	static const char *const drops[] = { "DROP", "REJECT", NULL };
	static const char *const foreign[] = { "PREROUTING", "FORWARD",
	    "INPUT", NULL };
	static const char *const accepts[] = { "ACCEPT", NULL };
	const char *target;
	struct rule rule;
	bool tcp;

	split(&rule, line);
	target = value_of(&rule, "-j");
	if (rule.count < 2 || is_any(rule.words[1], foreign) ||
	    (!has_port53(value_of(&rule, "--dport")) &&
	    !has_port53(value_of(&rule, "--dports"))))
		return;
	tcp = value_of(&rule, "-p") != NULL &&
	    strcmp(value_of(&rule, "-p"), "tcp") == 0;
	if (r->accepted[tcp])
		return;
	if (is_any(target, accepts) && is_plain(&rule) &&
	    strcmp(rule.words[1], "OUTPUT") == 0)
		r->accepted[tcp] = true;
	else if (is_any(target, nats))
		tell_rule(r, &rule, target, true);
	else if (is_any(target, drops))
		tell_rule(r, &rule, target, false);
}

/* ":OUTPUT DROP [0:0]" */
static void
take_policy(const struct reading *r, const char *line)
{
	char chain[NAME], policy[NAME], stream[16] = "";

	if (!r->unanswered || sscanf(line, ":%63s %63s", chain, policy) != 2 ||
	    strcmp(policy, "DROP") != 0 || (strcmp(chain, "OUTPUT") != 0 &&
	    strcmp(chain, "INPUT") != 0))
		return;
	if (r->config->capture.tcp)
		(void)snprintf(stream, sizeof(stream), " 0x%08x",
		    r->config->capture.mark_stream);
	findings_add(r->findings, FINDING_BAD, FINDING_OBSTACLE, "Paste this line, "
	    "and write it into that firewall's configuration, too.",
	    "%s: chain %s of table %s drops by default, and may drop nfdnsd's "
	    "answers: the canary question is not answered", r->program, chain,
	    r->table);
	findings_paste(r->findings, "for mark in 0x%08x%s; do %s -t %s -I %s "
	    "-m mark --mark $mark/0x%08x -j ACCEPT; done",
	    r->config->capture.mark_answered, stream, r->program, r->table,
	    chain, r->config->capture.mark_mask);
}

void
legacy_check_text(struct findings *findings, const struct config *config,
    bool unanswered, const char *program, char *text)
{
	struct reading r = { .findings = findings, .config = config,
	    .program = program, .unanswered = unanswered };
	char *line;

	while ((line = strsep(&text, "\n")) != NULL)
		if (*line == '*') {
			(void)snprintf(r.table, sizeof(r.table), "%s",
			    line + 1);
			r.accepted[0] = r.accepted[1] = false;
		} else if (*line == ':')
			take_policy(&r, line);
		else if (strncmp(line, "-A ", 3) == 0)
			take_rule(&r, line);
}

/* Whether the kernel has tables of it in this network namespace. */
static bool
is_in_use(const char *names)
{
	FILE *file = fopen(names, "re");
	bool any;

	if (file == NULL)
		return false;
	any = fgetc(file) != EOF;
	(void)fclose(file);
	return any;
}

void
legacy_check(struct findings *findings, const struct config *config,
    bool unanswered)
{
	static const struct {
		const char *names, *program, *save;
	} kinds[] = {
		{ "/proc/net/ip_tables_names", "iptables-legacy",
		    "iptables-legacy-save" },
		{ "/proc/net/ip6_tables_names", "ip6tables-legacy",
		    "ip6tables-legacy-save" },
	};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		int error;
		char *text;

		if (!is_in_use(kinds[i].names))
			continue;
		text = program_read((const char *const[]){ kinds[i].save,
		    NULL }, TEXT_MAX, WAIT_MS, &error);
		if (text == NULL)
			findings_add(findings, FINDING_UNKNOWN, FINDING_OBSTACLE,
			    "Install iptables, or look yourself at what they "
			    "do to port 53.", "%s says that there are chains "
			    "of %s, which cannot be read: %s: %s",
			    kinds[i].names, kinds[i].program, kinds[i].save,
			    strerror(-error));
		else
			legacy_check_text(findings, config, unanswered,
			    kinds[i].program, text);
		free(text);
	}
}

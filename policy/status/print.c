/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The facts as lines for people, and as JSON. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "policy/status/facts.h"
#include "resolver/text/json_write.h"
#include "resolver/text/printable.h"
#include "resolver/version.h"

/* In this order; the lines of upstreams, rules and feeds are behind them. */
static const char *const sections[] = { "", "table", "source_age_seconds",
	"counters", "reasons", "stream", "forward", "queue", "worker", "deaths",
	"reload", "audit" };

/* The next row of a section, or of the elements of a list; NULL: the end. */
static const struct fact *
next_row(const struct fact *fact, const char *section, enum facts_list list)
{
	for (fact = fact == NULL ? facts_table : fact + 1;
	    fact < facts_table + facts_rows; fact++)
		if (section != NULL ? fact->section != NULL &&
		    strcmp(fact->section, section) == 0 :
		    fact->section == NULL && fact->list == list &&
		    fact->key != NULL)
			return fact;
	return NULL;
}

/* Lines */

/* Long lists leave out what never happened, and texts are left out if empty. */
static bool
is_worth_a_line(const struct fact *fact, uint64_t number, const char *text)
{
	return text != NULL ? text[0] != '\0' : fact->kind != FACT_LIST &&
	    (number != 0 || (strcmp(fact->section, "reasons") != 0 &&
	    strcmp(fact->section, "stream") != 0 &&
	    strcmp(fact->section, "forward") != 0));
}

static void
print_fact(const struct status_facts *f, const struct fact *fact, size_t i,
    FILE *out)
{
	const void *element = facts_element(f, fact->list, i);
	const uint64_t number = fact_number(fact, element);
	char buf[FACT_TEXT_SIZE], key[FACT_TEXT_SIZE];
	const char *text = fact_text(f, fact, element, buf);

	if (!is_worth_a_line(fact, number, text))
		return;
	print_key(out, "%s%s%s", fact->section, fact->section[0] != '\0' ?
	    "." : "", fact_key(f, fact, element, key));
	if (text != NULL)
		(void)printable_put(text, out);
	else if (fact->kind == FACT_FLAG)
		(void)fputs(number != 0 ? "yes" : "no", out);
	else
		(void)fprintf(out, "%" PRIu64, fact->kind == FACT_AGE ?
		    status_age(number, f->now) : number);
	(void)fputc('\n', out);
}

/* ", 3 timeouts" for each count that is not 0. */
static void
print_counts(enum facts_list list, const void *element, FILE *out)
{
	const struct fact *fact = NULL;

	while ((fact = next_row(fact, NULL, list)) != NULL) {
		const uint64_t number = fact_number(fact, element);

		if (fact->kind == FACT_COUNT && number != 0)
			(void)fprintf(out, ", %" PRIu64 " %s", number,
			    fact->key);
	}
}

static void
print_upstream(const struct status_upstream *up, uint64_t now, FILE *out)
{
	char span[FEED_SPAN_TEXT], buf[RR_TEXT_SIZE];

	(void)fprintf(out, "%s for %s", forward_status_state(up->state),
	    feed_status_span((int64_t)status_age(up->since, now), span));
	if (up->srtt_us != 0)
		(void)fprintf(out, ", %u.%u ms", up->srtt_us / 1000,
		    up->srtt_us % 1000 / 100);
	print_counts(FACTS_UPSTREAMS, up, out);
	if (up->trouble != 0)
		(void)fprintf(out, "; last error %s ago: %s",
		    feed_status_span((int64_t)status_age(up->trouble_at, now),
		    span), forward_status_trouble(up->trouble, buf));
	if (up->tls[0] != '\0')
		(void)fprintf(out, "; TLS: %s", up->tls);
}

/* Upstreams and domains, a line each. */
static void
print_forwarding(const struct status_forwarding *f, uint64_t now, FILE *out)
{
	char name[NAME_TEXT_SIZE];

	for (uint32_t i = 0; i < f->domains; i++) {
		print_key(out, "forward.domain.%s",
		    name_to_text(f->domain[i].name, name));
		(void)fprintf(out, "%" PRIu64 " question%s",
		    f->domain[i].counters[DOMAIN_QUESTIONS],
		    plural(f->domain[i].counters[DOMAIN_QUESTIONS]));
		print_counts(FACTS_DOMAINS, &f->domain[i], out);
		(void)fputc('\n', out);
	}
	for (uint32_t i = 0; i < f->upstreams; i++) {
		print_key(out, "forward.upstream.%s", f->upstream[i].text);
		print_upstream(&f->upstream[i], now, out);
		(void)fputc('\n', out);
	}
}

static void
print_policy(const struct status_facts *f, FILE *out)
{
	for (size_t i = 0; i <= f->rule_count; i++) {
		const struct policy_shown *rule = &f->rules[i];

		if (rule->matched == 0)
			continue;
		print_key(out, "policy.%s", rule->name);
		(void)fprintf(out, "%" PRIu64 " question%s", rule->matched,
		    plural(rule->matched));
		if (rule->observed > 0)
			(void)fprintf(out, ", %" PRIu64 " only observed",
			    rule->observed);
		if (rule->limited > 0)
			(void)fprintf(out, ", %" PRIu64 " over the limit",
			    rule->limited);
		(void)fputc('\n', out);
	}
	if (f->rates_full > 0) {
		print_key(out, "policy.rates_full");
		(void)fprintf(out, "%" PRIu64 "\n", f->rates_full);
	}
}

/* ": 120 answered, 3 passed"; of what never happened, nothing. */
static void
print_outcome(const struct interface_shown *sum, FILE *out)
{
	const struct {
		uint64_t count;
		const char *what;
	} parts[] = { { sum->answered, "answered" }, { sum->passed, "passed" },
		{ sum->forwarded, "forwarded" }, { sum->refused, "refused" },
		{ sum->dropped, "dropped" } };
	const char *between = ": ";

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (parts[i].count > 0) {
			(void)fprintf(out, "%s%" PRIu64 " %s", between,
			    parts[i].count, parts[i].what);
			between = ", ";
		}
}

/* "docker0: 120 answered, 3 passed" */
static void
print_interface(const struct interface_shown *i, FILE *out)
{
	(void)printable_put(i->name, out);
	print_outcome(i, out);
	(void)fputc('\n', out);
}

static int
print_lines(const struct status_facts *f, FILE *out)
{
	const struct fact *fact = NULL;

	for (size_t s = 0; s < sizeof(sections) / sizeof(sections[0]); s++)
		while ((fact = next_row(fact, sections[s], 0)) != NULL)
			for (size_t i = 0; i < f->lists[fact->list].count; i++)
				print_fact(f, fact, i, out);
	for (size_t i = 0; i < f->newer.count; i++) {
		print_key(out, "changed_file");
		(void)printable_put(f->newer.files[i], out);
		(void)fputc('\n', out);
	}
	for (size_t i = 0; i < f->lists[FACTS_INTERFACES].count; i++) {
		print_key(out, "containers");
		print_interface(&f->interfaces[i], out);
	}
	print_forwarding(f->forwarding, f->now, out);
	print_policy(f, out);
	feeds_shown_print(&f->feeds, (int64_t)f->now, out);
	return ferror(out) ? -EIO : 0;
}

/* JSON */

static void write_elements(const struct status_facts *f, enum facts_list list,
    size_t count, const char *key, struct json_write *w);

static void
write_servers(const struct status_facts *f, const struct status_domain *domain,
    struct json_write *w)
{
	for (uint32_t i = 0; i < domain->upstreams; i++)
		json_write_text(w, NULL,
		    f->forwarding->upstream[domain->upstream[i]].text);
}

static void
write_fact(const struct status_facts *f, const struct fact *fact,
    const char *key, const void *element, struct json_write *w)
{
	const uint64_t number = fact_number(fact, element);
	char buf[FACT_TEXT_SIZE];

	switch (fact->kind) {
	case FACT_FLAG:
		json_write_bool(w, key, number != 0);
		break;
	case FACT_NUMBER:
	case FACT_COUNT:
	case FACT_MICROSECONDS:
		json_write_number(w, key, number);
		break;
	case FACT_AGE:
		json_write_number(w, key, status_age(number, f->now));
		break;
	case FACT_LIST:
		write_elements(f, fact->mask, f->lists[fact->mask].count, key,
		    w);
		break;
	case FACT_SERVERS:
		json_write_open(w, key, '[');
		write_servers(f, element, w);
		json_write_close(w, ']');
		break;
	default:
		json_write_text(w, key, fact_text(f, fact, element, buf));
	}
}

static void
write_elements(const struct status_facts *f, enum facts_list list,
    size_t count, const char *key, struct json_write *w)
{
	const struct fact *fact = NULL;

	json_write_open(w, key, '[');
	for (size_t i = 0; i < count; i++) {
		json_write_open(w, NULL, '{');
		while ((fact = next_row(fact, NULL, list)) != NULL)
			write_fact(f, fact, fact->key,
			    facts_element(f, list, i), w);
		json_write_close(w, '}');
	}
	json_write_close(w, ']');
}

/* Tables may be of one file: the key comes once. */
static bool
comes_again(const struct status_facts *f, const struct fact *fact, size_t i)
{
	char key[FACT_TEXT_SIZE], other[FACT_TEXT_SIZE];

	for (size_t before = 0; before < i; before++)
		if (strcmp(fact_key(f, fact, facts_element(f, fact->list, i),
		    key), fact_key(f, fact, facts_element(f, fact->list,
		    before), other)) == 0)
			return true;
	return false;
}

static void
write_section(const struct status_facts *f, const char *section,
    struct json_write *w)
{
	const struct fact *fact = NULL;
	char key[FACT_TEXT_SIZE];

	while ((fact = next_row(fact, section, 0)) != NULL)
		for (size_t i = 0; i < f->lists[fact->list].count; i++) {
			const void *element = facts_element(f, fact->list, i);

			if (!comes_again(f, fact, i))
				write_fact(f, fact, fact_key(f, fact, element,
				    key), element, w);
		}
}

static int
print_json(const struct status_facts *f, FILE *out)
{
	struct json_write w = { .out = out, .ascii = true };
	const struct policy_shown *others = &f->rules[f->rule_count];

	json_write_open(&w, NULL, '{');
	write_section(f, "", &w);
	for (size_t s = 1; s < sizeof(sections) / sizeof(sections[0]); s++) {
		const struct fact *first = next_row(NULL, sections[s], 0);

		if (first == NULL || f->lists[first->list].count == 0)
			continue;
		json_write_open(&w, sections[s], '{');
		write_section(f, sections[s], &w);
		json_write_close(&w, '}');
	}
	json_write_open(&w, "policy", '{');
	json_write_number(&w, "rates_full", f->rates_full);
	write_elements(f, FACTS_RULES, f->rule_count, "rules", &w);
	json_write_open(&w, "others", '{');
	json_write_number(&w, "matched", others->matched);
	json_write_number(&w, "observed", others->observed);
	json_write_number(&w, "limited", others->limited);
	json_write_close(&w, '}');
	json_write_close(&w, '}');
	if (f->files) {
		json_write_open(&w, "changed_files", '[');
		for (size_t i = 0; i < f->newer.count; i++)
			json_write_text(&w, NULL, f->newer.files[i]);
		json_write_close(&w, ']');
		feeds_shown_write(&f->feeds, (int64_t)f->now, &w);
	}
	json_write_close(&w, '}');
	return json_write_end(&w);
}

/* A dozen lines */

static void
title(FILE *out, const char *text)
{
	(void)fprintf(out, "%-10s ", text);
}

/* "3 hours": since then. */
static const char *
since(uint64_t then, uint64_t now, char text[static FEED_SPAN_TEXT])
{
	return feed_status_span((int64_t)status_age(then, now), text);
}

static void
summarize_daemon(const struct status_facts *f, const struct config *config,
    FILE *out)
{
	char span[FEED_SPAN_TEXT];

	title(out, "nfdnsd");
	(void)fprintf(out, "%s for %s, version " NFDNS_VERSION ", pid %" PRIu64
	    ", ", status_state_text(atomic_load(&f->s.state)),
	    since(f->s.started, f->now, span), f->pid);
	(void)printable_put(config->path, out);
	(void)fputc('\n', out);
	if (f->paused) {
		const uint64_t until = atomic_load(&f->s.paused_until);

		title(out, "paused");
		(void)fprintf(out, "every question passes, for %s; nfdns "
		    "resume ends it\n", feed_status_span(until > f->now ?
		    (int64_t)(until - f->now) : 0, span));
	}
	if (f->degraded[0] != '\0') {
		title(out, "degraded");
		(void)printable_put(f->degraded, out);
		(void)fputc('\n', out);
	}
	if (!f->reload_ok) {
		title(out, "reload");
		(void)fputs("refused, all stays as it was: ", out);
		(void)printable_put(f->reload_error, out);
		(void)fputc('\n', out);
	}
	if (f->newer.count > 0) {
		title(out, "changed");
		(void)printable_put(f->newer.files[0], out);
		if (f->newer.count > 1)
			(void)fprintf(out, " and %zu more",
			    f->newer.count - 1);
		(void)fputs(" since nfdnsd loaded it: nfdns reload\n", out);
	}
}

static void
summarize_table(const struct status_facts *f, const struct config *config,
    FILE *out)
{
	const struct mesh *mesh = &config->mesh;
	char span[FEED_SPAN_TEXT];

	title(out, "table");
	if (atomic_load(&f->s.table_generation) == 0) {
		(void)fputs("none was ever loaded: nfdns check says why\n", out);
		return;
	}
	(void)fprintf(out, "%" PRIu64 " name%s, loaded %s ago",
	    f->s.table_names, plural(f->s.table_names),
	    since(f->s.table_loaded, f->now, span));
	if (mesh->source_count > 0) {
		(void)fputs("; ", out);
		(void)printable_put(mesh->sources[0].path, out);
		(void)fprintf(out, " is %s old", since((uint64_t)
		    mesh->sources[0].changed, f->now, span));
	}
	if (mesh->source_count > 1)
		(void)fprintf(out, ", and %zu more", mesh->source_count - 1);
	(void)fputc('\n', out);
}

/* What the summary has room for; --all has all of them. */
#define SUMMARY_INTERFACES 4

static void
summarize_containers(const struct status_facts *f, FILE *out)
{
	const size_t count = f->lists[FACTS_INTERFACES].count;

	for (size_t i = 0; i < count && i < SUMMARY_INTERFACES; i++) {
		title(out, i == 0 ? "containers" : "");
		print_interface(&f->interfaces[i], out);
	}
	if (count > SUMMARY_INTERFACES) {
		title(out, "");
		(void)fprintf(out, "and %zu interfaces more: nfdns status "
		    "--all\n", count - SUMMARY_INTERFACES);
	}
}

static void
summarize_questions(const struct status_facts *f, FILE *out)
{
	title(out, "questions");
	(void)fprintf(out, "%" PRIu64, f->c.received);
	print_outcome(&(struct interface_shown){ .answered = f->c.answered,
	    .passed = f->c.passed, .forwarded = f->c.forwarded,
	    .refused = f->c.refused, .dropped = f->c.dropped }, out);
	if (f->c.unseen + f->c.queue_dropped > 0)
		(void)fprintf(out, "; %" PRIu64 " went by unread, %" PRIu64
		    " were lost: the queue was full\n", f->c.unseen,
		    f->c.queue_dropped);
	else
		(void)fputs("; none lost\n", out);
}

static void
summarize_forwarding(const struct status_facts *f, FILE *out)
{
	const struct status_forwarding *w = f->forwarding;
	const struct status_upstream *down = NULL;
	char buf[RR_TEXT_SIZE];
	uint32_t up = 0;

	for (uint32_t i = 0; i < w->upstreams; i++)
		if (w->upstream[i].state <= STATUS_UPSTREAM_PROBING)
			up++;
		else
			down = &w->upstream[i];
	if (w->upstreams == 0)
		return;
	title(out, "forward");
	(void)fprintf(out, "%u of %u upstream%s up, %u domain%s", up,
	    w->upstreams, plural(w->upstreams), w->domains,
	    plural(w->domains));
	if (down != NULL) {
		(void)fputs("; ", out);
		(void)printable_put(down->text, out);
		(void)fprintf(out, " is %s: %s",
		    forward_status_state(down->state),
		    forward_status_trouble(down->trouble, buf));
	}
	(void)fputc('\n', out);
}

/* The worst feed speaks for all. */
static void
summarize_feeds(const struct status_facts *f, FILE *out)
{
	const struct feed_shown *worst = NULL;
	enum feed_health most = FEED_HEALTHY, health;
	char text[FEED_HEALTH_TEXT];

	for (size_t i = 0; i < f->feeds.count; i++) {
		const struct feed_shown *feed = &f->feeds.list[i];

		health = feed_status_health(&feed->report, feed->table_time,
		    feed->stale_after, (int64_t)f->now);
		if (worst == NULL || health > most) {
			worst = feed;
			most = health;
		}
	}
	if (worst == NULL)
		return;
	title(out, "feeds");
	if (feed_status_text(most, worst->name, &worst->report,
	    worst->stale_after, (int64_t)f->now, text) == NULL)
		(void)fprintf(out, "%zu, current", f->feeds.count);
	else
		(void)printable_put(text, out);
	(void)fputc('\n', out);
}

static void
summarize_rest(const struct status_facts *f, const struct config *config,
    FILE *out)
{
	uint64_t matched = 0;

	for (size_t i = 0; i <= f->rule_count; i++)
		matched += f->rules[i].matched;
	if (config->policy.rule_count > 0) {
		title(out, "policy");
		(void)fprintf(out, "%zu rule%s; %" PRIu64 " question%s matched\n",
		    config->policy.rule_count,
		    plural(config->policy.rule_count), matched,
		    plural(matched));
	}
	if (config->audit_count > 0) {
		title(out, "audit");
		(void)fprintf(out, "%" PRIu64 " record%s, %" PRIu64 " lost\n",
		    f->c.recorded, plural(f->c.recorded), f->c.audit_lost);
	}
	if (atomic_load(&f->s.restarts) > 0) {
		title(out, "worker");
		(void)fprintf(out, "started again %" PRIu64 " time%s\n",
		    atomic_load(&f->s.restarts),
		    plural(atomic_load(&f->s.restarts)));
	}
}

static int
print_summary(const struct status_facts *f, const struct config *config,
    FILE *out)
{
	summarize_daemon(f, config, out);
	summarize_table(f, config, out);
	summarize_questions(f, out);
	summarize_containers(f, out);
	summarize_forwarding(f, out);
	summarize_feeds(f, out);
	summarize_rest(f, config, out);
	return ferror(out) ? -EIO : 0;
}

int
status_print(const struct status_page *page, const struct config *config,
    enum status_form form, FILE *out)
{
	struct status_facts facts;
	int error = facts_read(&facts, page, config);

	if (error == 0 && config != NULL)
		error = config_newer(&facts.newer, config,
		    (int64_t)atomic_load(&facts.s.table_loaded));
	if (error == 0)
		error = form == STATUS_JSON ? print_json(&facts, out) :
		    form == STATUS_SUMMARY ? print_summary(&facts, config, out) :
		    print_lines(&facts, out);
	facts_free(&facts);
	return error;
}

void
status_log(const struct status_page *page)
{
	char *text = NULL, *line, *rest;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	int error;

	if (out == NULL)
		return;
	error = status_print(page, NULL, STATUS_ALL, out);
	if (fclose(out) != 0 || error < 0)
		log_warning("status: cannot be printed: out of memory");
	rest = text;
	while ((line = strsep(&rest, "\n")) != NULL)
		if (line[0] != '\0')
			log_notice("status: %s", line);
	free(text);
}

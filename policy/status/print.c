/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The facts as lines for people, and as JSON. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "policy/status/facts.h"
#include "resolver/text/json_write.h"
#include "resolver/text/printable.h"

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
		(void)fprintf(out, "%" PRIu64 " questions",
		    f->domain[i].counters[DOMAIN_QUESTIONS]);
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
		(void)fprintf(out, "%" PRIu64 " questions", rule->matched);
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

static int
print_lines(const struct status_facts *f, FILE *out)
{
	const struct fact *fact = NULL;

	for (size_t s = 0; s < sizeof(sections) / sizeof(sections[0]); s++)
		while ((fact = next_row(fact, sections[s], 0)) != NULL)
			for (size_t i = 0; i < f->lists[fact->list].count; i++)
				print_fact(f, fact, i, out);
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

		if (f->lists[first->list].count == 0)
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
	if (f->files)
		feeds_shown_write(&f->feeds, (int64_t)f->now, &w);
	json_write_close(&w, '}');
	return json_write_end(&w);
}

int
status_print(const struct status_page *page, const struct config *config,
    bool json, FILE *out)
{
	struct status_facts facts;
	int error = facts_read(&facts, page, config);

	if (error == 0)
		error = json ? print_json(&facts, out) :
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
	error = status_print(page, NULL, false, out);
	if (fclose(out) != 0 || error < 0)
		log_warning("status: cannot be printed: out of memory");
	rest = text;
	while ((line = strsep(&rest, "\n")) != NULL)
		if (line[0] != '\0')
			log_notice("status: %s", line);
	free(text);
}

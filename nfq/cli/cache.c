/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "nfq/ask/message.h"
#include "nfq/cache/cache_memory.h"
#include "nfq/cli/commands.h"
#include "nfq/cli/daemon_ask.h"
#include "nfq/cli/explain/message_text.h"
#include "nfq/process/exit_code.h"
#include "policy/config/config.h"
#include "resolver/clock.h"
#include "resolver/dns/rr.h"
#include "resolver/idn.h"
#include "resolver/text/json_write.h"
#include "resolver/text/printable.h"
#include "resolver/text/suggest.h"

const char cache_usage[] =
    "usage: nfdns [-c FILE] cache [stats] [--json]\n"
    "       nfdns [-c FILE] cache list [--json]\n"
    "       nfdns [-c FILE] cache get [--json] NAME [TYPE]\n"
    "       nfdns [-c FILE] cache flush [--json] [--tree] NAME\n"
    "       nfdns [-c FILE] cache flush [--json] --all\n"
    "\n"
    "Shows the answers of upstreams that the running daemon keeps: how many and\n"
    "how often they were used; all of them, each with the seconds that it is\n"
    "still good for; or the records kept for NAME.  Exit code 1: nothing is kept\n"
    "for that name or type.  \"flush\" removes the answers for NAME, of every\n"
    "type, and says how many there were; the next question is asked anew.\n"
    "\n"
    "  --tree   also those for all names below NAME\n"
    "  --all    all that is kept\n"
    "  --json   print JSON, one object a line\n"
    "\n"
    "  nfdns cache get www.corp.example AAAA\n"
    "  nfdns cache flush --tree corp.example\n";

static const char *const kinds[CACHE_KINDS] = {
	[CACHE_POSITIVE] = "records",
	[CACHE_NODATA] = "nodata",
	[CACHE_NXDOMAIN] = "nxdomain",
	[CACHE_FAILURE] = "failure",
};

/* What the command line asked for. */
struct request {
	const char *action;
	bool json;
	bool named;			/* only this name and type: */
	struct dns_name name;
	uint16_t type;			/* TYPE_ANY: all */
};

/* One entry, as it is shown. */
struct shown {
	char name[NAME_TEXT_SIZE], type_text[RR_TEXT_SIZE];
	const char *type;
	struct cache_key key;
	struct cache_entry entry;
	long long left;			/* seconds; below 0: expired */
};

#define WAIT_MS	10000	/* the daemon replaces a hanging worker in less */

struct words {
	bool json, tree, all, named;
	struct dns_name name;
};

const struct command_option cache_flush_options[] = {
	OPTION_FLAG("json", 0, struct words, json),
	OPTION_FLAG("tree", 0, struct words, tree),
	OPTION_FLAG("all", 0, struct words, all),
	{ .name = NULL },
};

/* EXIT_OK, or EXIT_USAGE after a message. */
static int
read_flush_words(struct words *w, int argc, char **argv)
{
	const int first = command_options_read(cache_flush_options,
	    "nfdns cache", w, argc, argv);

	if (first < 0)
		return EXIT_USAGE;
	for (int i = first; i < argc; i++) {
		if (w->named || idn_name_from_text(&w->name, argv[i],
		    strlen(argv[i])) != 0) {
			suggest_usage(stderr, "nfdns cache",
			    "unknown argument \"%s\"", argv[i]);
			return EXIT_USAGE;
		}
		name_lower(&w->name);
		w->named = true;
	}
	if (w->all != w->named && !(w->all && w->tree))
		return EXIT_OK;
	suggest_usage(stderr, "nfdns cache", "flush needs a NAME, or --all");
	return EXIT_USAGE;
}

static int
show_flush(const struct words *w, uint64_t removed)
{
	char text[NAME_TEXT_SIZE];

	if (w->json)
		(void)printf("{\"removed\": %" PRIu64 "}\n", removed);
	else if (w->all)
		(void)printf("%" PRIu64 " answer%s removed\n", removed,
		    plural(removed));
	else
		(void)printf("%" PRIu64 " answer%s for %s%s removed\n", removed,
		    plural(removed), name_to_text(w->name.octets, text),
		    w->tree ? " and all names below it" : "");
	return EXIT_OK;
}

/* "nfdns cache flush" with its words, those behind "flush".  An exit code. */
static int
cache_flush_running(const struct config *config, int argc, char **argv)
{
	struct words w = { .name = { .length = 1 } };
	struct daemon_answer answer;
	char name[NAME_TEXT_SIZE], line[REQUEST_MAX + 1];
	int code = read_flush_words(&w, argc, argv), error;
	uint64_t removed;

	if (code != EXIT_OK)
		return code;
	(void)snprintf(line, sizeof(line), "flush %s%s",
	    w.tree || w.all ? "tree " : "", name_to_text(w.name.octets, name));
	error = daemon_ask(&answer, config->run_dir, line, WAIT_MS);
	if (error < 0)
		return daemon_tell_error(&answer, "cache", config->run_dir,
		    error);
	(void)fputs(answer.err, stderr);
	code = answer.code;
	if (code == EXIT_OK) {
		removed = strtoull(answer.out, NULL, 10);
		code = show_flush(&w, removed);
	}
	daemon_answer_free(&answer);
	return code;
}

static void
show_record(const struct message *m, const struct message_record *record,
    struct json_write *w)
{
	struct wire_reader r = wire_reader_over(m->octets, m->length);
	char owner[NAME_TEXT_SIZE], buf[RR_TEXT_SIZE];
	const char *type = rr_type_text(record->type, buf);
	struct dns_name name;
	char *data;

	wire_skip(&r, record->owner);
	if (!name_read_compressed(&name, &r, m->octets + m->length, NULL) ||
	    (data = message_data_text(m, record)) == NULL)
		return;
	(void)name_to_text(name.octets, owner);
	if (w == NULL)
		(void)printf("  %s\t%u\t%s\t%s\n", owner, record->ttl, type,
		    data);
	else
		message_write_record(w, owner, record->ttl, type, data);
	free(data);
}

/* The records of an entry, with the TTLs that they were stored with. */
static void
show_records(struct cache *cache, monotime_t now, const struct shown *shown,
    struct json_write *w)
{
	static uint8_t octets[CACHE_MESSAGE_MAX];
	struct message_record record;
	struct cache_entry entry;
	struct message m;
	size_t at;

	if (shown->entry.kind != CACHE_POSITIVE ||
	    !cache_find(cache, now, &shown->key, UINT32_MAX, &entry, octets) ||
	    !message_read(&m, octets, entry.length))
		return;
	at = m.end[QUESTIONS];
	while (at < m.end[ANSWERS]) {
		message_record(&m, &at, &record);
		show_record(&m, &record, w);
	}
}

static void
show_entry(struct cache *cache, monotime_t now, const struct request *r,
    const struct shown *shown)
{
	const struct cache_entry *e = &shown->entry;
	struct json_write w = { .out = stdout };

	if (!r->json) {
		(void)printf("%s\t%s\t%s\t%lld s\t%u hit%s%s%s\n", shown->name,
		    shown->type, kinds[e->kind], shown->left, e->hits,
		    e->hits == 1 ? "" : "s",
		    shown->key.dnssec_ok ? "\tDO" : "",
		    shown->key.checking_disabled ? "\tCD" : "");
		if (r->named)
			show_records(cache, now, shown, NULL);
		return;
	}
	json_write_open(&w, NULL, '{');
	json_write_text(&w, "name", shown->name);
	json_write_text(&w, "type", shown->type);
	json_write_text(&w, "kind", kinds[e->kind]);
	json_write_integer(&w, "left_seconds", shown->left);
	json_write_number(&w, "hits", e->hits);
	json_write_number(&w, "octets", e->length);
	json_write_bool(&w, "dnssec_ok", shown->key.dnssec_ok);
	json_write_bool(&w, "checking_disabled", shown->key.checking_disabled);
	if (r->named) {
		json_write_open(&w, "records", '[');
		show_records(cache, now, shown, &w);
		json_write_close(&w, ']');
	}
	json_write_close(&w, '}');
	(void)!json_write_end(&w);
}

static bool
is_wanted(const struct request *r, const struct shown *shown)
{
	return !r->named || (name_equal(shown->key.name, &r->name) &&
	    (r->type == TYPE_ANY || r->type == shown->key.type ||
	    shown->entry.kind == CACHE_NXDOMAIN));
}

static int
show_entries(struct cache *cache, const struct request *r)
{
	const monotime_t now = monotime_boot();
	uint32_t place = 0, count = 0;
	struct dns_name name;
	struct shown shown;

	while (cache_walk(cache, &place, &shown.key, &name, &shown.entry)) {
		if (!is_wanted(r, &shown))
			continue;
		(void)name_to_text(name.octets, shown.name);
		shown.type = rr_type_text(shown.key.type, shown.type_text);
		shown.left = monotime_ms_since(shown.entry.expires, now) / 1000;
		show_entry(cache, now, r, &shown);
		count++;
	}
	return count == 0 && r->named ? EXIT_ERROR : EXIT_OK;
}

static int
show_stats(struct cache *cache, const struct request *r)
{
	struct cache_stats stats;

	cache_stats(cache, &stats);
	(void)printf(r->json ?
	    "{\"entries\": %u, \"size\": %u, \"octets\": %llu, \"hits\": %llu, "
	    "\"misses\": %llu, \"stored\": %llu, \"replaced\": %llu, "
	    "\"evicted\": %llu, \"flushed\": %llu}\n" :
	    "answers: %u of at most %u, %llu octets\nhits: %llu, misses: %llu\n"
	    "%llu stored, %llu replaced, %llu evicted, %llu flushed\n",
	    stats.entries, stats.entries_max,
	    (unsigned long long)stats.octets, (unsigned long long)stats.hits,
	    (unsigned long long)stats.misses,
	    (unsigned long long)stats.stored,
	    (unsigned long long)stats.replaced,
	    (unsigned long long)stats.evicted,
	    (unsigned long long)stats.flushed);
	return EXIT_OK;
}

const struct command_option cache_options[] = {
	OPTION_FLAG("json", 'j', struct request, json),
	{ .name = NULL },
};

/* NAME and TYPE.  False after a message. */
static bool
read_question(struct request *r, int argc, char **argv)
{
	r->type = TYPE_ANY;
	r->named = strcmp(r->action, "get") == 0;
	for (int i = 0; i < argc; i++) {
		if (r->named && i == 0 && idn_name_from_text(&r->name, argv[i],
		    strlen(argv[i])) == 0) {
			name_lower(&r->name);
		} else if (i != 1 ||
		    rr_type_from_text(&r->type, argv[i]) != 0) {
			suggest_usage(stderr, "nfdns cache",
			    "unknown argument \"%s\"", argv[i]);
			return false;
		}
	}
	if (!r->named || argc > 0)
		return true;
	suggest_usage(stderr, "nfdns cache", "get needs a NAME");
	return false;
}

/* EXIT_OK, or EXIT_USAGE after a message. */
static int
read_words(struct request *r, int argc, char **argv)
{
	const int first = command_options_read(cache_options, "nfdns cache", r,
	    argc, argv);

	return first >= 0 && read_question(r, argc - first, argv + first) ?
	    EXIT_OK : EXIT_USAGE;
}

int
cmd_cache(const struct config *config, int argc, char **argv)
{
	const bool plain = argc < 2 || argv[1][0] == '-';
	const int first = plain ? 0 : 1;	/* the word before the options */
	struct request r = { .action = plain ? "stats" : argv[1] };
	struct cache_memory memory;
	int code, fd, error;

	if (strcmp(r.action, "flush") == 0)
		return cache_flush_running(config, argc - first, argv + first);
	code = read_words(&r, argc - first, argv + first);
	if (code != EXIT_OK)
		return code;
	fd = daemon_open("cache", config->run_dir, &code);
	if (fd < 0)
		return code;
	error = cache_memory_copy(&memory, fd);
	(void)close(fd);
	if (error < 0) {
		cli_error("cache: cannot be read: %s", strerror(-error));
		return EXIT_ERROR;
	}
	code = strcmp(r.action, "stats") == 0 ? show_stats(memory.cache, &r) :
	    show_entries(memory.cache, &r);
	cache_memory_close(&memory);
	return code;
}

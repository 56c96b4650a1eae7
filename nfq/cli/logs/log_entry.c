/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/cli/logs/log_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* "2026-11-22T13:40:01.123456+0000", which is always UTC; 0: it is no time. */
static uint64_t
read_time(const char *text)
{
	struct tm tm = { .tm_isdst = 0 };
	unsigned long fraction = 0;
	const char *rest;
	time_t seconds;
	char *end;

	rest = text != NULL ? strptime(text, "%Y-%m-%dT%H:%M:%S", &tm) : NULL;
	if (rest == NULL || rest[0] != '.')
		return 0;
	/* The audit writes six digits. */
	fraction = strtoul(rest + 1, &end, 10);
	if (end != rest + 7)
		fraction = 0;
	seconds = timegm(&tm);
	return seconds < 0 ? 0 : (uint64_t)seconds * 1000000000U +
	    (uint64_t)fraction * 1000U;
}

static const char *
text_of(const struct json_node *object, const char *key)
{
	return json_tree_string(json_tree_member(object, key));
}

/* Version 3 of the format has the question in a list, earlier ones have not. */
static const struct json_node *
question_of(const struct json_node *dns)
{
	const struct json_node *first =
	    json_tree_items(json_tree_member(dns, "queries"));

	return first != NULL ? first : dns;
}

static void
set_question(struct log_entry *entry, const struct json_node *dns)
{
	const struct json_node *question = question_of(dns);
	const char *name = text_of(question, "rrname");
	size_t length;

	entry->line.type = text_of(question, "rrtype");
	if (name == NULL)
		entry->line.type = NULL;
	length = (size_t)snprintf(entry->name, sizeof(entry->name) - 1, "%s",
	    name != NULL ? name : "");
	if (length > 0 && length < sizeof(entry->name) - 1 &&
	    entry->name[length - 1] != '.')
		memcpy(entry->name + length, ".", 2);
	entry->line.name = entry->name;
}

static const char *
rcode_of(const struct json_node *dns, const char *verdict)
{
	const char *rcode = text_of(dns, "rcode");

	return rcode == NULL || strcmp(rcode, "NOERROR") == 0 ||
	    strcmp(verdict, "nxdomain") == 0 ? NULL : rcode;
}

bool
log_entry_read(struct log_entry *entry, struct json_tree *tree,
    const char *text, size_t length)
{
	const struct json_range range = { .text = text, .length = length,
		.line = 1 };
	const struct json_node *root, *dns, *ours;
	struct audit_line *line = &entry->line;
	unsigned int where;
	const char *why, *proto;
	long long uid;
	int error;

	root = json_tree_take(tree, &range, &error, &why, &where);
	dns = json_tree_member(root, "dns");
	ours = json_tree_member(root, "nfdns");
	*line = (struct audit_line){
		.time_ns = read_time(text_of(root, "timestamp")),
		.verdict = text_of(ours, "decision"),
		.reason = text_of(ours, "reason"),
		.client = text_of(root, "src_ip"),
		.interface = text_of(root, "in_iface"),
		.rule = text_of(ours, "rule"),
		.judged = text_of(ours, "judged"),
		.observed = text_of(ours, "observed"),
		.would = text_of(ours, "would"),
		.uid = (uid_t)-1,
	};
	if (line->verdict == NULL || line->reason == NULL || dns == NULL)
		return false;
	if (line->client == NULL)
		line->client = "-";
	if (json_tree_integer(json_tree_member(ours, "uid"), 0, UINT32_MAX - 1,
	    &uid))
		line->uid = (uid_t)uid;
	proto = text_of(root, "proto");
	line->stream = proto != NULL && strcmp(proto, "TCP") == 0;
	line->truncated = json_tree_is(json_tree_member(dns, "tc"),
	    JSON_KIND_TRUE);
	line->rcode = rcode_of(dns, line->verdict);
	set_question(entry, dns);
	entry->answers = json_tree_items(json_tree_member(dns, "answers"));
	return true;
}

size_t
log_entry_text(const struct log_entry *entry, bool colour,
    char text[static AUDIT_TEXT_MAX])
{
	struct audit_line_out out;

	audit_line_begin(&out, &entry->line, colour, text);
	for (const struct json_node *a = entry->answers; a != NULL;
	     a = a->next) {
		const char *rdata = text_of(a, "rdata");

		if (rdata != NULL)
			audit_line_answer(&out, rdata);
	}
	audit_line_end(&out, &entry->line);
	return (size_t)(out.pos - text);
}

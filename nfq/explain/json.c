/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/explain/json.h"

#include <arpa/inet.h>
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "nfq/explain/message_text.h"
#include "nfq/explain/print_policy.h"
#include "nfq/explain/words.h"
#include "resolver/dns/rr.h"

#define SHADOWS_MAX	64

/* -1: not known. */
static json_t *
id_json(uint32_t id)
{
	return id == UINT32_MAX ? json_null() : json_integer(id);
}

static json_t *
question_json(const struct explain_question *q)
{
	char client[INET6_ADDRSTRLEN], nameserver[INET6_ADDRSTRLEN];
	char name[NAME_TEXT_SIZE], type[RR_TEXT_SIZE];

	(void)inet_ntop(q->family, q->client, client, sizeof(client));
	(void)inet_ntop(q->family, q->nameserver, nameserver,
	    sizeof(nameserver));
	return json_pack("{s:s, s:s, s:s, s:s, s:s, s:o, s:o, s:I}",
	    "name", name_to_text(q->name.octets, name),
	    "type", rr_type_text(q->type, type),
	    "protocol", q->stream ? "tcp" : "udp", "client", client,
	    "nameserver", nameserver, "uid", id_json(q->uid),
	    "gid", id_json(q->gid), "time", (json_int_t)q->when);
}

static json_t *
kernel_json(const struct explanation *e)
{
	return json_pack("{s:b, s:s?}", "queued", (int)e->queued, "rule",
	    e->rule != NULL ? e->rule->comment : NULL);
}

static json_t *
place_json(const char *path, size_t length, unsigned int line)
{
	return json_pack("{s:s%, s:i}", "path", path, length, "line",
	    (int)line);
}

static json_t *
hidden_json(const struct explanation *e, struct shadows *shadows)
{
	const enum entry_kind kind = e->entry.kind;
	json_t *hidden = json_array();
	struct shadow found[SHADOWS_MAX];
	size_t count = 0;

	if (shadows != NULL)
		(void)shadows_find(shadows, &e->found,
		    kind == ENTRY_WILDCARD || kind == ENTRY_SEARCH_WILDCARD ?
		    ENTRY_WILDCARD : ENTRY_EXACT, found, SHADOWS_MAX, &count);
	for (size_t i = 0; i < count; i++)
		(void)json_array_append_new(hidden, place_json(found[i].path,
		    found[i].path_length, found[i].line));
	return hidden;
}

static json_t *
table_json(const struct explanation *e, struct shadows *shadows)
{
	static const char *const kinds[] = { [ENTRY_NONE] = "none",
		[ENTRY_EXACT] = "exact", [ENTRY_WILDCARD] = "wildcard",
		[ENTRY_SEARCH] = "search",
		[ENTRY_SEARCH_WILDCARD] = "search-wildcard",
		[ENTRY_EMPTY] = "empty" };
	const struct entry *entry = &e->entry;
	char name[NAME_TEXT_SIZE];
	unsigned int source, line;
	const char *path;
	size_t length;
	json_t *object;

	if (entry->node == 0)
		return json_pack("{s:s, s:s}", "found", kinds[entry->kind],
		    "name", name_to_text(e->sought.octets, name));
	table_origin(e->source->table, entry->node, &source, &line);
	path = table_source(e->source->table, source, &length);
	object = json_pack("{s:s, s:s, s:b, s:o}", "found", kinds[entry->kind],
	    "name", name_to_text(e->found.octets, name), "owned",
	    (entry->flags & NAME_OWNED) != 0, "hides",
	    hidden_json(e, shadows));
	if (path != NULL)
		(void)json_object_set_new(object, "source",
		    place_json(path, length, line));
	return object;
}

static json_t *
forwarding_json(const struct explanation *e)
{
	const struct forward_settings *f = &e->source->settings->forward;
	json_t *upstreams;
	char name[NAME_TEXT_SIZE];

	if (e->domain == NULL)
		return json_null();
	upstreams = json_array();
	for (uint32_t i = 0; i < e->domain->upstreams; i++) {
		char text[WORDS_UPSTREAM];

		(void)json_array_append_new(upstreams, json_string(
		    words_upstream(&f->upstream[e->domain->upstream[i]],
		    text)));
	}
	return json_pack("{s:s, s:b, s:o}", "domain",
	    name_to_text(e->domain->name, name), "asked",
	    (int)explain_is_forwarded(e), "upstreams", upstreams);
}

static json_t *
records_json(const struct message *m, enum message_section section)
{
	json_t *records = json_array();
	size_t at = m->end[section - 1];

	for (unsigned int i = 0; i < m->count[section]; i++) {
		struct wire_reader r = wire_reader_over(m->octets, m->length);
		char owner[NAME_TEXT_SIZE], type[RR_TEXT_SIZE];
		struct message_record record;
		struct dns_name name;
		char *data;

		message_record(m, &at, &record);
		wire_skip(&r, record.owner);
		if (!name_read_compressed(&name, &r, m->octets + m->length,
		    NULL))
			continue;
		data = message_data_text(m, &record);
		(void)json_array_append_new(records, json_pack(
		    "{s:s, s:I, s:s, s:s?}", "name",
		    name_to_text(name.octets, owner), "ttl",
		    (json_int_t)record.ttl, "type",
		    rr_type_text(record.type, type), "data", data));
		free(data);
	}
	return records;
}

static json_t *
error_json(const struct message *m)
{
	char text[MESSAGE_ERROR_TEXT];
	const int code = message_error(m, text);

	return code < 0 ? json_null() : json_pack("{s:i, s:s}", "code", code,
	    "text", text);
}

/* The whole message in hexadecimal: what a client would get. */
static json_t *
octets_json(const uint8_t *octets, size_t length)
{
	static const char digits[] = "0123456789abcdef";
	char *text = malloc(2 * length + 1);
	json_t *json;

	if (text == NULL)
		return NULL;
	for (size_t i = 0; i < length; i++) {
		text[2 * i] = digits[octets[i] >> 4];
		text[2 * i + 1] = digits[octets[i] & 15];
	}
	json = json_stringn(text, 2 * length);
	free(text);
	return json;
}

static json_t *
answer_json(const struct explanation *e)
{
	char rcode[RR_TEXT_SIZE];
	struct message m;

	if (e->in.answer_length == 0 ||
	    !message_read(&m, e->in.answer, e->in.answer_length))
		return json_null();
	return json_pack("{s:s, s:b, s:I, s:o, s:o, s:o, s:o, s:o}",
	    "rcode", rcode_text(m.rcode, rcode),
	    "truncated", (int)e->in.summary.truncated,
	    "octets", (json_int_t)e->in.answer_length,
	    "extended_error", error_json(&m),
	    "answer", records_json(&m, ANSWERS),
	    "authority", records_json(&m, AUTHORITY),
	    "additional", records_json(&m, ADDITIONAL),
	    "message", octets_json(e->in.answer, e->in.answer_length));
}

int
explain_print_json(const struct explanation *e,
    const struct explain_view *view, FILE *out)
{
	json_t *object = json_pack("{s:o, s:o}", "question",
	    question_json(e->question), "kernel", kernel_json(e));
	int error = 0;

	if (object != NULL && e->queued && json_object_update_new(object,
	    json_pack("{s:o, s:o, s:o, s:s, s:s, s:o}",
	    "policy", explain_policy_json(e, view->all),
	    "table", table_json(e, view->shadows),
	    "forwarding", forwarding_json(e),
	    "decision", decide_verdict_text(e->in.decision.verdict),
	    "reason", decide_reason_text(e->in.decision.reason),
	    "answer", answer_json(e))) != 0)
		error = -ENOMEM;
	if (object == NULL || error != 0 || json_dumpf(object, out,
	    JSON_COMPACT) != 0)
		error = ferror(out) ? -EIO : -ENOMEM;
	else if (fputc('\n', out) == EOF)
		error = -EIO;
	json_decref(object);
	return error;
}

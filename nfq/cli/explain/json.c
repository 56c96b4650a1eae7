/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/cli/explain/print.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include "nfq/cli/explain/message_text.h"
#include "resolver/dns/rr.h"
#include "resolver/text/json_write.h"

/* null: not known. */
static void
write_id(struct json_write *w, const char *key, uint32_t id)
{
	if (id == UINT32_MAX)
		json_write_text(w, key, NULL);
	else
		json_write_number(w, key, id);
}

static void
write_question(struct json_write *w, const struct explain_question *q)
{
	char client[INET6_ADDRSTRLEN], nameserver[INET6_ADDRSTRLEN];
	char name[NAME_TEXT_SIZE], type[RR_TEXT_SIZE];

	(void)inet_ntop(q->family, q->client, client, sizeof(client));
	(void)inet_ntop(q->family, q->nameserver, nameserver,
	    sizeof(nameserver));
	json_write_open(w, "question", '{');
	json_write_text(w, "name", name_to_text(q->name.octets, name));
	json_write_text(w, "type", rr_type_text(q->type, type));
	json_write_text(w, "protocol", q->stream ? "tcp" : "udp");
	json_write_text(w, "client", client);
	json_write_text(w, "nameserver", nameserver);
	write_id(w, "uid", q->uid);
	write_id(w, "gid", q->gid);
	json_write_close(w, '}');
}

static void
write_table(struct json_write *w, const struct explanation *e)
{
	const struct entry *entry = &e->entry;
	const bool found = entry->node != 0;
	char name[NAME_TEXT_SIZE];
	unsigned int source, line;
	const char *path;
	size_t length;

	json_write_open(w, "table", '{');
	json_write_text(w, "found", words_kind(entry->kind));
	json_write_text(w, "name", name_to_text(found ? e->found.octets :
	    e->sought.octets, name));
	if (found) {
		json_write_bool(w, "owned", (entry->flags & NAME_OWNED) != 0);
		table_origin(e->source->table, entry->node, &source, &line);
		path = table_source(e->source->table, source, &length);
		if (path != NULL) {
			json_write_open(w, "source", '{');
			json_write_octets(w, "path", path, length);
			json_write_number(w, "line", line);
			json_write_close(w, '}');
		}
	}
	json_write_close(w, '}');
}

static void
write_forwarding(struct json_write *w, const struct explanation *e)
{
	const struct forward_settings *f = &e->source->settings->forward;
	char name[NAME_TEXT_SIZE], text[FORWARD_UPSTREAM_TEXT];

	if (e->domain == NULL) {
		json_write_text(w, "forwarding", NULL);
		return;
	}
	json_write_open(w, "forwarding", '{');
	json_write_text(w, "domain", name_to_text(e->domain->name, name));
	json_write_bool(w, "asked", explain_is_forwarded(e));
	json_write_open(w, "upstreams", '[');
	for (uint32_t i = 0; i < e->domain->upstreams; i++)
		json_write_text(w, NULL, forward_upstream_text(
		    &f->upstream[e->domain->upstream[i]], text));
	json_write_close(w, ']');
	json_write_close(w, '}');
}

static void
write_records(struct json_write *w, const char *key, const struct message *m,
    enum message_section section)
{
	size_t at = m->end[section - 1];

	json_write_open(w, key, '[');
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
		message_write_record(w, name_to_text(name.octets, owner),
		    record.ttl, rr_type_text(record.type, type), data);
		free(data);
	}
	json_write_close(w, ']');
}

static void
write_error(struct json_write *w, const struct message *m)
{
	char text[MESSAGE_ERROR_TEXT];
	const int code = message_error(m, text);

	if (code < 0) {
		json_write_text(w, "extended_error", NULL);
		return;
	}
	json_write_open(w, "extended_error", '{');
	json_write_integer(w, "code", code);
	json_write_text(w, "text", text);
	json_write_close(w, '}');
}

/* The members of the open object. */
static void
write_message(struct json_write *w, const struct message *m)
{
	char rcode[RR_TEXT_SIZE];

	json_write_text(w, "rcode", rcode_text(m->rcode, rcode));
	json_write_bool(w, "truncated", (m->flags & DNS_FLAG_TC) != 0);
	json_write_number(w, "octets", m->length);
	write_error(w, m);
	write_records(w, "answer", m, ANSWERS);
	write_records(w, "authority", m, AUTHORITY);
	write_records(w, "additional", m, ADDITIONAL);
	/* The whole of it: what a client would get. */
	json_write_hex(w, "message", m->octets, m->length);
	json_write_close(w, '}');
}

static void
write_answer(struct json_write *w, const struct explanation *e)
{
	struct message m;

	if (!explain_message(e, &m)) {
		json_write_text(w, "answer", NULL);
		return;
	}
	json_write_open(w, "answer", '{');
	write_message(w, &m);
}

static void
write_came(struct json_write *w, const struct explanation *e,
    const struct explain_came *came)
{
	json_write_bool(w, "agrees", explain_agrees(e, came));
	json_write_open(w, "came", '{');
	json_write_number(w, "microseconds", (uint64_t)came->spent_us);
	json_write_text(w, "error", came->why);
	if (came->message != NULL)
		write_message(w, came->message);
	else
		json_write_close(w, '}');
}

int
explain_print_json(const struct explanation *e,
    const struct explain_view *view, FILE *out)
{
	struct json_write w = { .out = out };

	json_write_open(&w, NULL, '{');
	write_question(&w, e->question);
	json_write_open(&w, "kernel", '{');
	json_write_bool(&w, "queued", e->queued);
	json_write_text(&w, "rule", e->rule != NULL ? e->rule->comment : NULL);
	json_write_close(&w, '}');
	if (e->queued) {
		explain_write_policy(e, view->all, &w);
		write_table(&w, e);
		write_forwarding(&w, e);
		json_write_text(&w, "decision",
		    decide_verdict_text(e->in.decision.verdict));
		json_write_text(&w, "reason",
		    decide_reason_text(e->in.decision.reason));
		write_answer(&w, e);
	}
	if (view->came != NULL)
		write_came(&w, e, view->came);
	json_write_close(&w, '}');
	return json_write_end(&w);
}

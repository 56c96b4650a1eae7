/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/cli/explain/message_text.h"

#include <ldns/ldns.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "resolver/dns/rdata.h"
#include "resolver/dns/rr.h"

/* Longest data that is shown: what one message can hold, names written out. */
#define DATA_MAX (65535 + 4 * NAME_MAX_OCTETS)

char *
message_data_text(const struct message *m, const struct message_record *record)
{
	static uint8_t octets[DATA_MAX];
	const uint8_t *end = m->octets + record->data + record->rdlength;
	struct wire_reader r = wire_reader_over(m->octets, m->length);
	size_t length = 0;

	wire_skip(&r, record->data);
	for (const char *f = rdata_layout(record->type)->fields; *f != '\0';
	    f++) {
		size_t n = rdata_field_octets(*f);
		struct dns_name name;
		const uint8_t *from;

		if (*f == 'N') {
			if (!name_read_compressed(&name, &r, end, NULL))
				return NULL;
			n = name.length;
			from = name.octets;
		} else {
			if (n == 0 && r.pos <= end)
				n = (size_t)(end - r.pos);
			from = wire_read_octets(&r, n);
		}
		if (r.failed || r.pos > end ||
		    n > sizeof(octets) - length)
			return NULL;
		memcpy(octets + length, from, n);
		length += n;
	}
	return r.pos == end && rdata_valid(record->type, octets, length) ?
	    rdata_to_text(record->type, octets, length) : NULL;
}

void
message_write_record(struct json_write *w, const char *owner, uint32_t ttl,
    const char *type, const char *data)
{
	json_write_open(w, NULL, '{');
	json_write_text(w, "name", owner);
	json_write_number(w, "ttl", ttl);
	json_write_text(w, "type", type);
	json_write_text(w, "data", data);
	json_write_close(w, '}');
}

int
message_error(const struct message *m, char text[static MESSAGE_ERROR_TEXT])
{
	struct message_option option;
	size_t at = 0;

	text[0] = '\0';
	while (message_option(m, &at, &option)) {
		if (option.code != OPTION_EDE || option.length < 2)
			continue;
		(void)snprintf(text, MESSAGE_ERROR_TEXT, "%.*s",
		    (int)option.length - 2, (const char *)option.octets + 2);
		return option.octets[0] << 8 | option.octets[1];
	}
	return -1;
}

/* "Blocked", or NULL for codes that this program never sends. */
static const char *
message_error_name(int code)
{
	static const char *const names[] = {
		[EDE_STALE] = "Stale Answer", [15] = "Blocked",
		[16] = "Censored", [17] = "Filtered", [18] = "Prohibited",
		[EDE_NO_REACHABLE_AUTHORITY] = "No Reachable Authority",
		[EDE_NETWORK_ERROR] = "Network Error",
	};

	return code < 0 || (size_t)code >= sizeof(names) / sizeof(names[0]) ?
	    NULL : names[code];
}

void
message_print_answers(const struct message *m, FILE *out)
{
	const char *between = "";
	size_t at = m->end[QUESTIONS];

	for (unsigned int i = 0; i < m->count[ANSWERS]; i++) {
		struct message_record record;
		char type[RR_TEXT_SIZE], *data;

		message_record(m, &at, &record);
		data = message_data_text(m, &record);
		fprintf(out, "%s%s %s", between,
		    rr_type_text(record.type, type), data != NULL ? data : "?");
		free(data);
		between = ", ";
	}
	if ((m->flags & DNS_FLAG_TC) != 0)
		fprintf(out, "%scut", between);
}

/* A sum over the records of the answer section. */
static uint64_t
sum_answers(const struct message *m)
{
	size_t at = m->end[QUESTIONS];
	uint64_t sum = 0;

	for (unsigned int i = 0; i < m->count[ANSWERS]; i++) {
		struct message_record record;
		char *data;

		message_record(m, &at, &record);
		data = message_data_text(m, &record);
		if (data != NULL)
			sum += XXH3_64bits_withSeed(data, strlen(data),
			    record.type);
		free(data);
	}
	return sum;
}

bool
message_is_same(const struct message *a, const struct message *b)
{
	return a->rcode == b->rcode &&
	    ((a->flags ^ b->flags) & DNS_FLAG_TC) == 0 &&
	    a->count[ANSWERS] == b->count[ANSWERS] &&
	    sum_answers(a) == sum_answers(b);
}

void
message_print(const struct message *m, FILE *out)
{
	static const struct {
		const char *title;
		ldns_rr_list *(*records)(const ldns_pkt *packet);
	} sections[] = { { "QUESTION", ldns_pkt_question },
		{ "ANSWER", ldns_pkt_answer },
		{ "AUTHORITY", ldns_pkt_authority },
		{ "ADDITIONAL", ldns_pkt_additional } };
	ldns_buffer *head = ldns_buffer_new(LDNS_MIN_BUFLEN);
	ldns_pkt *packet = NULL;

	if (head != NULL &&
	    ldns_wire2pkt(&packet, m->octets, m->length) == LDNS_STATUS_OK &&
	    ldns_pktheader2buffer_str(head, packet) == LDNS_STATUS_OK) {
		char text[MESSAGE_ERROR_TEXT];
		int error;
		const char *name;

		fprintf(out, "%.*s\n", (int)ldns_buffer_position(head),
		    (const char *)ldns_buffer_begin(head));
		error = message_error(m, text);
		name = message_error_name(error);
		if (error >= 0)
			fprintf(out, ";; EDE: %d (%s)%s%s%s\n", error,
			    name != NULL ? name : "?", *text != '\0' ? ": (" :
			    "", text, *text != '\0' ? ")" : "");
		for (size_t i = 0; i < 4; i++) {
			const ldns_rr_list *records =
			    sections[i].records(packet);

			if (ldns_rr_list_rr_count(records) == 0)
				continue;
			fprintf(out, "\n;; %s SECTION:\n", sections[i].title);
			ldns_rr_list_print(out, records);
		}
	}
	ldns_pkt_free(packet);
	ldns_buffer_free(head);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * intercept_batch: the pure path over recorded packets, for counting its
 * instructions.
 *
 *   intercept_batch BATCH LABEL TIMES [RULES]
 *
 * Takes the packet with that label in BATCH (lines "label hex") out of a
 * message as the kernel sends it, intercepts it over the sample table, puts the
 * verdict into a message and writes the audit's records, all that TIMES times;
 * prints what became of it.  There are so many RULES of the policy, each for one
 * name, none of them the packet's.
 */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nfq/queue/queue.h"
#include "nfq/queue/message.h"
#include "policy/audit/format.h"
#include "tests/packets.h"

#define PACKET_MAX	2048
#define NUMBER		5300

/* What nfnetlink_queue.c puts before the octets of a packet of LOCAL_OUT. */
struct message {
	struct nlmsghdr netlink;
	struct nfgenmsg netfilter;
	struct nlattr header;
	uint8_t packet_header[8];	/* 7 and one of padding */
	struct nlattr device;
	uint32_t device_value;
	struct nlattr mark;
	uint32_t mark_value;
	struct nlattr uid;
	uint32_t uid_value;
	struct nlattr gid;
	uint32_t gid_value;
	struct nlattr info;
	uint32_t info_value;
	struct nlattr payload;
	uint8_t octets[PACKET_MAX];
};

static size_t
read_hex(uint8_t *octets, const char *text)
{
	size_t length = 0;
	unsigned int octet;

	while (length < PACKET_MAX && sscanf(text, "%2x", &octet) == 1) {
		octets[length++] = (uint8_t)octet;
		text += 2;
	}
	return length;
}

/* The length of the packet with that label; 0 if there is none. */
static size_t
find_packet(const char *path, const char *label, uint8_t *octets)
{
	static char line[2 * PACKET_MAX + 100];
	const size_t length = strlen(label);
	FILE *file = fopen(path, "r");
	size_t found = 0;

	MUST(file != NULL);
	while (found == 0 && fgets(line, sizeof(line), file) != NULL) {
		if (strncmp(line, label, length) == 0 && line[length] == ' ')
			found = read_hex(octets, line + length + 1);
	}
	(void)fclose(file);
	return found;
}

static void
fill_message(struct message *m, size_t length)
{
	m->header = (struct nlattr){ 11, NFQA_PACKET_HDR };
	m->device = (struct nlattr){ 8, NFQA_IFINDEX_OUTDEV };
	m->mark = (struct nlattr){ 8, NFQA_MARK };
	m->uid = (struct nlattr){ 8, NFQA_UID };
	m->gid = (struct nlattr){ 8, NFQA_GID };
	m->info = (struct nlattr){ 8, NFQA_SKB_INFO };
	m->payload = (struct nlattr){ (uint16_t)(4 + length), NFQA_PAYLOAD };
	m->netlink.nlmsg_len =
	    (uint32_t)(offsetof(struct message, octets) + length);
}

/* The nth record, a microsecond after the one before: the length of its line. */
static size_t
write_records(struct audit_json *json, const struct interception *i, uint32_t n)
{
	static char line[AUDIT_JSON_MAX], packets[AUDIT_PCAPNG_MAX];
	const size_t octets = i->packet.family == AF_INET ? 4 : 16;
	struct audit_record r = {
		.time_ns = UINT64_C(1795206300000000000) + UINT64_C(1000) * n,
		.spent_ns = 9008,
		.packet_id = n,
		.generation = 1,
		.client_port = i->packet.source_port,
		.server_port = i->packet.destination_port,
		.family = i->packet.family,
		.verdict = i->decision.verdict,
		.reason = i->decision.reason,
		.rcode = i->decision.rcode,
		.question_length = (uint16_t)i->packet.payload_length,
		.answer_length = (uint16_t)i->answer_length,
		.question = i->packet.payload,
		.answer = i->answer,
	};

	memcpy(r.client, i->packet.source, octets);
	memcpy(r.server, i->packet.destination, octets);
	(void)audit_pcapng(NULL, &r, packets);
	return audit_json(json, &r, line, sizeof(line));
}

/* A rule for each of so many names of other domains. */
static struct rules *
make_rules(size_t count)
{
	struct policy policy = { .rule_count = count, .name_count = count };
	struct diag diag = DIAG_INIT;
	struct rules *rules = NULL;
	uint8_t *octets;
	const char *why;
	size_t size;

	policy.rules = calloc(count, sizeof(*policy.rules));
	policy.names = calloc(count, sizeof(*policy.names));
	MUST(policy.rules != NULL && policy.names != NULL);
	for (size_t i = 0; i < count; i++) {
		struct policy_rule *rule = &policy.rules[i];
		char text[60];
		int n = snprintf(text, sizeof(text), "host%zu.ads%zu.example",
		    i, i % 1000);

		MUST(name_from_text(&policy.names[i].name, text,
		    (size_t)n) == 0);
		(void)snprintf(rule->name, sizeof(rule->name), "rule-%zu", i);
		rule->action = RULE_NXDOMAIN;
		rule->match.names = (struct policy_span){ (uint32_t)i, 1 };
	}
	MUST(rules_build(&policy, "rules", NULL, &diag, &octets, &size) == 0);
	MUST(rules_open(&rules, octets, size, &why) == 0);
	policy_clear(&policy);
	return rules;
}

int
main(int argc, char **argv)
{
	struct policy_source policy = { .rules = NULL };
	static uint8_t reply[INTERCEPT_REPLY_MAX];
	static struct audit_json json;
	static struct interception i;
	static struct message message;
	static queue_buffer received[QUEUE_BATCH];
	struct queue_reader *reader;
	struct queue_packet p;
	struct answer_source source;
	struct table *table;
	unsigned long times;
	size_t length, line = 0;

	if (argc != 4 && argc != 5) {
		(void)fprintf(stderr, "usage: intercept_batch BATCH LABEL "
		    "TIMES [RULES]\n");
		return 2;
	}
	times = strtoul(argv[3], NULL, 10);
	length = find_packet(argv[1], argv[2], message.octets);
	MUST(length > 0);
	fill_message(&message, length);
	MUST(queue_reader_new(&reader, -1, NUMBER, received) == 0);
	if (argc == 5)
		policy.rules = make_rules(strtoul(argv[4], NULL, 10));
	table = sample_table(false);
	source = sample_source(table);
	for (unsigned long n = 0; n < times; n++) {
		MUST(queue_message_packet(&message.netlink,
		    message.netlink.nlmsg_len, &p));
		i.policy = policy.rules != NULL ? &policy : NULL;
		intercept(&i, &source, p.octets, p.length, p.whole_length,
		    (uint32_t)n, reply);
		if (i.reply_length > 0)
			queue_reply(reader, p.id, p.mark, reply,
			    i.reply_length);
		else
			queue_pass(reader, p.id);
		/* There is no socket: what was collected is thrown away. */
		MUST(queue_send(reader) == -EBADF);
		line = write_records(&json, &i, (uint32_t)n);
	}
	printf("%s %s %zu, record %zu\n",
	    decide_verdict_text(i.decision.verdict),
	    decide_reason_text(i.decision.reason), i.reply_length, line);
	table_close(table);
	queue_reader_free(reader);
	return 0;
}

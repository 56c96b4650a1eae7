/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ask_tool: what the interception does with questions, by a configuration and
 * without a daemon, a queue or a socket.
 *
 *   ask_tool [--unloaded] CONFIG <QUESTIONS
 *
 * --unloaded: as if no table could be loaded yet.
 * A question is a line of words:
 *
 *   udp|tcp CLIENT NAMESERVER UID GID TIME EDNS NAME TYPE
 *
 * UID, GID: "-" if not known.  TIME: seconds since 1970, with a fraction.  EDNS: the
 * client's size, or "-" for a question without OPT.  For each line it prints one:
 *
 *   VERDICT REASON RULE OBSERVED REPLY
 *
 * RULE: the policy rule that decided; OBSERVED: those that would have; REPLY: the
 * DNS message in hexadecimal.  "-" stands for none.
 * Lines are answered one by one, so that the next may depend on the last.
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "nfq/packet/intercept.h"
#include "nfq/process/compiler.h"
#include "nfq/process/diag_print.h"
#include "nfq/process/exit_code.h"
#include "policy/config/config.h"
#include "resolver/compile/compile.h"
#include "resolver/dns/rr.h"
#include "resolver/dns/wire.h"
#include "tests/packets.h"

#define WORDS		9
#define MAX_LINE	2048

enum { PROTOCOL, CLIENT, NAMESERVER, USER, GROUP, TIME, EDNS, NAME, TYPE };

/* One line, read. */
struct line {
	int family;
	bool stream;
	uint8_t client[16], nameserver[16];
	uid_t uid;
	gid_t gid;
	double time;
	uint8_t message[512];
	size_t length;
};

static bool
read_address(const char *text, int *family, uint8_t address[static 16])
{
	*family = strchr(text, ':') != NULL ? AF_INET6 : AF_INET;
	return inet_pton(*family, text, address) == 1;
}

static bool
write_message(struct line *line, char **word)
{
	struct wire_writer w = wire_writer_over(line->message,
	    sizeof(line->message));
	const bool edns = strcmp(word[EDNS], "-") != 0;
	struct dns_name name;
	uint16_t type;

	if (name_from_text(&name, word[NAME], strlen(word[NAME])) != 0 ||
	    rr_type_from_text(&type, word[TYPE]) != 0)
		return false;
	wire_write_octets(&w, "\x4e\x46\1\0\0\1\0\0\0\0\0", 11);
	wire_write_u8(&w, edns);
	wire_write_octets(&w, name.octets, name.length);
	wire_write_u16(&w, type);
	wire_write_u16(&w, CLASS_IN);
	if (edns) {
		wire_write_octets(&w, "\0\0\x29", 3);
		wire_write_u16(&w, (uint16_t)strtoul(word[EDNS], NULL, 10));
		wire_write_octets(&w, "\0\0\0\0\0\0", 6);
	}
	line->length = wire_written(&w);
	return true;
}

static bool
read_line(struct line *line, char *text)
{
	char *word[WORDS], *rest = text;
	int family;

	text[strcspn(text, "\n")] = '\0';
	for (size_t i = 0; i < WORDS; i++) {
		word[i] = strsep(&rest, " ");
		if (word[i] == NULL)
			return false;
	}
	line->stream = strcmp(word[PROTOCOL], "tcp") == 0;
	line->uid = strcmp(word[USER], "-") == 0 ? (uid_t)-1 :
	    (uid_t)strtoul(word[USER], NULL, 10);
	line->gid = strcmp(word[GROUP], "-") == 0 ? (gid_t)-1 :
	    (gid_t)strtoul(word[GROUP], NULL, 10);
	line->time = strtod(word[TIME], NULL);
	return read_address(word[CLIENT], &line->family, line->client) &&
	    read_address(word[NAMESERVER], &family, line->nameserver) &&
	    family == line->family && write_message(line, word);
}

static void
ask_datagram(struct interception *out, const struct answer_source *source,
    const struct line *line)
{
	static uint8_t packet[1024], reply[INTERCEPT_REPLY_MAX];
	const size_t length = packet_around(packet, line->family,
	    line->message, line->length);
	const size_t at = line->family == AF_INET ? 12 : 8;
	const size_t size = line->family == AF_INET ? 4 : 16;
	struct reply_room room;
	const char *fault;

	memcpy(packet + at, line->client, size);
	memcpy(packet + at + size, line->nameserver, size);
	intercept_parse(out, packet, length, length);
	room = reply_room_of_packet(reply);
	intercept_answer(out, source, 0, room);
	fault = interception_fault(out, packet, reply);
	if (fault != NULL)
		printf("fault: %s\n", fault);
}

static void
ask_stream(struct interception *out, const struct answer_source *source,
    const struct line *line)
{
	static uint8_t answer[INTERCEPT_STREAM_MAX];

	out->asker.family = (uint8_t)line->family;
	out->asker.protocol = IPPROTO_TCP;
	out->asker.port = 40000;
	out->asker.address = line->client;
	out->asker.nameserver = line->nameserver;
	intercept_message(out, line->message, line->length);
	intercept_answer(out, source, 0, (struct reply_room){ answer,
	    sizeof(answer), true });
}

/* The names of rules with these numbers, "-" for none, and a blank. */
static void
print_rule(const struct rules *rules, unsigned int number)
{
	struct rules_rule rule = { .name = "-", .name_length = 1 };

	if (number != 0)
		rules_get(rules, number, &rule);
	printf("%.*s ", rule.name_length, rule.name);
}

static void
ask(const struct config *config, const struct answer_source *source,
    const struct policy_source *policy, const struct line *line)
{
	static struct interception out;

	out = (struct interception){
		.asker = { .now = monotime_from_ms((int64_t)(line->time * 1000)),
		    .uid = line->uid, .gid = line->gid },
		.policy = policy->rules != NULL ? policy : NULL,
		.forward = &config->forward,
	};
	if (line->stream)
		ask_stream(&out, source, line);
	else
		ask_datagram(&out, source, line);
	printf("%s %s ", decide_verdict_text(out.decision.verdict),
	    decide_reason_text(out.decision.reason));
	print_rule(policy->rules, out.decision.rule);
	print_rule(policy->rules, out.found.observed);
	for (size_t i = 0; i < out.answer_length; i++)
		printf("%02x", out.answer[i]);
	puts(out.answer_length == 0 ? "-" : "");
	(void)fflush(stdout);
}

static struct table *
compile_table(const struct config *config, bool unloaded, struct diag *diag)
{
	int fd = unloaded ? memfd_create("image", MFD_CLOEXEC) :
	    compiler_run(config, diag);
	struct table *table = NULL;
	const char *why;

	if (unloaded && compile_unloaded(&config->mesh, NULL, fd) != 0)
		return NULL;
	if (fd >= 0 && table_open(&table, fd, &why) != 0)
		fprintf(stderr, "%s\n", why);
	return table;
}

/* The rules of the table, and buckets for their rates. */
static bool
open_policy(struct policy_source *policy, struct rules **rules,
    const struct table *table)
{
	static const uint8_t secret[RATE_SECRET] = { 1 };
	size_t size;
	const uint8_t *octets = table_policy(table, &size);
	const char *why = "";

	if (rules_open(rules, octets, size, &why) != 0) {
		fprintf(stderr, "%s\n", why);
		return false;
	}
	policy->rules = *rules;
	policy->rates = rate_new(10, secret);
	return policy->rates != NULL;
}

int
main(int argc, char **argv)
{
	const bool unloaded = argc > 1 && strcmp(argv[1], "--unloaded") == 0;
	struct diag diag = DIAG_INIT;
	struct config *config = NULL;
	struct policy_source policy = { .rules = NULL };
	struct answer_source source;
	struct table *table = NULL;
	struct rules *rules = NULL;
	static char text[MAX_LINE];
	struct line line;

	if (argc != 2 + unloaded) {
		fputs("usage: ask_tool [--unloaded] CONFIG <QUESTIONS\n",
		    stderr);
		return EXIT_USAGE;
	}
	if (config_load(&config, argv[1 + unloaded], &diag) == 0)
		table = compile_table(config, unloaded, &diag);
	diag_print(&diag, "ask_tool", stderr);
	diag_free(&diag);
	if (table == NULL || !open_policy(&policy, &rules, table))
		return EXIT_INVALID;
	source = answer_source(table, &config->answers);
	while (fgets(text, sizeof(text), stdin) != NULL) {
		if (!read_line(&line, text)) {
			fputs("ask_tool: no question\n", stderr);
			return EXIT_USAGE;
		}
		ask(config, &source, &policy, &line);
	}
	rate_free(policy.rates);
	rules_close(rules);
	table_close(table);
	config_free(config);
	return EXIT_OK;
}

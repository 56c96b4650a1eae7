/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The questions of a scenario, and what is expected of them. */
#include "tests/scenarios/scenario.h"

#include <stdlib.h>
#include <string.h>

#include "resolver/dns/rr.h"
#include "resolver/dns/wire.h"

static uint16_t
flag_bits(struct scenario *s, char *list)
{
	static const struct {
		const char *name;
		uint16_t bit;
	} flags[] = { { "aa", 0x0400 }, { "tc", 0x0200 }, { "rd", 0x0100 },
		{ "ra", 0x0080 }, { "z", 0x0040 }, { "ad", 0x0020 },
		{ "cd", 0x0010 } };
	unsigned int bits = 0;
	const char *name;

	while ((name = strsep(&list, ",")) != NULL) {
		size_t i = 0, n = sizeof(flags) / sizeof(flags[0]);

		while (i < n && strcmp(flags[i].name, name) != 0)
			i++;
		if (i < n)
			bits |= flags[i].bit;
		else if (*name != '\0')
			scenario_complain(s, s->line, "no flag \"%s\"", name);
	}
	return (uint16_t)bits;
}

/* What stands behind name and type in an "ask" line. */
struct ask {
	uint16_t flags;
	uint16_t class;
	bool edns;
	bool dnssec_ok;
	uint8_t version;
	uint16_t size;
};

static void
take_option(struct scenario *s, struct ask *ask, const char *key, char *value)
{
	if (strcmp(key, "class") == 0) {
		ask->class = (uint16_t)scenario_number(s, value);
	} else if (strcmp(key, "flags") == 0) {
		ask->flags = flag_bits(s, value);
	} else if (strcmp(key, "edns") == 0) {
		ask->edns = true;
		ask->version = (uint8_t)scenario_number(s, value);
	} else if (strcmp(key, "size") == 0) {
		ask->edns = true;
		ask->size = (uint16_t)scenario_number(s, value);
	} else if (strcmp(key, "do") == 0) {
		ask->edns = ask->dnssec_ok = true;
	} else if (strcmp(key, "turn") == 0) {
		s->x.turn = (uint32_t)scenario_number(s, value);
	} else if (strcmp(key, "tcp") == 0) {
		s->x.stream = true;
	} else {
		scenario_complain(s, s->line, "no option \"%s\" of a question", key);
	}
}

static size_t
write_question(const struct ask *ask, const struct dns_name *name,
    uint16_t type, uint8_t *message, size_t size)
{
	struct wire_writer w = wire_writer_over(message, size);

	wire_write_u16(&w, 0x4e46);
	wire_write_u16(&w, ask->flags);
	wire_write_octets(&w, "\0\1\0\0\0\0\0", 7);
	wire_write_u8(&w, ask->edns);
	wire_write_octets(&w, name->octets, name->length);
	wire_write_u16(&w, type);
	wire_write_u16(&w, ask->class);
	if (ask->edns) {
		wire_write_octets(&w, "\0\0\x29", 3);
		wire_write_u16(&w, ask->size);
		wire_write_u8(&w, 0);
		wire_write_u8(&w, ask->version);
		wire_write_u16(&w, ask->dnssec_ok ? 0x8000 : 0);
		wire_write_u16(&w, 0);
	}
	return wire_written(&w);
}

void
scenario_ask(struct scenario *s, char *rest)
{
	struct ask options = { .flags = 0x0100, .class = CLASS_IN,
		.size = 1232 };
	const char *name_text = scenario_word(&rest), *type_text = scenario_word(&rest);
	struct dns_name name;
	uint16_t type;
	char *option;

	if (name_text == NULL || type_text == NULL ||
	    name_from_text(&name, name_text, strlen(name_text)) != 0 ||
	    rr_type_from_text(&type, type_text) != 0) {
		scenario_complain(s, s->line, "ask NAME TYPE [OPTION ...]");
		return;
	}
	while ((option = scenario_word(&rest)) != NULL) {
		const char *key = strsep(&option, "=");

		take_option(s, &options, key, option);
	}
	s->x.length = write_question(&options, &name, type, s->x.message,
	    sizeof(s->x.message));
}

/* Hexadecimal octets behind those that are there already. */
void
scenario_more(struct scenario *s, char *rest)
{
	const char *hex = scenario_word(&rest);

	for (; hex != NULL; hex = scenario_word(&rest)) {
		for (; *hex != '\0'; hex += 2) {
			char octet[3] = { hex[0], hex[1], '\0' }, *end;

			if (s->x.length == sizeof(s->x.message) ||
			    hex[1] == '\0') {
				scenario_complain(s, s->line, "odd or too many octets");
				return;
			}
			s->x.message[s->x.length++] =
			    (uint8_t)strtoul(octet, &end, 16);
			if (*end != '\0')
				scenario_complain(s, s->line, "no octet: %s", octet);
		}
	}
}

static void
push_record(struct scenario *s, ldns_rr_list *list, const char *text)
{
	ldns_rr *rr = NULL;

	if (ldns_rr_new_frm_str(&rr, text, 0, NULL, NULL) != LDNS_STATUS_OK)
		scenario_complain(s, s->line, "no record: %s", text);
	else
		(void)ldns_rr_list_push_rr(list, rr);
}

void
scenario_expect_record(struct scenario *s, char *rest)
{
	push_record(s, s->x.records, rest);
}

void
scenario_expect_authority(struct scenario *s, char *rest)
{
	push_record(s, s->x.authority, rest);
}

void
scenario_expect_additional(struct scenario *s, char *rest)
{
	push_record(s, s->x.additional, rest);
}

void
scenario_expect_rcode(struct scenario *s, char *rest)
{
	char buf[RR_TEXT_SIZE];
	uint16_t n;

	for (n = 0; n < 32; n++) {
		if (strcmp(rcode_text(n, buf), rest) == 0) {
			s->x.rcode = n;
			return;
		}
	}
	scenario_complain(s, s->line, "no rcode: %s", rest);
}

void
scenario_expect_flags(struct scenario *s, char *rest)
{
	(void)snprintf(s->x.flags, sizeof(s->x.flags), "%s", rest);
}

void
scenario_expect_truncated(struct scenario *s, char *rest)
{
	(void)rest;
	s->x.truncated = true;
}

void
scenario_expect_any_order(struct scenario *s, char *rest)
{
	(void)rest;
	s->x.any_order = true;
}

void
scenario_expect_fits(struct scenario *s, char *rest)
{
	s->x.fits = scenario_number(s, scenario_word(&rest));
}

void
scenario_expect_count(struct scenario *s, char *rest)
{
	s->x.count = scenario_number(s, scenario_word(&rest));
}

/* "VERDICT REASON"; false if the line begins with no verdict. */
bool
scenario_expect_verdict(struct scenario *s, const char *first, char *rest)
{
	const char *text = scenario_word(&rest);
	enum verdict verdict = 0;
	enum reason reason = 0;

	while (verdict < VERDICTS &&
	    strcmp(decide_verdict_text(verdict), first) != 0)
		verdict++;
	if (verdict == VERDICTS)
		return false;
	while (text != NULL && reason < REASONS &&
	    strcmp(decide_reason_text(reason), text) != 0)
		reason++;
	if (text == NULL || reason == REASONS)
		scenario_complain(s, s->line, "no reason: %s", text ? text : "");
	s->x.expected = true;
	s->x.verdict = verdict;
	s->x.reason = reason;
	if (verdict == VERDICT_NXDOMAIN)
		s->x.rcode = RCODE_NXDOMAIN;
	return true;
}

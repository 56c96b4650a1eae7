/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Audit records made by hand, and their lines read back. */
#ifndef NFDNS_TESTS_UNIT_POLICY_AUDIT_JSON_LINE_H
#define NFDNS_TESTS_UNIT_POLICY_AUDIT_JSON_LINE_H

#include "policy/audit/format.h"

#include <sys/socket.h>
#include <string.h>

#include "resolver/dns/name.h"
#include "resolver/dns/rr.h"
#include "resolver/dns/wire.h"
#include "tests/check.h"
#include "tests/json.h"

static char line[AUDIT_JSON_MAX + 1];

/* One for all tests: what it keeps from line to line must never show. */
static struct audit_json formatter;

/* 2026-11-20T20:25:00.123456 UTC */
#define SOME_TIME (1795206300ULL * 1000000000 + 123456789)

static const struct audit_record blank = {
	.time_ns = SOME_TIME,
	.spent_ns = 4207,
	.packet_id = 77,
	.generation = 3,
	.uid = 1000,
	.gid = 100,
	.client_port = 40000,
	.server_port = 53,
	.family = AF_INET,
	.client = { 192, 0, 2, 7 },
	.server = { 192, 0, 2, 53 },
	.verdict = VERDICT_ANSWER,
	.reason = REASON_RECORD,
};

/* A message in the making. */
static uint8_t message[8192];
static struct wire_writer w;

static inline void
start_message(uint16_t flags, uint16_t answers)
{
	w = wire_writer_over(message, sizeof(message));
	wire_write_u16(&w, 0x1234);
	wire_write_u16(&w, flags);
	wire_write_u16(&w, 1);
	wire_write_u16(&w, answers);
	wire_write_u32(&w, 0);
}

/* The record's line, checked to be one line of JSON; NULL if it is not. */
static inline const json_t *
json_of(const struct audit_record *record)
{
	size_t length = audit_json(&formatter, record, line, AUDIT_JSON_MAX);
	const json_t *root;

	CHECK(length > 1 && length <= AUDIT_JSON_MAX);
	line[length] = '\0';
	CHECK(line[length - 1] == '\n');
	CHECK(memchr(line, '\n', length - 1) == NULL);
	root = json_read(line, length);
	CHECK(root != NULL);
	return root;
}

static inline const json_t *
json_of_answer(struct audit_record record)
{
	record.answer = message;
	record.answer_length = (uint16_t)wire_written(&w);
	record.question = NULL;
	record.question_length = 0;
	return json_of(&record);
}

#endif

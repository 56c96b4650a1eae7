/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A DNS message from parser to answer, with a table that has every kind of
 * entry for the names under mesh.test.
 */
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "policy/decide.h"
#include "resolver/image/builder.h"
#include "resolver/dns/rr.h"
#include "tests/answer_fault.h"

static struct table *table;
static struct mesh mesh = { .ttl = 30, .search_count = 1, .zone_count = 1 };
static const struct answer_settings settings = { .negative_ttl = 5,
	.udp_size = 4096, .suppress_https = 1, .tcp = 1 };

static void
must(bool holds)
{
	if (!holds)
		abort();
}

static struct dns_name
name(const char *text)
{
	struct dns_name made;

	must(name_from_text(&made, text, strlen(text)) == 0);
	return made;
}

static void
add(struct builder *b, const char *owner, uint8_t flags, uint16_t type,
    const void *rdata, uint16_t rdlength)
{
	const struct dns_name wire = name(owner);

	must(builder_add(b, &wire, flags, type, 30, rdata, rdlength, 1) >= 0);
}

static void
make_table(void)
{
	const struct dns_name target = name("host.mesh.test");
	struct builder *b;
	const char *why;
	uint8_t address[4];
	int fd = memfd_create("image", MFD_CLOEXEC);

	mesh.search[0] = name("s");
	mesh.zones[0].name = name("mesh.test");
	mesh.zones[0].unknown = ZONE_NXDOMAIN;
	b = builder_new(&mesh);
	must(b != NULL && fd >= 0);
	builder_source(b, 0);
	for (address[3] = 0; address[3] < 90; address[3]++) {
		memcpy(address, "\12\7\0", 3);
		add(b, "big.mesh.test", 0, TYPE_A, address, 4);
	}
	add(b, "host.mesh.test", NAME_OWNED, TYPE_A, "\12\1\2\3", 4);
	add(b, "c.mesh.test", 0, TYPE_CNAME, target.octets, target.length);
	add(b, "out.mesh.test", 0, TYPE_CNAME, "\3www\7example", 13);
	add(b, "*.w.mesh.test", 0, TYPE_TXT, "\3abc", 4);
	add(b, "x", 0, TYPE_A, "\12\1\2\4", 4);
	must(builder_write(b, fd) == 0);
	must(table_open(&table, fd, &why) == 0);
	builder_free(b);
	(void)close(fd);
}

/* Memory of just the size allowed: one octet more is seen by the sanitizer. */
static void
try_answer(const struct question *q, const struct lookup *lookup,
    const struct decision *decision, size_t room, bool stream)
{
	const struct answer_plan plan = {.question = q,
	    .lookup = lookup,
	    .content = decision->content,
	    .rcode = decision->rcode,
	    .settings = &settings,
	    .stream = stream,
	    .rotation = q->id,
	    .text = "nfdns"};
	struct answer_summary summary;
	uint8_t *answer = malloc(room);
	size_t length;

	must(answer != NULL);
	length = answer_build(&plan, answer, room, &summary);
	must(answer_fault(q, answer, length, room, &summary) == NULL);
	free(answer);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct question q;
	struct lookup lookup;
	struct facts facts = { .question = &q, .settings = &settings,
	    .loaded = true };
	struct decision decision;

	if (table == NULL)
		make_table();
	question_parse(&q, data, size);
	must(q.wire_length == 0 ||
	    (q.wire == data + 12 && q.wire_length + 12 <= size));
	if (q.form == QUESTION_PLAIN) {
		lookup_gather(&lookup, table, &q);
		facts.lookup = &lookup;
	}
	facts.own_name = q.form == QUESTION_CHAOS;
	decision = decide(&facts);
	if (decision.verdict == VERDICT_PASS)
		return 0;
	try_answer(&q, facts.lookup, &decision,
	    answer_room(&q, settings.udp_size), false);
	try_answer(&q, facts.lookup, &decision, 65535, true);
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "policy/audit/audit.h"

#include <sys/socket.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "policy/audit/ring.h"
#include "tests/check.h"
#include "tests/json.h"

#define TAKES_ALL	{ .verdicts = AUDIT_VERDICTS_ALL }
#define TAKES_USUAL	{ .verdicts = AUDIT_VERDICTS_USUAL }

static const struct audit_record blank = {
	.time_ns = 1795206300ULL * 1000000000,
	.uid = 1000,
	.gid = 100,
	.family = AF_INET,
	.verdict = VERDICT_ANSWER,
	.reason = REASON_RECORD,
};

/* reviews.default.svc.cluster.local A 10.0.0.1 */
static const uint8_t message[] = "\x12\x34\x85\x80\0\1\0\1\0\0\0\0"
    "\7reviews\7default\3svc\7cluster\5local\0\0\1\0\1"
    "\xc0\x0c\0\1\0\1\0\0\0\x1e\0\4\12\0\0\1";

/* A record that can be told from others: its number is the packet's. */
static struct audit_record
numbered(uint32_t number)
{
	struct audit_record record = blank;

	record.packet_id = number;
	record.question = message;
	record.question_length = sizeof(message) - 1;
	record.answer = message;
	record.answer_length = record.question_length;
	return record;
}

/* As a thread does that has but this one. */
static bool
put(struct audit *audit, unsigned int number, const struct audit_record *record)
{
	bool taken = audit_put(audit, number, record);

	audit_wake(audit, number);
	return taken;
}

#define RING_RECORDS 300000U

static struct audit_ring ring;

static void *
fill_ring(void *refused)
{
	uint8_t octets[600];
	struct audit_record record = blank;
	unsigned long *count = refused;

	for (uint32_t i = 0; i < RING_RECORDS; i++) {
		memset(octets, (int)(i % 251), sizeof(octets));
		record.packet_id = i;
		record.question = octets;
		record.question_length = (uint16_t)(i % 113);
		record.answer = octets;
		record.answer_length = (uint16_t)(i % 599);
		record.rule = (const char *)octets;
		record.rule_length = (uint8_t)(i % 61);
		if (!audit_ring_put(&ring, &record))
			++*count;
	}
	return NULL;
}

static bool
is_whole(const struct audit_record *record)
{
	uint32_t i = record->packet_id;

	if (record->question_length != i % 113 ||
	    record->answer_length != i % 599 || record->rule_length != i % 61)
		return false;
	for (size_t j = 0; j < record->question_length; j++)
		if (record->question[j] != i % 251)
			return false;
	for (size_t j = 0; j < record->answer_length; j++)
		if (record->answer[j] != i % 251)
			return false;
	for (size_t j = 0; j < record->rule_length; j++)
		if ((uint8_t)record->rule[j] != i % 251)
			return false;
	return true;
}

TEST(a_ring_keeps_order_and_counts_what_it_refuses)
{
	unsigned long refused = 0, taken = 0;
	struct audit_record record;
	uint32_t expected = 0;
	pthread_t thread;
	bool ended = false;

	CHECK(audit_ring_init(&ring) == 0);
	CHECK(pthread_create(&thread, NULL, fill_ring, &refused) == 0);
	while (!ended) {
		uint64_t cursor = atomic_load(&ring.tail), end;

		/* The last look comes after the thread's end. */
		ended = pthread_tryjoin_np(thread, NULL) == 0;
		end = audit_ring_end(&ring);
		while (audit_ring_next(&ring, &cursor, end, &record)) {
			CHECK(record.packet_id >= expected);
			CHECK(is_whole(&record));
			expected = record.packet_id + 1;
			audit_ring_release(&ring, cursor);
			taken++;
		}
	}
	CHECK(taken + refused == RING_RECORDS);
	CHECK(refused == atomic_load(&ring.lost));
	CHECK(taken > 0);
	printf("figure: ring: %lu of %u records found no room\n", refused,
	    RING_RECORDS);
	audit_ring_clear(&ring);
}

TEST(a_ring_fills_until_it_is_emptied)
{
	const struct audit_record record = numbered(1);
	struct audit_record taken;
	unsigned long most, quarter = 0;
	uint64_t cursor = 0;

	CHECK(audit_ring_init(&ring) == 0);
	while (!audit_ring_is_filling(&ring)) {
		CHECK(audit_ring_put(&ring, &record));
		quarter++;
	}
	for (most = quarter; audit_ring_put(&ring, &record); most++)
		continue;
	CHECK(most / quarter == 3 || most / quarter == 4);
	while (audit_ring_next(&ring, &cursor, audit_ring_end(&ring), &taken))
		continue;
	CHECK(audit_ring_is_filling(&ring));
	audit_ring_release(&ring, cursor);
	CHECK(!audit_ring_is_filling(&ring));
	audit_ring_clear(&ring);
}

/* What came out of a file. */
struct harvest {
	unsigned long records;
	unsigned long lost;		/* as told */
	unsigned long passes;
	unsigned long bad;		/* lines that are none */
	long last;			/* number of the last record */
	bool disorder;
};

static void
reap_line(struct harvest *h, const char *text, size_t length)
{
	const json_t *root = json_read(text, length);
	const json_t *ours = at(root, "nfdns");
	const char *type = json_string_value(at(root, "event_type"));
	long long number = 0, lost = 0;

	(void)json_tree_integer(at(ours, "packet_id"), 0, LONG_MAX, &number);
	if (type == NULL)
		h->bad++;
	else if (strcmp(type, "stats") == 0)
		h->lost += json_tree_integer(at(ours, "records"), 0, LONG_MAX,
		    &lost) ? (unsigned long)lost : 0;
	else {
		h->records++;
		h->passes += strcmp(json_string_value(at(ours, "decision")),
		    "pass") == 0;
		h->disorder |= h->records > 1 && number <= h->last;
		h->last = (long)number;
	}
}

/* Reads lines until the end of the file or pipe. */
static struct harvest
reap(FILE *in)
{
	struct harvest h = { .records = 0 };
	char *text = NULL;
	size_t size = 0;
	ssize_t n;

	while (in != NULL && (n = getline(&text, &size, in)) > 0) {
		if (text[n - 1] != '\n')
			h.bad++;
		else
			reap_line(&h, text, (size_t)n);
	}
	free(text);
	if (in != NULL)
		fclose(in);
	return h;
}

#define CROWD 4U
#define EACH 20000U

struct crowd {
	struct audit *audit;
	unsigned int ring;
	unsigned long refused;
};

static void *
put_many(void *argument)
{
	struct crowd *c = argument;

	for (uint32_t i = 0; i < EACH; i++) {
		struct audit_record record = numbered(i);

		record.verdict = i % 2 == 0 ? VERDICT_PASS : VERDICT_ANSWER;
		c->refused += !put(c->audit, c->ring, &record);
	}
	return NULL;
}

static int
open_file(const char *path)
{
	return open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
}

TEST(many_threads_lose_nothing_uncounted)
{
	char dir[] = "/tmp/nfdns-audit-XXXXXX", all[64], some[64];
	struct audit_file files[2] = {{.sink = TAKES_ALL}, {.sink = TAKES_USUAL}};
	struct crowd crowd[CROWD];
	pthread_t threads[CROWD];
	unsigned long refused = 0;
	struct audit *audit = NULL;
	struct harvest h;

	CHECK(mkdtemp(dir) != NULL);
	snprintf(all, sizeof(all), "%s/all", dir);
	snprintf(some, sizeof(some), "%s/some", dir);
	files[0].fd = open_file(all);
	files[1].fd = open_file(some);
	CHECK(audit_start(&audit, CROWD) == 0);
	CHECK(!audit_wants(audit, VERDICT_ANSWER));
	audit_set_files(audit, files, 2);
	CHECK(audit_wants(audit, VERDICT_ANSWER));
	CHECK(audit_wants(audit, VERDICT_PASS));
	for (unsigned int i = 0; i < CROWD; i++) {
		crowd[i] = (struct crowd){ audit, i, 0 };
		pthread_create(&threads[i], NULL, put_many, &crowd[i]);
	}
	for (unsigned int i = 0; i < CROWD; i++) {
		pthread_join(threads[i], NULL);
		refused += crowd[i].refused;
	}
	CHECK(audit_lost(audit) == refused);
	audit_stop(audit, 20000);
	h = reap(fopen(all, "r"));
	CHECK(h.bad == 0);
	CHECK(h.records + refused == CROWD * EACH && h.lost == refused);
	printf("figure: audit: %lu of %u records found no room\n", refused,
	    CROWD * EACH);
	h = reap(fopen(some, "r"));
	CHECK(h.bad == 0 && h.passes == 0 && h.lost == refused);
	CHECK(h.records <= CROWD * EACH / 2);
	CHECK(h.records + refused >= CROWD * EACH / 2);
	unlink(all);
	unlink(some);
	rmdir(dir);
}


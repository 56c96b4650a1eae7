/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The blocks of pcapng, octet by octet, and the packets in them. */
#include "policy/audit/format.h"

#include <sys/socket.h>
#include <endian.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "resolver/version.h"
#include "tests/check.h"
#include "tests/packets.h"

#define FORMAT	(&audit_pcapng_format)

/* What follows in the comment of "blank". */
#define BEHIND	" packet_id=77 spent_us=22.136" NUMBER
#define NUMBER	" number=0"

static char octets[AUDIT_PCAPNG_MAX];

static const uint8_t question[] = "\x12\x34\1\0\0\1\0\0\0\0\0\0\1a\4mesh\0\0\1\0\1";
static const uint8_t answer[] = "\x12\x34\x85\x80\0\1\0\1\0\0\0\0\1a\4mesh\0\0\1\0\1"
    "\xc0\x0c\0\1\0\1\0\0\0\x1e\0\4\12\0\0\1";

static const struct audit_record blank = {
	.time_ns = UINT64_C(0x18ea000112345678),
	.spent_ns = 0x5678,
	.packet_id = 77,
	.generation = 3,
	.uid = 1000,
	.gid = 100,
	.client_port = 40000,
	.server_port = 53,
	.queue = 5300,
	.family = AF_INET,
	.client = { 192, 0, 2, 7 },
	.server = { 192, 0, 2, 53 },
	.verdict = VERDICT_ANSWER,
	.reason = REASON_RECORD,
	.question = question,
	.question_length = sizeof(question) - 1,
	.answer = answer,
	.answer_length = sizeof(answer) - 1,
};

static const struct audit_note begin = { .kind = AUDIT_BEGIN };

static uint32_t
u32_at(size_t offset)
{
	uint32_t value;

	memcpy(&value, octets + offset, sizeof(value));
	return le32toh(value);
}

/* Where the block at that offset ends; 0 if it is not a sound one. */
static size_t
block_at(size_t offset, size_t end, uint32_t type)
{
	const uint32_t length = offset + 12 <= end ? u32_at(offset + 4) : 0;

	if (length < 12 || length % 4 != 0 || length > end - offset ||
	    u32_at(offset) != type || u32_at(offset + length - 4) != length)
		return 0;
	return offset + length;
}

/* An option of a block's list, which begins at offset; NULL: there is none. */
static const char *
option_in(size_t offset, size_t block_end, uint16_t code, uint16_t *length)
{
	while (offset + 4 < block_end) {
		const uint32_t head = u32_at(offset);

		*length = (uint16_t)(head >> 16);
		if ((head & 0xffff) == code)
			return octets + offset + 4;
		if ((head & 0xffff) == 0)
			break;
		offset += 4 + ((*length + 3U) & ~3U);
	}
	return NULL;
}

struct packet_block {
	size_t end;			/* of the block; 0: it is not sound */
	uint64_t time_ns;
	const uint8_t *packet;
	size_t length;
	size_t options;
};

static struct packet_block
packet_at(size_t offset, size_t end)
{
	struct packet_block p = { .end = block_at(offset, end, 6) };

	CHECK(p.end != 0);
	if (p.end == 0)
		return p;
	CHECK(u32_at(offset + 8) == 0);
	p.time_ns = (uint64_t)u32_at(offset + 12) << 32 | u32_at(offset + 16);
	p.length = u32_at(offset + 20);
	CHECK(u32_at(offset + 24) == p.length);
	p.packet = (const uint8_t *)octets + offset + 28;
	p.options = offset + 28 + ((p.length + 3) & ~(size_t)3);
	CHECK(p.options < p.end);
	return p;
}

static bool
has_comment(const struct packet_block *p, const char *expected)
{
	uint16_t length;
	const char *text = option_in(p->options, p->end, 1, &length);

	if (text != NULL && length == strlen(expected) &&
	    memcmp(text, expected, length) == 0)
		return true;
	printf("  comment: %.*s\n", text != NULL ? length : 0,
	    text != NULL ? text : "");
	return false;
}

/* Lengths and checksums of both headers; returns the octets behind them. */
static const uint8_t *
payload_of(const struct packet_block *p, int family, uint8_t protocol,
    size_t *length)
{
	const size_t ip = family == AF_INET ? 20 : 40;
	const size_t header = protocol == IPPROTO_UDP ? 8 : 20;
	const size_t addresses = family == AF_INET ? 12 : 8;
	uint32_t sum = protocol + (uint32_t)(p->length - ip);

	CHECK(p->length >= ip + header);
	if (family == AF_INET) {
		CHECK(p->packet[0] == 0x45 && p->packet[9] == protocol);
		CHECK(word_at(p->packet + 2) == p->length);
		CHECK(slow_sum(0, p->packet, ip) == 0xffff);
	} else {
		CHECK(p->packet[0] == 0x60 && p->packet[6] == protocol);
		CHECK(word_at(p->packet + 4) == p->length - ip);
	}
	sum = slow_sum(sum, p->packet + addresses, ip - addresses);
	CHECK(slow_sum(sum, p->packet + ip, p->length - ip) == 0xffff);
	if (protocol == IPPROTO_UDP) {
		CHECK(word_at(p->packet + ip + 4) == p->length - ip);
		CHECK(word_at(p->packet + ip + 6) != 0);
	}
	*length = p->length - ip - header;
	return p->packet + ip + header;
}

static size_t
record(const struct audit_record *r)
{
	const size_t length = FORMAT->record(NULL, r, octets);

	CHECK(length <= FORMAT->record_max);
	return length;
}

TEST(a_rule_is_escaped)
{
	static const char hostile[AUDIT_RULE_MAX + 1] = "a\"\\\n\xff b";
	struct audit_record r = blank;
	struct packet_block q, a;
	size_t end;

	r.rule = hostile;
	r.rule_length = 7;
	end = record(&r);
	q = packet_at(0, end);
	a = packet_at(q.end, end);
	CHECK(has_comment(&a, "decision=answer reason=record "
	    "rule=\"a\\034\\092\\010\\255 b\" uid=1000 gid=100 generation=3"
	    BEHIND));
}

/* The number that follows a segment's data. */
static uint32_t
next_number(const struct packet_block *p, size_t ip, size_t length)
{
	const uint8_t *tcp = p->packet + ip;
	const uint32_t number = (uint32_t)word_at(tcp + 4) << 16 |
	    word_at(tcp + 6);

	return number + (uint32_t)length + ((tcp[13] & 2) != 0);
}

/* Messages of any length over TCP, in as many segments as they need. */
static void
check_stream(const struct audit_record *r, size_t ip)
{
	const size_t end = record(r);
	size_t offset = 0, length;
	uint32_t question_next = 0;

	for (int side = 0; side < 2; side++) {
		const uint8_t *message = side == 0 ? r->question : r->answer;
		const size_t size = side == 0 ? r->question_length :
		    r->answer_length;
		size_t seen = 0;
		uint32_t next = 0;

		while (seen < size + 2 && offset < end) {
			const struct packet_block p = packet_at(offset, end);
			const uint8_t *data = payload_of(&p, r->family,
			    IPPROTO_TCP, &length);
			const uint8_t *tcp = p.packet + ip;
			size_t skip = 0;

			CHECK(((tcp[13] & 2) != 0) == (seen == 0));
			CHECK(((tcp[13] & 16) != 0) == (side > 0 || seen > 0));
			CHECK(seen == 0 || next == next_number(&p, ip, 0));
			if (side > 0)
				CHECK(((uint32_t)word_at(tcp + 8) << 16 |
				    word_at(tcp + 10)) == question_next);
			if (seen == 0) {
				CHECK(word_at(data) == size);
				skip = 2;
			}
			CHECK(memcmp(data + skip, message + seen + skip - 2,
			    length - skip) == 0);
			next = next_number(&p, ip, length);
			seen += length;
			offset = p.end;
		}
		CHECK(seen == size + 2);
		question_next = next;
	}
	CHECK(offset == end);
}

TEST(streams_of_any_length)
{
	static const uint16_t lengths[] = { 12, 13, 512, 65472, 65473, 65474,
		65475, 65476, UINT16_MAX };
	static uint8_t message[UINT16_MAX];
	struct audit_record r = blank;

	for (size_t i = 0; i < sizeof(message); i++)
		message[i] = (uint8_t)(i * 7 + i / 256);
	r.stream = true;
	r.question = r.answer = message;
	r.rule = (const char *)message;
	r.rule_length = AUDIT_RULE_MAX;
	r.generation = UINT64_MAX;
	for (size_t i = 0; i < sizeof(lengths) / sizeof(*lengths); i++) {
		r.question_length = r.answer_length = lengths[i];
		r.family = AF_INET;
		check_stream(&r, 20);
		r.family = AF_INET6;
		check_stream(&r, 40);
	}
}

/* No packet that was read is longer; a record may say anything. */
TEST(a_datagram_has_a_limit)
{
	static uint8_t message[UINT16_MAX];
	struct audit_record r = blank;
	struct packet_block q;
	size_t length;

	r.question = r.answer = message;
	r.question_length = r.answer_length = UINT16_MAX;
	q = packet_at(0, record(&r));
	(void)payload_of(&q, AF_INET, IPPROTO_UDP, &length);
	CHECK(length > 65000);
	r.question_length = 0;
	r.question = NULL;
	r.family = 0;			/* the packet was cut */
	q = packet_at(0, record(&r));
	(void)payload_of(&q, AF_INET6, IPPROTO_UDP, &length);
	CHECK(length == 0);
}

static off_t
whole_of(int fd, off_t size)
{
	CHECK(ftruncate(fd, size) == 0);
	return FORMAT->whole(fd, size);
}

/* Wherever a write ended: the blocks before it are found, and no others. */
TEST(whole_blocks_of_a_cut_file)
{
	static uint8_t message[40000];
	struct audit_record r = blank;
	FILE *file = tmpfile();
	const int fd = fileno(file);
	size_t ends[8], count = 0;
	off_t size = 0;

	/* A message of blocks, none of which is taken for one. */
	for (size_t i = 0; i < sizeof(message); i += 4)
		message[i] = i % 8 == 0 ? 6 : 12;
	r.stream = true;
	r.question = r.answer = message;
	r.question_length = r.answer_length = sizeof(message);
	for (size_t i = 0; i < 4; i++) {
		const size_t length = i == 0 ? FORMAT->note(NULL, &begin,
		    octets) : record(&r);

		CHECK(pwrite(fd, octets, length, size) == (ssize_t)length);
		for (size_t at = 0; at < length; at += u32_at(at + 4))
			ends[count++] = (size_t)size + at + u32_at(at + 4);
		size += (off_t)length;
	}
	CHECK(count == 8 && FORMAT->whole(fd, 0) == 0);
	for (; size > 12; size -= size % 997 + 1) {
		while (count > 0 && ends[count - 1] > (size_t)size)
			count--;
		CHECK(whole_of(fd, size) == (count > 0 ?
		    (off_t)ends[count - 1] : 0));
	}
	/* A file of something else is not touched. */
	CHECK(pwrite(fd, "{\"timestamp\":1}\n", 16, 0) == 16);
	CHECK(whole_of(fd, 16) == -EILSEQ);
	(void)fclose(file);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A record becomes an enhanced packet block for the question, at the time when
 * it was received, and one for the answer, at the time of the decision.  The
 * comment is on the last of them.  Losses and the end of a section are
 * interface statistics, whose counts are records.  Sections are little-endian
 * on every machine.
 *
 * Block and option numbers: draft-ietf-opsawg-pcapng sections 3.5 and 4.
 */
#include <assert.h>
#include <endian.h>
#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "policy/audit/format.h"
#include "policy/audit/json_out.h"
#include "resolver/version.h"
#include "resolver/checksum.h"
#include "resolver/dns/wire.h"

/*
 * The IP packets of a record's messages, made from its addresses and ports,
 * since a record keeps no packet.  Lengths and checksums are right; what the
 * record does not know has the usual value: TTL 64, no options.
 *
 * Over UDP a message is one packet.  Over TCP each record is a connection of
 * its own, which begins with its first data: the SYN segments carry the
 * messages, each behind its two octets of length (RFC 7766 section 8).  The
 * numbers of the real connection are unknown, and numbers of our own cannot
 * stay without gaps where records are lost or filtered; but after a SYN every
 * reader expects a new beginning.
 */

/* Octets of the largest packet that raw_packet_put() makes. */
#define RAW_PACKET_MAX 65535U

#define IPV4_HEADER	20U
#define IPV6_HEADER	40U
#define UDP_HEADER	8U
#define TCP_HEADER	20U
#define LENGTH_PREFIX	2U
#define TTL		64

/* Octets of a message in one packet: any family and any protocol holds them. */
#define PAYLOAD_MAX	(RAW_PACKET_MAX - IPV6_HEADER - TCP_HEADER)

static_assert(RAW_PACKETS_MAX * PAYLOAD_MAX >= UINT16_MAX + LENGTH_PREFIX,
    "the largest message over TCP");

#define TCP_SYN		0x02U
#define TCP_PSH		0x08U
#define TCP_ACK		0x10U

/* The ends of a packet, and what it carries of a message. */
struct ends {
	const uint8_t *source, *destination;
	uint16_t source_port, destination_port;
	const uint8_t *message;
	uint16_t length;
};

static struct ends
ends_of(const struct audit_record *r, bool answer)
{
	if (answer)
		return (struct ends){ r->server, r->client, r->server_port,
			r->client_port, r->answer, r->answer_length };
	return (struct ends){ r->client, r->server, r->client_port,
		r->server_port, r->question, r->question_length };
}

static uint8_t
protocol_of(const struct audit_record *r)
{
	return r->stream ? IPPROTO_TCP : IPPROTO_UDP;
}

static size_t
address_octets(const struct audit_record *r)
{
	return r->family == AF_INET ? 4 : 16;
}

static void
put_checksum(uint8_t *to, uint64_t sum)
{
	const uint16_t checksum = checksum_finish(sum);

	memcpy(to, &checksum, sizeof(checksum));
}

/* RFC 791 section 3.1; fragments of such a packet are not wanted. */
static void
put_ipv4(const struct ends *ends, uint8_t protocol, size_t length, uint8_t *to)
{
	memset(to, 0, IPV4_HEADER);
	to[0] = 0x45;
	wire_store_u16(to + 2, (uint16_t)(IPV4_HEADER + length));
	to[6] = 0x40;
	to[8] = TTL;
	to[9] = protocol;
	memcpy(to + 12, ends->source, 4);
	memcpy(to + 16, ends->destination, 4);
	put_checksum(to + 10, checksum_add(0, to, IPV4_HEADER));
}

/* RFC 8200 section 3. */
static void
put_ipv6(const struct ends *ends, uint8_t protocol, size_t length, uint8_t *to)
{
	wire_store_u32(to, UINT32_C(6) << 28);
	wire_store_u16(to + 4, (uint16_t)length);
	to[6] = protocol;
	to[7] = TTL;
	memcpy(to + 8, ends->source, 16);
	memcpy(to + 24, ends->destination, 16);
}

/* The sum over a pseudo header and what is behind the header of IP. */
static uint64_t
transport_sum(const struct audit_record *r, const uint8_t *octets,
    size_t length)
{
	uint64_t sum = checksum_add(0, r->client, address_octets(r));

	sum = checksum_add(sum, r->server, address_octets(r));
	sum = checksum_add_u16(sum, protocol_of(r));
	sum = checksum_add_u16(sum, (uint16_t)length);
	return checksum_add(sum, octets, length);
}

/* RFC 768.  Returns the octets of header and message. */
static size_t
put_udp(const struct audit_record *r, const struct ends *ends, size_t *offset,
    uint8_t *to)
{
	const size_t carried = ends->length < PAYLOAD_MAX ? ends->length :
	    PAYLOAD_MAX;
	const size_t length = UDP_HEADER + carried;

	wire_store_u16(to, ends->source_port);
	wire_store_u16(to + 2, ends->destination_port);
	wire_store_u16(to + 4, (uint16_t)length);
	wire_store_u16(to + 6, 0);
	if (carried > 0)
		memcpy(to + UDP_HEADER, ends->message, carried);
	put_checksum(to + 6, transport_sum(r, to, length));
	/* Zero would say that there is no checksum. */
	if ((to[6] | to[7]) == 0)
		to[6] = to[7] = 0xff;
	/* No real packet has more, so nothing is cut. */
	*offset = ends->length;
	return length;
}

/*
 * The number of a direction's SYN: two records of a connection differ in the
 * time of their decisions, so their numbers differ, too.
 */
static uint32_t
first_number(const struct audit_record *r, bool answer)
{
	const uint32_t number = (uint32_t)r->time_ns;

	return answer ? ~number : number;
}

/* RFC 9293 section 3.1.  The answer acknowledges all of the question. */
static void
put_tcp_header(const struct audit_record *r, const struct ends *ends,
    bool answer, size_t offset, uint8_t *to)
{
	const bool first = offset == 0;
	uint32_t acknowledged = 0;
	unsigned int flags = TCP_PSH;

	if (first)
		flags |= TCP_SYN;
	if (answer)
		acknowledged = first_number(r, false) + 1 + LENGTH_PREFIX +
		    r->question_length;
	else if (!first)
		acknowledged = first_number(r, true);
	if (answer || !first)
		flags |= TCP_ACK;
	wire_store_u16(to, ends->source_port);
	wire_store_u16(to + 2, ends->destination_port);
	wire_store_u32(to + 4, first_number(r, answer) + !first +
	    (uint32_t)offset);
	wire_store_u32(to + 8, acknowledged);
	to[12] = TCP_HEADER / 4 << 4;
	to[13] = (uint8_t)flags;
	wire_store_u16(to + 14, UINT16_MAX);	/* window */
	wire_store_u32(to + 16, 0);		/* checksum, urgent pointer */
}

/* Returns the octets of header and data. */
static size_t
put_tcp(const struct audit_record *r, const struct ends *ends, bool answer,
    size_t *offset, uint8_t *to)
{
	size_t left = LENGTH_PREFIX + ends->length - *offset;
	uint8_t *data = to + TCP_HEADER;
	size_t length;

	if (left > PAYLOAD_MAX)
		left = PAYLOAD_MAX;
	length = TCP_HEADER + left;
	put_tcp_header(r, ends, answer, *offset, to);
	if (*offset == 0) {
		wire_store_u16(data, ends->length);
		data += LENGTH_PREFIX;
		*offset = LENGTH_PREFIX;
		left -= LENGTH_PREFIX;
	}
	if (left > 0)
		memcpy(data, ends->message + *offset - LENGTH_PREFIX, left);
	*offset += left;
	put_checksum(to + 16, transport_sum(r, to, length));
	return length;
}

/*
 * Puts the packet that carries the message from *offset on, of the answer or of
 * the question, and moves *offset behind what it carries; 0 is the beginning.
 * Returns its octets, at most RAW_PACKET_MAX; "to" has room for the headers (60
 * octets) and the rest of the message.  *last: no packet of it follows.
 */
static size_t
raw_packet_put(const struct audit_record *record, bool answer, size_t *offset,
    bool *last, uint8_t *to)
{
	const struct ends ends = ends_of(record, answer);
	const size_t ip = record->family == AF_INET ? IPV4_HEADER : IPV6_HEADER;
	size_t length;

	if (record->stream) {
		length = put_tcp(record, &ends, answer, offset, to + ip);
		*last = *offset == LENGTH_PREFIX + (size_t)ends.length;
	} else {
		length = put_udp(record, &ends, offset, to + ip);
		*last = true;
	}
	if (record->family == AF_INET)
		put_ipv4(&ends, protocol_of(record), length, to);
	else
		put_ipv6(&ends, protocol_of(record), length, to);
	return ip + length;
}

#define BLOCK_SECTION		0x0a0d0d0aU
#define BLOCK_INTERFACE		1U
#define BLOCK_STATISTICS	5U
#define BLOCK_PACKET		6U

#define BYTE_ORDER_MAGIC	0x1a2b3c4dU
#define VERSION_1_0		1U
#define LINKTYPE_RAW		101U

#define OPT_ENDOFOPT		0U
#define OPT_COMMENT		1U
#define SHB_USERAPPL		4U
#define IF_NAME			2U
#define IF_DESCRIPTION		3U
#define IF_TSRESOL		9U
#define EPB_FLAGS		2U
#define EPB_PACKETID		5U
#define EPB_QUEUE		6U
#define EPB_VERDICT		7U
#define ISB_IFRECV		4U
#define ISB_IFDROP		5U
#define ISB_USRDELIV		8U

#define NANOSECONDS		9U	/* if_tsresol: 10^-9 s */
#define INBOUND			1U	/* epb_flags */
#define OUTBOUND		2U
#define PACKET_HEADER		28U
#define NOTE_MAX		(512U + AUDIT_NOTE_TEXT)

/*
 * epb_verdict knows hardware, TC and XDP but no netfilter, so it is written in
 * the terms of TC (linux/pkt_cls.h): the packet goes on, is dropped, or turns
 * round.
 */
#define VERDICT_KIND_TC		1U
#define TC_ACT_OK		0U
#define TC_ACT_SHOT		2U
#define TC_ACT_REDIRECT		7U

static char *
put_u32(char *to, uint32_t value)
{
	value = htole32(value);
	memcpy(to, &value, sizeof(value));
	return to + sizeof(value);
}

static char *
put_u64(char *to, uint64_t value)
{
	value = htole64(value);
	memcpy(to, &value, sizeof(value));
	return to + sizeof(value);
}

/* Zeros up to a multiple of four octets. */
static char *
put_padding(char *to, size_t length)
{
	static const char zeros[4];
	const size_t missing = -length % 4;

	memcpy(to, zeros, missing);
	return to + missing;
}

static char *
put_option_head(char *to, uint16_t code, size_t length)
{
	return put_u32(to, (uint32_t)length << 16 | code);
}

static char *
put_option(char *to, uint16_t code, const void *value, size_t length)
{
	to = put_option_head(to, code, length);
	memcpy(to, value, length);
	return put_padding(to + length, length);
}

static char *
put_option_text(char *to, uint16_t code, const char *text)
{
	return put_option(to, code, text, strlen(text));
}

static char *
put_option_u32(char *to, uint16_t code, uint32_t value)
{
	return put_u32(put_option_head(to, code, sizeof(value)), value);
}

static char *
put_option_u64(char *to, uint16_t code, uint64_t value)
{
	return put_u64(put_option_head(to, code, sizeof(value)), value);
}

/* The upper half comes first, whatever the order of octets. */
static char *
put_time(char *to, uint64_t time_ns)
{
	return put_u32(put_u32(to, (uint32_t)(time_ns >> 32)),
	    (uint32_t)time_ns);
}

/* Its length follows at the end. */
static char *
block_begin(char *to, uint32_t type)
{
	return put_u32(to, type) + sizeof(uint32_t);
}

/* Ends options and block; returns where the next block begins. */
static char *
block_end(char *block, char *to)
{
	uint32_t length;

	to = put_option_head(to, OPT_ENDOFOPT, 0);
	length = (uint32_t)(to - block) + sizeof(length);
	(void)put_u32(block + sizeof(uint32_t), length);
	return put_u32(to, length);
}

static char *
put_section(char *block)
{
	char *to = block_begin(block, BLOCK_SECTION);

	to = put_u32(to, BYTE_ORDER_MAGIC);
	to = put_u32(to, VERSION_1_0);
	to = put_u64(to, UINT64_MAX);		/* its length is not known */
	to = put_option_text(to, SHB_USERAPPL, "nfdns " NFDNS_VERSION);
	return block_end(block, to);
}

static char *
put_note(char *option, const struct audit_note *note)
{
	char *text = option + sizeof(uint32_t);
	struct json_out out = { .pos = text, .end = text + AUDIT_NOTE_TEXT };
	size_t length;

	audit_note_text(&out, note);
	assert(!out.full);
	length = (size_t)(out.pos - text);
	(void)put_option_head(option, OPT_COMMENT, length);
	return put_padding(out.pos, length);
}

static char *
put_beginning(char *buf, const struct audit_note *note)
{
	char *interface = put_section(buf);
	char *to;
	static const uint8_t resolution = NANOSECONDS;

	/* What all interfaces have; the options may go on. */
	to = block_begin(interface, BLOCK_INTERFACE);
	to = put_u32(to, LINKTYPE_RAW);
	to = put_u32(to, 0);			/* snaplen: no limit */
	to = put_option_text(to, IF_NAME, "nfdns");
	to = put_option_text(to, IF_DESCRIPTION,
	    "questions and answers of nfdns; headers rebuilt from records");
	to = put_option(to, IF_TSRESOL, &resolution, sizeof(resolution));
	return block_end(interface, put_note(to, note));
}

static size_t
format_note(void *state, const struct audit_note *note, char *buf)
{
	char *end;

	(void)state;
	if (note->kind == AUDIT_CLOSE)
		return 0;
	if (note->kind == AUDIT_BEGIN) {
		end = put_beginning(buf, note);
	} else {
		char *to = block_begin(buf, BLOCK_STATISTICS);

		to = put_u32(to, 0);			/* interface */
		to = put_time(to, note->time_ns);
		to = put_option_u64(to, ISB_IFRECV, note->records + note->lost);
		to = put_option_u64(to, ISB_IFDROP, note->lost);
		to = put_option_u64(to, ISB_USRDELIV, note->records);
		to = put_note(to, note);
		end = block_end(buf, to);
	}
	return (size_t)(end - buf);
}

static char *
put_comment(char *option, const struct audit_record *record)
{
	char *text = option + sizeof(uint32_t);
	struct json_out out = { .pos = text,
		.end = text + AUDIT_PCAPNG_COMMENT - 2 * sizeof(uint32_t) };
	size_t length;

	audit_record_text(&out, record);
	assert(!out.full);
	length = (size_t)(out.pos - text);
	(void)put_option_head(option, OPT_COMMENT, length);
	return put_padding(out.pos, length);
}

static char *
put_verdict(char *to, enum verdict verdict)
{
	uint8_t value[1 + sizeof(uint64_t)] = { VERDICT_KIND_TC };

	value[1] = verdict == VERDICT_PASS ? TC_ACT_OK :
	    verdict == VERDICT_DROP ? TC_ACT_SHOT : TC_ACT_REDIRECT;
	return put_option(to, EPB_VERDICT, value, sizeof(value));
}

static char *
put_packet_options(char *to, const struct audit_record *record, bool answer)
{
	to = put_option_u32(to, EPB_FLAGS, answer ? INBOUND : OUTBOUND);
	/* The answer is the question's packet, turned round. */
	if (!record->stream) {
		to = put_option_u64(to, EPB_PACKETID, record->packet_id);
		to = put_option_u32(to, EPB_QUEUE, record->queue);
	}
	return answer ? to : put_verdict(to, record->verdict);
}

/* The packets of one message. */
static char *
put_message(char *block, const struct audit_record *record, bool answer)
{
	const uint64_t time_ns = answer ? record->time_ns :
	    record->time_ns - record->spent_ns;
	const bool comment = answer || record->answer_length == 0;
	size_t offset = 0;
	bool last = false;

	while (!last) {
		char *to = block_begin(block, BLOCK_PACKET);
		const size_t length = raw_packet_put(record, answer, &offset,
		    &last, (uint8_t *)block + PACKET_HEADER);

		to = put_u32(to, 0);		/* interface */
		to = put_time(to, time_ns);
		to = put_u32(to, (uint32_t)length);
		to = put_u32(to, (uint32_t)length);
		to = put_padding(to + length, length);
		to = put_packet_options(to, record, answer);
		if (comment && last)
			to = put_comment(to, record);
		block = block_end(block, to);
	}
	return block;
}

size_t
audit_pcapng(void *state, const struct audit_record *record, char *buf)
{
	char *end = put_message(buf, record, false);

	(void)state;
	if (record->answer_length > 0)
		end = put_message(end, record, true);
	assert((size_t)(end - buf) <= AUDIT_PCAPNG_MAX);
	return (size_t)(end - buf);
}

/* Octets of one of our blocks at most. */
#define BLOCK_MAX	(RAW_PACKET_MAX + AUDIT_PCAPNG_AROUND + AUDIT_PCAPNG_COMMENT)
#define BLOCK_MIN	12U

/* The length that a block's head states, 0 if no block can begin so. */
static uint32_t
length_in_head(const char *head, bool first)
{
	uint32_t words[2];

	memcpy(words, head, sizeof(words));
	words[1] = le32toh(words[1]);
	if (first && words[0] != le32toh(BLOCK_SECTION))
		return 0;
	return words[1] >= BLOCK_MIN && words[1] % 4 == 0 ? words[1] : 0;
}

/*
 * Follows the lengths from the beginning: what a packet holds may look like a
 * block, so nothing can be found from the end.
 */
static off_t
format_whole(int fd, off_t size)
{
	char window[65536];
	off_t at = 0, base = 0;
	ssize_t have = 0;

	while (size - at >= (off_t)BLOCK_MIN) {
		uint32_t length;

		if (at + 8 > base + have) {
			base = at;
			have = pread(fd, window, sizeof(window), base);
			if (have < 8)
				return have < 0 ? -errno : -EIO;
		}
		length = length_in_head(window + (at - base), at == 0);
		if (length == 0)
			return -EILSEQ;
		if (length > size - at)
			break;
		at += length;
	}
	return size - at <= (off_t)BLOCK_MAX ? at : -EILSEQ;
}

const struct audit_format audit_pcapng_format = {
	.name = "pcapng",
	.record_max = AUDIT_PCAPNG_MAX,
	.note_max = NOTE_MAX,
	.record = audit_pcapng,
	.note = format_note,
	.whole = format_whole,
};

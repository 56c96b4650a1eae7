/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Any octets as what a client sends over TCP, cut into pieces in three ways:
 * the messages are the same however they arrive, and each goes through the
 * interception; and any octets as one message.
 */
#include "nfq/stream/parts.h"
#include "nfq/stream/options.h"
#include "tests/answer_fault.h"
#include "tests/fuzz/fuzz.h"
#include "tests/packets.h"

/* What came out of a stream, in one number. */
struct digest {
	uint64_t sum;
	size_t messages;
};

static void
add(struct digest *d, const uint8_t *octets, size_t length)
{
	d->sum = (d->sum ^ length) * 0x100000001b3;
	for (size_t i = 0; i < length; i++)
		d->sum = (d->sum ^ octets[i]) * 0x100000001b3;
	d->messages++;
}

static void
fail(const char *fault)
{
	fprintf(stderr, "not true: %s\n", fault);
	abort();
}

static void
try_message(const struct table *table, const uint8_t *message, size_t length)
{
	static uint8_t answer[INTERCEPT_STREAM_MAX];
	const struct stream_options options = { EDE_NETWORK_ERROR, 100, 0 };
	const size_t room = sizeof(answer) - STREAM_OPTIONS_ROOM;
	const struct answer_source source = sample_source(table);
	static struct interception in;
	const char *fault;
	ldns_pkt *packet = NULL;
	size_t whole;

	memset(&in, 0xa5, sizeof(in));
	in.policy = NULL;
	in.unanswerable = in.unowned = false;
	intercept_message(&in, message, length);
	intercept_answer(&in, &source, (uint32_t)length, (struct reply_room){
	    answer, room, true });
	if ((in.decision.verdict == VERDICT_PASS) != (in.answer_length == 0))
		fail("answered without a reason, or the reverse");
	if (in.answer_length == 0)
		return;
	fault = answer_fault(&in.question, answer, in.answer_length, room,
	    &in.summary);
	if (fault != NULL)
		fail(fault);
	whole = stream_options_add(&options, &in.question.edns, answer,
	    in.answer_length, sizeof(answer));
	if (whole < in.answer_length || whole > sizeof(answer))
		fail("options do not fit");
	if (ldns_wire2pkt(&packet, answer, whole) != LDNS_STATUS_OK)
		fail("an answer with options does not parse");
	ldns_pkt_free(packet);
}

/* As the TCP thread takes them in, with so many octets a read. */
static struct digest
receive(const struct table *table, const uint8_t *octets, size_t size,
    size_t piece)
{
	struct stream_buffer kept = { .octets = NULL };
	struct digest d = { 0, 0 };

	while (size > 0) {
		size_t n = piece < size ? piece : size, length;
		struct stream_input input;
		const uint8_t *message;

		if (stream_buffer_put(&kept, octets, n) != 0)
			fail("out of memory");
		octets += n;
		size -= n;
		input.octets = kept.octets + kept.start;
		input.left = stream_buffer_length(&kept);
		while (stream_frame_next(&input, &message, &length)) {
			add(&d, message, length);
			if (table != NULL)
				try_message(table, message, length);
		}
		if (input.left >= STREAM_FRAME_MAX)
			fail("a whole message was left");
		stream_buffer_take(&kept, stream_buffer_length(&kept) -
		    input.left);
	}
	add(&d, kept.octets != NULL ? kept.octets + kept.start : NULL,
	    stream_buffer_length(&kept));
	stream_buffer_clear(&kept);
	return d;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct table *table;
	struct digest all, pieces;

	if (table == NULL)
		table = sample_table(false);
	all = receive(table, data, size, size);
	for (size_t piece = 1; piece <= 97; piece += 48) {
		/* Octet by octet is slow with much of it. */
		if (piece == 1 && size > 2000)
			continue;
		pieces = receive(NULL, data, size, piece);
		if (pieces.sum != all.sum || pieces.messages != all.messages)
			fail("pieces give other messages than the whole");
	}
	try_message(table, data, size);
	return 0;
}

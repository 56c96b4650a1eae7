/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes protocol buffers' wire format (protobuf.dev, "Encoding") into memory
 * that grows.  Small messages only: what encloses a part is written around it
 * by moving the part.  The error is sticky: a writer that has no memory turns
 * "failed" and drops what follows, so the caller looks once, at the end.
 */
#ifndef NFDNS_RESOLVER_FEED_PROTOBUF_WRITER_H
#define NFDNS_RESOLVER_FEED_PROTOBUF_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Begin with zeros; owns the octets: protobuf_writer_free(). */
struct protobuf_writer {
	uint8_t *octets;
	size_t length;
	size_t size;
	bool failed;
};

void protobuf_writer_free(struct protobuf_writer *writer);

void protobuf_write_varint(struct protobuf_writer *writer, uint32_t field,
    uint64_t value);
void protobuf_write_octets(struct protobuf_writer *writer, uint32_t field,
    const void *octets, size_t length);
/* NULL and "" are proto3's default: nothing is written. */
void protobuf_write_string(struct protobuf_writer *writer, uint32_t field,
    const char *text);

/*
 * A message within the message: what is written between the two calls is its
 * content.  begin returns what end needs.
 */
size_t protobuf_begin(const struct protobuf_writer *writer);
void protobuf_end(struct protobuf_writer *writer, uint32_t field, size_t begin);

#endif

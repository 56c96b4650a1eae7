/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Cursors over wire-format octets, with a sticky error.
 *
 * A reader that was asked for more than there is turns "failed" and from then
 * on yields zeros without moving; a writer that ran out of room turns "full"
 * and drops what does not fit.  So a parser reads on in a straight line and
 * looks at the error once, at the end.  The functions stand in the header
 * because they are two or three instructions each on the packet path.
 *
 * Integers are in network order on the wire and in host order in the values.
 */
#ifndef NFDNS_RESOLVER_DNS_WIRE_H
#define NFDNS_RESOLVER_DNS_WIRE_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Borrows the octets between base and end. */
struct wire_reader {
	const uint8_t *base;
	const uint8_t *pos;
	const uint8_t *end;
	bool failed;
};

static inline struct wire_reader
wire_reader_over(const uint8_t *octets, size_t length)
{
	return (struct wire_reader){ octets, octets, octets + length, false };
}

static inline size_t
wire_left(const struct wire_reader *r)
{
	return r->failed ? 0 : (size_t)(r->end - r->pos);
}

/* Offset of the next octet from the start of the message. */
static inline size_t
wire_offset(const struct wire_reader *r)
{
	return (size_t)(r->pos - r->base);
}

/* The next n octets, or NULL (and failed) if there are fewer. */
static inline const uint8_t *
wire_read_octets(struct wire_reader *r, size_t n)
{
	const uint8_t *p = r->pos;

	if (r->failed || (size_t)(r->end - r->pos) < n) {
		r->failed = true;
		return NULL;
	}
	r->pos += n;
	return p;
}

static inline uint8_t
wire_read_u8(struct wire_reader *r)
{
	const uint8_t *p = wire_read_octets(r, 1);

	return p != NULL ? p[0] : 0;
}

static inline uint16_t
wire_load_u16(const uint8_t *p)
{
	return (uint16_t)(p[0] << 8 | p[1]);
}

static inline uint16_t
wire_read_u16(struct wire_reader *r)
{
	const uint8_t *p = wire_read_octets(r, 2);

	return p != NULL ? wire_load_u16(p) : 0;
}

static inline uint32_t
wire_read_u32(struct wire_reader *r)
{
	const uint8_t *p = wire_read_octets(r, 4);

	return p != NULL ? (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 |
	    (uint32_t)p[2] << 8 | p[3] : 0;
}

static inline void
wire_skip(struct wire_reader *r, size_t n)
{
	(void)wire_read_octets(r, n);
}

/* Writes into memory that the caller owns. */
struct wire_writer {
	uint8_t *base;
	uint8_t *pos;
	uint8_t *end;
	bool full;
};

static inline struct wire_writer
wire_writer_over(uint8_t *octets, size_t size)
{
	return (struct wire_writer){ octets, octets, octets + size, false };
}

static inline size_t
wire_written(const struct wire_writer *w)
{
	return (size_t)(w->pos - w->base);
}

/* Room for n octets, to be filled by the caller, or NULL (and full). */
static inline uint8_t *
wire_reserve(struct wire_writer *w, size_t n)
{
	uint8_t *p = w->pos;

	if (w->full || (size_t)(w->end - w->pos) < n) {
		w->full = true;
		return NULL;
	}
	w->pos += n;
	return p;
}

static inline void
wire_write_octets(struct wire_writer *w, const void *octets, size_t n)
{
	uint8_t *p = wire_reserve(w, n);

	if (p != NULL && n > 0)
		memcpy(p, octets, n);
}

static inline void
wire_write_u8(struct wire_writer *w, uint8_t v)
{
	wire_write_octets(w, &v, 1);
}

static inline void
wire_store_u16(uint8_t *p, uint16_t v)
{
	p[0] = (uint8_t)(v >> 8);
	p[1] = (uint8_t)v;
}

static inline void
wire_store_u32(uint8_t *p, uint32_t v)
{
	v = htobe32(v);
	memcpy(p, &v, sizeof(v));
}

static inline void
wire_store_u64(uint8_t *p, uint64_t v)
{
	v = htobe64(v);
	memcpy(p, &v, sizeof(v));
}

static inline void
wire_write_u16(struct wire_writer *w, uint16_t v)
{
	uint8_t *p = wire_reserve(w, 2);

	if (p != NULL)
		wire_store_u16(p, v);
}

static inline void
wire_write_u32(struct wire_writer *w, uint32_t v)
{
	uint8_t *p = wire_reserve(w, 4);

	if (p != NULL)
		wire_store_u32(p, v);
}

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Any octets as a file of a log, compressed perhaps: it is read to its end, also
 * a second time, and its pieces lie within it.
 */
#include <sys/mman.h>
#include <unistd.h>

#include "nfq/cli/logs/log_pieces.h"
#include "tests/fuzz/fuzz.h"

/* What a few octets may become: a bomb is read as far as this. */
#define PIECES_MAX	1000

static uint64_t
read_pieces(struct log_octets *source, uint8_t *octets)
{
	struct log_pieces pieces;
	struct audit_reading reading;
	enum log_next next = LOG_PIECE;
	uint64_t before = 0;

	log_pieces_begin(&pieces, source, octets);
	for (int n = 0; n < PIECES_MAX && next == LOG_PIECE; n++) {
		next = log_pieces_next(&pieces, &reading);
		check(pieces.begin + pieces.taken <= pieces.end &&
		    pieces.end <= LOG_PIECES_OCTETS);
		check(next != LOG_PIECE || pieces.taken > 0);
		check(pieces.offset >= before);
		before = pieces.offset;
	}
	return before;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint8_t octets[LOG_PIECES_OCTETS];
	const int fd = memfd_create("log", MFD_CLOEXEC);
	struct log_octets *source;
	uint64_t first;

	check(fd >= 0 && write(fd, data, size) == (ssize_t)size &&
	    lseek(fd, 0, SEEK_SET) == 0);
	source = log_octets_new(fd);
	check(source != NULL);
	first = read_pieces(source, octets);
	check(log_octets_rewind(source));
	check(read_pieces(source, octets) == first);
	log_octets_free(source);
	return 0;
}

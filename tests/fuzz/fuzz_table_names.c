/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Any octets as a feed's table: the first chooses the format and the pieces that
 * the others come in.  Cut anywhere, a table has the same names, and it differs from
 * none and from itself as it must.
 */
#include <errno.h>
#include <string.h>

#include "nfq/feed/table_names.h"
#include "tests/fuzz/fuzz.h"

#define MOST	1000

static int
read_in_pieces(struct table_names *names, const char *format,
    const uint8_t *data, size_t size, size_t piece)
{
	struct table_reader r;
	char why[100];
	int error = table_reader_begin(&r, format, MOST, why, sizeof(why));
	size_t begin = 0, end = 0, used;

	while (error == 0 && end < size) {
		uint8_t *copy;

		end = size - end < piece ? size : end + piece;
		copy = malloc(end - begin + 1);
		check(copy != NULL);
		memcpy(copy, data + begin, end - begin);
		error = table_reader_take(&r, copy, end - begin, &used);
		check(used <= end - begin);
		begin += used;
		free(copy);
	}
	return table_reader_end(&r, error, size - begin, names);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct table_names none = { .format = 0 };
	struct table_names whole, cut;
	struct table_delta delta;
	const char *format;
	struct iovec part;
	char why[100];
	int error;

	if (size == 0)
		return 0;
	format = (data[0] & 1) != 0 ? "nds-proto" : "kubernetes";
	part = (struct iovec){ (void *)(uintptr_t)(data + 1), size - 1 };
	error = table_names_read(&whole, format, &part, 1, MOST, why,
	    sizeof(why));
	check(error == 0 || error == -EBADMSG);
	check(table_names_read(NULL, format, &part, 1, MOST, why,
	    sizeof(why)) == error);
	check(read_in_pieces(&cut, format, data + 1, size - 1,
	    (size_t)(data[0] >> 1) + 1) == error);
	check(whole.count == cut.count && whole.faulty == cut.faulty);
	table_names_compare(&whole, &cut, &delta);
	check(delta.added + delta.removed + delta.changed == 0);
	table_names_compare(&none, &whole, &delta);
	check(delta.added == whole.count && delta.removed == 0);
	table_names_free(&whole);
	table_names_free(&cut);
	return 0;
}

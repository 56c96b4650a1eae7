/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A request to flush the cache, as it stands in run_dir. */
#include <string.h>

#include "nfq/handover/flush.h"
#include "tests/fuzz/fuzz.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t again[FLUSH_OCTETS];
	struct flush flush, same;
	size_t length;

	if (flush_parse(&flush, data, size) < 0)
		return 0;
	length = flush_write(&flush, again);
	check(length == size && flush_parse(&same, again, length) == 0);
	check(same.below == flush.below &&
	    name_equal(&same.name, &flush.name));
	return 0;
}

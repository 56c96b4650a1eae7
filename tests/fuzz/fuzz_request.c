/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Any octets as a line of run_dir/control: a request, or none. */
#include <errno.h>

#include "nfq/process/request.h"
#include "tests/fuzz/fuzz.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *line = (const char *)data;
	struct daemon_request r, again;
	const int error = request_parse(&r, line, size);

	check(error == 0 || error == -EPROTO);
	if (error != 0)
		return 0;
	check(size <= REQUEST_MAX && r.kind <= REQUEST_RUNNING);
	check((r.kind == REQUEST_FLUSH) == (r.name.length > 0));
	if (data[size - 1] == '\n' && data[size - 2] != '\n')
		check(request_parse(&again, line, size - 1) == 0 &&
		    again.kind == r.kind && again.option == r.option);
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Any octets as istioctl's hosts and istio-token, which both end with NUL. */
#include <string.h>

#include "nfq/cli/join/workload.h"
#include "tests/fuzz/fuzz.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct workload w = { .server = strdup("istiod.istio-system.svc:1") };
	struct diag diag = DIAG_INIT;
	const char *why = NULL;
	int64_t end;

	check(w.server != NULL);
	workload_read_hosts(&w, "hosts", (const char *)data, size, &diag);
	check(w.address_count <= WORKLOAD_MAX_ADDRESSES);
	for (size_t i = 0; i < w.address_count; i++)
		check(strspn(w.addresses[i], "0123456789abcdefABCDEF:.") ==
		    strlen(w.addresses[i]));
	for (size_t i = 0; i < diag.kept; i++)
		check(strchr(diag.entries[i].text, '\n') == NULL);
	end = workload_token_end((const char *)data, size, &why);
	check(end >= 0 && (why == NULL || end == 0));
	workload_free(&w);
	diag_free(&diag);
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolver/feed/pem.h"

#include <time.h>

int
pem_no_passphrase(char *buffer, int size, int writing, void *arg)
{
	(void)buffer;
	(void)size;
	(void)writing;
	(void)arg;
	return -1;
}

int64_t
pem_seconds(const ASN1_TIME *time)
{
	struct tm tm;

	return ASN1_TIME_to_tm(time, &tm) == 1 ? (int64_t)timegm(&tm) : 0;
}

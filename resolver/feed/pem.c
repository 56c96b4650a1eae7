/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolver/feed/pem.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <time.h>

BIO *
pem_open(const struct pem_text *pem, struct small_file *file, int *error)
{
	BIO *bio;

	*file = (struct small_file){ .octets = NULL };
	*error = pem->octets == NULL ? small_file_read(pem->path, file) :
	    pem->length > INT_MAX ? -EFBIG : 0;
	if (*error != 0)
		return NULL;
	bio = pem->octets != NULL ?
	    BIO_new_mem_buf(pem->octets, (int)pem->length) :
	    BIO_new_mem_buf(file->octets, (int)file->length);
	if (bio == NULL)
		*error = -ENOMEM;
	return bio;
}

void
pem_say(const struct pem_text *pem, const char *fault,
    char why[static FEED_TEXT])
{
	(void)snprintf(why, FEED_TEXT, "%s%s%.150s%s%s", pem->name,
	    pem->path != NULL ? " " : "", pem->path != NULL ? pem->path : "",
	    fault[0] != '\0' ? ": " : "", fault);
}

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

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "policy/config/ca_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/check.h"

/* A mark before the first certificate would hide it from OpenSSL. */
TEST(a_byte_order_mark_is_left_out)
{
	static const char text[] = "\xef\xbb\xbf-----BEGIN CERTIFICATE-----\n";
	char path[] = "/tmp/ca_file.XXXXXX", *octets = NULL;
	int fd = mkstemp(path);
	size_t length;

	CHECK(write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	CHECK(ca_file_read(path, &octets, &length) == 0);
	CHECK(octets != NULL && strcmp(octets, text + 3) == 0 &&
	    length == strlen(text) - 3);
	free(octets);
	(void)close(fd);
	(void)unlink(path);
}

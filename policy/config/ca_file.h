/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files with the certificates of authorities (PEM, RFC 7468). */
#ifndef NFDNS_POLICY_CONFIG_CA_FILE_H
#define NFDNS_POLICY_CONFIG_CA_FILE_H

#include <stddef.h>

#define CA_FILE_MAX	(4U << 20)	/* octets */

/*
 * Reads a file, or, if the path is "", the first there is of the places where
 * distributions keep the machine's authorities.  0, and *octets, which the caller
 * frees; or a negative errno: -EFBIG; -ENODATA if no certificate begins in it;
 * -EISDIR for anything but a regular file.  What the certificates say is not
 * looked at.
 */
int ca_file_read(const char *path, char **octets, size_t *length)
    __attribute__((warn_unused_result));

/* What is wrong, for a person. */
const char *ca_file_error(int error);

#endif

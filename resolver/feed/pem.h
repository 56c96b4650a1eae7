/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Certificates and keys as they are configured, and what their readers need. */
#ifndef NFDNS_RESOLVER_FEED_PEM_H
#define NFDNS_RESOLVER_FEED_PEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <openssl/bio.h>
#include <openssl/asn1.h>

#include "resolver/feed/feed.h"
#include "resolver/feed/small_file.h"

/* A PEM text: octets, or a file that is read anew each time. */
struct pem_text {
	const char *name;		/* of the setting, for messages; static */
	char *path;			/* NULL with octets, or if there is none */
	char *octets;			/* NULL: it is in the file */
	size_t length;
};

static inline bool
pem_is_given(const struct pem_text *pem)
{
	return pem->octets != NULL || pem->path != NULL;
}

/*
 * The text to read from, which BIO_free() ends; "file" holds it if it is in
 * one, and is to be wiped by the caller in any case.  NULL: -ENOMEM or what
 * small_file_read() said, in *error.
 */
BIO *pem_open(const struct pem_text *pem, struct small_file *file, int *error)
    __attribute__((warn_unused_result));

/* "cert /etc/certs/cert-chain.pem: FAULT". */
void pem_say(const struct pem_text *pem, const char *fault,
    char why[static FEED_TEXT]);

/*
 * A pem_password_cb.  Nobody is there to be asked, and without one OpenSSL asks
 * on the terminal: an encrypted key is one that cannot be read.
 */
int pem_no_passphrase(char *buffer, int size, int writing, void *arg);

/* Seconds since 1970; 0 if it is no time. */
int64_t pem_seconds(const ASN1_TIME *time);

#endif

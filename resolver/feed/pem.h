/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What all readers of certificates and keys need of OpenSSL. */
#ifndef NFDNS_RESOLVER_FEED_PEM_H
#define NFDNS_RESOLVER_FEED_PEM_H

#include <stdint.h>

#include <openssl/asn1.h>

/*
 * A pem_password_cb.  Nobody is there to be asked, and without one OpenSSL asks
 * on the terminal: an encrypted key is one that cannot be read.
 */
int pem_no_passphrase(char *buffer, int size, int writing, void *arg);

/* Seconds since 1970; 0 if it is no time. */
int64_t pem_seconds(const ASN1_TIME *time);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A certificate of our own: the key is made here and never leaves this machine;
 * what is sent is the request to certify it.  Key and certificates are kept in
 * ONE file, so that one rename(2) replaces both: they can never be torn.
 */
#ifndef NFDNS_RESOLVER_FEED_OWN_PAIR_H
#define NFDNS_RESOLVER_FEED_OWN_PAIR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <openssl/evp.h>

#include "resolver/feed/feed.h"
#include "resolver/text/span.h"

/* A new key, for ECDSA with P-256.  NULL: no memory.  Free: EVP_PKEY_free(). */
EVP_PKEY *own_pair_key(void) __attribute__((warn_unused_result));

/*
 * The request (PKCS #10) as PEM, which the caller frees; NULL: no memory.  It
 * names nobody: istiod takes the identity from whoever is authenticated.
 */
char *own_pair_request(EVP_PKEY *key) __attribute__((warn_unused_result));

/*
 * Writes the key and these certificates (PEM, the leaf first) to the file, with
 * mode 0600, so that after a crash it is the old one or the new one.  Returns
 * 0; -EBADMSG, and the reason, if the first is no valid certificate of that key
 * now; or another negative errno, and the reason.
 */
int own_pair_write(const char *path, EVP_PKEY *key, const struct span *chain,
    size_t count, int64_t now, char why[static FEED_TEXT])
    __attribute__((warn_unused_result));

/* When the file's certificate began and ends.  False: there is no sound pair. */
bool own_pair_life(const char *path, int64_t *begin, int64_t *end);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Why a server's certificate is refused, for a person who has to act on it. */
#ifndef NFDNS_NFQ_TLS_REFUSAL_H
#define NFDNS_NFQ_TLS_REFUSAL_H

#include <openssl/x509.h>

#include "nfq/tls/message.h"

/* Called while the certificate is checked, at its first error. */
void tls_refusal_text(X509_STORE_CTX *store, const struct tls_peer *peer,
    char text[static TLS_TEXT]);

#endif

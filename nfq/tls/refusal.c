/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/tls/refusal.h"

#include <arpa/inet.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <openssl/x509v3.h>

#define NAMES_SHOWN	3		/* of a certificate */
#define NAME_SHOWN	40		/* octets of each */

static void
address_text(const uint8_t *octets, int length, char text[static TLS_TEXT])
{
	if ((length != 4 && length != 16) || inet_ntop(length == 4 ? AF_INET :
	    AF_INET6, octets, text, TLS_TEXT) == NULL)
		(void)snprintf(text, TLS_TEXT, "?");
}

/* One of the names of a certificate; what stands there is the server's. */
static bool
name_text(const GENERAL_NAME *name, char text[static TLS_TEXT])
{
	const ASN1_STRING *octets;
	int type;
	void *value = GENERAL_NAME_get0_value(name, &type);

	if (value == NULL || (type != GEN_DNS && type != GEN_IPADD))
		return false;
	octets = value;
	if (type == GEN_IPADD)
		address_text(ASN1_STRING_get0_data(octets),
		    ASN1_STRING_length(octets), text);
	else
		(void)tls_text(text, ASN1_STRING_get0_data(octets),
		    (size_t)ASN1_STRING_length(octets));
	return true;
}

/* "a.example, b.example and 7 more". */
static void
names_of(const X509 *leaf, char *text, size_t size)
{
	GENERAL_NAMES *names = X509_get_ext_d2i(leaf, NID_subject_alt_name,
	    NULL, NULL);
	const int count = sk_GENERAL_NAME_num(names);
	char one[TLS_TEXT];
	int shown = 0, more = 0;
	size_t used = 0;

	text[0] = '\0';
	for (int i = 0; i < count; i++) {
		if (!name_text(sk_GENERAL_NAME_value(names, i), one))
			continue;
		if (shown == NAMES_SHOWN) {
			more++;
			continue;
		}
		used += (size_t)snprintf(text + used, size - used, "%s%.*s",
		    shown++ > 0 ? ", " : "", NAME_SHOWN, one);
	}
	if (more > 0)
		(void)snprintf(text + used, size - used, " and %d more", more);
	if (shown == 0)
		(void)snprintf(text, size, "no name");
	GENERAL_NAMES_free(names);
}

static void
peer_text(const struct tls_peer *peer, char text[static TLS_TEXT])
{
	if (peer->name[0] != '\0')
		(void)snprintf(text, TLS_TEXT, "%s", peer->name);
	else
		address_text(peer->address, peer->family == AF_INET ? 4 : 16,
		    text);
}

static void
wrong_name(const X509 *leaf, const struct tls_peer *peer,
    char text[static TLS_TEXT])
{
	char names[NAMES_SHOWN * (NAME_SHOWN + 2) + 24], wanted[TLS_TEXT];

	names_of(leaf, names, sizeof(names));
	peer_text(peer, wanted);
	(void)snprintf(text, TLS_TEXT, "certificate is for %s, not %.48s",
	    names, wanted);
}

static void
wrong_time(const ASN1_TIME *when, const char *what,
    char text[static TLS_TEXT])
{
	struct tm tm = { .tm_mday = 1 };
	char day[32] = "?";

	if (ASN1_TIME_to_tm(when, &tm) == 1)
		(void)strftime(day, sizeof(day), "%Y-%m-%d %H:%M", &tm);
	(void)snprintf(text, TLS_TEXT, "certificate %s %s UTC", what, day);
}

static void
not_trusted(const X509 *certificate, char text[static TLS_TEXT])
{
	char line[128], issuer[TLS_TEXT] = "?";

	if (certificate != NULL && X509_NAME_oneline(
	    X509_get_issuer_name(certificate), line, sizeof(line)) != NULL)
		(void)tls_text(issuer, (const uint8_t *)line, strlen(line));
	(void)snprintf(text, TLS_TEXT, "certificate is of an authority that is "
	    "not trusted (%.100s): forward.tls.ca names those that are",
	    issuer);
}

void
tls_refusal_text(X509_STORE_CTX *store, const struct tls_peer *peer,
    char text[static TLS_TEXT])
{
	const int error = X509_STORE_CTX_get_error(store);
	const X509 *certificate = X509_STORE_CTX_get_current_cert(store);
	const X509 *leaf = X509_STORE_CTX_get0_cert(store);
	const bool known = certificate != NULL;

	switch (error) {
	case X509_V_ERR_HOSTNAME_MISMATCH:
	case X509_V_ERR_IP_ADDRESS_MISMATCH:
		wrong_name(leaf, peer, text);
		return;
	case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
	case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
	case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
	case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
	case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
		not_trusted(certificate, text);
		return;
	default:
		break;
	}
	if (error == X509_V_ERR_CERT_HAS_EXPIRED && known)
		wrong_time(X509_get0_notAfter(certificate), "expired on", text);
	else if (error == X509_V_ERR_CERT_NOT_YET_VALID && known)
		wrong_time(X509_get0_notBefore(certificate),
		    "is not valid before", text);
	else
		(void)snprintf(text, TLS_TEXT, "certificate is refused: %s",
		    X509_verify_cert_error_string(error));
}

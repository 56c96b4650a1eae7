/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolver/feed/kube_tls.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <openssl/err.h>
#include <openssl/pem.h>

#include "resolver/feed/pem.h"
#include "resolver/feed/small_file.h"

/* The PEM text to read from; "file" holds it if it is in one. */
static BIO *
open_pem(const struct kube_pem *pem, const char *what, struct small_file *file,
    char why[static FEED_TEXT])
{
	BIO *bio = NULL;
	int error;

	*file = (struct small_file){ .octets = NULL };
	if (pem->octets != NULL) {
		if (pem->length <= INT_MAX)
			bio = BIO_new_mem_buf(pem->octets, (int)pem->length);
	} else {
		error = small_file_read(pem->path, file);
		if (error != 0) {
			(void)snprintf(why, FEED_TEXT, "%s %.150s: %s", what,
			    pem->path, strerror(-error));
			return NULL;
		}
		bio = BIO_new_mem_buf(file->octets, (int)file->length);
	}
	if (bio == NULL)
		(void)snprintf(why, FEED_TEXT, "%s: no memory", what);
	return bio;
}

static void
say_bad(const struct kube_pem *pem, const char *what, const char *fault,
    char why[static FEED_TEXT])
{
	(void)snprintf(why, FEED_TEXT, "%s%s%.150s: %s", what,
	    pem->path != NULL ? " " : "", pem->path != NULL ? pem->path : "",
	    fault);
}

/* All certificates of a PEM text; NULL and the reason if there is none. */
static STACK_OF(X509) *
read_certificates(const struct kube_pem *pem, const char *what,
    char why[static FEED_TEXT])
{
	STACK_OF(X509) *certificates = sk_X509_new_null();
	struct small_file file;
	BIO *bio = open_pem(pem, what, &file, why);
	X509 *one;

	while (bio != NULL && certificates != NULL && (one =
	    PEM_read_bio_X509(bio, NULL, pem_no_passphrase, NULL)) != NULL) {
		if (sk_X509_push(certificates, one) == 0)
			X509_free(one);
	}
	if (bio != NULL && sk_X509_num(certificates) <= 0)
		say_bad(pem, what, "there is no certificate in it", why);
	BIO_free(bio);
	small_file_wipe(&file);
	ERR_clear_error();
	if (sk_X509_num(certificates) > 0)
		return certificates;
	sk_X509_free(certificates);
	return NULL;
}

static EVP_PKEY *
read_key(const struct kube_pem *pem, char why[static FEED_TEXT])
{
	struct small_file file;
	BIO *bio = open_pem(pem, "client-key", &file, why);
	EVP_PKEY *key = NULL;

	if (bio != NULL) {
		key = PEM_read_bio_PrivateKey(bio, NULL, pem_no_passphrase, NULL);
		if (key == NULL)
			say_bad(pem, "client-key", "there is no key in it that"
			    " can be read", why);
	}
	BIO_free(bio);
	small_file_wipe(&file);
	ERR_clear_error();
	return key;
}

static bool
load_pair(struct kube_tls *tls, const struct kube_access *access,
    char why[static FEED_TEXT])
{
	const X509 *leaf;

	tls->chain = read_certificates(&access->cert, "client-certificate",
	    why);
	if (tls->chain == NULL)
		return false;
	tls->key = read_key(&access->key, why);
	if (tls->key == NULL)
		return false;
	leaf = sk_X509_value(tls->chain, 0);
	tls->begin = pem_seconds(X509_get0_notBefore(leaf));
	tls->end = pem_seconds(X509_get0_notAfter(leaf));
	if (X509_check_private_key(leaf, tls->key) == 1)
		return true;
	ERR_clear_error();
	(void)snprintf(why, FEED_TEXT, "client-certificate and client-key are"
	    " not of one another");
	return false;
}

int
kube_tls_load(struct kube_tls *tls, const struct kube_access *access,
    char why[static FEED_TEXT])
{
	struct kube_tls read = { .roots = NULL };

	if (kube_pem_is_there(&access->roots)) {
		read.roots = read_certificates(&access->roots,
		    "certificate-authority", why);
		if (read.roots == NULL)
			return -EINVAL;
	}
	if (kube_pem_is_there(&access->cert) && !load_pair(&read, access, why)) {
		kube_tls_free(&read);
		return -EINVAL;
	}
	kube_tls_free(tls);
	*tls = read;
	return 0;
}

/* In a store of their own: libcurl's is shared by connections, and remembers. */
static bool
apply_roots(const STACK_OF(X509) *roots, SSL_CTX *context)
{
	X509_STORE *store = X509_STORE_new();

	if (store == NULL)
		return false;
	SSL_CTX_set_cert_store(context, store);
	for (int i = 0; i < sk_X509_num(roots); i++) {
		/* One that is in it twice is no error that counts. */
		(void)X509_STORE_add_cert(store, sk_X509_value(roots, i));
		ERR_clear_error();
	}
	return true;
}

bool
kube_tls_apply(const struct kube_tls *tls, SSL_CTX *context)
{
	SSL_CTX_set_default_passwd_cb(context, pem_no_passphrase);
	if (tls->roots != NULL && !apply_roots(tls->roots, context))
		return false;
	if (tls->chain == NULL)
		return true;
	if (SSL_CTX_use_certificate(context, sk_X509_value(tls->chain, 0)) !=
	    1 || SSL_CTX_use_PrivateKey(context, tls->key) != 1)
		return false;
	for (int i = 1; i < sk_X509_num(tls->chain); i++) {
		if (SSL_CTX_add1_chain_cert(context,
		    sk_X509_value(tls->chain, i)) != 1)
			return false;
	}
	return true;
}

void
kube_tls_free(struct kube_tls *tls)
{
	sk_X509_pop_free(tls->roots, X509_free);
	sk_X509_pop_free(tls->chain, X509_free);
	EVP_PKEY_free(tls->key);
	*tls = (struct kube_tls){ .roots = NULL };
}

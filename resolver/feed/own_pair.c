/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolver/feed/xds_session.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include "resolver/fds.h"
#include "resolver/feed/tls.h"
#include "resolver/small_file.h"
#include "resolver/replace.h"

EVP_PKEY *
own_pair_key(void)
{
	EVP_PKEY *key = EVP_EC_gen("P-256");

	ERR_clear_error();
	return key;
}

char *
own_pair_request(EVP_PKEY *key)
{
	X509_REQ *request = X509_REQ_new();
	BIO *bio = BIO_new(BIO_s_mem());
	char *text = NULL, *pem;
	long length;

	if (request != NULL && bio != NULL &&
	    X509_REQ_set_version(request, X509_REQ_VERSION_1) == 1 &&
	    X509_REQ_set_pubkey(request, key) == 1 &&
	    X509_REQ_sign(request, key, EVP_sha256()) > 0 &&
	    PEM_write_bio_X509_REQ(bio, request) == 1) {
		length = BIO_get_mem_data(bio, &pem);
		text = strndup(pem, (size_t)length);
	}
	BIO_free(bio);
	X509_REQ_free(request);
	ERR_clear_error();
	return text;
}

static X509 *
read_leaf(const void *pem, size_t length)
{
	BIO *bio = length <= INT_MAX ? BIO_new_mem_buf(pem, (int)length) : NULL;
	X509 *leaf = bio != NULL ?
	    PEM_read_bio_X509(bio, NULL, pem_no_passphrase, NULL) : NULL;

	BIO_free(bio);
	ERR_clear_error();
	return leaf;
}

/* NULL, or why the leaf is of no use. */
static const char *
find_fault(const X509 *leaf, EVP_PKEY *key, int64_t now)
{
	if (leaf == NULL)
		return "it sent no certificate";
	if (X509_check_private_key(leaf, key) != 1) {
		ERR_clear_error();
		return "its certificate is not of the key that was sent";
	}
	if (now >= pem_seconds(X509_get0_notAfter(leaf)))
		return "its certificate has expired already: is the clock "
		    "right?";
	return NULL;
}

/* Key and chain as one PEM text, in memory of BIO's. */
static BIO *
print_pair(EVP_PKEY *key, const struct span *chain, size_t count)
{
	BIO *bio = BIO_new(BIO_s_secmem());

	if (bio == NULL || PEM_write_bio_PKCS8PrivateKey(bio, key, NULL, NULL,
	    0, NULL, NULL) != 1)
		goto failed;
	for (size_t i = 0; i < count; i++)
		if (chain[i].length > SMALL_FILE_MAX / 16 ||
		    BIO_write(bio, chain[i].text, (int)chain[i].length) !=
		    (int)chain[i].length || BIO_write(bio, "\n", 1) != 1)
			goto failed;
	return bio;
failed:
	BIO_free(bio);
	ERR_clear_error();
	return NULL;
}

static int
write_pair(const char *path, char *octets, size_t length)
{
	struct iovec whole = { octets, length };
	struct replace file;
	int error = replace_begin(&file, AT_FDCWD, path, 0600);

	if (error < 0)
		return error;
	error = fds_write_all(file.fd, &whole, 1);
	return replace_end(&file, REPLACE_DURABLY, error);
}

int
own_pair_write(const char *path, EVP_PKEY *key, const struct span *chain,
    size_t count, int64_t now, char why[static FEED_TEXT])
{
	X509 *leaf = count > 0 ? read_leaf(chain[0].text, chain[0].length) :
	    NULL;
	const char *fault = find_fault(leaf, key, now);
	int error = -ENOMEM;
	BIO *bio = NULL;
	char *pem;
	long length;

	X509_free(leaf);
	(void)snprintf(why, FEED_TEXT, "%s", fault != NULL ? fault : "");
	if (fault != NULL)
		return -EBADMSG;
	bio = print_pair(key, chain, count);
	if (bio != NULL) {
		length = BIO_get_mem_data(bio, &pem);
		error = write_pair(path, pem, (size_t)length);
	}
	BIO_free(bio);
	if (error != 0)
		(void)snprintf(why, FEED_TEXT, "%.150s: %s", path,
		    strerror(-error));
	return error;
}

bool
own_pair_life(const char *path, int64_t *begin, int64_t *end)
{
	struct small_file file;
	EVP_PKEY *key = NULL;
	X509 *leaf = NULL;
	BIO *bio;
	bool sound;

	if (small_file_read(path, &file) != 0)
		return false;
	leaf = read_leaf(file.octets, file.length);
	bio = BIO_new_mem_buf(file.octets, (int)file.length);
	if (bio != NULL)
		key = PEM_read_bio_PrivateKey(bio, NULL, pem_no_passphrase,
		    NULL);
	sound = leaf != NULL && key != NULL &&
	    X509_check_private_key(leaf, key) == 1;
	if (sound) {
		*begin = pem_seconds(X509_get0_notBefore(leaf));
		*end = pem_seconds(X509_get0_notAfter(leaf));
	}
	BIO_free(bio);
	X509_free(leaf);
	EVP_PKEY_free(key);
	small_file_wipe(&file);
	ERR_clear_error();
	return sound;
}

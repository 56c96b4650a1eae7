/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A key of our own: its request, and the file with its certificate. */
#include "resolver/feed/xds_session.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <openssl/pem.h>
#include <openssl/x509.h>

#include "resolver/small_file.h"
#include "tests/check.h"

static char directory[] = "/tmp/own_pair.XXXXXX";
static char why[FEED_TEXT];

/* A certificate for the key, signed by itself; the caller frees it. */
static char *
certify(EVP_PKEY *key, long begin, long end)
{
	X509 *x = X509_new();
	BIO *bio = BIO_new(BIO_s_mem());
	char *pem, *text;
	long length;

	(void)X509_set_pubkey(x, key);
	(void)X509_gmtime_adj(X509_getm_notBefore(x), begin);
	(void)X509_gmtime_adj(X509_getm_notAfter(x), end);
	(void)X509_sign(x, key, EVP_sha256());
	(void)PEM_write_bio_X509(bio, x);
	length = BIO_get_mem_data(bio, &pem);
	text = strndup(pem, (size_t)length);
	BIO_free(bio);
	X509_free(x);
	return text;
}

static int
keep(EVP_PKEY *key, const char *certificate)
{
	struct span chain = span_of(certificate);

	return own_pair_write("pair", key, &chain, 1, (int64_t)time(NULL), why);
}

TEST(request_has_the_key_and_no_name)
{
	EVP_PKEY *key = own_pair_key(), *found;
	char *text = own_pair_request(key);
	BIO *bio = BIO_new_mem_buf(text, -1);
	X509_REQ *request = PEM_read_bio_X509_REQ(bio, NULL, NULL, NULL);

	CHECK(strstr(text, "PRIVATE") == NULL && request != NULL);
	found = X509_REQ_get_pubkey(request);
	CHECK(EVP_PKEY_eq(found, key) == 1);
	CHECK(X509_REQ_verify(request, key) == 1);
	CHECK(X509_NAME_entry_count(X509_REQ_get_subject_name(request)) == 0);
	EVP_PKEY_free(found);
	X509_REQ_free(request);
	BIO_free(bio);
	free(text);
	EVP_PKEY_free(key);
}

TEST(is_kept_privately)
{
	EVP_PKEY *key = own_pair_key();
	char *certificate = certify(key, -100, 1000);
	int64_t begin = 0, end = 0, now = (int64_t)time(NULL);
	struct stat st;

	CHECK(!own_pair_life("pair", &begin, &end));
	CHECK(keep(key, certificate) == 0);
	CHECK(stat("pair", &st) == 0 && (st.st_mode & 0777) == 0600);
	CHECK(own_pair_life("pair", &begin, &end));
	CHECK(end - begin == 1100 && end > now + 990 && end < now + 1010);
	CHECK(access("pair.new", F_OK) != 0);
	free(certificate);
	EVP_PKEY_free(key);
}

/* What is refused leaves the pair that is there. */
TEST(is_refused)
{
	EVP_PKEY *key = own_pair_key(), *other = own_pair_key();
	char *expired = certify(key, -100, -1), *foreign = certify(other, 0, 9);
	struct small_file before, after;

	CHECK(small_file_read("pair", &before) == 0);
	CHECK(keep(key, expired) == -EBADMSG && strstr(why, "expired") != NULL);
	CHECK(keep(key, foreign) == -EBADMSG && *why != '\0');
	CHECK(keep(key, "garbage") == -EBADMSG);
	CHECK(own_pair_write("pair", key, NULL, 0, 0, why) == -EBADMSG);
	CHECK(small_file_read("pair", &after) == 0);
	CHECK(after.length == before.length &&
	    memcmp(after.octets, before.octets, after.length) == 0);
	small_file_wipe(&before);
	small_file_wipe(&after);
	free(expired);
	free(foreign);
	EVP_PKEY_free(key);
	EVP_PKEY_free(other);
}

TEST(no_place_to_keep_it)
{
	EVP_PKEY *key = own_pair_key();
	char *certificate = certify(key, 0, 1000);
	struct span chain = span_of(certificate);

	CHECK(own_pair_write("absent/pair", key, &chain, 1,
	    (int64_t)time(NULL), why) == -ENOENT);
	CHECK(strstr(why, "absent/pair") != NULL);
	free(certificate);
	EVP_PKEY_free(key);
}

int
main(void)
{
	if (mkdtemp(directory) == NULL || chdir(directory) != 0)
		return 1;
	test_run();
	(void)unlink("pair");
	(void)rmdir(directory);
	return test_summary();
}

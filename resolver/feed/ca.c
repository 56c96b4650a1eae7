/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include "resolver/feed/xds_session.h"
#include "resolver/feed/http2.h"
#include "resolver/feed/protobuf_writer.h"
#include "resolver/sources/protobuf.h"
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

#define CA_PATH "/istio.v1.auth.IstioCertificateService/CreateCertificate"
#define CHAIN_MOST	16		/* certificates of an answer */

/* istio/api security/v1alpha1/ca.proto */
enum { REQUEST_CSR = 1, REQUEST_VALIDITY = 3, RESPONSE_CHAIN = 1 };

void
ca_init(struct ca *ca, const struct feed_config *config,
    const struct feed_host *host, monotime_t now)
{
	*ca = (struct ca){ .config = config, .host = host, .due = now };
}

static void
stop_asking(struct ca *ca)
{
	link_free(ca->link);
	EVP_PKEY_free(ca->key);
	ca->link = NULL;
	ca->key = NULL;
	ca->asked = false;
}

void
ca_end(struct ca *ca)
{
	stop_asking(ca);
}

static void
fail(struct ca *ca, const char *why, int64_t delay_ms, monotime_t now)
{
	char text[2 * FEED_TEXT];

	(void)snprintf(text, sizeof(text), "no certificate from %.100s: %s; "
	    "asking again in %.1f s", ca->config->server, why,
	    (double)delay_ms / 1000);
	ca->host->report(ca->host->arg,
	    ca->complained ? FEED_DEBUG : FEED_ERROR, text);
	ca->complained = true;
	ca->due = monotime_add_ms(now, delay_ms);
	stop_asking(ca);
}

/*
 * Seconds until a new one is wanted, which is at half of the life; 0: now.  The
 * time of day may be set meanwhile, so no moment is computed in advance.
 */
static int64_t
seconds_left(const struct ca *ca, int64_t today)
{
	int64_t begin, end, half;

	if (!own_pair_life(ca->config->cert, &begin, &end) || today < begin)
		return 0;
	half = begin + (end - begin) / 2;
	return today >= half ? 0 : half - today;
}

static void
look(struct ca *ca, monotime_t now, int64_t today, uint64_t random)
{
	int64_t left = seconds_left(ca, today);

	if (left == 0) {
		struct tls_options tls;
		struct link_options options = link_options_of(ca->config, &tls,
		    CA_PATH);

		options.gave_time = true;
		tls.refused = ca->refused;
		ca->key = own_pair_key();
		ca->link = ca->key != NULL ? link_new(&options, now) : NULL;
		ca->deadline = monotime_add_ms(now, CA_ANSWER_MS);
		if (ca->link == NULL)
			fail(ca, "no memory", backoff_slow_ms(&ca->backoff,
			    random), now);
	} else {
		ca->due = monotime_add_ms(now, left < CA_LOOK_MS / 1000 ?
		    left * 1000 : CA_LOOK_MS);
	}
}

/* An error shows at the link's end. */
static void
ask(struct ca *ca)
{
	char *csr = own_pair_request(ca->key);
	struct protobuf_writer w = { 0 };

	ca->asked = true;
	protobuf_write_string(&w, REQUEST_CSR, csr);
	protobuf_write_varint(&w, REQUEST_VALIDITY, CA_VALIDITY_S);
	if (csr == NULL || w.failed ||
	    link_send(ca->link, w.octets, w.length) != 0)
		link_abandon(ca->link, FEED_CAUSE_PROTOCOL, "no memory");
	link_send_end(ca->link);
	protobuf_writer_free(&w);
	free(csr);
}

/* The certificates, leaf first; the last one is the bundle of roots. */
static size_t
read_chain(const uint8_t *octets, size_t length,
    struct span chain[static CHAIN_MOST])
{
	struct protobuf p = protobuf_over(octets, length);
	struct protobuf_field f;
	size_t count = 0;

	while (protobuf_next(&p, &f))
		if (f.number == RESPONSE_CHAIN && f.type == PROTOBUF_OCTETS &&
		    count < CHAIN_MOST)
			chain[count++] = f.octets;
	return p.failed || count < 2 ? 0 : count - 1;
}

static void
take_answer(struct ca *ca, const uint8_t *octets, size_t length,
    monotime_t now, int64_t today, uint64_t random)
{
	struct span chain[CHAIN_MOST];
	size_t count = read_chain(octets, length, chain);
	char why[FEED_TEXT];

	if (own_pair_write(ca->config->cert, ca->key, chain, count, today,
	    why) != 0) {
		fail(ca, why, backoff_slow_ms(&ca->backoff, random), now);
		return;
	}
	ca->host->report(ca->host->arg, FEED_NOTICE,
	    "a new certificate for this machine is in place");
	ca->complained = ca->refused = false;
	backoff_reset(&ca->backoff);
	/* Whatever life the server gives them: not more than one in that time. */
	ca->due = monotime_add_ms(now, CA_APART_MS);
	stop_asking(ca);
}

void
ca_step(struct ca *ca, const struct pollfd *fds, size_t count, monotime_t now,
    int64_t today, uint64_t random)
{
	uint8_t *octets;
	size_t length;

	if (ca->link != NULL) {
		link_step(ca->link, fds, count, now);
		if (!ca->asked && link_is_open(ca->link))
			ask(ca);
		if (monotime_is_past(now, ca->deadline))
			link_abandon(ca->link, FEED_CAUSE_TIMEOUT,
			    "the server does not answer");
		octets = link_message(ca->link, &length);
		if (octets != NULL) {
			take_answer(ca, octets, length, now, today, random);
		} else if (link_ended(ca->link) != NULL) {
			const struct link_end *end = link_ended(ca->link);
			char why[FEED_TEXT];

			(void)snprintf(why, sizeof(why), "%s", end->why);
			ca->refused = end->refused && ca->config->token != NULL;
			fail(ca, why, end->cause == FEED_CAUSE_STATUS &&
			    grpc_status_is_lasting(end->status) ?
			    backoff_slow_ms(&ca->backoff, random) :
			    backoff_next_ms(&ca->backoff, random), now);
		}
		free(octets);
	} else if (monotime_is_past(now, ca->due)) {
		look(ca, now, today, random);
	}
}

size_t
ca_poll(struct ca *ca, struct pollfd *fds, monotime_t now)
{
	return ca->link != NULL ? link_poll(ca->link, fds, now) : 0;
}

monotime_t
ca_deadline(struct ca *ca, monotime_t now)
{
	monotime_t deadline;

	if (ca->link == NULL)
		return ca->due;
	deadline = link_deadline(ca->link, now);
	return monotime_is_past(deadline, ca->deadline) ? ca->deadline :
	    deadline;
}

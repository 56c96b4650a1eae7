/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nfdns-tls between a server, which is the test's, and a stream of the worker: it
 * copies octets both ways, says why it refuses a server, and neither side can make it
 * spin or grow.
 */
#include "nfq/tls/server.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include "tests/check.h"

/* Without it there is nothing to test. */
#define MUST(condition) do { \
	if (!(condition)) \
		abort(); \
} while (0)

#define WAIT_MS		10000
#define QUIET_MS	300		/* for what must not happen */
#define BUSY_MS		50		/* of the CPU in that time: it spins */
#define HELD_MAX	(4 << 20)	/* octets between the two sides */
#define NAME		"dns.example"

static SSL_CTX *good;
static struct tls_context context;
static pthread_t thread;
static int channel;			/* the worker's end */
static int result;			/* of nfdns-tls */

static X509 *
self_signed(EVP_PKEY *key)
{
	X509 *x = X509_new();
	X509_EXTENSION *names = X509V3_EXT_conf_nid(NULL, NULL,
	    NID_subject_alt_name, "DNS:" NAME);

	MUST(x != NULL && names != NULL);
	MUST(X509_set_version(x, 2) && X509_set_pubkey(x, key));
	MUST(X509_gmtime_adj(X509_getm_notBefore(x), -60) != NULL &&
	    X509_gmtime_adj(X509_getm_notAfter(x), 3600) != NULL);
	MUST(X509_NAME_add_entry_by_txt(X509_get_subject_name(x), "CN",
	    MBSTRING_ASC, (const uint8_t *)"test", -1, -1, 0));
	MUST(X509_set_issuer_name(x, X509_get_subject_name(x)));
	MUST(X509_add_ext(x, names, -1) && X509_sign(x, key, EVP_sha256()));
	X509_EXTENSION_free(names);
	return x;
}

static void
make_certificate(void)
{
	EVP_PKEY *key = EVP_EC_gen("P-256");
	X509 *x = self_signed(key);
	BIO *pem = BIO_new(BIO_s_mem());
	char *text;
	long length;

	good = SSL_CTX_new(TLS_server_method());
	MUST(SSL_CTX_use_certificate(good, x) &&
	    SSL_CTX_use_PrivateKey(good, key));
	MUST(PEM_write_bio_X509(pem, x));
	length = BIO_get_mem_data(pem, &text);
	MUST(tls_context_open(&context, text, (size_t)length) == 0);
	BIO_free(pem);
	X509_free(x);
	EVP_PKEY_free(key);
}

static void *
run(void *arg)
{
	result = tls_server_run(*(int *)arg, &context);
	return NULL;
}

static int theirs;

static void
begin(void)
{
	int ends[2];

	MUST(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends) == 0);
	channel = ends[0];
	theirs = ends[1];
	MUST(pthread_create(&thread, NULL, run, &theirs) == 0);
}

static void
end(int wanted)
{
	(void)close(channel);
	MUST(pthread_join(thread, NULL) == 0);
	(void)close(theirs);
	CHECK(result == wanted);
}

struct tunnel {
	SSL *ssl;			/* the server's */
	int server, stream;		/* its socket, the worker's end */
	int passed;			/* what nfdns-tls got, as the worker may keep it */
};

static void
make_pair(int type, int pair[2])
{
	MUST(socketpair(AF_UNIX, type, 0, pair) == 0);
}

/* A connection to a server whose certificate has to be for that name. */
static void
open_tunnel(struct tunnel *t, const char *name)
{
	struct tls_peer peer = { .family = AF_INET, .port = 853,
		.address = { 127, 0, 0, 1 } };
	uint8_t header[TLS_HEADER], body[TLS_PEER_MAX];
	int socket[2], stream[2];

	make_pair(SOCK_STREAM, socket);
	make_pair(SOCK_SEQPACKET, stream);
	MUST(fcntl(socket[1], F_SETFL, O_NONBLOCK) == 0);
	(void)snprintf(peer.name, sizeof(peer.name), "%s", name);
	tls_message_write(header, TLS_OPEN, 0);
	MUST(tls_channel_send(channel, header, body, tls_peer_write(&peer,
	    body), (const int[TLS_FDS]){ socket[1], stream[1] }) == 0);
	(void)close(socket[1]);
	*t = (struct tunnel){ .ssl = SSL_new(good), .server = socket[0],
		.stream = stream[0], .passed = stream[1] };
	MUST(t->ssl != NULL && SSL_set_fd(t->ssl, t->server) == 1);
}

static void
close_tunnel(struct tunnel *t)
{
	SSL_free(t->ssl);
	(void)close(t->server);
	(void)close(t->stream);
	(void)close(t->passed);
}

/* What the stream brings first, and why. */
static enum tls_status
status(const struct tunnel *t, char why[static TLS_TEXT])
{
	struct pollfd wait = { t->stream, POLLIN, 0 };
	uint8_t octets[TLS_MESSAGE_MAX];
	struct tls_message m = { .status = TLS_STATUSES };
	int fds[TLS_FDS];
	ssize_t length;

	if (poll(&wait, 1, WAIT_MS) != 1)
		return TLS_STATUSES;
	length = tls_channel_receive(t->stream, octets, fds);
	CHECK(length > 0 && tls_message_parse(&m, octets, (size_t)length) ==
	    0 && m.kind == TLS_STATUS);
	(void)tls_text(why, m.body, length > 0 ? m.length : 0);
	return m.status;
}

static void
open_good(struct tunnel *t)
{
	char why[TLS_TEXT];
	enum tls_status what;

	open_tunnel(t, NAME);
	MUST(SSL_accept(t->ssl) == 1);
	what = status(t, why);
	CHECK((what == TLS_OPENED || what == TLS_RESUMED) && why[0] == '\0');
}

/* Whether the server gets this, as one record. */
static bool
server_gets(struct tunnel *t, const char *text)
{
	char octets[100];

	return SSL_read(t->ssl, octets, sizeof(octets)) == (int)strlen(text) &&
	    memcmp(octets, text, strlen(text)) == 0;
}

static bool
worker_gets(struct tunnel *t, const char *text)
{
	char octets[100];

	return recv(t->stream, octets, sizeof(octets), 0) ==
	    (ssize_t)strlen(text) && memcmp(octets, text, strlen(text)) == 0;
}

static bool
worker_says(struct tunnel *t, const char *text)
{
	return send(t->stream, text, strlen(text), MSG_NOSIGNAL) ==
	    (ssize_t)strlen(text);
}

static bool
server_says(struct tunnel *t, const char *text)
{
	return SSL_write(t->ssl, text, (int)strlen(text)) == (int)strlen(text);
}

/* Whether nfdns-tls takes next to no CPU time while nothing happens. */
static bool
rests(void)
{
	struct timespec before, after;
	clockid_t clock;

	MUST(pthread_getcpuclockid(thread, &clock) == 0);
	MUST(clock_gettime(clock, &before) == 0);
	(void)poll(NULL, 0, QUIET_MS);
	MUST(clock_gettime(clock, &after) == 0);
	return (after.tv_sec - before.tv_sec) * 1000 +
	    (after.tv_nsec - before.tv_nsec) / 1000000 < BUSY_MS;
}

TEST(octets_go_both_ways)
{
	struct tunnel t, other;

	begin();
	open_good(&t);
	open_good(&other);
	/* Written at a time, they are records of their own all the same. */
	CHECK(worker_says(&t, "one") && worker_says(&t, "two") &&
	    worker_says(&other, "three"));
	CHECK(server_gets(&t, "one") && server_gets(&t, "two") &&
	    server_gets(&other, "three"));
	CHECK(server_says(&t, "a") && server_says(&other, "b") &&
	    server_says(&t, "c"));
	CHECK(worker_gets(&t, "a") && worker_gets(&t, "c") &&
	    worker_gets(&other, "b"));
	CHECK(rests());
	close_tunnel(&t);
	close_tunnel(&other);
	end(0);
}

TEST(each_way_ends_by_itself)
{
	struct tunnel t;
	char octet;

	begin();
	/* The worker's end: the server may still answer. */
	open_good(&t);
	CHECK(worker_says(&t, "last") && shutdown(t.stream, SHUT_WR) == 0);
	CHECK(server_gets(&t, "last"));
	CHECK(SSL_read(t.ssl, &octet, 1) <= 0 &&
	    (SSL_get_shutdown(t.ssl) & SSL_RECEIVED_SHUTDOWN) != 0);
	CHECK(server_says(&t, "answer") && worker_gets(&t, "answer"));
	CHECK(rests());
	(void)SSL_shutdown(t.ssl);
	CHECK(recv(t.stream, &octet, 1, 0) == 0);
	close_tunnel(&t);
	/* The server's end: it may still read. */
	open_good(&t);
	CHECK(server_says(&t, "last"));
	(void)SSL_shutdown(t.ssl);
	CHECK(worker_gets(&t, "last") && recv(t.stream, &octet, 1, 0) == 0);
	CHECK(rests());
	CHECK(worker_says(&t, "late") && server_gets(&t, "late"));
	close_tunnel(&t);
	end(0);
}

/* Octets that are taken from the worker before it has to wait. */
static size_t
fill(const struct tunnel *t)
{
	static const uint8_t octets[TLS_COPY];
	struct pollfd wait = { t->stream, POLLOUT, 0 };
	size_t sent = 0;

	while (sent < HELD_MAX && poll(&wait, 1, QUIET_MS) == 1) {
		const ssize_t n = send(t->stream, octets, sizeof(octets),
		    MSG_DONTWAIT | MSG_NOSIGNAL);

		sent += n > 0 ? (size_t)n : 0;
	}
	return sent;
}

TEST(who_does_not_read_holds_the_other_up)
{
	static uint8_t octets[TLS_COPY];
	struct tunnel t;
	size_t held, got = 0;
	int n;

	begin();
	open_good(&t);
	held = fill(&t);
	CHECK(held > 0 && held < HELD_MAX && rests());
	while (got < held && (n = SSL_read(t.ssl, octets, sizeof(octets))) > 0)
		got += (size_t)n;
	CHECK(got == held);
	/* The same from the server. */
	MUST(fcntl(t.server, F_SETFL, O_NONBLOCK) == 0);
	held = 0;
	while (held < HELD_MAX && poll(&(struct pollfd){ t.server, POLLOUT, 0 },
	    1, QUIET_MS) == 1) {
		n = SSL_write(t.ssl, octets, sizeof(octets));
		held += n > 0 ? (size_t)n : 0;
	}
	CHECK(held > 0 && held < HELD_MAX && rests());
	/* Others are served meanwhile, and the worker may leave. */
	close_tunnel(&t);
	open_good(&t);
	CHECK(worker_says(&t, "one") && server_gets(&t, "one"));
	(void)close(t.stream);
	t.stream = -1;
	CHECK(SSL_read(t.ssl, octets, 1) <= 0);
	CHECK(rests());
	close_tunnel(&t);
	end(0);
}

/* More than there may be; those that go make room. */
TEST(there_are_so_many_and_no_more)
{
	static struct tunnel t[TLS_CONNECTIONS + 1];
	char why[TLS_TEXT], octet;

	begin();
	for (uint32_t i = 0; i < TLS_CONNECTIONS; i++)
		open_good(&t[i]);
	open_tunnel(&t[TLS_CONNECTIONS], NAME);
	CHECK(status(&t[TLS_CONNECTIONS], why) == TLS_FULL && why[0] != '\0');
	(void)close(t[0].stream);
	t[0].stream = -1;
	CHECK(SSL_read(t[0].ssl, &octet, 1) <= 0);
	close_tunnel(&t[TLS_CONNECTIONS]);
	open_good(&t[TLS_CONNECTIONS]);
	CHECK(rests());
	for (uint32_t i = 0; i <= TLS_CONNECTIONS; i++)
		close_tunnel(&t[i]);
	end(0);
}

TEST(a_worker_that_makes_no_sense_ends_it)
{
	uint8_t header[TLS_HEADER];

	begin();
	tls_message_write(header, TLS_OPEN, 0);
	CHECK(tls_channel_send(channel, header, "", 0, NULL) == 0);
	end(-EPROTO);
	begin();
	tls_message_write(header, TLS_STATUS, TLS_OPENED);
	CHECK(tls_channel_send(channel, header, "", 0, NULL) == 0);
	end(-EPROTO);
}

int
main(void)
{
	MUST(signal(SIGPIPE, SIG_IGN) != SIG_ERR);	/* as child.h has it */
	make_certificate();
	test_run();
	tls_context_close(&context);
	SSL_CTX_free(good);
	return test_summary();
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * TLS to a server in this very process, over a socketpair(2): whom the feed
 * trusts, and whom it does not.
 */
#include "resolver/feed/tls.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include "resolver/feed/link.h"
#include "tests/check.h"

#define NAME	"istiod.mesh.test"
#define DAY	86400
#define ROUNDS	100			/* of a handshake */

struct identity {
	EVP_PKEY *key;
	X509 *certificate;
};

/* A server and what it is like. */
struct server {
	struct identity identity;
	int version;			/* at most; 0: any */
	const char *alpn;		/* "": none */
	X509 *trusts;			/* asks for a certificate of its; or NULL */
	SSL *ssl;
	int fd;
};

static char directory[] = "/tmp/tls.XXXXXX", roots_path[] = "roots.pem";
static char cert_path[] = "cert.pem", key_path[] = "key.pem";
static struct identity mesh, foreign;	/* authorities of the same name */
static struct tls_options options = { .roots = { .name = "root_cert" },
	.cert = { .name = "cert" }, .key = { .name = "key" } };
static struct transport transport;
static char why[FEED_TEXT];

static void
add_extension(X509 *x, int nid, const char *value)
{
	X509_EXTENSION *extension = X509V3_EXT_conf_nid(NULL, NULL, nid, value);

	(void)X509_add_ext(x, extension, -1);
	X509_EXTENSION_free(extension);
}

/* With the subject alternative names (NULL: none); by itself without issuer. */
static struct identity
certify(const struct identity *issuer, const char *names, long begin, long end)
{
	static long serial;
	struct identity made = { EVP_EC_gen("P-256"), X509_new() };
	X509 *x = made.certificate;
	X509_NAME *name = X509_get_subject_name(x);

	(void)X509_set_version(x, X509_VERSION_3);
	(void)ASN1_INTEGER_set(X509_get_serialNumber(x), ++serial);
	(void)X509_set_pubkey(x, made.key);
	(void)X509_gmtime_adj(X509_getm_notBefore(x), begin);
	(void)X509_gmtime_adj(X509_getm_notAfter(x), end);
	(void)X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC,
	    (const unsigned char *)(issuer != NULL ? NAME : "an authority"),
	    -1, -1, 0);
	(void)X509_set_issuer_name(x, issuer != NULL ?
	    X509_get_subject_name(issuer->certificate) : name);
	if (names != NULL)
		add_extension(x, NID_subject_alt_name, names);
	if (issuer == NULL)
		add_extension(x, NID_basic_constraints, "critical,CA:TRUE");
	(void)X509_sign(x, issuer != NULL ? issuer->key : made.key,
	    EVP_sha256());
	return made;
}

static void
forget(struct identity *identity)
{
	EVP_PKEY_free(identity->key);
	X509_free(identity->certificate);
}

static void
write_certificate(const char *path, X509 *certificate)
{
	FILE *out = fopen(path, "w");

	(void)PEM_write_X509(out, certificate);
	(void)fclose(out);
}

static void
write_key(const char *path, EVP_PKEY *key)
{
	FILE *out = fopen(path, "w");

	(void)PEM_write_PrivateKey(out, key, NULL, NULL, 0, NULL, NULL);
	(void)fclose(out);
}

static int
choose(SSL *ssl, const unsigned char **out, unsigned char *length,
    const unsigned char *in, unsigned int in_length, void *arg)
{
	const char *alpn = ((const struct server *)arg)->alpn;

	(void)ssl;
	(void)in;
	(void)in_length;
	*out = (const unsigned char *)alpn;
	*length = (unsigned char)strlen(alpn);
	return *alpn != '\0' ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_NOACK;
}

static void
start_server(struct server *s, int fd)
{
	SSL_CTX *context = SSL_CTX_new(TLS_server_method());

	/* Level 0: versions that OpenSSL itself would not speak any more. */
	(void)SSL_CTX_set_cipher_list(context, "ALL:@SECLEVEL=0");
	(void)SSL_CTX_set_min_proto_version(context, TLS1_VERSION);
	(void)SSL_CTX_set_max_proto_version(context, s->version);
	(void)SSL_CTX_use_certificate(context, s->identity.certificate);
	(void)SSL_CTX_use_PrivateKey(context, s->identity.key);
	SSL_CTX_set_alpn_select_cb(context, choose, s);
	if (s->trusts != NULL) {
		(void)X509_STORE_add_cert(SSL_CTX_get_cert_store(context),
		    s->trusts);
		SSL_CTX_set_verify(context, SSL_VERIFY_PEER |
		    SSL_VERIFY_FAIL_IF_NO_PEER_CERT, NULL);
	}
	s->fd = fd;
	s->ssl = SSL_new(context);
	(void)SSL_set_fd(s->ssl, fd);
	SSL_set_accept_state(s->ssl);
	SSL_CTX_free(context);
}

/* What transport_handshake() says at last. */
static int
shake_hands(struct server *s, const char *host, enum tls_pair pair)
{
	struct tls_client client;
	int fds[2], error = -EAGAIN;

	CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds) == 0);
	start_server(s, fds[1]);
	CHECK(tls_client_new(&client, &options, (int64_t)time(NULL), why) == 0 &&
	    client.pair == pair);
	transport = (struct transport)TRANSPORT_INIT;
	transport.fd = fds[0];
	CHECK(transport_secure(&transport, tls_client_ssl(&client, host),
	    pair == TLS_PAIR_GOOD) == 0);
	tls_client_free(&client);
	for (int i = 0; i < ROUNDS && error == -EAGAIN; i++) {
		error = transport_handshake(&transport, why);
		(void)SSL_do_handshake(s->ssl);
	}
	return error;
}

static void
end(struct server *s)
{
	transport_close(&transport);
	CHECK(transport.fd == -1 && transport.ssl == NULL);
	SSL_free(s->ssl);
	(void)close(s->fd);
	forget(&s->identity);
}

/* A server of the mesh's authority that speaks HTTP/2. */
static struct server
server_named(const char *names)
{
	return (struct server){ .alpn = "h2",
		.identity = certify(&mesh, names, -DAY, DAY) };
}

/* The handshake ends, for that reason. */
static void
check_refused(struct server server, const char *host, const char *reason)
{
	CHECK(shake_hands(&server, host, TLS_PAIR_ABSENT) == -ECONNABORTED);
	CHECK(transport.trouble == TLS_TROUBLE_TLS);
	if (strstr(why, reason) == NULL)
		printf("  %s\n", why);
	CHECK(strstr(why, reason) != NULL);
	end(&server);
}

TEST(octets_go_both_ways)
{
	struct server server = server_named("DNS:" NAME);
	char octets[8];

	CHECK(shake_hands(&server, NAME, TLS_PAIR_ABSENT) == 0);
	CHECK(strcmp(SSL_get_servername(server.ssl, TLSEXT_NAMETYPE_host_name),
	    NAME) == 0);
	CHECK(transport_read(&transport, octets, sizeof(octets), why) ==
	    -EAGAIN);
	CHECK(transport_write(&transport, "hello", 5, why) == 5);
	CHECK(SSL_read(server.ssl, octets, sizeof(octets)) == 5);
	CHECK(SSL_write(server.ssl, "again", 5) == 5);
	CHECK(transport_read(&transport, octets, sizeof(octets), why) == 5 &&
	    memcmp(octets, "again", 5) == 0);
	(void)SSL_shutdown(server.ssl);
	CHECK(transport_read(&transport, octets, sizeof(octets), why) == 0);
	end(&server);
}

/* No close_notify: whoever is in between may have cut it. */
TEST(cut_off)
{
	struct server server = server_named("DNS:" NAME);
	char octets[8];

	CHECK(shake_hands(&server, NAME, TLS_PAIR_ABSENT) == 0);
	(void)shutdown(server.fd, SHUT_RDWR);
	CHECK(transport_read(&transport, octets, sizeof(octets), why) ==
	    -ECONNABORTED);
	CHECK(transport.trouble == TLS_TROUBLE_NETWORK);
	CHECK(transport_write(&transport, "x", 1, why) == -ECONNABORTED);
	end(&server);
}

TEST(only_its_own_name)
{
	check_refused(server_named("DNS:other.mesh.test"), NAME, "hostname");
	check_refused(server_named("DNS:" NAME ".evil.test"), NAME, "hostname");
	check_refused(server_named("DNS:ist*.mesh.test"), NAME, "hostname");
	check_refused(server_named("DNS:*.test"), NAME, "hostname");
	/* The subject's common name is no name (RFC 6125, 6.4.4). */
	check_refused(server_named(NULL), NAME, "hostname");
}

TEST(a_wildcard_is_one_label)
{
	struct server server = server_named("DNS:*.mesh.test");

	CHECK(shake_hands(&server, NAME, TLS_PAIR_ABSENT) == 0);
	end(&server);
}

/* An address is checked as one, and is not sent as a name (RFC 6066, 3). */
TEST(addresses_are_no_names)
{
	struct server four = server_named("IP:192.0.2.7");
	struct server six = server_named("IP:2001:db8::7");

	CHECK(shake_hands(&four, "192.0.2.7", TLS_PAIR_ABSENT) == 0);
	CHECK(SSL_get_servername(four.ssl, TLSEXT_NAMETYPE_host_name) == NULL);
	end(&four);
	CHECK(shake_hands(&six, "2001:db8::7", TLS_PAIR_ABSENT) == 0);
	end(&six);
	check_refused(server_named("DNS:192.0.2.7"), "192.0.2.7", "IP address");
	check_refused(server_named("IP:192.0.2.8"), "192.0.2.7", "IP address");
	check_refused(server_named("IP:192.0.2.7"), NAME, "hostname");
}

TEST(only_in_its_time)
{
	struct server late = { .alpn = "h2",
		.identity = certify(&mesh, "DNS:" NAME, -2 * DAY, -DAY) };
	struct server early = { .alpn = "h2",
		.identity = certify(&mesh, "DNS:" NAME, DAY, 2 * DAY) };

	check_refused(late, NAME, "expired");
	check_refused(early, NAME, "not yet valid");
}

TEST(only_our_authority)
{
	struct server other = { .alpn = "h2",
		.identity = certify(&foreign, "DNS:" NAME, -DAY, DAY) };
	struct server own = { .alpn = "h2",
		.identity = certify(NULL, "DNS:" NAME, -DAY, DAY) };

	check_refused(other, NAME, "not accepted");
	check_refused(own, NAME, "not accepted");
}

TEST(no_old_versions)
{
	struct server old = server_named("DNS:" NAME);
	struct server good = server_named("DNS:" NAME);

	old.version = TLS1_1_VERSION;
	check_refused(old, NAME, "version");
	good.version = TLS1_2_VERSION;
	CHECK(shake_hands(&good, NAME, TLS_PAIR_ABSENT) == 0);
	end(&good);
}

TEST(http2_must_be_chosen)
{
	struct server server = server_named("DNS:" NAME);

	server.alpn = "";
	check_refused(server, NAME, "does not speak HTTP/2");
}

/* Writes the pair that the config names. */
static void
give_pair(const struct identity *certificate, const struct identity *key)
{
	write_certificate(cert_path, certificate->certificate);
	write_key(key_path, key->key);
	options.cert.path = cert_path;
	options.key.path = key_path;
}

static enum tls_pair
pair_at(int64_t now, bool was_refused)
{
	struct tls_client client;

	options.refused = was_refused;
	CHECK(tls_client_new(&client, &options, now, why) == 0);
	options.refused = false;
	tls_client_free(&client);
	return client.pair;
}

TEST(what_is_offered)
{
	struct identity own = certify(&mesh, NULL, -DAY, DAY);
	struct identity other = certify(&mesh, NULL, -DAY, DAY);
	int64_t now = (int64_t)time(NULL);

	give_pair(&own, &own);
	CHECK(pair_at(now, false) == TLS_PAIR_GOOD);
	CHECK(pair_at(now, true) == TLS_PAIR_REFUSED);
	CHECK(pair_at(now + 2 * DAY, false) == TLS_PAIR_EXPIRED);
	CHECK(pair_at(now - 2 * DAY, false) == TLS_PAIR_EXPIRED);
	give_pair(&own, &other);
	CHECK(pair_at(now, false) == TLS_PAIR_TORN);
	CHECK(truncate(key_path, 20) == 0 &&
	    pair_at(now, false) == TLS_PAIR_TORN);
	CHECK(unlink(key_path) == 0 && pair_at(now, false) == TLS_PAIR_ABSENT);
	options.cert.path = options.key.path = NULL;
	forget(&own);
	forget(&other);
}

/* Under TLS 1.3 it comes after our handshake, under 1.2 within it. */
static void
check_pair_refused(int version)
{
	struct identity own = certify(&foreign, NULL, -DAY, DAY);
	struct server server = server_named("DNS:" NAME);
	char octet;
	int error;

	server.version = version;
	server.trusts = mesh.certificate;
	give_pair(&own, &own);
	error = shake_hands(&server, NAME, TLS_PAIR_GOOD);
	if (error == 0)
		error = (int)transport_read(&transport, &octet, 1, why);
	CHECK(error == -ECONNABORTED);
	CHECK(transport.trouble == TLS_TROUBLE_REFUSED);
	CHECK(strstr(why, "refused the client certificate") != NULL);
	end(&server);
	options.cert.path = options.key.path = NULL;
	forget(&own);
}

TEST(the_server_refuses_a_pair)
{
	check_pair_refused(TLS1_2_VERSION);
	check_pair_refused(TLS1_3_VERSION);
}

TEST(roots_are_needed)
{
	char nowhere[] = "nowhere.pem";
	const struct tls_options other = { .roots = { .name = "root_cert",
		.path = nowhere } };
	struct tls_client client;

	CHECK(tls_client_new(&client, &other, 0, why) == -EINVAL);
	CHECK(client.context == NULL && strstr(why, nowhere) != NULL);
	write_key(nowhere, mesh.key);		/* a PEM, and no certificate */
	CHECK(tls_client_new(&client, &other, 0, why) == -EINVAL);
	CHECK(client.context == NULL && strstr(why, "no certificate") != NULL);
	(void)unlink(nowhere);
}

/* An authority that is certified by another one may be all that is named. */
TEST(an_intermediate_authority_is_enough)
{
	struct identity between = certify(&mesh, NULL, -DAY, DAY);
	struct server server = { .alpn = "h2" };
	X509 *x = between.certificate;

	add_extension(x, NID_basic_constraints, "critical,CA:TRUE");
	(void)X509_NAME_add_entry_by_txt(X509_get_subject_name(x), "O",
	    MBSTRING_ASC, (const unsigned char *)"between", -1, -1, 0);
	(void)X509_sign(x, mesh.key, EVP_sha256());
	server.identity = certify(&between, "DNS:" NAME, -DAY, DAY);
	write_certificate(roots_path, between.certificate);
	CHECK(shake_hands(&server, NAME, TLS_PAIR_ABSENT) == 0);
	end(&server);
	write_certificate(roots_path, mesh.certificate);
	forget(&between);
}

/* Whoever asks for it gets a server that nobody vouches for. */
TEST(insecure)
{
	struct server other = { .alpn = "h2",
		.identity = certify(&foreign, "DNS:other", -DAY, DAY) };

	options.insecure = true;
	CHECK(shake_hands(&other, NAME, TLS_PAIR_ABSENT) == 0);
	options.insecure = false;
	end(&other);
}

TEST(without_tls)
{
	char octets[8];
	int fds[2];

	CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds) == 0);
	transport = (struct transport){ .fd = fds[0] };
	CHECK(transport_read(&transport, octets, sizeof(octets), why) ==
	    -EAGAIN);
	CHECK(transport_write(&transport, "hello", 5, why) == 5);
	CHECK(read(fds[1], octets, sizeof(octets)) == 5);
	CHECK(write(fds[1], "again", 5) == 5);
	CHECK(transport_read(&transport, octets, sizeof(octets), why) == 5);
	(void)close(fds[1]);
	CHECK(transport_read(&transport, octets, sizeof(octets), why) == 0);
	CHECK(transport_write(&transport, "x", 1, why) == -ECONNABORTED);
	transport_close(&transport);
}

int
main(void)
{
	(void)signal(SIGPIPE, SIG_IGN);
	if (mkdtemp(directory) == NULL || chdir(directory) != 0)
		return 1;
	mesh = certify(NULL, NULL, -DAY, DAY);
	foreign = certify(NULL, NULL, -DAY, DAY);
	write_certificate(roots_path, mesh.certificate);
	options.roots.path = roots_path;
	test_run();
	(void)unlink(roots_path);
	(void)unlink(cert_path);
	(void)unlink(key_path);
	(void)rmdir(directory);
	forget(&mesh);
	forget(&foreign);
	return test_summary();
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* feed.conf: what is read, what is refused, and what is written about it. */
#include "policy/config/feed_config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/check.h"
#include "tests/unit/policy/config/manual.h"

#define PATH	"/etc/nfdns/feed.conf"
#define XDS	"name = \"m\"; type = \"xds\"; server = \"a:1\"; "
#define KUBERNETES "name = \"m\"; type = \"kubernetes\"; "

static struct diag diag;

static struct feeds_config *
parse(const char *text)
{
	struct feeds_config *config = NULL;
	int error;

	diag_free(&diag);
	diag = (struct diag)DIAG_INIT;
	error = feed_config_parse(&config, PATH, text, strlen(text), &diag);
	CHECK((error == 0) == (config != NULL));
	CHECK(error == 0 || (error == -EINVAL && diag.errors > 0));
	return config;
}

/* The text of the options in one xds feed, and around it. */
static struct feeds_config *
parse_feed(const char *options)
{
	struct feeds_config *config = NULL;
	char *text = NULL;

	if (asprintf(&text, "feeds = ( { %s } );", options) > 0)
		config = parse(text);
	free(text);
	return config;
}

static void
every_option_has_its_effect(void)
{
	struct feeds_config *c = parse("state_dir = \"/s\"; run_dir = \"/r\";\n"
	    "log = { level = \"debug\"; };\nfeeds = (\n { name = \"mesh\"; type "
	    "= \"xds\"; server = \"istiod.istio-system.svc:15012\";\n addresses"
	    " = [ \"192.0.2.1\", \"2001:db8::1\" ]; root_cert = \"/r.pem\"; "
	    "cert = \"c.pem\"; key = \"/k.pem\"; token = \"/t\"; limit = 70000;"
	    " node = { namespace = \"shop\"; cluster = \"K\"; network = \"n/1\";"
	    " service_account = \"sa\"; ip = \"192.0.2.9\"; "
	    "labels = { app = \"x\"; }; }; },\n { name = \"c\"; type = \"kubernetes\"; "
	    "kubeconfig = \"k\"; namespaces = [ \"a\", \"b\" ]; pods ="
	    " true; } );");
	const struct feed_config *f;

	CHECK(c != NULL && c->feed_count == 2);
	if (c == NULL)
		return;
	f = c->feeds;
	CHECK(strcmp(c->state_dir, "/s") == 0 && strcmp(c->run_dir, "/r") == 0);
	CHECK(c->log_level == LOG_LEVEL_DEBUG);
	CHECK(strcmp(f->name, "mesh") == 0 && f->type == FEED_XDS);
	CHECK(f->line == 4 && f[1].line == 6 && f->limit == 70000);
	CHECK(strcmp(f->server, "istiod.istio-system.svc:15012") == 0);
	CHECK(f->address_count == 2 &&
	    strcmp(f->addresses[1], "2001:db8::1") == 0);
	CHECK(strcmp(f->root_cert, "/r.pem") == 0);
	CHECK(strcmp(f->cert, "/etc/nfdns/c.pem") == 0);
	CHECK(strcmp(f->key, "/k.pem") == 0 && strcmp(f->token, "/t") == 0);
	CHECK(!f->plaintext && strcmp(f->node.namespace, "shop") == 0);
	CHECK(strcmp(f->node.cluster, "K") == 0);
	CHECK(strcmp(f->node.network, "n/1") == 0);
	CHECK(strcmp(f->node.service_account, "sa") == 0);
	CHECK(strcmp(f->node.ip, "192.0.2.9") == 0);
	CHECK(f->node.label_count == 1 &&
	    strcmp(f->node.labels[0].key, "app") == 0 &&
	    strcmp(f->node.labels[0].value, "x") == 0);
	CHECK(f[1].type == FEED_KUBERNETES && f[1].limit == 268435456);
	CHECK(strcmp(f[1].kubeconfig, "/etc/nfdns/k") == 0);
	CHECK(f[1].namespace_count == 2 &&
	    strcmp(f[1].namespaces[1], "b") == 0);
	CHECK(f[1].pods && !f->pods);
	CHECK(feed_config_same(f, f) && !feed_config_same(f, f + 1));
	feed_config_free(c);
}

/* As in the design: what is not known is "". */
static void
empty_texts_are_not_given(void)
{
	struct feeds_config *c = parse_feed(XDS "addresses = [ ]; plaintext = "
	    "true; node = { network = \"\"; service_account = \"\"; ip = \"\"; "
	    "labels = { }; };");

	CHECK(c != NULL && c->feeds[0].plaintext);
	CHECK(c != NULL && c->feeds[0].node.network == NULL &&
	    c->feeds[0].node.service_account == NULL &&
	    c->feeds[0].node.ip == NULL && c->feeds[0].node.label_count == 0);
	CHECK(c != NULL && strcmp(c->state_dir, "/var/lib/nfdns") == 0 &&
	    strcmp(c->run_dir, "/run/nfdns-feed") == 0);
	feed_config_free(c);
}

static void
labels_may_have_any_key(void)
{
	struct feeds_config *c = parse_feed(XDS "node = { labels = ( "
	    "\"app.kubernetes.io/name=a=b\", \"x=\" ); };");

	CHECK(c != NULL && c->feeds[0].node.label_count == 2);
	CHECK(c != NULL && strcmp(c->feeds[0].node.labels[0].key,
	    "app.kubernetes.io/name") == 0 &&
	    strcmp(c->feeds[0].node.labels[0].value, "a=b") == 0);
	feed_config_free(c);
}

/* Each option with a value that it refuses, in a feed. */
static const struct bad {
	const char *option;	/* its path, without "feeds[]." */
	const char *text;
	const char *error;
} bad[] = {
	{ "name", "name = \"a/b\"; type = \"xds\"; server = \"a:1\";",
	  "feeds[0].name: found \"a/b\", expected letters, digits" },
	{ "type", "name = \"m\"; type = \"grpc\";", "expected \"xds\" or "
	  "\"kubernetes\"" },
	{ "limit", XDS "limit = 5;", "expected a whole number from 65536" },
	{ "server", "name = \"m\"; type = \"xds\"; server = \"a\";",
	  "feeds[0].server: found \"a\", expected HOST:PORT" },
	{ "server", "name = \"m\"; type = \"xds\"; server = \"a:0\";", "HOST:" },
	{ "server", "name = \"m\"; type = \"xds\"; server = \"[::1:15012\";",
	  "HOST:PORT" },
	{ "server", "name = \"m\"; type = \"xds\"; server = \"a\\n:1\";",
	  "HOST:PORT" },
	{ "server", "name = \"m\"; type = \"xds\";", "\"server\" is missing" },
	{ "addresses", XDS "addresses = [ \"x\" ];", "expected IPv4 and IPv6" },
	{ "root_cert", XDS "root_cert = \"\";", "expected a path" },
	{ "cert", XDS "cert = \"\"; key = \"/k\";", "expected a path" },
	{ "cert", XDS "key = \"/k\";", "\"cert\" is missing: a certificate" },
	{ "key", XDS "cert = \"/c\";", "\"key\" is missing: a certificate" },
	{ "key", XDS "cert = \"/c\"; key = \"\";", "expected a path" },
	{ "token", XDS "token = \"\";", "expected a path" },
	{ "ca", XDS "ca = 1;", "expected true or false" },
	{ "ca", XDS "ca = true; plaintext = true;",
	  "without TLS (plaintext)" },
	{ "ca", XDS "ca = true; cert = \"/c\"; key = \"/k\";",
	  "take cert and key out" },
	{ "plaintext", XDS "plaintext = 1;", "expected true or false" },
	{ "plaintext", XDS "plaintext = true; token = \"/t\";",
	  "without TLS (plaintext)" },
	{ "node.namespace", XDS "node = { namespace = \"a b\"; };",
	  "feeds[0].node.namespace: found \"a b\"" },
	{ "node.cluster", XDS "node = { cluster = \"a b\"; };", "node.cluster" },
	{ "node.network", XDS "node = { network = 3; };", "node.network" },
	{ "node.service_account", XDS "node = { service_account = \"a b\"; };",
	  "node.service_account" },
	{ "node.ip", XDS "node = { ip = \"1.2.3\"; };", "node.ip" },
	{ "node.labels", XDS "node = { labels = { a = 3; }; };",
	  "node.labels.a: found 3, expected a group { KEY" },
	{ "node.labels", XDS "node = { labels = ( \"a\" ); };", "KEY=VALUE" },
	{ "node.labels", XDS "node = { labels = ( \"a=1\", \"a=2\" ); };",
	  "in the list already" },
	{ "node.labels", XDS "node = { labels = \"a=1\"; };", "KEY=VALUE" },
	{ "node.x", XDS "node = { nam = 3; };", "feeds[0].node.nam: unknown "
	  "option; known here: namespace, cluster, network" },
	{ "node", XDS "node = 3;", "feeds[0].node: expected a group" },
	{ "kubeconfig", KUBERNETES "kubeconfig = \"\";", "expected a path" },
	{ "kubeconfig", XDS "kubeconfig = \"/k\";", "only feeds of type "
	  "kubernetes have this option" },
	{ "server", KUBERNETES "server = \"a:1\";", "only feeds of type xds" },
	{ "namespaces", KUBERNETES "namespaces = [ \"a b\" ];", "expected names" },
	{ "pods", KUBERNETES "pods = 1;", "expected true or false" },
	{ "pods", XDS "pods = true;", "only feeds of type kubernetes" },
	{ "x", XDS "severs = \"b:1\";", "severs: unknown option, did you mean "
	  "\"server\"?" },
};
#define BADS (sizeof(bad) / sizeof(bad[0]))

static bool
says(const char *text)
{
	for (size_t i = 0; i < diag.kept; i++)
		if (strstr(diag.entries[i].text, text) != NULL &&
		    strncmp(diag.entries[i].text, PATH, strlen(PATH)) == 0)
			return true;
	printf("  not said: %s\n", text);
	for (size_t i = 0; i < diag.kept; i++)
		printf("  but: %s\n", diag.entries[i].text);
	return false;
}

static void
bad_values_are_refused(void)
{
	for (size_t i = 0; i < BADS; i++) {
		struct feeds_config *c = parse_feed(bad[i].text);

		CHECK(c == NULL && says(bad[i].error));
		feed_config_free(c);
	}
	for (size_t i = 0; i < feed_option_count; i++) {
		const char *path = feed_options[i].path;
		bool tried = strncmp(path, "feeds[].", 8) != 0;

		for (size_t j = 0; !tried && j < BADS; j++)
			tried = strcmp(bad[j].option, path + 8) == 0;
		if (!tried)
			printf("  not tried: %s\n", path);
		CHECK(tried);
	}
}

static void
bad_files_are_refused(void)
{
	CHECK(parse("") == NULL && says("feeds: empty, so that there is"));
	CHECK(parse("feeds = 3;") == NULL && says("expected a list"));
	CHECK(parse("feeds = ( 3 );") == NULL && says("feeds[0]: found 3"));
	CHECK(parse("state_dir = \"x\";") == NULL && says("state_dir: found"));
	CHECK(parse("run_dir = \"x\";") == NULL && says("run_dir: found"));
	CHECK(parse("log = { level = \"x\"; };") == NULL && says("log.level"));
	CHECK(parse("feeds = ( { " KUBERNETES " }, { " KUBERNETES " } );") ==
	    NULL && says("m is in the list already"));
	CHECK(parse("feed = ( );") == NULL && says("did you mean \"feeds\"?"));
	/* All at once. */
	CHECK(parse("run_dir = 3;\nfeeds = (\n{ },\n{ name = 3; } );") == NULL &&
	    says(":1: run_dir") && says(":3: feeds[0]: \"name\" is missing") &&
	    says(":4: feeds[1].name: found 3"));
}

static void
the_manual_agrees_with_the_table(void)
{
	check_manual("packaging/man/feed.conf.5", feed_options,
	    feed_option_count);
}

int
main(void)
{
	TEST(every_option_has_its_effect);
	TEST(empty_texts_are_not_given);
	TEST(labels_may_have_any_key);
	TEST(bad_values_are_refused);
	TEST(bad_files_are_refused);
	TEST(the_manual_agrees_with_the_table);
	diag_free(&diag);
	return test_summary();
}

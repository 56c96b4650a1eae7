/* SPDX-License-Identifier: GPL-2.0-or-later */
/* feed.conf: what is read, what is refused, and what is written about it. */
#include "policy/config/feed_config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/check.h"

#define PATH	"/etc/nfdns/mesh.conf"
#define XDS	"type = \"xds\"; server = \"a:1\"; "
#define KUBERNETES "type = \"kubernetes\"; "

static struct diag diag;

static struct feed_conf *
parse(const char *text)
{
	struct feed_conf *config = NULL;
	int error;

	diag_free(&diag);
	diag = (struct diag)DIAG_INIT;
	error = feed_conf_parse(&config, PATH, text, strlen(text), &diag);
	CHECK((error == 0) == (config != NULL));
	CHECK(error == 0 || (error == -EINVAL && diag.errors > 0));
	return config;
}

TEST(every_option_has_its_effect)
{
	struct feed_conf *c = parse("state_dir = \"/s\"; run_dir = \"/r\";\n"
	    "log = { level = \"debug\"; };\n"
	    "type = \"xds\"; server = \"istiod.istio-system.svc:15012\";\n"
	    "addresses = [ \"192.0.2.1\", \"2001:db8::1\" ]; root_cert = "
	    "\"/r.pem\"; cert = \"c.pem\"; key = \"/k.pem\"; token = \"/t\"; "
	    "limit = 70000; node = { namespace = \"shop\"; cluster = \"K\"; "
	    "network = \"n/1\"; service_account = \"sa\"; ip = "
	    "\"192.0.2.9\"; labels = { app = \"x\"; }; };");
	const struct feed_config *f;

	CHECK(c != NULL);
	if (c == NULL)
		return;
	f = &c->feed;
	CHECK(strcmp(c->state_dir, "/s") == 0 && strcmp(c->run_dir, "/r") == 0);
	CHECK(c->log_level == LOG_LEVEL_DEBUG);
	CHECK(strcmp(f->name, "mesh") == 0 && f->type == FEED_XDS);
	CHECK(f->limit == 70000);
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
	feed_conf_free(c);
	c = parse("type = \"kubernetes\"; kubeconfig = \"k\"; namespaces = [ "
	    "\"a\", \"b\" ]; pods = true;");
	CHECK(c != NULL);
	if (c == NULL)
		return;
	f = &c->feed;
	CHECK(f->type == FEED_KUBERNETES && f->limit == 268435456 && f->pods);
	CHECK(strcmp(f->kubeconfig, "/etc/nfdns/k") == 0);
	CHECK(f->namespace_count == 2 &&
	    strcmp(f->namespaces[1], "b") == 0);
	feed_conf_free(c);
}

/* As in the design: what is not known is "". */
TEST(empty_texts_are_not_given)
{
	struct feed_conf *c = parse(XDS "addresses = [ ]; plaintext = "
	    "true; node = { network = \"\"; service_account = \"\"; ip = \"\"; "
	    "labels = { }; };");

	CHECK(c != NULL && c->feed.plaintext);
	CHECK(c != NULL && c->feed.node.network == NULL &&
	    c->feed.node.service_account == NULL &&
	    c->feed.node.ip == NULL && c->feed.node.label_count == 0);
	CHECK(c != NULL && strcmp(c->state_dir, "/var/lib/nfdns") == 0 &&
	    strcmp(c->run_dir, "/run/nfdns-feed") == 0);
	feed_conf_free(c);
}

TEST(labels_may_have_any_key)
{
	struct feed_conf *c = parse(XDS "node = { labels = ( "
	    "\"app.kubernetes.io/name=a=b\", \"x=\" ); };");

	CHECK(c != NULL && c->feed.node.label_count == 2);
	CHECK(c != NULL && strcmp(c->feed.node.labels[0].key,
	    "app.kubernetes.io/name") == 0 &&
	    strcmp(c->feed.node.labels[0].value, "a=b") == 0);
	feed_conf_free(c);
}

/* Each option with a value that it refuses. */
static const struct bad {
	const char *option;	/* its path */
	const char *text;
	const char *error;
} bad[] = {
	{ "type", "type = \"grpc\";", "expected \"xds\" or "
	  "\"kubernetes\"" },
	{ "limit", XDS "limit = 5;", "expected a whole number from 65536" },
	{ "server", "type = \"xds\"; server = \"a\";",
	  "server: found \"a\", expected HOST:PORT" },
	{ "server", "type = \"xds\"; server = \"a:0\";", "HOST:" },
	{ "server", "type = \"xds\"; server = \"[::1:15012\";",
	  "HOST:PORT" },
	{ "server", "type = \"xds\"; server = \"a\\n:1\";",
	  "HOST:PORT" },
	{ "server", "type = \"xds\";", "\"server\" is missing" },
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
	  "node.namespace: found \"a b\"" },
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
	{ "node.x", XDS "node = { nam = 3; };", "node.nam: unknown "
	  "option; known here: namespace, cluster, network" },
	{ "node", XDS "node = 3;", "node: expected a group" },
	{ "kubeconfig", KUBERNETES "kubeconfig = \"\";", "expected a path" },
	{ "kubeconfig", XDS "kubeconfig = \"/k\";", "only feeds of type "
	  "kubernetes have this option" },
	{ "server", KUBERNETES "server = \"a:1\";", "only feeds of type xds" },
	{ "namespaces", KUBERNETES "namespaces = [ \"a b\" ];", "expected names" },
	{ "pods", KUBERNETES "pods = 1;", "expected true or false" },
	{ "pods", XDS "pods = true;", "only feeds of type kubernetes" },
	{ "state_dir", XDS "state_dir = \"x\";", "state_dir: found" },
	{ "run_dir", XDS "run_dir = \"x\";", "run_dir: found" },
	{ "log.level", XDS "log = { level = \"x\"; };", "log.level" },
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

TEST(bad_values_are_refused)
{
	for (size_t i = 0; i < BADS; i++) {
		struct feed_conf *c = parse(bad[i].text);

		CHECK(c == NULL && says(bad[i].error));
		feed_conf_free(c);
	}
	for (size_t i = 0; i < feed_option_count; i++) {
		const char *path = feed_options[i].path;
		bool tried = false;

		for (size_t j = 0; !tried && j < BADS; j++)
			tried = strcmp(bad[j].option, path) == 0;
		if (!tried)
			printf("  not tried: %s\n", path);
		CHECK(tried);
	}
}

TEST(bad_files_are_refused)
{
	struct feed_conf *c;

	CHECK(parse("") == NULL && says("\"type\" is missing"));
	CHECK(parse("feeds = ( );") == NULL && says("feeds: unknown option"));
	/* All at once. */
	CHECK(parse("run_dir = 3;\ntype = 3;\nlog = { level = 3; };") == NULL &&
	    says(":1: run_dir") && says(":2: type: found 3") &&
	    says(":3: log.level"));
	/* Named after the feed. */
	CHECK(feed_conf_parse(&c, "/etc/a b.conf", "type = \"kubernetes\";", 20,
	    &diag) == -EINVAL && strstr(diag.entries[diag.kept - 1].text,
	    "named after the feed") != NULL);
}

int
main(void)
{
	test_run();
	diag_free(&diag);
	return test_summary();
}

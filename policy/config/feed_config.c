/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "policy/config/feed_config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "policy/config/capture.h"
#include "policy/config/file.h"
#include "resolver/sources/feed_file.h"
#include "policy/config/setting.h"

/* Every option of feed.conf(5), which follows this table as nfdnsd.conf(5) does. */

#define MAX_LIMIT	1000000000	/* a file of a table may be 1000 MiB */

const struct config_option feed_options[] = {
	{ "state_dir", "\"/var/lib/nfdns\"",
	  "Directory where tables are kept; nfdnsd reads them there "
	  "(state_dir of nfdnsd.conf(5)).",
	  .allowed = "an absolute path of at most 200 octets",
	  STRING, .read = config_read_directory, IN(feed_conf, state_dir),
	  .kind = OPTION_TEXT },
	{ "run_dir", "\"/run/nfdns-feed\"",
	  "Directory of the status files; nfdnsd and nfdns status read them "
	  "there (run_dir of nfdnsd.conf(5), with -feed behind it).",
	  .allowed = "an absolute path of at most 200 octets",
	  STRING, .read = config_read_directory, IN(feed_conf, run_dir),
	  .kind = OPTION_TEXT },
	{ "log.level", "\"info\"",
	  "Messages of this importance and above are written to stderr.",
	  .choices = config_log_levels,
	  STRING, .read = config_read_log_level, IN(feed_conf, log_level),
	  .reload = true },

	{ "type", NULL,
	  "What the control plane is: xds for Istio's istiod, kubernetes for "
	  "an API server.",
	  STRING, CHOICE(feed_types), IN(feed_conf, feed.type),
	  .required = true, .reload = true },
	{ "limit", "268435456",
	  "Octets of the largest message that is accepted, which may have a name "
	  "for each 64 of them; of kubernetes, of all objects that are kept, with "
	  "64 for each.  The feed's process takes 1.5 times as much memory at "
	  "most, and some 20 MiB.",
	  INTEGER, RANGE(65536, MAX_LIMIT), IN(feed_conf, feed.limit),
	  .reload = true },

	{ "server", NULL,
	  "Host and port of istiod; an xds feed must have it.  Its certificate "
	  "must be for that host.",
	  .allowed = "HOST:PORT, such as "
	  "\"istiod.istio-system.svc:15012\" or \"[2001:db8::1]:15012\"",
	  STRING, .read = feed_read_server, IN(feed_conf, feed.server),
	  .reload = true },
	{ "addresses", "[ ]",
	  "Addresses of that host, tried in their order; if empty, the name "
	  "is resolved at every attempt.",
	  .allowed = "IPv4 and IPv6 addresses",
	  STRINGS, .read = feed_read_addresses, IN(feed_conf, feed.addresses),
	  .reload = true },
	{ "root_cert", NULL,
	  "Certificates (PEM) that the server's must be signed by; if not "
	  "given, those of this machine.",
	  .allowed = "a path",
	  STRING, .read = config_read_path, IN(feed_conf, feed.root_cert),
	  .reload = true },
	{ "cert", NULL,
	  "Client certificate (PEM), which may be replaced at any time.",
	  .allowed = "a path",
	  STRING, .read = config_read_path, IN(feed_conf, feed.cert),
	  .reload = true },
	{ "key", NULL,
	  "Private key (PEM) of that certificate.",
	  .allowed = "a path",
	  STRING, .read = config_read_path, IN(feed_conf, feed.key),
	  .reload = true },
	{ "token", NULL,
	  "File with a token, sent if there is no valid certificate.",
	  .allowed = "a path",
	  STRING, .read = config_read_path, IN(feed_conf, feed.token),
	  .reload = true },
	{ "ca", "false",
	  "Whether the server certifies a key that is made here and kept in "
	  "state_dir, for machines without an Istio agent; the token is "
	  "needed once.",
	  BOOLEAN, IN(feed_conf, feed.ca), .reload = true },
	{ "plaintext", "false",
	  "Whether the connection is without TLS, certificate and token: "
	  "anybody on the way can read and change the table.",
	  BOOLEAN, IN(feed_conf, feed.plaintext), .reload = true },
	{ "node.namespace", NULL,
	  "Kubernetes namespace of this machine.",
	  .allowed = "a name of letters, digits and '-', at most 63",
	  STRING, .read = config_read_namespace, IN(feed_conf, feed.node.namespace),
	  .reload = true },
	{ "node.cluster", NULL,
	  "ID of the cluster that this machine belongs to.",
	  .allowed = LABEL,
	  STRING, .read = config_read_label, IN(feed_conf, feed.node.cluster),
	  .reload = true },
	{ "node.network", NULL,
	  "Network that this machine is in.",
	  .allowed = LABEL,
	  STRING, .read = config_read_label, IN(feed_conf, feed.node.network),
	  .reload = true },
	{ "node.service_account", NULL,
	  "Service account of this machine.",
	  .allowed = LABEL,
	  STRING, .read = config_read_label,
	  IN(feed_conf, feed.node.service_account), .reload = true },
	{ "node.ip", NULL,
	  "Address of this machine; if not given, the first one of each "
	  "family.",
	  .allowed = "an IPv4 or IPv6 address",
	  STRING, .read = feed_read_address, IN(feed_conf, feed.node.ip),
	  .reload = true },
	{ "node.labels", "{ }",
	  "Labels of this machine.",
	  .allowed = "a group { KEY = \"VALUE\"; }, or a list [ "
	  "\"KEY=VALUE\" ] for keys with '.' or '/'",
	  .types = OPTION_GROUP | OPTION_LIST, .any_keys = true,
	  .read = feed_read_labels, IN(feed_conf, feed.node), .reload = true },

	{ "kubeconfig", NULL,
	  "File that says how to reach the API server; if not given, the "
	  "service account of the pod.",
	  .allowed = "a path",
	  STRING, .read = config_read_path, IN(feed_conf, feed.kubeconfig),
	  .reload = true },
	{ "namespaces", "[ ]",
	  "Namespaces that are watched; if empty, all.",
	  .allowed = "names of letters, digits and '-', at most 63 long",
	  STRINGS, .read = feed_read_namespaces, IN(feed_conf, feed.namespaces),
	  .reload = true },
	{ "pods", "false",
	  "Whether pods are watched too: a table with pods = \"verified\", and "
	  "ServiceEntries that select pods, need them.  They are many.",
	  BOOLEAN, IN(feed_conf, feed.pods), .reload = true },
};

const size_t feed_option_count = sizeof(feed_options) / sizeof(feed_options[0]);

#define SUFFIX	".conf"

static void
free_texts(char **texts, size_t count)
{
	for (size_t i = 0; i < count; i++)
		free(texts[i]);
	free(texts);
}

void
feed_conf_free(struct feed_conf *conf)
{
	struct feed_config *feed;

	if (conf == NULL)
		return;
	feed = &conf->feed;
	feed_node_free(&feed->node);
	free_texts(feed->addresses, feed->address_count);
	free_texts(feed->namespaces, feed->namespace_count);
	free(feed->name);
	free(feed->server);
	free(feed->root_cert);
	free(feed->cert);
	free(feed->key);
	free(feed->token);
	free(feed->kubeconfig);
	free(conf->state_dir);
	free(conf->run_dir);
	free(conf);
}

/* "mesh" of "/etc/nfdns/feeds.d/mesh.conf". */
static void
take_name(const struct config_load *load)
{
	struct feed_conf *conf = load->base;
	const char *slash = strrchr(load->path, '/');
	const char *name = slash != NULL ? slash + 1 : load->path;
	size_t length = strlen(name);

	if (length > sizeof(SUFFIX) - 1 &&
	    strcmp(name + length - (sizeof(SUFFIX) - 1), SUFFIX) == 0)
		length -= sizeof(SUFFIX) - 1;
	conf->feed.name = strndup(name, length);
	if (conf->feed.name == NULL)
		diag_add(load->diag, DIAG_ERROR, load->file, 0,
		    "out of memory");
	else if (!feed_file_name_is_valid(conf->feed.name))
		diag_add(load->diag, DIAG_ERROR, load->file, 0, "is named after "
		    "the feed: letters, digits, '-' and '_', at most 63, and "
		    SUFFIX);
}

int
feed_conf_parse(struct feed_conf **conf, const char *path, const char *text,
    size_t length, struct diag *diag)
{
	struct feed_conf *c = calloc(1, sizeof(*c));
	struct config_load load = { .base = c, .diag = diag, .file = path,
		.options = feed_options, .option_count = feed_option_count,
		.check = feed_check };
	struct config_text *texts = NULL;
	const size_t errors = diag->errors;
	size_t count = 0;

	*conf = NULL;
	if (c == NULL)
		diag_add(diag, DIAG_ERROR, path, 0, "out of memory");
	else if (config_texts_add(&texts, &count, path, text, length,
	    diag) == 0) {
		load.path = texts[0].absolute;
		take_name(&load);
		(void)!config_file_parse(&load, texts, count);
	}
	config_texts_free(texts, count);
	if (diag->errors != errors) {
		feed_conf_free(c);
		return -EINVAL;
	}
	*conf = c;
	return 0;
}

int
feed_conf_load(struct feed_conf **conf, const char *path, struct diag *diag)
{
	size_t length = 0;
	char *text = config_file_read(path, &length, diag);
	const int error = text == NULL ? -EINVAL :
	    feed_conf_parse(conf, path, text, length, diag);

	if (error < 0)
		*conf = NULL;
	free(text);
	return error;
}

void
feed_conf_print_defaults(FILE *out)
{
	fputs("# Every option of feed.conf(5) with its default.\n", out);
	config_option_print(feed_options, feed_option_count, out);
}

const char *
feed_config_type_name(enum feed_type type)
{
	return feed_types[type];
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolver/feed/kubeconfig.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <openssl/evp.h>

#include "resolver/small_file.h"
#include "resolver/feed/text.h"
#include "resolver/text/utf8.h"
#include "resolver/text/yaml_tree.h"
#include "resolver/text/printable.h"

struct reading {
	struct kube_access *access;
	struct yaml_tree *tree;
	const char *path;
	const char *context;		/* NULL: the current one */
	char *why;
	int error;			/* sticky */
};

static void __attribute__((format(printf, 3, 4)))
fail(struct reading *r, const yaml_node_t *node, const char *format, ...)
{
	char text[FEED_TEXT], at[24] = "";
	va_list arguments;

	if (r->error != 0)
		return;
	r->error = -EINVAL;
	va_start(arguments, format);
	(void)vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	if (node != NULL)
		(void)snprintf(at, sizeof(at), ":%u", yaml_tree_line(node));
	(void)snprintf(r->why, FEED_TEXT, "%.100s%s: %.120s", r->path, at,
	    text);
	/* Texts of the file may be in it. */
	(void)memcpy(text, r->why, FEED_TEXT);
	(void)printable_text(r->why, FEED_TEXT, text, strlen(text));
}

static char *
copy(struct reading *r, const char *text)
{
	char *copied = text != NULL ? strdup(text) : NULL;

	if (text != NULL && copied == NULL && r->error == 0)
		r->error = -ENOMEM;
	return copied;
}

/* The text of a member, or NULL; an empty one is none. */
static const char *
text_of(struct reading *r, const yaml_node_t *map, const char *key)
{
	const yaml_node_t *node = yaml_tree_member(r->tree, map, key);
	const char *text = yaml_tree_string(node);

	if (node != NULL && node->type != YAML_SCALAR_NODE)
		fail(r, node, "%s is not text", key);
	return text != NULL && text[0] != '\0' ? text : NULL;
}

/* A path, which may be relative to the kubeconfig. */
static char *
copy_path(struct reading *r, const char *text)
{
	const char *slash = strrchr(r->path, '/');
	char *path = NULL;

	if (text == NULL || text[0] == '/' || slash == NULL)
		return copy(r, text);
	if (asprintf(&path, "%.*s/%s", (int)(slash - r->path), r->path,
	    text) < 0) {
		r->error = -ENOMEM;
		return NULL;
	}
	return path;
}

/* Base64 into memory of its own.  Returns its length, or -1. */
static int
decode(const char *text, unsigned char **octets)
{
	size_t length = strlen(text);
	EVP_ENCODE_CTX *context = EVP_ENCODE_CTX_new();
	int used = 0, last = 0, good = -1;

	*octets = malloc(length + 1);
	if (context != NULL && *octets != NULL) {
		EVP_DecodeInit(context);
		good = EVP_DecodeUpdate(context, *octets, &used,
		    (const unsigned char *)text, (int)length);
		if (good >= 0)
			good = EVP_DecodeFinal(context, *octets + used, &last);
	}
	EVP_ENCODE_CTX_free(context);
	if (good >= 0 && used + last > 0)
		return used + last;
	free(*octets);
	*octets = NULL;
	return -1;
}

/* NAME-data, which counts before the file NAME. */
static void
read_pem(struct reading *r, const yaml_node_t *map, const char *name,
    struct pem_text *pem)
{
	char data[64];
	unsigned char *octets;
	const char *text;
	int length;

	(void)snprintf(data, sizeof(data), "%s-data", name);
	text = text_of(r, map, data);
	if (text == NULL) {
		pem->path = copy_path(r, text_of(r, map, name));
		return;
	}
	length = decode(text, &octets);
	if (length < 0) {
		fail(r, yaml_tree_member(r->tree, map, data), "%s is not base64", data);
		return;
	}
	pem->octets = (char *)octets;
	pem->length = (size_t)length;
}

/* The list's item of that name: its member, "cluster" of a cluster. */
static const yaml_node_t *
find(struct reading *r, const yaml_node_t *root, const char *list,
    const char *name, const char *member)
{
	const yaml_node_t *items = yaml_tree_member(r->tree, root, list);
	const yaml_node_t *item;
	const char *key;

	for (size_t i = 0; (item = yaml_tree_item(r->tree, items, i, &key)) !=
	    NULL; i++) {
		const char *here = yaml_tree_string(
		    yaml_tree_member(r->tree, item, "name"));

		if (here != NULL && strcmp(here, name) == 0)
			return yaml_tree_member(r->tree, item, member);
	}
	fail(r, items, "%s has no \"%.60s\"", list, name);
	return NULL;
}

/* "https://HOST:PORT/PREFIX" without the "/" at its end. */
static void
read_server(struct reading *r, const yaml_node_t *cluster)
{
	const yaml_node_t *node = yaml_tree_member(r->tree, cluster, "server");
	const char *text = text_of(r, cluster, "server");
	size_t length = text != NULL ? strlen(text) : 0, i;

	if (text == NULL) {
		fail(r, cluster, "the cluster has no server");
		return;
	}
	if (strncasecmp(text, "https://", 8) != 0)
		fail(r, node, "server must begin with https://");
	for (i = 0; i < length; i++) {
		if (text[i] <= ' ' || text[i] == 0x7f ||
		    strchr("@?#\\\"<>", text[i]) != NULL)
			fail(r, node, "server is not a plain URL: it may have a"
			    " host, a port and a path");
	}
	while (length > 0 && text[length - 1] == '/')
		length--;
	r->access->server = strndup(text, length);
	if (r->access->server == NULL && r->error == 0)
		r->error = -ENOMEM;
}

static void
read_cluster(struct reading *r, const yaml_node_t *cluster)
{
	struct kube_access *a = r->access;
	const yaml_node_t *insecure = yaml_tree_member(r->tree, cluster,
	    "insecure-skip-tls-verify");

	read_server(r, cluster);
	a->server_name = copy(r, text_of(r, cluster, "tls-server-name"));
	a->proxy = copy(r, text_of(r, cluster, "proxy-url"));
	if (a->proxy != NULL && strncasecmp(a->proxy, "http://", 7) != 0)
		fail(r, yaml_tree_member(r->tree, cluster, "proxy-url"), "proxy-url must"
		    " begin with http://: no other proxies are used");
	read_pem(r, cluster, "certificate-authority", &a->roots);
	if (insecure != NULL && !yaml_tree_bool(insecure, &a->insecure))
		fail(r, insecure, "insecure-skip-tls-verify is neither true"
		    " nor false");
	if (a->insecure && (a->roots.path != NULL || a->roots.octets != NULL))
		fail(r, insecure, "insecure-skip-tls-verify beside a"
		    " certificate-authority: remove one of them");
}

/* What a user may have that is not done here. */
static void
refuse(struct reading *r, const yaml_node_t *user)
{
	static const struct {
		const char *key, *why;
	} refused[] = {
		{ "exec", "runs a program, which a feed does not (nfdns join --print-manifest shows another way)" },
		{ "auth-provider", "needs a plug-in, which a feed has not" },
		{ "username", "is not taken by API servers any more" },
		{ "as", "is not supported" },
	};

	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		const yaml_node_t *node = yaml_tree_member(r->tree, user,
		    refused[i].key);

		if (node != NULL)
			fail(r, node, "%s %s; use a token, a tokenFile or a"
			    " client-certificate", refused[i].key,
			    refused[i].why);
	}
}

static void
read_user(struct reading *r, const yaml_node_t *user)
{
	struct kube_access *a = r->access;

	refuse(r, user);
	read_pem(r, user, "client-certificate", &a->cert);
	read_pem(r, user, "client-key", &a->key);
	a->token = copy(r, text_of(r, user, "token"));
	a->token_file = copy_path(r, text_of(r, user, "tokenFile"));
	if (pem_is_given(&a->cert) != pem_is_given(&a->key))
		fail(r, user, "client-certificate and client-key are both"
		    " needed");
}

static void
read_root(struct reading *r, const yaml_node_t *root)
{
	const char *current = r->context != NULL ? r->context :
	    text_of(r, root, "current-context");
	const yaml_node_t *context, *part;
	const char *name;

	if (current == NULL) {
		fail(r, root, "has no current-context: not a kubeconfig, or"
		    " run kubectl config use-context");
		return;
	}
	context = find(r, root, "contexts", current, "context");
	if (r->error != 0)
		return;
	name = text_of(r, context, "cluster");
	if (name == NULL) {
		fail(r, context, "the context has no cluster");
		return;
	}
	part = find(r, root, "clusters", name, "cluster");
	if (r->error == 0)
		read_cluster(r, part);
	name = text_of(r, context, "user");
	if (name == NULL || r->error != 0)
		return;
	part = find(r, root, "users", name, "user");
	if (r->error == 0)
		read_user(r, part);
}

static const struct kube_access no_access = {
	.roots = { .name = "certificate-authority" },
	.cert = { .name = "client-certificate" },
	.key = { .name = "client-key" },
};

int
kubeconfig_read(struct kube_access *access, const char *path,
    const char *text, size_t length, const char *context,
    char why[static FEED_TEXT])
{
	struct yaml_tree tree;
	struct reading r = { .access = access, .tree = &tree, .path = path,
		.context = context, .why = why };
	const char *reason;
	unsigned int line;

	*access = no_access;
	r.error = yaml_tree_read(&tree, text, length, &reason, &line);
	if (r.error == -EINVAL)
		(void)snprintf(why, FEED_TEXT, "%.100s:%u: %s", path, line,
		    reason);
	if (r.error != 0)
		return r.error;
	read_root(&r, yaml_tree_root(&tree));
	yaml_tree_free(&tree);
	if (r.error != 0)
		kube_access_free(access);
	return r.error;
}

int
kubeconfig_load(struct kube_access *access, const char *path,
    const char *context, char why[static FEED_TEXT])
{
	struct small_file file;
	int error = small_file_read(path, &file);

	if (error == 0)
		error = kubeconfig_read(access, path, file.octets, file.length,
		    context, why);
	else if (error != -ENOMEM) {
		(void)snprintf(why, FEED_TEXT, "%.150s: cannot be read: %s",
		    path, small_file_error(error));
		error = -EINVAL;
	}
	small_file_wipe(&file);
	return error;
}

int
kubeconfig_in_cluster(struct kube_access *access, const char *host,
    const char *port, const char *directory, char why[static FEED_TEXT])
{
	bool v6;

	*access = no_access;
	if (host == NULL || port == NULL || host[0] == '\0' ||
	    port[0] == '\0') {
		(void)snprintf(why, FEED_TEXT, "no kubeconfig is set, and"
		    " KUBERNETES_SERVICE_HOST is not in the environment: this"
		    " is not a pod");
		return -EINVAL;
	}
	v6 = strchr(host, ':') != NULL;
	if (asprintf(&access->server, "https://%s%s%s:%s", v6 ? "[" : "", host,
	    v6 ? "]" : "", port) < 0)
		access->server = NULL;
	if (asprintf(&access->token_file, "%s/token", directory) < 0)
		access->token_file = NULL;
	if (asprintf(&access->roots.path, "%s/ca.crt", directory) < 0)
		access->roots.path = NULL;
	if (access->server != NULL && access->token_file != NULL &&
	    access->roots.path != NULL)
		return 0;
	kube_access_free(access);
	return -ENOMEM;
}

static void
free_pem(struct pem_text *pem)
{
	if (pem->octets != NULL)
		explicit_bzero(pem->octets, pem->length);
	free(pem->octets);
	free(pem->path);
}

void
kube_access_free(struct kube_access *access)
{
	if (access->token != NULL)
		explicit_bzero(access->token, strlen(access->token));
	free(access->token);
	free(access->token_file);
	free(access->server);
	free(access->server_name);
	free(access->proxy);
	free_pem(&access->roots);
	free_pem(&access->cert);
	free_pem(&access->key);
	*access = (struct kube_access){ .server = NULL };
}

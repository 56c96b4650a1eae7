/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The files of a VM that istioctl writes: cluster.env, mesh.yaml, hosts and the token.
 */
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

#include "nfq/cli/join/plan.h"
#include "resolver/text/host.h"
#include "resolver/text/yaml_tree.h"
#include "resolver/text/json_tree.h"

/*
 * Adds copies of key and value, which end with NUL.  Returns whether there was
 * room; if not, an error is in diag.
 */
static bool
env_add(struct env *env, const char *key, const char *value, unsigned int line,
    struct diag *diag)
{
	struct env_entry *grown, *entry;

	if (env->count == ENV_MAX_ENTRIES) {
		diag_add(diag, DIAG_ERROR, env->path, line,
		    "more than %d variables", ENV_MAX_ENTRIES);
		return false;
	}
	grown = realloc(env->entries, (env->count + 1) * sizeof(*grown));
	if (grown == NULL) {
		diag_add(diag, DIAG_ERROR, env->path, line, "out of memory");
		return false;
	}
	env->entries = grown;
	entry = &grown[env->count];
	*entry = (struct env_entry){ strdup(key), strdup(value), line };
	if (entry->key == NULL || entry->value == NULL) {
		free(entry->key);
		free(entry->value);
		diag_add(diag, DIAG_ERROR, env->path, line, "out of memory");
		return false;
	}
	env->count++;
	return true;
}

const struct env_entry *
env_find(const struct env *env, const char *key)
{
	for (size_t i = env->count; i-- > 0;)
		if (strcmp(env->entries[i].key, key) == 0)
			return &env->entries[i];
	return NULL;
}

void
env_free(struct env *env)
{
	for (size_t i = 0; i < env->count; i++) {
		free(env->entries[i].key);
		free(env->entries[i].value);
	}
	free(env->entries);
	*env = (struct env){ .path = NULL };
}

/*
 * The agent's start script sources cluster.env with a shell.  istioctl quotes
 * every value for it: in single quotes, where a single quote itself stands in
 * double ones ('"'"').
 */

static bool
is_key_char(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* The characters that a shell takes as they are. */
static bool
is_plain_char(char c)
{
	return isalnum((unsigned char)c) ||
	    (c != '\0' && strchr("_@%+=:,./-", c) != NULL);
}

/*
 * The value between "at" and "end", which is the end of its line, without its
 * quotes into value.  NULL, or what is wrong.
 */
static const char *
read_value(const char *at, const char *end, char value[ENV_MAX_VALUE])
{
	size_t used = 0;
	char quote = '\0';

	for (; at < end; at++) {
		const bool is_quote = *at == '\'' || *at == '"';

		if ((unsigned char)*at < 0x20 || *at == 0x7f)
			return "has a control character in its value";
		if (quote != '\0' && *at == quote) {
			quote = '\0';
			continue;
		}
		if (quote == '\0' && is_quote) {
			quote = *at;
			continue;
		}
		if (quote == '"' && strchr("$`\\", *at) != NULL)
			return "has '$', '`' or '\\' in double quotes; write "
			    "the value in single quotes";
		if (quote == '\0' && !is_plain_char(*at))
			return "has a value that only a shell could work out; "
			    "write it in single quotes";
		if (used == ENV_MAX_VALUE - 1)
			return "has a value that is too long";
		value[used++] = *at;
	}
	value[used] = '\0';
	return quote == '\0' ? NULL : "has a quote that does not end";
}

static void
read_line(struct env *env, const char *at, const char *end, unsigned int line,
    char value[ENV_MAX_VALUE], struct diag *diag)
{
	const char *begin = at, *why;
	char key[ENV_MAX_KEY + 1];

	while (at < end && is_key_char(*at))
		at++;
	if (at == begin || at == end || *at != '=' ||
	    isdigit((unsigned char)*begin) ||
	    (size_t)(at - begin) > ENV_MAX_KEY) {
		diag_add(diag, DIAG_ERROR, env->path, line,
		    "is not KEY='VALUE'");
		return;
	}
	memcpy(key, begin, (size_t)(at - begin));
	key[at - begin] = '\0';
	why = read_value(at + 1, end, value);
	if (why != NULL)
		diag_add(diag, DIAG_ERROR, env->path, line, "%s %s", key, why);
	else if (!env_add(env, key, value, line, diag))
		return;
}

void
cluster_env_read(struct env *env, const char *text, size_t length,
    struct diag *diag)
{
	const char *const stop = text + length;
	char *value = malloc(ENV_MAX_VALUE);
	unsigned int line = 1;

	if (value == NULL) {
		diag_add(diag, DIAG_ERROR, env->path, 0, "out of memory");
		return;
	}
	for (const char *at = text; at < stop; line++) {
		const char *next, *end = memchr(at, '\n', (size_t)(stop - at));

		if (end == NULL)
			end = stop;
		next = end < stop ? end + 1 : stop;
		/* Line ends of DOS, which editors and mail put there. */
		if (end > at && end[-1] == '\r')
			end--;
		if (at < end && *at != '#')
			read_line(env, at, end, line, value, diag);
		at = next;
	}
	free(value);
}

/* The file "hosts", which istioctl wants to be added to /etc/hosts. */

#define BLANKS	" \t\r"
#define LINE_MAX_LENGTH	1024
#define OTHER_SIZE	256

/* Whether server, "HOST:PORT", is of that host. */
static bool
is_host(const char *server, const char *host)
{
	const char *colon = strrchr(server, ':');
	size_t length = strlen(host);

	return colon != NULL && length == (size_t)(colon - server) &&
	    strncasecmp(server, host, length) == 0;
}

static void
add_address(struct workload *w, const char *path, unsigned int line,
    const char *address, struct diag *diag)
{
	if (w->address_count == WORKLOAD_MAX_ADDRESSES) {
		diag_add(diag, DIAG_ERROR, path, line,
		    "more than %d addresses of istiod", WORKLOAD_MAX_ADDRESSES);
		return;
	}
	w->addresses[w->address_count] = strdup(address);
	if (w->addresses[w->address_count] == NULL)
		diag_add(diag, DIAG_ERROR, path, line, "out of memory");
	else
		w->address_count++;
}

static void
read_host(struct workload *w, const char *path, unsigned int line, char *text,
    char other[static OTHER_SIZE], struct diag *diag)
{
	char *save = NULL, *address, *name;
	uint8_t octets[16];

	text[strcspn(text, "#")] = '\0';
	address = strtok_r(text, BLANKS, &save);
	if (address == NULL)
		return;
	if (host_address(address, octets) == AF_UNSPEC) {
		diag_add(diag, DIAG_ERROR, path, line, "\"%.64s\" is not an "
		    "address; a line is ADDRESS NAME", address);
		return;
	}
	while ((name = strtok_r(NULL, BLANKS, &save)) != NULL) {
		if (w->server != NULL && is_host(w->server, name)) {
			add_address(w, path, line, address, diag);
			return;
		}
		(void)snprintf(other, OTHER_SIZE, "%.250s", name);
	}
}

void
workload_read_hosts(struct workload *workload, const char *path,
    const char *text, size_t length, struct diag *diag)
{
	const char *const stop = text + length;
	char copy[LINE_MAX_LENGTH], other[OTHER_SIZE] = "";
	unsigned int line = 1;

	for (const char *at = text; at < stop; line++) {
		const char *end = memchr(at, '\n', (size_t)(stop - at));
		const size_t n = (size_t)((end != NULL ? end : stop) - at);

		if (n >= sizeof(copy) || memchr(at, '\0', n) != NULL) {
			diag_add(diag, DIAG_ERROR, path, line,
			    "is not a line of hosts(5)");
		} else {
			memcpy(copy, at, n);
			copy[n] = '\0';
			read_host(workload, path, line, copy, other, diag);
		}
		at += n + (end != NULL);
	}
	/*
	 * Without an address, the feed asks DNS for istiod: few clusters are in
	 * it.
	 */
	if (workload->server == NULL || workload->address_count > 0)
		return;
	if (other[0] == '\0')
		diag_add(diag, DIAG_WARNING, path, 0, "is empty: nfdns-feed "
		    "asks DNS for the address of %s; if that has none, add a "
		    "line \"ADDRESS NAME\" (istioctl writes it with "
		    "--ingressIP ADDRESS)", workload->server);
	else
		diag_add(diag, DIAG_WARNING, path, 0, "has an address of %s, "
		    "but none of %s, which mesh.yaml names as "
		    "discoveryAddress: they are of different revisions; make "
		    "the files again with istioctl", other, workload->server);
}

/* A text, with or without quotes; "" for null.  NULL after an error. */
static const char *
text_of(const struct env *env, const char *key, const yaml_node_t *node,
    struct diag *diag)
{
	const char *text;

	if (node->type != YAML_SCALAR_NODE) {
		diag_add(diag, DIAG_ERROR, env->path, yaml_tree_line(node),
		    "%s is not a text", key);
		return NULL;
	}
	text = yaml_tree_string(node);
	if (text == NULL)
		return "";
	if (strlen(text) < ENV_MAX_VALUE)
		return text;
	diag_add(diag, DIAG_ERROR, env->path, yaml_tree_line(node),
	    "%s is too long", key);
	return NULL;
}

/* A mapping, if it is there; whether its members can be looked at. */
static bool
is_map(const struct env *env, const char *name, const yaml_node_t *node,
    struct diag *diag)
{
	if (node == NULL || node->type == YAML_MAPPING_NODE)
		return node != NULL;
	diag_add(diag, DIAG_ERROR, env->path, yaml_tree_line(node),
	    "%s is not a mapping", name);
	return false;
}

static void
add_text(struct env *env, const char *name, const char *key,
    const yaml_node_t *node, struct diag *diag)
{
	const char *text = text_of(env, name, node, diag);

	if (text == NULL)
		return;
	if (strlen(key) > ENV_MAX_KEY)
		diag_add(diag, DIAG_ERROR, env->path, yaml_tree_line(node),
		    "the name of a variable is too long");
	else if (!env_add(env, key, text, yaml_tree_line(node), diag))
		return;
}

static void
take(struct env *env, struct yaml_tree *tree, struct diag *diag)
{
	const yaml_node_t *root = yaml_tree_root(tree), *config, *node;
	const yaml_node_t *metadata;
	const char *key;

	if (root != NULL && !is_map(env, "this file", root, diag))
		return;
	config = yaml_tree_member(tree, root, "defaultConfig");
	if (config == NULL)
		diag_add(diag, DIAG_ERROR, env->path, 0, "has no "
		    "\"defaultConfig\"; is it what istioctl wrote?");
	if (!is_map(env, "defaultConfig", config, diag))
		return;
	node = yaml_tree_member(tree, config, "discoveryAddress");
	if (node != NULL)
		add_text(env, "discoveryAddress", MESH_YAML_SERVER, node, diag);
	metadata = yaml_tree_member(tree, config, "proxyMetadata");
	if (!is_map(env, "proxyMetadata", metadata, diag))
		return;
	for (size_t i = 0; (node = yaml_tree_item(tree, metadata, i, &key)) !=
	    NULL; i++)
		if (key != NULL)
			add_text(env, key, key, node, diag);
}

void
mesh_yaml_read(struct env *env, const char *text, size_t length,
    struct diag *diag)
{
	struct yaml_tree tree = YAML_TREE_INIT;
	const char *why = NULL;
	unsigned int line = 0;
	int error = yaml_tree_read(&tree, text, length, &why, &line);

	if (error == 0)
		take(env, &tree, diag);
	else
		diag_add(diag, DIAG_ERROR, env->path, line, "%s",
		    error == -ENOMEM ? "out of memory" : why);
	yaml_tree_free(&tree);
}

/* When a token begins and ends: a JSON Web Token (RFC 7519) in compact form (RFC 7515). */

#define DIGITS	"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

/* The second of three parts that dots separate; NULL if it is no such text. */
static const char *
find_claims(const char *token, size_t *length)
{
	const char *claims = token + strspn(token, DIGITS), *end;

	if (*claims++ != '.')
		return NULL;
	*length = strspn(claims, DIGITS);
	end = claims + *length;
	return *end == '.' && end[1 + strspn(end + 1, DIGITS)] == '\0' ?
	    claims : NULL;
}

/*
 * Decodes "base64url" (RFC 4648, section 5) into text, which has room for length
 * + 4 octets.  The number of octets.
 */
static size_t
decode(const char *at, size_t length, char *text)
{
	const size_t padding = (4 - length % 4) % 4;
	int n;

	for (size_t i = 0; i < length; i++)
		text[i] = (char)(at[i] == '-' ? '+' : at[i] == '_' ? '/' :
		    at[i]);
	memset(text + length, '=', padding);
	n = EVP_DecodeBlock((unsigned char *)text, (unsigned char *)text,
	    (int)(length + padding));
	return n > 0 ? (size_t)n - padding : 0;
}

static const char *
read_times(const char *text, size_t length, struct token_times *times)
{
	const struct json_range range = { .text = text, .length = length,
	    .line = 1 };
	struct json_tree tree = JSON_TREE_INIT;
	static const char *const keys[] = { "iat", "exp" };
	const json_t *root;
	const char *json_why, *why = NULL;
	unsigned int line;
	int error;

	root = json_tree_take(&tree, &range, &error, &json_why, &line);
	if (!json_is_object(root))
		why = "is not a token: its claims are not JSON";
	for (size_t i = 0; i < 2 && why == NULL; i++) {
		const json_t *node = json_object_get(root, keys[i]);
		long long time = 0;

		if (node != NULL && !json_tree_integer(node, 1, LLONG_MAX,
		    &time))
			why = "is not a token: its \"exp\" or \"iat\" is not a "
			    "time";
		*(i == 0 ? &times->begin : &times->end) = time;
	}
	json_tree_free(&tree);
	return why;
}

const char *
workload_token_times(struct token_times *times, const char *token,
    size_t length)
{
	size_t claims_length = 0;
	const char *claims = strlen(token) == length ? find_claims(token,
	    &claims_length) : NULL;
	char *text = claims != NULL ? malloc(claims_length + 4) : NULL;
	const char *why;

	*times = (struct token_times){ .end = 0 };
	if (claims == NULL)
		why = "is not a token: a token is three parts of letters, "
		    "digits, '-' and '_' with dots between them";
	else if (text == NULL)
		why = "out of memory";
	else
		why = read_times(text, decode(claims, claims_length, text),
		    times);
	free(text);
	return why;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/cli/join/plan.h"

#include <ctype.h>
#include <errno.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <sys/socket.h>
#include <unistd.h>

#include "resolver/text/host.h"
#include "resolver/text/json_tree.h"

#define MAX_SMALL	((size_t)64 << 10)	/* octets */
#define MAX_LARGE	((size_t)1 << 20)
#define LABEL_MAX	63			/* of DNS */
#define TEXT_MAX	253
#define DEFAULT_PORT	"15012"
#define DEFAULT_CERTS	"/etc/certs"

/* A variable: cluster.env counts before mesh.yaml, as in the agent. */
struct variable {
	const char *value;		/* NULL: it is in neither, or empty */
	const char *path;
	unsigned int line;
};

static struct variable
look_up(const struct workload *w, const char *key)
{
	const struct env *const both[] = { &w->env, &w->mesh };

	for (size_t i = 0; i < 2; i++) {
		const struct env_entry *entry = env_find(both[i], key);

		if (entry != NULL)
			return (struct variable){ entry->value[0] != '\0' ?
			    entry->value : NULL, both[i]->path, entry->line };
	}
	return (struct variable){ NULL, w->env.path, 0 };
}

static void
keep(char **to, const char *text, struct diag *diag)
{
	*to = strdup(text);
	if (*to == NULL)
		diag_add(diag, DIAG_ERROR, NULL, 0, "out of memory");
}

static bool
is_of(const char *text, const char *others, size_t most)
{
	size_t length = 0;

	for (; text[length] != '\0'; length++)
		if (!isalnum((unsigned char)text[length]) &&
		    strchr(others, text[length]) == NULL)
			return false;
	return length > 0 && length <= most;
}

static void
take_texts(struct workload *w, struct diag *diag)
{
	const struct {
		const char *key;
		char **to;
	} rows[] = {
		{ "ISTIO_META_CLUSTER_ID", &w->node.cluster },
		{ "ISTIO_META_NETWORK", &w->node.network },
		{ "SERVICE_ACCOUNT", &w->node.service_account },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct variable v = look_up(w, rows[i].key);

		if (v.value == NULL)
			continue;
		if (is_of(v.value, "-_./", TEXT_MAX))
			keep(rows[i].to, v.value, diag);
		else
			diag_add(diag, DIAG_ERROR, v.path, v.line,
			    "%s is \"%.80s\": letters, digits, '-', '_', '.' "
			    "and '/' are allowed, at most %d", rows[i].key,
			    v.value, TEXT_MAX);
	}
}

static void
take_address(struct workload *w, struct diag *diag)
{
	struct variable v = look_up(w, "ISTIO_SVC_IP");
	uint8_t address[16];

	if (v.value == NULL)
		return;
	if (host_address(v.value, address) != AF_UNSPEC)
		keep(&w->node.ip, v.value, diag);
	else
		diag_add(diag, DIAG_ERROR, v.path, v.line,
		    "ISTIO_SVC_IP is \"%.80s\", which is not a valid address", v.value);
}

/*
 * The agent's start script sets discoveryAddress to PILOT_ADDRESS if that is
 * given (tools/packaging/common/istio-start.sh); CA_ADDR is given with a
 * revision.
 */
static void
take_server(struct workload *w, struct diag *diag)
{
	static const char *const keys[] = { "PILOT_ADDRESS", MESH_YAML_SERVER,
	    "CA_ADDR" };
	struct variable v = { .value = NULL };
	struct variable space, port;

	for (size_t i = 0; v.value == NULL && i < 3; i++)
		v = look_up(w, keys[i]);
	if (v.value != NULL) {
		if (host_is_server(v.value))
			keep(&w->server, v.value, diag);
		else
			diag_add(diag, DIAG_ERROR, v.path, v.line, "\"%.80s\" "
			    "is not HOST:PORT of istiod, such as "
			    "istiod.istio-system.svc:15012", v.value);
		return;
	}
	space = look_up(w, "ISTIO_SYSTEM_NAMESPACE");
	port = look_up(w, "ISTIO_PILOT_PORT");
	if (asprintf(&w->server, "istiod.%s.svc:%s", space.value != NULL ?
	    space.value : "istio-system", port.value != NULL ? port.value :
	    DEFAULT_PORT) < 0)
		w->server = NULL;
	if (w->server != NULL && host_is_server(w->server))
		return;
	diag_add(diag, DIAG_ERROR, space.value != NULL ? space.path : port.path,
	    space.value != NULL ? space.line : port.line, "\"%.80s\" is not "
	    "HOST:PORT of istiod", w->server != NULL ? w->server : "");
	free(w->server);
	w->server = NULL;
}

static bool
add_label(struct feed_node *node, const char *key, const char *value)
{
	struct feed_label *grown = realloc(node->labels,
	    (node->label_count + 1) * sizeof(*grown));

	if (grown == NULL)
		return false;
	node->labels = grown;
	grown[node->label_count++] = (struct feed_label){ strdup(key),
	    strdup(value) };
	return grown[node->label_count - 1].key != NULL &&
	    grown[node->label_count - 1].value != NULL;
}

static const char *
read_labels(struct workload *w, json_t *object)
{
	const char *label;
	json_t *at;

	if (!json_is_object(object))
		return "is not a JSON object";
	json_object_foreach(object, label, at) {
		const char *value = json_string_value(at);

		/* Kubernetes: api/validation of labels, with prefix. */
		if (!is_of(label, "-_./", TEXT_MAX + LABEL_MAX + 1) ||
		    value == NULL || (value[0] != '\0' &&
		    !is_of(value, "-_.", LABEL_MAX)))
			return "has a label that Kubernetes does not allow";
		if (w->node.label_count == WORKLOAD_MAX_LABELS)
			return "has too many labels";
		if (!add_label(&w->node, label, value))
			return "takes more memory than there is";
	}
	return NULL;
}

static void
take_labels(struct workload *w, struct diag *diag)
{
	static const char key[] = "ISTIO_METAJSON_LABELS";
	struct variable v = look_up(w, key);
	struct json_tree tree = JSON_TREE_INIT;
	struct json_range range = { .line = 1 };
	json_t *root;
	const char *why = NULL, *json_why = NULL;
	unsigned int line;
	int error;

	if (v.value == NULL)
		return;
	range.text = v.value;
	range.length = strlen(v.value);
	root = json_tree_take(&tree, &range, &error, &json_why, &line);
	why = root == NULL ? json_why : read_labels(w, root);
	if (root == NULL && why == NULL)
		why = "takes more memory than there is";
	if (why != NULL)
		diag_add(diag, DIAG_ERROR, v.path, v.line, "%s %s%s", key,
		    root == NULL ? "is not JSON: " : "", why);
	json_tree_free(&tree);
}

/* Where the agent writes certificate and key: OUTPUT_CERTS. */
static void
take_agent(struct workload *w, struct diag *diag)
{
	struct variable v = look_up(w, "OUTPUT_CERTS");

	if (v.value == NULL)
		v.value = DEFAULT_CERTS;
	if (v.value[0] == '/' && strstr(v.value, "..") == NULL &&
	    is_of(v.value, "-_./", TEXT_MAX))
		keep(&w->agent, v.value, diag);
	else
		diag_add(diag, DIAG_ERROR, v.path, v.line,
		    "OUTPUT_CERTS is \"%.80s\", which is not a path from the "
		    "root", v.value);
}

#define CLOCK "is this machine's clock right?"
#define CLOCK_SLACK_S	60

/* How many certificates there are, or -1 if one is broken. */
static int
count_certificates(const struct input *roots, struct diag *diag)
{
	BIO *bio = BIO_new_mem_buf(roots->file.octets, (int)roots->file.length);
	X509 *certificate;
	unsigned long error;
	int count = 0;

	while (bio != NULL && (certificate = PEM_read_bio_X509(bio, NULL, NULL,
	    NULL)) != NULL) {
		if (X509_cmp_current_time(X509_get0_notBefore(certificate)) > 0)
			diag_add(diag, DIAG_WARNING, roots->path, 0, "has a "
			    "certificate that begins in the future: " CLOCK);
		if (X509_cmp_current_time(X509_get0_notAfter(certificate)) < 0)
			diag_add(diag, DIAG_WARNING, roots->path, 0, "has a "
			    "certificate that has ended: " CLOCK);
		X509_free(certificate);
		count++;
	}
	error = ERR_peek_last_error();
	if (ERR_GET_REASON(error) != PEM_R_NO_START_LINE)
		count = -1;
	ERR_clear_error();
	BIO_free(bio);
	return count;
}

static void
check_roots(const struct input *roots, struct diag *diag)
{
	const int count = count_certificates(roots, diag);

	if (count < 0)
		diag_add(diag, DIAG_ERROR, roots->path, 0, "has a certificate "
		    "that is broken; make the files again with istioctl");
	else if (count == 0)
		diag_add(diag, DIAG_ERROR, roots->path, 0, "has no certificate "
		    "(PEM) in it; make the files again with istioctl");
	else if (strstr(roots->file.octets, "PRIVATE KEY") != NULL)
		diag_add(diag, DIAG_ERROR, roots->path, 0, "has a private key "
		    "in it, which has no business there");
}

static void
check_token(struct workload *w, struct diag *diag)
{
	struct input *token = &w->token;
	struct token_times times;
	const char *why;

	while (token->file.length > 0 &&
	    isspace((unsigned char)token->file.octets[token->file.length - 1]))
		token->file.octets[--token->file.length] = '\0';
	why = workload_token_times(&times, token->file.octets, token->file.length);
	w->token_end = times.end;
	if (why != NULL)
		diag_add(diag, DIAG_ERROR, token->path, 1, "%s", why);
	else if (times.begin > (int64_t)time(NULL) + CLOCK_SLACK_S)
		diag_add(diag, DIAG_WARNING, token->path, 1, "the token was "
		    "made in the future: " CLOCK);
}

/* One file; the error that it is missing says what it is. */
static bool
take_file(struct input *input, int fd, const char *directory, const char *name,
    size_t limit, struct diag *diag)
{
	int error = input_read(input, fd, directory, name, limit, diag);

	if (error == -ENOENT)
		diag_add(diag, DIAG_ERROR, input->path, 0, "is missing; "
		    "istioctl x workload entry configure writes it");
	return error == 0;
}

/* As Go's strconv.ParseBool(). */
static void
take_capture(struct workload *w)
{
	static const char *const words[] = { "1", "t", "T", "true", "TRUE",
	    "True" };
	const struct variable v = look_up(w, "ISTIO_META_DNS_CAPTURE");

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		w->dns_capture |= v.value != NULL &&
		    strcmp(v.value, words[i]) == 0;
}

static void
take_variables(struct workload *w, struct diag *diag)
{
	struct variable v = look_up(w, "POD_NAMESPACE");

	if (v.value == NULL)
		v = look_up(w, "ISTIO_NAMESPACE");
	if (v.value == NULL)
		diag_add(diag, DIAG_ERROR, w->env.path, 0, "POD_NAMESPACE is "
		    "missing: the namespace of this machine");
	else if (!is_of(v.value, "-", LABEL_MAX))
		diag_add(diag, DIAG_ERROR, v.path, v.line, "\"%.80s\" is not a "
		    "namespace: letters, digits and '-', at most %d", v.value,
		    LABEL_MAX);
	else
		keep(&w->node.namespace, v.value, diag);
	take_texts(w, diag);
	take_address(w, diag);
	take_labels(w, diag);
	take_server(w, diag);
	take_agent(w, diag);
	take_capture(w);
}

static void
read_all(struct workload *w, int fd, const char *directory, struct diag *diag)
{
	const bool has_env = take_file(&w->env_file, fd, directory,
	    "cluster.env", MAX_SMALL, diag);
	const bool has_mesh = take_file(&w->mesh_file, fd, directory,
	    "mesh.yaml", MAX_LARGE, diag);

	w->env.path = w->env_file.path;
	w->mesh.path = w->mesh_file.path;
	if (has_env)
		cluster_env_read(&w->env, w->env_file.file.octets,
		    w->env_file.file.length, diag);
	if (has_mesh)
		mesh_yaml_read(&w->mesh, w->mesh_file.file.octets,
		    w->mesh_file.file.length, diag);
	if (has_env && has_mesh)
		take_variables(w, diag);
	if (take_file(&w->token, fd, directory, "istio-token", MAX_SMALL, diag))
		check_token(w, diag);
	if (take_file(&w->roots, fd, directory, "root-cert.pem", MAX_LARGE,
	    diag))
		check_roots(&w->roots, diag);
	if (take_file(&w->hosts, fd, directory, "hosts", MAX_SMALL, diag))
		workload_read_hosts(w, w->hosts.path, w->hosts.file.octets,
		    w->hosts.file.length, diag);
}

bool
workload_read(struct workload *workload, const char *directory,
    struct diag *diag)
{
	const size_t errors = diag->errors;
	int fd = input_directory(directory, diag);

	if (fd < 0)
		return false;
	read_all(workload, fd, directory, diag);
	(void)close(fd);
	return diag->errors == errors;
}

void
workload_free(struct workload *workload)
{
	feed_node_free(&workload->node);
	for (size_t i = 0; i < workload->address_count; i++)
		free(workload->addresses[i]);
	free(workload->server);
	free(workload->agent);
	env_free(&workload->env);
	env_free(&workload->mesh);
	input_free(&workload->env_file);
	input_free(&workload->mesh_file);
	input_free(&workload->hosts);
	input_free(&workload->token);
	input_free(&workload->roots);
	*workload = (struct workload){ .server = NULL };
}

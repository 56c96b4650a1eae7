/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "nfq/cli/join/plan.h"
#include "policy/config/config.h"
#include "policy/config/file.h"
#include "resolver/feed/feed.h"
#include "resolver/sources/feed_file.h"

/* The two files that join writes for a feed: for nfdns-feed, and for nfdnsd. */

#define FEED_TEXT_HEAD	"# Written by nfdns join; nfdns leave removes it.\n"
/* A string of libconfig's. */
static void
put_text(FILE *out, const char *text)
{
	(void)fputc('"', out);
	for (; *text != '\0'; text++) {
		if (*text == '"' || *text == '\\')
			(void)fputc('\\', out);
		(void)fputc(*text, out);
	}
	(void)fputc('"', out);
}

/* A setting in a line of its own, if it is set. */
static void
put_setting(FILE *out, const char *name, const char *text)
{
	if (text == NULL)
		return;
	(void)fprintf(out, "\n%s = ", name);
	put_text(out, text);
	(void)fputc(';', out);
}

static void
put_list(FILE *out, const char *name, char *const *texts, size_t count)
{
	if (count == 0)
		return;
	(void)fprintf(out, "\n%s = [ ", name);
	for (size_t i = 0; i < count; i++) {
		(void)fputs(i > 0 ? ", " : "", out);
		put_text(out, texts[i]);
	}
	(void)fputs(" ];", out);
}

static void
put_node(FILE *out, const struct feed_node *node)
{
	const struct {
		const char *name, *text;
	} rows[] = {
		{ "namespace", node->namespace }, { "cluster", node->cluster },
		{ "network", node->network },
		{ "service_account", node->service_account },
		{ "ip", node->ip },
	};

	(void)fputs("\nnode = {", out);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (rows[i].text == NULL)
			continue;
		(void)fprintf(out, " %s = ", rows[i].name);
		put_text(out, rows[i].text);
		(void)fputc(';', out);
	}
	/*
	 * As a list, since a key with '.' or '/' cannot be one of libconfig's.
	 */
	if (node->label_count != 0) {
		(void)fputs(" labels = [", out);
		for (size_t i = 0; i < node->label_count; i++)
			(void)fprintf(out, "%s\n\t\"%s=%s\"", i > 0 ? "," : "",
			    node->labels[i].key, node->labels[i].value);
		(void)fputs(" ];", out);
	}
	(void)fputs(" };", out);
}

/* Ends the stream; its text, or NULL if it could not be written. */
static char *
finish(FILE *out, char **text)
{
	const bool failed = out == NULL || ferror(out) != 0;

	if (out != NULL && fclose(out) == 0 && !failed)
		return *text;
	free(*text);
	return NULL;
}

/*
 * A file of feed.conf(5) with the feed: every option that it sets, and the directories
 * if they are not the default ones.  The caller frees it; NULL for lack of memory.
 */
static char *
feed_text(const struct feed_config *feed, const char *state_dir,
    const char *run_dir)
{
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	if (out == NULL)
		return NULL;
	(void)fputs(FEED_TEXT_HEAD, out);
	if (strcmp(state_dir, CONFIG_DEFAULT_STATE_DIR) != 0) {
		(void)fputs("state_dir = ", out);
		put_text(out, state_dir);
		(void)fputs(";\n", out);
	}
	if (strcmp(run_dir, CONFIG_DEFAULT_FEED_RUN_DIR) != 0) {
		(void)fputs("run_dir = ", out);
		put_text(out, run_dir);
		(void)fputs(";\n", out);
	}
	(void)fprintf(out, "type = \"%s\";", feed->type == FEED_XDS ? "xds" :
	    "kubernetes");
	put_setting(out, "server", feed->server);
	put_list(out, "addresses", feed->addresses, feed->address_count);
	put_setting(out, "root_cert", feed->root_cert);
	put_setting(out, "cert", feed->cert);
	put_setting(out, "key", feed->key);
	put_setting(out, "token", feed->token);
	if (feed->ca)
		(void)fputs("\nca = true;", out);
	if (feed->type == FEED_XDS)
		put_node(out, &feed->node);
	put_setting(out, "kubeconfig", feed->kubeconfig);
	put_list(out, "namespaces", feed->namespaces, feed->namespace_count);
	(void)fputc('\n', out);
	return finish(out, &text);
}

/*
 * A file of nfdnsd.conf(5) with the table of the feed (NULL: without it) and
 * mesh.namespace (NULL: without it).  As above.
 */
static char *
feed_text_table(const char *name, const char *namespace, bool skip_allocated)
{
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	if (out == NULL)
		return NULL;
	(void)fputs(FEED_TEXT_HEAD "mesh = {\n", out);
	if (namespace != NULL) {
		(void)fputs("\tnamespace = ", out);
		put_text(out, namespace);
		(void)fputs(";\n", out);
	}
	if (name != NULL)
		(void)fprintf(out, "\ttables = ( { format = \"feed\"; feed = "
		    "\"%s\";%s } );\n", name, skip_allocated ?
		    " skip_allocated = true;" : "");
	(void)fputs("};\n", out);
	return finish(out, &text);
}

#define CREDENTIALS	"/run/credentials/" JOIN_UNIT

char *
join_path(const char *config, const char *file)
{
	const char *slash = strrchr(config, '/');
	char *path;

	if (slash == NULL || asprintf(&path, "%.*s/%s", (int)(slash - config),
	    config, file) < 0)
		return NULL;
	return path;
}

char *
join_path_in(const char *config, const char *directory, const char *name)
{
	char file[160];

	(void)snprintf(file, sizeof(file), "%.40s/%.63s.conf", directory, name);
	return join_path(config, file);
}

char *
join_path_of(const char *config, const char *name, const char *suffix)
{
	char file[160];

	(void)snprintf(file, sizeof(file), "feeds/%.63s.%.60s", name, suffix);
	return join_path(config, file);
}

char *
join_path_of_drop_in(const char *name)
{
	char *path;

	if (asprintf(&path, JOIN_UNIT_DIRECTORY
	    "/" JOIN_UNIT ".d/nfdns-join.conf", name) < 0)
		return NULL;
	return path;
}

char *
join_record_read(const char *config, const char *name)
{
	char *directory = join_path(config, "feeds"), *text = NULL;
	char file[80];
	struct diag diag = DIAG_INIT;
	struct input input = { .path = NULL };
	int fd = directory != NULL ? input_directory(directory, &diag) : -1;

	(void)snprintf(file, sizeof(file), "%.63s." JOIN_RECORD, name);
	if (fd >= 0 && input_read(&input, fd, directory, file,
	    JOIN_RECORD_MAX, &diag) == 0)
		text = strdup(input.file.octets);
	input_free(&input);
	if (fd >= 0)
		(void)close(fd);
	free(directory);
	diag_free(&diag);
	return text;
}

static bool
no_memory(struct diag *diag)
{
	diag_add(diag, DIAG_ERROR, NULL, 0, "out of memory");
	return false;
}

/* Takes over path and octets, which may be NULL for lack of memory. */
static struct place *
add(struct join_plan *plan, char *path, char *octets, size_t length,
    struct diag *diag)
{
	struct place *place = &plan->places[plan->count];

	if (path == NULL || octets == NULL || plan->count == JOIN_MAX_PLACES) {
		free(path);
		free(octets);
		(void)no_memory(diag);
		return NULL;
	}
	*place = (struct place){ .path = path, .octets = octets,
	    .length = length, .mode = 0644, .group = (gid_t)-1 };
	plan->count++;
	return place;
}

static char *
copy_octets(const char *octets, size_t length)
{
	char *copy = malloc(length + 1);

	if (copy != NULL) {
		memcpy(copy, octets, length);
		copy[length] = '\0';
	}
	return copy;
}

/* A file of the feed alone; a secret one only nfdns-feed may read. */
static const char *
add_own(struct join_plan *plan, const struct join_request *request,
    const char *suffix, const char *octets, size_t length, bool secret,
    struct diag *diag)
{
	struct place *place = add(plan, join_path_of(request->config->path,
	    request->name, suffix), copy_octets(octets, length), length, diag);

	if (place == NULL)
		return NULL;
	if (secret) {
		place->mode = request->group != (gid_t)-1 ? 0640 : 0600;
		place->group = request->group;
	}
	return place->path;
}

/* Which units join is to enable: leave must not disable others. */
static void
add_record(struct join_plan *plan, const struct join_request *request,
    bool joined_before, struct diag *diag)
{
	char *old = join_record_read(request->config->path, request->name);
	char *text = NULL;
	size_t length = 0;
	FILE *out = open_memstream(&text, &length);
	struct place *place;

	if (out != NULL) {
		(void)fputs(joined_before && old != NULL ? old :
		    JOIN_RECORD_TEXT, out);
		for (size_t i = 0; request->enable[i] != NULL; i++)
			(void)fprintf(out, JOIN_RECORD_ENABLED "%s\n",
			    request->enable[i]);
		if (fclose(out) != 0) {
			free(text);
			text = NULL;
		}
	}
	free(old);
	place = add(plan, join_path_of(request->config->path, request->name,
	    JOIN_RECORD), text, length, diag);
	if (place != NULL)
		place->replace = true;
}

static bool
exists(const char *directory, const char *name)
{
	char path[512];
	const int n = snprintf(path, sizeof(path), "%s/%s", directory, name);

	return n > 0 && (size_t)n < sizeof(path) && access(path, F_OK) == 0;
}

/*
 * The certificate of Istio's agent, if there is one: systemd passes copies to
 * nfdns-feed, which may not read the agent's files (feed.conf(5)).
 */
struct agent {
	char *cert, *key, *roots;	/* for feed.conf; roots may be NULL */
	char *drop_in;			/* text of the unit's part; or NULL */
};

static char *
path_in(const char *directory, const char *name)
{
	char *path;

	return asprintf(&path, "%s/%s", directory, name) < 0 ? NULL : path;
}

/* Returns whether there was memory; without an agent nothing is set. */
static bool
agent_find(struct agent *agent, const struct join_request *request,
    const char *directory)
{
	const bool roots = exists(directory, "root-cert.pem");
	const char *where = directory;
	char credentials[sizeof(CREDENTIALS) + FEED_FILE_NAME_MAX];

	(void)snprintf(credentials, sizeof(credentials), CREDENTIALS,
	    request->name);
	if (request->units)
		where = credentials;

	if (!exists(directory, "cert-chain.pem") ||
	    !exists(directory, "key.pem"))
		return true;
	agent->cert = path_in(where, "cert-chain.pem");
	agent->key = path_in(where, "key.pem");
	agent->roots = roots ? path_in(where, "root-cert.pem") : NULL;
	if (request->units && asprintf(&agent->drop_in,
	    "# Written by nfdns join; nfdns leave removes it.\n[Service]\n"
	    "LoadCredential=cert-chain.pem:%s/cert-chain.pem\n"
	    "LoadCredential=key.pem:%s/key.pem\n%s%s%s", directory, directory,
	    roots ? "LoadCredential=root-cert.pem:" : "",
	    roots ? directory : "", roots ? "/root-cert.pem\n" : "") < 0)
		agent->drop_in = NULL;
	return agent->cert != NULL && agent->key != NULL &&
	    (!roots || agent->roots != NULL) &&
	    (!request->units || agent->drop_in != NULL);
}

static char *
peer_text(const struct workload *w)
{
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	if (out == NULL)
		return NULL;
	(void)fputs(w->server, out);
	for (size_t i = 0; i < w->address_count; i++)
		(void)fprintf(out, "%s%s", i == 0 ? " at " : ", ",
		    w->addresses[i]);
	if (fclose(out) == 0)
		return text;
	free(text);
	return NULL;
}

static bool
describe(struct join_plan *plan, const struct workload *w)
{
	const struct feed_node *n = &w->node;

	plan->peer = peer_text(w);
	plan->namespace = strdup(n->namespace);
	if (asprintf(&plan->self, "namespace %s%s%s%s%s%s%s", n->namespace,
	    n->service_account != NULL ? ", service account " : "",
	    n->service_account != NULL ? n->service_account : "",
	    n->cluster != NULL ? ", cluster " : "",
	    n->cluster != NULL ? n->cluster : "",
	    n->network != NULL ? ", network " : "",
	    n->network != NULL ? n->network : "") < 0)
		plan->self = NULL;
	return plan->peer != NULL && plan->namespace != NULL &&
	    plan->self != NULL;
}

/* Certificates, token and what feed.conf says of them; its text in *item. */
static bool
plan_files(struct join_plan *plan, const struct join_request *request,
    struct workload *w, const struct agent *agent, char **item,
    struct diag *diag)
{
	struct feed_config feed = { .type = FEED_XDS, .server = w->server,
	    .addresses = w->addresses, .address_count = w->address_count,
	    .root_cert = agent->roots, .cert = agent->cert, .key = agent->key,
	    .ca = agent->cert == NULL, .node = w->node };
	const char *roots = NULL, *token;
	char *name = strdup(request->name);

	if (agent->roots == NULL)
		roots = add_own(plan, request, "root-cert.pem",
		    w->roots.file.octets, w->roots.file.length, false, diag);
	token = add_own(plan, request, "istio-token", w->token.file.octets,
	    w->token.file.length, true, diag);
	if (roots != NULL)
		feed.root_cert = strdup(roots);
	feed.token = token != NULL ? strdup(token) : NULL;
	feed.name = name;
	*item = name != NULL && feed.token != NULL && feed.root_cert != NULL ?
	    feed_text(&feed, request->config->state_dir,
	    request->config->feed_run_dir) : NULL;
	free(name);
	free(feed.token);
	if (roots != NULL)
		free(feed.root_cert);
	return *item != NULL || no_memory(diag);
}

static bool
plan_mesh(struct join_plan *plan, const struct join_request *request,
    struct workload *w, char **item, struct diag *diag)
{
	struct agent agent = { .cert = NULL };
	bool good = agent_find(&agent, request, w->agent) || no_memory(diag);
	char pair[FEED_FILE_NAME_MAX + sizeof(JOIN_PAIR)];

	plan->agent = agent.cert != NULL;
	plan->token_end = w->token_end;
	plan->dns_capture = w->dns_capture;
	/* Without a certificate, a token is needed that has not ended. */
	(void)snprintf(pair, sizeof(pair), "%.63s" JOIN_PAIR, request->name);
	if (w->token_end > 0 && w->token_end <= request->now && !plan->agent &&
	    !exists(request->config->state_dir, pair))
		diag_add(diag, DIAG_ERROR, w->token.path, 1, "the token has "
		    "ended, and %s has no certificate of Istio's agent; make "
		    "the files again with istioctl", w->agent);
	good = good && (describe(plan, w) || no_memory(diag)) &&
	    plan_files(plan, request, w, &agent, item, diag);
	if (good && agent.drop_in != NULL) {
		const size_t length = strlen(agent.drop_in);

		good = add(plan, join_path_of_drop_in(request->name),
		    copy_octets(agent.drop_in, length), length, diag) != NULL;
	}
	free(agent.cert);
	free(agent.key);
	free(agent.roots);
	free(agent.drop_in);
	return good;
}

static bool
plan_kubernetes(struct join_plan *plan, const struct join_request *request,
    char **item, struct diag *diag)
{
	struct kubeconfig_copy copy = { .text = NULL };
	struct feed_config feed = { .type = FEED_KUBERNETES,
	    .namespaces = request->namespaces,
	    .namespace_count = request->namespace_count };
	const char *path = NULL;
	bool good = kubeconfig_copy_make(&copy, request->kubeconfig,
	    request->context, diag);

	if (good) {
		path = add_own(plan, request, "kubeconfig", copy.text,
		    copy.length, true, diag);
		plan->peer = strdup(copy.server);
		plan->insecure = copy.insecure;
		plan->token_file = copy.token_file;
		copy.token_file = NULL;
		memcpy(plan->copied, copy.files, sizeof(plan->copied));
		memset(copy.files, 0, sizeof(copy.files));
	}
	feed.name = path != NULL ? strdup(request->name) : NULL;
	feed.kubeconfig = path != NULL ? strdup(path) : NULL;
	if (feed.name != NULL && feed.kubeconfig != NULL)
		*item = feed_text(&feed, request->config->state_dir,
		    request->config->feed_run_dir);
	free(feed.name);
	free(feed.kubeconfig);
	kubeconfig_copy_free(&copy);
	if (good && (*item == NULL || plan->peer == NULL))
		good = no_memory(diag);
	return good;
}

/* Whether a file of somebody else names the feed's table already. */
static bool
has_table(const struct config *config, const char *name, const char *own)
{
	for (size_t i = 0; i < config->mesh.source_count; i++) {
		const struct mesh_source *source = &config->mesh.sources[i];

		if (source->feed != NULL && strcmp(source->feed, name) == 0)
			return strcmp(source->file, own) != 0;
	}
	return false;
}

/* The namespace that nfdnsd is to have: NULL if somebody else has said one. */
static const char *
namespace_for(struct join_plan *plan, const struct config *config,
    const char *own)
{
	bool said = false;

	for (size_t i = 0; i < config->text_count; i++)
		said = said || (strcmp(config->texts[i].absolute, own) != 0 &&
		    config_text_sets(&config->texts[i], "mesh.namespace"));
	if (plan->namespace == NULL || !said)
		return plan->namespace;
	if (strcmp(plan->namespace, config->mesh.namespace) != 0)
		plan->old_namespace = strdup(config->mesh.namespace);
	return NULL;
}

/* The files of join alone: nfdnsd's last, since it names what the other makes. */
static void
plan_configs(struct join_plan *plan, const struct join_request *request,
    char *feed, struct diag *diag)
{
	const struct config *config = request->config;
	char *own = join_path_in(config->path, JOIN_FEEDS, request->name);
	char *table = join_path_in(config->path, JOIN_TABLES, request->name);
	const char *namespace, *name;
	char *text = NULL;

	if (own == NULL || table == NULL) {
		(void)no_memory(diag);
		free(own);
		free(table);
		free(feed);
		return;
	}
	(void)add(plan, own, feed, strlen(feed), diag);
	namespace = namespace_for(plan, config, table);
	name = has_table(config, request->name, table) ? NULL : request->name;
	if (namespace == NULL && name == NULL) {
		free(table);
		return;
	}
	text = feed_text_table(name, namespace, request->skip_allocated);
	(void)add(plan, table, text, text != NULL ? strlen(text) : 0, diag);
}

/* Finds files that join has not written and would replace: an error. */
static void
look(struct join_plan *plan, const struct join_request *request,
    bool joined_before, struct diag *diag)
{
	for (size_t i = 0; i < plan->count; i++) {
		struct place *place = &plan->places[i];

		if (!place_look(place, diag) || place->state != PLACE_OTHER ||
		    place->replace)
			continue;
		if (joined_before)
			continue;
		place->backup = true;
		if (!request->force)
			diag_add(diag, DIAG_ERROR, place->path, 0,
			    "is there already and says something else; nfdns "
			    "join --force replaces it, and keeps it as "
			    "%s.backup", place->path);
	}
}

bool
join_plan_make(struct join_plan *plan, const struct join_request *request,
    struct diag *diag)
{
	const size_t errors = diag->errors;
	char *old = join_record_read(request->config->path, request->name);
	const bool joined_before = old != NULL;
	struct workload w = { .server = NULL };
	char *item = NULL;
	bool good;

	free(old);
	add_record(plan, request, joined_before, diag);
	if (request->kubeconfig != NULL)
		good = plan_kubernetes(plan, request, &item, diag);
	else
		good = workload_read(&w, request->directory, diag) &&
		    plan_mesh(plan, request, &w, &item, diag);
	if (good) {
		plan_configs(plan, request, item, diag);
		item = NULL;
	}
	if (diag->errors == errors)
		look(plan, request, joined_before, diag);
	workload_free(&w);
	free(item);
	return diag->errors == errors;
}

void
join_plan_free(struct join_plan *plan)
{
	for (size_t i = 0; i < plan->count; i++)
		place_free(&plan->places[i]);
	free(plan->peer);
	free(plan->self);
	free(plan->namespace);
	free(plan->old_namespace);
	free(plan->token_file);
	for (size_t i = 0; i < 3; i++)
		free(plan->copied[i]);
	*plan = (struct join_plan){ .count = 0 };
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reader, checks, messages and documentation follow this table.  If the value
 * of one option is checked against another's, the other stands before it.
 */
#include <stdio.h>
#include <string.h>

#include "policy/config/setting.h"
#include "policy/audit/audit.h"
#include "policy/config/capture.h"
#include "policy/config/audit_rows.h"

static const char *const pass_drop[] = { "pass", "drop", NULL };
static const char *const drop_pass[] = { "drop", "pass", NULL };
static const char *const pass_nxdomain[] = { "pass", "nxdomain", NULL };
static const char *const pass_refuse[] = { "pass", "refuse", NULL };
static const char *const pass_servfail[] = { "pass", "servfail", NULL };
static const char *const forward_selects[] = { "fastest", "ordered", "random",
	"round-robin", "all", NULL };
static const char *const forward_fallbacks[] = { "none", "default", "pass",
	NULL };
static const char *const pods_modes[] = { "disabled", "verified", NULL };

/* Of the policy, in the order of their enums in policy/rule.h. */
static const char *const rule_actions[] = { "answer", "pass", "nxdomain",
	"nodata", "refuse", "drop", NULL };
static const char *const rule_formats[] = { "rpz", NULL };
static const char *const rule_onlys[] = { "A", "AAAA", "addresses",
	NULL };
static const char *const rule_pers[] = { "user", "client", "name", "rule",
	NULL };
static const char *const rule_modes[] = { "enforce", "observe", NULL };
static const char *const protocols[] = { "udp", "tcp", NULL };
static const char *const sources[] = { "mesh", "other", NULL };

#define EMPTY	"nothing would match"
#define NEGATED	.negated = offsetof(struct policy_rule, not) - \
	offsetof(struct policy_rule, match)
#define NAMES	"\"a.example\", \"*.example\" (all below it), " \
	"\".example\" (it and all below it) and \"@/path\" (a file)"
#define PREFIXES "addresses and prefixes such as \"192.0.2.53\" and " \
	"\"2001:db8::/32\""

const struct config_option config_options[] = {
	{ "run_dir", "\"" CONFIG_DEFAULT_RUN_DIR "\"",
	  "Directory of the socket \"control\", where nfdns asks; created at "
	  "start if it does not exist.  Where nfdns-feed writes how its feeds are is beside it, "
	  "with -feed behind its name.",
	  .allowed = "an absolute path of at most 200 octets",
	  STRING, .read = config_read_directory, IN(config, run_dir),
	  .kind = OPTION_TEXT },
	{ "user", "\"nfdns\"",
	  "User of the worker process; questions of this user are bypassed.",
	  .allowed = "the name or number of a user",
	  .types = OPTION_STRING | OPTION_INTEGER, .read = config_read_user,
	  IN(config, user), .kind = OPTION_USER },

	{ "state_dir", "\"" CONFIG_DEFAULT_STATE_DIR "\"",
	  "Directory where nfdns-feed keeps its tables (state_dir of "
	  "feed.conf(5)), and nfdnsd the last good tables and rules.",
	  .allowed = "an absolute path of at most 200 octets",
	  STRING, .read = config_read_directory, IN(config, state_dir),
	  .kind = OPTION_TEXT, .reload = true },

	{ "capture.nameservers", "[ \"any\" ]",
	  "Only questions to these nameservers are captured.",
	  .allowed = "\"any\", or addresses and prefixes such as "
	  "\"192.0.2.53\" and \"2001:db8::/32\"",
	  STRINGS, .read = config_read_nameservers, IN(config, capture),
	  .if_empty = "no question would be captured",
	  .reload = true },
	{ "capture.tcp", "true",
	  "Whether questions over TCP are answered too.",
	  BOOLEAN, IN(config, capture.tcp), .worker = true },
	{ "capture.mark_mask", "\"0x70000000\"",
	  "Three bits of the packet mark that no other program uses.",
	  .allowed = "a number with exactly three bits set, such as "
	  "\"0x70000000\"",
	  .types = OPTION_STRING | OPTION_INTEGER, .read = config_read_mark_mask,
	  IN(config, capture.mark_mask) },
	{ "capture.zone", "53",
	  "Conntrack zone of questions that pass; 0: no zone of their own.",
	  INTEGER, RANGE(0, 65534), IN(config, capture.zone),
	  .worker = true },
	{ "capture.user_rate", "20000",
	  "Questions a second that are captured of each user but root.  Those "
	  "above it pass, or are dropped where the policy could deny one; so "
	  "do octets above 80 for each question.  A user's new TCP connections "
	  "may be a quarter of those that the rules remember.  0: no limits.",
	  INTEGER, RANGE(0, 1000000), IN(config, capture.user_rate),
	  .reload = true },
	{ "capture.bypass.users", "[ ]",
	  "Users whose questions are not captured; the worker's user is "
	  "always one of them.  A user or group that does not exist matches "
	  "nobody, here and everywhere, until there is one.",
	  .allowed = "names or numbers of users",
	  STRINGS_INTEGERS, .read = config_read_users,
	  IN(config, capture.bypass), .reload = true },
	{ "capture.bypass.groups", "[ ]",
	  "Groups (of the asking process) whose questions are not captured.",
	  .allowed = "names or numbers of groups",
	  STRINGS_INTEGERS, .read = config_read_groups,
	  IN(config, capture.bypass), .reload = true },
	{ "capture.bypass.marks", "[ ]",
	  "Packet marks whose questions are not captured.",
	  .allowed = "marks with or without a mask, such as \"0x539/0xfff\"",
	  STRINGS, .read = config_read_marks, IN(config, capture.bypass),
	  .reload = true },
	{ "capture.bypass.cgroups", "[ ]",
	  "Control groups (version 2) whose questions are not captured.",
	  .allowed = "paths below the cgroup v2 root, such as "
	  "\"system.slice/backup.service\"",
	  STRINGS, .read = config_read_cgroups, IN(config, capture.bypass),
	  .reload = true },
	{ "capture.bypass.destinations", "[ ]",
	  "Nameservers to which questions are not captured.",
	  .allowed = "addresses and prefixes such as \"169.254.169.254\" and "
	  "\"fd00::/8\"",
	  STRINGS, .read = config_read_prefixes, IN(config, capture.bypass),
	  .reload = true },

	{ "queue.number", "5300",
	  "Number of the first netfilter queue; each worker thread has one.",
	  INTEGER, RANGE(0, 65535), IN(config, queue.number),
	  .worker = true },
	{ "queue.workers", "\"auto\"",
	  "Threads that answer questions, each with a queue of its own.",
	  .allowed = "a whole number from 1 to 64, or \"auto\" for one on each "
	  "CPU and 4 at most",
	  .types = OPTION_STRING | OPTION_INTEGER, .read = config_read_workers,
	  IN(config, queue.workers), .worker = true },
	{ "queue.maxlen", "65536",
	  "Packets that may wait in each queue.  The default holds 10,000 "
	  "questions a second for five seconds, in at most 50 megabytes of the "
	  "kernel's memory.",
	  INTEGER, RANGE(128, 1048576), IN(config, queue.maxlen),
	  .worker = true },
	{ "queue.absent", "\"pass\"",
	  "What happens to questions while no daemon reads the queue.",
	  STRING, CHOICE(pass_drop), IN(config, queue.absent_drop),
	  .reload = true },
	{ "queue.overload", "\"drop\"",
	  "What happens to questions while the queue is full; they are dropped "
	  "in any case where the policy could deny one.",
	  STRING, CHOICE(drop_pass), IN(config, queue.overload_pass),
	  .reload = true },

	{ "stream.connections", "1024",
	  "TCP connections in all; above this, a connection of the client "
	  "with most connections is closed, or the new one.",
	  INTEGER, RANGE(1, 65536), IN(config, stream.connections),
	  .reload = true },
	{ "stream.per_client", "512",
	  "TCP connections of one user, or of one address if the user is not "
	  "known; connections above this are closed.",
	  INTEGER, RANGE(1, 65536), IN(config, stream.per_client),
	  .reload = true },
	{ "stream.idle", "10",
	  "Seconds until a connection without a question is closed.",
	  INTEGER, RANGE(1, 3600), IN(config, stream.idle_s), .reload = true },
	{ "stream.table", "5300",
	  "Routing table for the packets of intercepted connections.",
	  INTEGER, RANGE(256, 2147483647), IN(config, stream.table),
	  .worker = true },

	{ "mesh.domain", "\"cluster.local\"",
	  "The mesh's domain.",
	  .allowed = "a domain name such as \"cluster.local\"",
	  STRING, .read = config_read_name, IN(config, mesh.domain),
	  .reload = true },
	{ "mesh.namespace", "\"default\"",
	  "Namespace whose services also have names of one label.",
	  .allowed = "a name of letters, digits and '-', at most 63",
	  STRING, .read = config_read_namespace, IN(config, mesh.namespace),
	  .reload = true },
	{ "mesh.cluster", "\"\"",
	  "The cluster that this machine belongs to; if empty, all tables are "
	  "its own.",
	  .allowed = LABEL,
	  STRING, .read = config_read_label, IN(config, mesh.cluster),
	  .reload = true },
	{ "mesh.network", "\"\"",
	  "The network that this machine is in; if empty, it reaches every "
	  "endpoint.",
	  .allowed = LABEL,
	  STRING, .read = config_read_label, IN(config, mesh.network),
	  .reload = true },
	{ "mesh.search", "[ ]",
	  "Search domains of this machine; if empty, those of "
	  "/etc/resolv.conf.",
	  .allowed = "at most 32 domain names",
	  STRINGS, .read = config_read_search, IN(config, mesh),
	  .reload = true },
	{ "mesh.ttl", "30",
	  "Seconds that clients may keep an answer.",
	  INTEGER, RANGE(0, 86400), IN(config, mesh.ttl), .reload = true },
	{ "mesh.negative_ttl", "5",
	  "Seconds that clients may keep an answer without records.",
	  INTEGER, RANGE(0, 86400), IN(config, answers.negative_ttl),
	  .reload = true },
	{ "mesh.udp_size", "1232",
	  "Maximum octets of a UDP answer, for clients that accept so many.",
	  INTEGER, RANGE(512, 4096), IN(config, answers.udp_size),
	  .reload = true },
	{ "mesh.suppress_https", "true",
	  "Answer HTTPS and SVCB questions for public names of the mesh with "
	  "NODATA, because their hints would lead clients around the mesh.",
	  BOOLEAN, IN(config, answers.suppress_https), .reload = true },
	{ "mesh.unloaded", "\"pass\"",
	  "What happens to questions until a first table has loaded.",
	  STRING, CHOICE(pass_servfail), IN(config, answers.unloaded),
	  .reload = true },
	{ "mesh.tables", "( )",
	  "Sources of the mesh's names; if several define a name, the first "
	  "one wins.",
	  .allowed = "groups { format = ...; path = ...; }",
	  GROUPS, .read = config_read_tables, IN(config, mesh),
	  .reload = true },
	{ "mesh.tables[].format", NULL,
	  "Format of the file: nds (JSON of an Istio name table), nds-proto "
	  "(its binary form), hosts (hosts(5)), zone (a master file of RFC "
	  "1035), kubernetes (JSON of Kubernetes objects) or feed (a table "
	  "that nfdns-feed keeps).",
	  STRING, .read = config_read_format, IN(mesh_source, format),
	  .about_allows = true,
	  .required = true, .reload = true },
	{ "mesh.tables[].path", NULL,
	  "The file, or a directory of files; every format but feed must have "
	  "it.",
	  .allowed = "a path",
	  STRING, .read = config_read_path, IN(mesh_source, path),
	  .reload = true },
	{ "mesh.tables[].feed", NULL,
	  "Name of the feed that keeps the table; the format feed must have "
	  "it.",
	  .allowed = "letters, digits, '-' and '_', at most 63",
	  STRING, .read = config_read_feed_name, IN(mesh_source, feed),
	  .reload = true },
	{ "mesh.tables[].stale_after", "600",
	  "Seconds without a sign of life of its control plane after which a "
	  "feed's table is stale and the daemon degraded.",
	  INTEGER, RANGE(1, 31536000), IN(mesh_source, stale_after),
	  .reload = true },
	{ "mesh.tables[].watch", "false",
	  "Whether the table is loaded again when the file, or a file in the "
	  "directory, changes.",
	  BOOLEAN, IN(mesh_source, watch), .reload = true },
	{ "mesh.tables[].skip_allocated", "false",
	  "Whether the addresses are left out that Istio allocates to hosts "
	  "without one (240.240.0.0/16, 2001:2::/48): they lead to a sidecar, "
	  "and nowhere without; names that have no others pass.",
	  BOOLEAN, IN(mesh_source, skip_allocated), .reload = true },
	{ "mesh.tables[].origin", NULL,
	  "Domain that names of a zone file are relative to until $ORIGIN.",
	  .allowed = "a domain name",
	  STRING, .read = config_read_origin, IN(mesh_source, origin),
	  .reload = true },
	{ "mesh.tables[].ttl", NULL,
	  "Seconds that clients may keep its records, instead of mesh.ttl.",
	  INTEGER, RANGE(1, 86400), IN(mesh_source, ttl), .reload = true },
	{ "mesh.tables[].namespaces", "[ ]",
	  "Kubernetes namespaces whose objects have names; if empty, all.",
	  .allowed = "names of letters, digits and '-', at most 63 long",
	  STRINGS, .read = config_read_namespaces,
	  IN(mesh_source, namespaces), .reload = true },
	{ "mesh.tables[].pods", "\"disabled\"",
	  "Which pods have names such as 10-1-2-3.NAMESPACE.pod.DOMAIN: none, "
	  "or those among the objects.",
	  STRING, CHOICE(pods_modes), IN(mesh_source, pods), .reload = true },
	{ "mesh.tables[].cluster", "\"\"",
	  "The cluster that these Kubernetes objects come from; if empty, this "
	  "machine's.",
	  .allowed = LABEL,
	  STRING, .read = config_read_label, IN(mesh_source, cluster),
	  .reload = true },
	{ "mesh.tables[].network", "\"\"",
	  "The network that their endpoints are in; if empty, they can be "
	  "reached from everywhere.",
	  .allowed = LABEL,
	  STRING, .read = config_read_label, IN(mesh_source, network),
	  .reload = true },
	{ "mesh.zones", "( )",
	  "Domains that the mesh owns.",
	  .allowed = "at most 64 groups { name = ...; unknown = ...; }",
	  GROUPS, .read = config_read_zones, IN(config, mesh), .reload = true },
	{ "mesh.zones[].name", NULL,
	  "The domain.",
	  .allowed = "a domain name without a wildcard",
	  STRING, .read = config_read_name, IN(mesh_zone, name),
	  .required = true, .reload = true },
	{ "mesh.zones[].unknown", "\"pass\"",
	  "What happens to questions for names in the domain that no table "
	  "defines.",
	  STRING, CHOICE(pass_nxdomain), IN(mesh_zone, unknown),
	  .reload = true },

	{ "forward.domains", "( )",
	  "Domains whose questions nfdnsd asks of nameservers that are named "
	  "here, instead of letting them pass; the longest domain counts, and "
	  "names of the mesh come first.",
	  .allowed = "at most 64 groups { name = ...; upstreams = ...; }",
	  GROUPS, .read = config_read_forward_domains, IN(config, forward),
	  .reload = true },
	{ "forward.domains[].name", NULL,
	  "The domain, with all names below it; \".\" is every name.",
	  .allowed = "a domain name without a wildcard, or \".\"",
	  STRING, .read = config_read_forward_name, .offset = 0, .size = 0,
	  .required = true, .reload = true },
	{ "forward.domains[].upstreams", NULL,
	  "Its nameservers; \"resolv.conf\" stands for those of "
	  "/etc/resolv.conf that are outside this machine.",
	  .allowed = "at most 15 of \"ADDRESS\", \"ADDRESS@PORT\", "
	  "\"tcp://ADDRESS\", \"udp://ADDRESS\", \"tls://ADDRESS#NAME\" and "
	  "\"resolv.conf\"",
	  STRINGS, .read = config_read_upstreams, .offset = 0, .size = 0,
	  .required = true, .reload = true },
	{ "forward.domains[].select", "\"fastest\"",
	  "Which nameserver is asked first; \"all\": all at once.",
	  STRING, CHOICE(forward_selects), IN(forward_domain, select),
	  .reload = true },
	{ "forward.domains[].fallback", "\"none\"",
	  "Who is asked when none of them has an answer: nobody, so that the "
	  "answer is SERVFAIL; the nameservers of the domain \".\"; or the "
	  "nameserver that the question was sent to.",
	  STRING, CHOICE(forward_fallbacks), IN(forward_domain, fallback),
	  .reload = true },
	{ "forward.domains[].cache", "true",
	  "Whether its answers are kept.",
	  BOOLEAN, IN(forward_domain, cache), .reload = true },
	{ "forward.chase", "true",
	  "Whether CNAMEs of the mesh that lead out of it are followed to their "
	  "end over UDP too; without, clients are told to ask over TCP.",
	  BOOLEAN, IN(config, forward.chase), .reload = true },

	{ "forward.cache.size", "10000",
	  "Answers that are kept; 0: none.",
	  INTEGER, RANGE(0, 4000000), IN(config, forward.cache.size),
	  .reload = true },
	{ "forward.cache.stale", "86400",
	  "Seconds that an expired answer may still be given when no upstream "
	  "answers; 0: never.",
	  INTEGER, RANGE(0, 604800), IN(config, forward.cache.stale_s),
	  .reload = true },

	{ "forward.tls.ca", "\"\"",
	  "Certificates (PEM) of the authorities that certify upstreams over "
	  "TLS; if empty, those of this machine.",
	  .allowed = "a path", STRING, .read = config_read_ca,
	  IN(config, forward_ca), .reload = true },

#include "policy/config/policy_rows.h"

	{ "containers", "( )",
	  "Interfaces of containers and guests behind this machine whose "
	  "questions are answered, too.",
	  .allowed = "at most 64 groups { interfaces = ...; }", .items = 64,
	  GROUPS, .read = config_read_containers, IN(config, containers),
	  .reload = true },
	{ "containers[].interfaces", NULL,
	  "Their interfaces on this machine; one need not exist yet.",
	  .allowed = "names of interfaces, which \"*\" may end: \"br-*\"",
	  STRINGS, .read = config_read_interface,
	  IN(config_container, interfaces), .required = true, .reload = true },
	{ "containers[].sources", "[ ]",
	  "Addresses that they ask from; if empty, private and link-local ones.",
	  .allowed = "addresses and prefixes such as \"172.17.0.0/16\"",
	  STRINGS, .read = config_read_source,
	  IN(config_container, sources), .reload = true },
	CONFIG_AUDIT_ROWS

	{ "metrics.interval", "15",
	  "Every so many seconds run_dir/metrics.prom is written, which the "
	  "textfile collector of node_exporter reads; 0: never.",
	  .allowed = "a number of seconds from 0 to 3600",
	  INTEGER, RANGE(0, 3600), IN(config, metrics_interval),
	  .reload = true },

	{ "log.level", "\"info\"",
	  "Messages of this importance and above are written to stderr.",
	  .choices = config_log_levels,
	  STRING, .read = config_read_log_level, IN(config, log_level),
	  .reload = true },
};

const size_t config_option_count =
    sizeof(config_options) / sizeof(config_options[0]);

const struct config_option *
config_option_find(const char *path)
{
	for (size_t i = 0; i < config_option_count; i++)
		if (strcmp(config_options[i].path, path) == 0)
			return &config_options[i];
	return NULL;
}

void
config_print_defaults(FILE *out)
{
	fputs("# Every option of nfdnsd.conf(5) with its default.\n", out);
	config_option_print(config_options, config_option_count, out);
}

/* A table of options as the text of a file with every default. */

static void
indent(FILE *out, size_t depth)
{
	for (size_t i = 0; i < depth; i++)
		fputc('\t', out);
}

static size_t
depth_of(const char *path, size_t length)
{
	size_t depth = 0;

	for (size_t i = 0; i < length; i++)
		depth += path[i] == '.';
	return depth;
}

/*
 * Length of the groups part of a path: "capture.bypass." of
 * "capture.bypass.users", "mesh." of "mesh.tables[].format".
 */
static size_t
groups_length(const char *path)
{
	const char *end = strstr(path, "[]");
	size_t length = end != NULL ? (size_t)(end - path) : strlen(path);

	while (length > 0 && path[length - 1] != '.')
		length--;
	return length;
}

/* Closes the groups of "before" that "path" is not in and opens its own. */
static void
change_groups(FILE *out, const char *before, const char *path)
{
	size_t old = groups_length(before), new = groups_length(path);
	size_t same = 0;

	for (size_t i = 0; i < old && i < new && before[i] == path[i]; i++)
		if (path[i] == '.')
			same = i + 1;
	for (size_t d = depth_of(before, old); d > depth_of(path, same); d--) {
		indent(out, d - 1);
		fputs("};\n", out);
	}
	while (same < new) {
		size_t end = same + strcspn(path + same, ".");

		fputc('\n', out);
		indent(out, depth_of(path, same));
		fprintf(out, "%.*s = {\n", (int)(end - same), path + same);
		same = end + 1;
	}
}

void
config_option_print(const struct config_option *options, size_t count,
    FILE *out)
{
	const char *before = "";
	char buf[CONFIG_TEXT_SIZE];

	for (size_t i = 0; i < count; i++) {
		const struct config_option *o = &options[i];
		size_t groups = groups_length(o->path);
		size_t depth = depth_of(o->path, groups);
		bool member = strstr(o->path, "[]") != NULL;

		change_groups(out, before, o->path);
		before = o->path;
		indent(out, depth);
		if (member)
			fprintf(out, "# %s: ", o->path + groups);
		else
			fputs("# ", out);
		fprintf(out, "%s\n", o->about);
		if (!o->about_allows) {
			indent(out, depth);
			fprintf(out, "# (%s%s)\n", o->list ? "a list: " : "",
			    config_option_expected(o, buf));
		}
		if (!o->reload && !o->worker) {
			indent(out, depth);
			fputs("# (a change needs a restart)\n", out);
		}
		indent(out, depth);
		if (o->fallback == NULL)
			fputs(o->required ? "# It must be given.\n" :
			    "# It need not be given.\n", out);
		else
			fprintf(out, "%s%s = %s;\n", member ? "# " : "",
			    o->path + groups, o->fallback);
	}
	change_groups(out, before, "");
}

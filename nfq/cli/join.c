/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <pwd.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#include "nfq/cli/commands.h"
#include "nfq/cli/daemon_ask.h"
#include "nfq/cli/doctor/findings.h"
#include "nfq/cli/join/plan.h"
#include "nfq/cli/join/units.h"
#include "nfq/process/compiler.h"
#include "nfq/process/diag_print.h"
#include "nfq/process/exit_code.h"
#include "policy/config/config.h"
#include "policy/status/feed_status.h"
#include "resolver/clock.h"
#include "resolver/image/table.h"
#include "resolver/listing/table_list.h"
#include "resolver/sources/feed_file.h"
#include "resolver/text/number.h"
#include "resolver/text/printable.h"
#include "resolver/text/suggest.h"

#define PROGRAM		"nfdns join"
#define WAIT_S		60
#define MAX_WAIT_S	86400
#define MAX_NAMESPACES	64

const char join_usage[] =
    "usage: nfdns [-c FILE] join [OPTION ...] DIRECTORY\n"
    "       nfdns [-c FILE] join [OPTION ...] --kubeconfig FILE\n"
    "       nfdns join --print-manifest\n"
    "\n"
    "Connects this machine to a control plane: to istiod, as the files say that\n"
    "\"istioctl x workload entry configure\" wrote into DIRECTORY; or to the API\n"
    "server of a kubeconfig.  Shows what is to be done and asks; then writes\n"
    "feeds.d/NAME.conf and conf.d/NAME.conf beside nfdnsd.conf, certificates and\n"
    "token in feeds/ there, enables and starts the units, and waits for the first\n"
    "table.  \"nfdns leave\" undoes it.\n"
    "\n"
    "  -k, --kubeconfig FILE  watch the API server of its current context,\n"
    "      --context NAME     or of this one\n"
    "      --namespace NAME   of these namespaces only; may be given again\n"
    "      --print-manifest   print what a cluster needs for the feed: an account,\n"
    "                         its rights and token, and how to make a kubeconfig\n"
    "      --skip-allocated   without addresses that Istio allocates\n"
    "                         (240.240.0.0/16), which lead to a sidecar alone\n"
    "      --name NAME        of the feed and its table (default mesh; with\n"
    "                         --kubeconfig, cluster)\n"
    "  -n, --dry-run          only show what would be done\n"
    "  -y, --yes              do not ask\n"
    "      --force            replace what is there, and keep it as .backup\n"
    "      --no-start         neither enable nor start units\n"
    "      --wait SECONDS     for the first table (default 60; 0, where join\n"
    "                         has not started the units)\n"
    "\n"
    "Exit code 0 if the table has come or was not waited for, 4 if a file is not\n"
    "valid, 5 if no table came in time.\n"
    "\n"
    "  nfdns join --dry-run vm-files\n"
    "  nfdns join --kubeconfig cluster.yaml --namespace shop\n";

struct choice {
	bool dry_run, yes, no_start;
	bool manifest;			/* only goes alone */
	long wait;			/* seconds; -1: not said */
	const char *namespaces[MAX_NAMESPACES];
	char unit[JOIN_UNIT_SIZE];	/* of the feed */
	const char *disabled[3];	/* units, then NULL */
	struct join_request request;
};

#define LOOK_MS		100
#define EXAMPLE_NAMES	100000	/* to compile more takes seconds */

/*
 * A name that is worth asking for: of the machine's own namespace, or else the
 * first that is no wildcard.
 */
static const char *
choose(const struct table_list *list, const char *namespace)
{
	const char *first = NULL;
	char own[80];

	(void)snprintf(own, sizeof(own), ".%.63s.svc.",
	    namespace != NULL ? namespace : "");
	for (size_t i = 0; i < list->count; i++) {
		const char *name = list->names[i].name;

		if (name[0] == '*')
			continue;
		if (namespace != NULL && strstr(name, own) != NULL)
			return name;
		if (first == NULL)
			first = name;
	}
	return first;
}

/* Without the dot of the root. */
static int
length_of(const char *name)
{
	const size_t length = strlen(name);

	return (int)(length > 1 && name[length - 1] == '.' ? length - 1 :
	    length);
}

/* An image of the feed's table alone: an fd, or a negative errno. */
static int
compile_feed(const struct config *config, const char *feed, struct diag *diag)
{
	struct config one = *config;

	for (size_t i = 0; i < config->mesh.source_count; i++) {
		struct mesh_source *source = &config->mesh.sources[i];

		if (source->feed == NULL || strcmp(source->feed, feed) != 0)
			continue;
		one.mesh.sources = source;
		one.mesh.source_count = 1;
		one.policy.rule_count = one.policy.set_count = 0;
		return compiler_run(&one, diag);
	}
	return -ENOENT;
}

static void
print_example(const struct config *config, const char *feed,
    const char *namespace)
{
	struct table_list list = { .names = NULL };
	struct diag diag = DIAG_INIT;
	struct table *table = NULL;
	const char *why, *name = NULL;
	const int fd = compile_feed(config, feed, &diag);

	if (fd >= 0 && table_open(&table, fd, &why) == 0 &&
	    table_list_make(&list, table) == 0)
		name = choose(&list, namespace);
	if (name != NULL)
		(void)printf("Try one:\n  dig %.*s\n", length_of(name), name);
	table_list_free(&list);
	table_close(table);
	if (fd >= 0)
		(void)close(fd);
	diag_free(&diag);
}

static int
has_come(const struct config *config, const char *feed, const char *namespace,
    const struct feed_report *report)
{
	printable_line(stdout, "Connected to %s: %" PRIu64 " name%s.",
	    report->status.peer, report->kept.names,
	    report->kept.names == 1 ? "" : "s");
	if (report->kept.names > EXAMPLE_NAMES)
		(void)puts("See them:\n  nfdns table list");
	else if (report->kept.names > 0)
		print_example(config, feed, namespace);
	return EXIT_OK;
}

static int
has_not_come(const struct feed_report *report, unsigned int seconds,
    const char *name)
{
	const char *why = report->written == 0 ?
	    "nfdns-feed does not run, or says nothing" :
	    report->status.error[0] != '\0' ? report->status.error :
	    report->kept.error[0] != '\0' ? report->kept.error :
	    "nothing has gone wrong yet";

	cli_error("join: no table after %u s: %s; it may still come: see "
	    "\"nfdns status\", feed.%s", seconds, why, name);
	return EXIT_DEGRADED;
}

/*
 * Waits until the feed is connected and keeps a table, "seconds" at most, and
 * prints how many names there are, or what is known of why not; what the feed
 * said before "since" (seconds since 1970) does not count.  config is the one
 * that names the feed's table.  An exit code.
 */
static int
first_table_wait(const struct config *config, const char *name,
    const char *namespace, int64_t since, unsigned int seconds)
{
	const monotime_t end = monotime_add_ms(monotime_now(),
	    (int64_t)seconds * 1000);
	struct feed_report report;
	bool came = false;

	cli_waits_for("waiting for the first table");
	do {
		if (feed_status_read(&report, config->feed_run_dir, name) != 0 ||
		    report.written < since)
			report = (struct feed_report){ .written = 0 };
		came = report.status.connected && report.kept.time > 0;
		if (!came)
			(void)poll(NULL, 0, LOOK_MS);
	} while (!came && !monotime_is_past(monotime_now(), end));
	cli_waits_for(NULL);
	return came ? has_come(config, name, namespace, &report) :
	    has_not_come(&report, seconds, name);
}

static const char *
read_wait(void *to, const char *value)
{
	struct choice *c = to;
	uint64_t seconds;

	if (!number_from_text(value, MAX_WAIT_S, &seconds))
		return "not a number of seconds from 0 to 86400";
	c->wait = (long)seconds;
	return NULL;
}

static const char *
read_namespace(void *to, const char *value)
{
	struct choice *c = to;

	if (c->request.namespace_count == MAX_NAMESPACES)
		return "more than 64 namespaces";
	c->namespaces[c->request.namespace_count++] = value;
	return NULL;
}

const struct command_option join_options[] = {
	OPTION_TEXT("kubeconfig", 'k', struct choice, request.kubeconfig),
	OPTION_READ("namespace", 0, read_namespace),
	OPTION_TEXT("context", 0, struct choice, request.context),
	OPTION_FLAG("print-manifest", 0, struct choice, manifest),
	OPTION_FLAG("skip-allocated", 0, struct choice,
	    request.skip_allocated),
	OPTION_TEXT("name", 0, struct choice, request.name),
	OPTION_FLAG("dry-run", 'n', struct choice, dry_run),
	OPTION_FLAG("yes", 'y', struct choice, yes),
	OPTION_FLAG("force", 0, struct choice, request.force),
	OPTION_FLAG("no-start", 0, struct choice, no_start),
	OPTION_READ("wait", 0, read_wait),
	{ .name = NULL },
};

/* What does not go together; false after a message. */
static bool
check_choice(struct choice *c, int words, char **word)
{
	struct join_request *r = &c->request;
	const char *why = NULL;

	if (c->manifest)
		why = "\"--print-manifest\" goes with nothing else";
	else if (words > 1)
		why = "more than one directory";
	else if (words == 1 && r->kubeconfig != NULL)
		why = "a directory and a kubeconfig: join them one after the "
		    "other";
	else if (words == 0 && r->kubeconfig == NULL)
		why = "name the directory that istioctl wrote, or a kubeconfig";
	else if (words == 1 && (r->namespace_count > 0 || r->context != NULL))
		why = "\"--namespace\" and \"--context\" go with --kubeconfig";
	r->directory = words == 1 ? word[0] : NULL;
	if (r->name == NULL)
		r->name = r->kubeconfig != NULL ? "cluster" : "mesh";
	if (why == NULL && !feed_file_name_is_valid(r->name))
		why = "a name is letters, digits, '-' and '_', at most 63";
	if (why != NULL)
		suggest_usage(stderr, PROGRAM, "%s", why);
	return why == NULL;
}

static bool
read_choice(struct choice *c, int argc, char **argv)
{
	const int first = command_options_read(join_options, PROGRAM, c, argc,
	    argv);

	return first >= 0 && check_choice(c, argc - first, argv + first);
}

/* What the plan says, in words. */

static void
print_place(const struct place *place)
{
	static const char *const words[] = { "new", "stays as it is",
	    "changes" };
	const char *word = words[place->state];

	if (place->state == PLACE_OTHER && place->backup)
		word = "is replaced; the old one is kept as .backup";
	printable_line(stdout, "  %-46s %s", place->path, word);
}

static void
print_token(const struct join_plan *plan)
{
	char text[40] = "";
	struct tm tm;
	time_t end = (time_t)plan->token_end;

	if (plan->agent) {
		(void)puts("The certificate of Istio's agent is used.");
		return;
	}
	if (plan->token_end > 0 && gmtime_r(&end, &tm) != NULL)
		(void)strftime(text, sizeof(text), " at %F %H:%M UTC", &tm);
	(void)printf("Istio's agent has no certificate here: nfdns-feed gets "
	    "one of its own, and renews it.\nFor the first one it needs the "
	    "token, which ends%s.\n", text[0] != '\0' ? text : " some time");
}

static void
print_plan(const struct join_plan *plan, const struct choice *c)
{
	char containers[BRIDGES_TEXT];

	printable_line(stdout, "Feed \"%s\": from %s", c->request.name,
	    plan->peer);
	if (plan->self != NULL)
		printable_line(stdout, "This machine: %s", plan->self);
	(void)puts("Files:");
	for (size_t i = 0; i < plan->count; i++)
		print_place(&plan->places[i]);
	if (plan->self != NULL)
		print_token(plan);
	if (plan->old_namespace != NULL)
		(void)printf("mesh.namespace stays \"%s\", as nfdnsd.conf "
		    "says.\n", plan->old_namespace);
	for (size_t i = 0; i < 3; i++)
		if (plan->copied[i] != NULL)
			printable_line(stdout, "User %s gets a copy of %s.",
			    CONFIG_FEED_USER, plan->copied[i]);
	if (plan->token_file != NULL)
		printable_line(stdout, "The token stays in %s, which user %s "
		    "must be able to read.", plan->token_file,
		    CONFIG_FEED_USER);
	if (plan->insecure)
		(void)puts("Warning: insecure-skip-tls-verify stands in the "
		    "kubeconfig: ANYBODY between here and\nthe API server can "
		    "read the token and say what names mean.  Put\n"
		    "certificate-authority-data in its place.");
	if (c->request.units)
		(void)printf("Units: %s and " UNITS_DAEMON " are enabled and "
		    "started.\n", c->unit);
	if (plan->dns_capture)
		(void)puts("cluster.env has ISTIO_META_DNS_CAPTURE='true': "
		    "Istio's agent takes port 53, too, if it\nruns here.  Set "
		    "it to 'false' in its cluster.env, and restart it.");
	if (plan->self != NULL && !plan->agent && !c->request.skip_allocated)
		(void)puts("If there will be no sidecar on this machine, "
		    "addresses of 240.240.0.0/16 lead\nnowhere: "
		    "--skip-allocated leaves them out.");
	if (bridges_entry(c->request.config, containers))
		(void)printf("Containers on this machine get the names, too, "
		    "with this %s nfdnsd.conf:\n  %s\n",
		    c->request.config->container_count > 0 ?
		    "added to \"containers\" in" : "in", containers);
	if (c->request.kubeconfig != NULL)
		(void)puts("The user of the kubeconfig needs the rights that "
		    "\"nfdns join --print-manifest\" has.");
}

/* Doing it. */

static bool
write_all(const struct join_plan *plan, struct diag *diag)
{
	for (size_t i = 0; i < plan->count; i++)
		if (!place_write(&plan->places[i], diag))
			return false;
	return true;
}

/* A call of systemctl whose failure is an error. */
static bool
must(const char *const *words)
{
	const int status = units_call(false, words);

	if (status < 0)
		cli_error("join: systemctl %s: %s", words[0],
		    strerror(-status));
	else if (status > 0)
		cli_error("join: \"systemctl %s %s\" failed; see "
		    "\"systemctl status %s\"", words[0], words[1], words[1]);
	return status == 0;
}

static bool
start_units(const struct join_plan *plan, const char *unit)
{
	static const char *const reload[] = { "daemon-reload", NULL };
	static const char *const renew[] = { "enable", "--now", UNITS_RENEW,
	    NULL };
	static const char *const daemon[] = { "reload-or-restart",
	    UNITS_DAEMON, NULL };
	const char *const enable[] = { "enable", unit, UNITS_DAEMON, NULL };
	const char *const feed[] = { "restart", unit, NULL };

	return must(reload) && must(enable) &&
	    (!plan->agent || must(renew)) && must(feed) && must(daemon);
}

/* Where no systemd does it: a daemon that runs is told, the rest is said. */
static int
say_what_to_start(const struct config *config, const char *name)
{
	const char *slash = strrchr(config->path, '/');
	int code = EXIT_OK;
	static const char user[] = CONFIG_FEED_USER;

	if (daemon_is_there(config->run_dir)) {
		(void)fflush(stdout);
		code = cmd_reload(config, 1, (char *[]){ NULL });
	} else {
		(void)printf("Start:\n  nfdnsd -c %s\n", config->path);
	}
	/*
	 * What the packages make elsewhere: the feed's user and its directory.
	 */
	if (getpwnam(user) == NULL)
		(void)printf("There is no user %s, and only root can read the "
		    "token and keys in feeds/.  Make\nit, and join again:\n"
		    "  useradd --system --no-create-home %s\n", user, user);
	if (access(config->state_dir, F_OK) < 0)
		(void)printf("There is no directory state_dir, where the feed "
		    "keeps its table.  Make it:\n" "  install -d -o %s %s\n",
		    user, config->state_dir);
	(void)printf("Start, as user %s, or send it SIGHUP:\n"
	    "  nfdns-feed -c %.*s/" JOIN_FEEDS "/%s.conf\n", CONFIG_FEED_USER,
	    (int)(slash - config->path), config->path, name);
	(void)fflush(stdout);
	return code;
}

static int
start_and_wait(const struct join_plan *plan, const struct choice *c)
{
	const struct join_request *r = &c->request;
	struct diag diag = DIAG_INIT;
	struct config *config = NULL;
	long seconds = c->wait;
	int code = EXIT_OK;

	if (config_load(&config, r->config->path, &diag) < 0) {
		diag_print(&diag, "nfdns", stderr);
		diag_free(&diag);
		return EXIT_INVALID;
	}
	diag_free(&diag);
	if (seconds < 0)
		seconds = r->units ? WAIT_S : 0;
	if (r->units)
		code = start_units(plan, c->unit) ? EXIT_OK : EXIT_ERROR;
	else
		code = say_what_to_start(config, r->name);
	if (code == EXIT_OK && seconds > 0)
		code = first_table_wait(config, r->name, plan->namespace,
		    r->now, (unsigned int)seconds);
	config_free(config);
	return code;
}

static int
carry_out(const struct join_plan *plan, const struct choice *c)
{
	struct diag diag = DIAG_INIT;
	const bool good = write_all(plan, &diag);

	diag_print(&diag, "nfdns", stderr);
	diag_free(&diag);
	return good ? start_and_wait(plan, c) : EXIT_ERROR;
}

/* Units that are not enabled: the record says which join has enabled. */
static void
find_disabled(struct choice *c)
{
	const char *const both[] = { c->unit, UNITS_DAEMON };
	size_t count = 0;

	for (size_t i = 0; i < 2 && c->request.units; i++)
		if (!units_are_enabled(both[i]))
			c->disabled[count++] = both[i];
	c->disabled[count] = NULL;
	c->request.enable = c->disabled;
}

static int
join(struct choice *c)
{
	const struct passwd *user = getpwnam(CONFIG_FEED_USER);
	struct join_plan plan = { .count = 0 };
	struct diag diag = DIAG_INIT;
	int code = EXIT_INVALID;
	bool good;

	c->request.group = user != NULL && geteuid() == 0 ? user->pw_gid :
	    (gid_t)-1;
	c->request.now = (int64_t)time(NULL);
	(void)snprintf(c->unit, sizeof(c->unit), JOIN_UNIT, c->request.name);
	find_disabled(c);
	good = join_plan_make(&plan, &c->request, &diag);
	diag_print(&diag, "nfdns", stderr);
	diag_free(&diag);
	if (good) {
		print_plan(&plan, c);
		if (confirm("join", c->yes, c->dry_run, &code))
			code = carry_out(&plan, c);
	}
	join_plan_free(&plan);
	return code;
}

int
cmd_join(const struct config *config, int argc, char **argv)
{
	struct choice c = { .wait = -1, .request = { .config = config } };
	union {
		const char **texts;
		char **namespaces;	/* as struct feed_config has them */
	} list = { .texts = c.namespaces };

	if (!read_choice(&c, argc, argv))
		return EXIT_USAGE;
	c.request.namespaces = list.namespaces;
	c.request.units = !c.no_start && units_are_there() &&
	    strcmp(config->path, CONFIG_DEFAULT_PATH) == 0;
	return join(&c);
}

int
cmd_join_manifest(const struct config *config, int argc, char **argv)
{
	(void)config;
	(void)argc;
	(void)argv;
	kubeconfig_print_manifest(stdout);
	return EXIT_OK;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <arpa/inet.h>
#include <errno.h>
#include <limits.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "nfq/cli/commands.h"
#include "nfq/cli/doctor/findings.h"
#include "nfq/cli/daemon_ask.h"
#include "nfq/process/exit_code.h"
#include "policy/status/status.h"
#include "resolver/image/table.h"

#define RESOLV_CONF	"/etc/resolv.conf"

const char doctor_usage[] =
    "usage: nfdns [-c FILE] doctor [--json]\n"
    "\n"
    "Looks at all that decides whether programs of this machine resolve names,\n"
    "and prints a line for each, the worst first: bad, warn, \"?\" for what only\n"
    "root can see, or ok; what to do; and a command to paste where one helps.\n"
    "Asks each nameserver, and nfdnsd's canary question, which takes two seconds\n"
    "at most if one does not answer.  Root asks as user 65533, and has the kernel\n"
    "trace its packets (nft table inet " TRACE_TABLE "PID, gone at the end): a rule\n"
    "that stops one is named.  Changes nothing else.  Exit code 1 if a line is bad.\n"
    "\n"
    "  -j, --json  print one JSON array\n";

struct request {
	bool json;
};

const struct command_option doctor_options[] = {
	OPTION_FLAG("json", 'j', struct request, json),
	{ .name = NULL },
};

static void
check_loopback(struct findings *findings)
{
	struct ifreq request = { .ifr_name = "lo" };
	const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd >= 0 && ioctl(fd, SIOCGIFFLAGS, &request) == 0 &&
	    (request.ifr_flags & IFF_UP) == 0) {
		findings_add(findings, FINDING_BAD, "lo", "Set it up.",
		    "the loopback interface is down, by which nfdnsd's answers "
		    "go");
		findings_paste(findings, "ip link set lo up");
	}
	if (fd >= 0)
		(void)close(fd);
}

/* What C libraries take, "127.1" too; a zone may stand behind "%". */
static bool
is_address(char *word)
{
	struct in_addr ipv4;
	struct in6_addr ipv6;

	word[strcspn(word, "%")] = '\0';
	return inet_aton(word, &ipv4) == 1 ||
	    inet_pton(AF_INET6, word, &ipv6) == 1;
}

static void
check_lines(struct findings *findings, FILE *file)
{
	char line[512], word[256], shown[256];

	for (unsigned int n = 1; fgets(line, sizeof(line), file) != NULL; n++) {
		if (sscanf(line, "nameserver %255s", word) != 1)
			continue;
		(void)snprintf(shown, sizeof(shown), "%s", word);
		if (!is_address(word))
			findings_add(findings, FINDING_BAD, "resolv.conf",
			    "Write the nameserver's address.", RESOLV_CONF
			    ":%u: nameserver \"%.80s\": programs take only "
			    "addresses there", n, shown);
	}
}

static void
check_resolv_conf(struct findings *findings)
{
	char target[PATH_MAX];
	const ssize_t length = readlink(RESOLV_CONF, target,
	    sizeof(target) - 1);
	FILE *file = fopen(RESOLV_CONF, "re");
	struct stat st;

	target[length > 0 ? length : 0] = '\0';
	if (file == NULL && length > 0 && access(RESOLV_CONF, F_OK) != 0)
		findings_add(findings, FINDING_BAD, "resolv.conf", "Start the "
		    "program that writes it, or put a file with nameserver "
		    "lines there.", RESOLV_CONF " is a link to %.200s, which "
		    "is not there: programs ask 127.0.0.1", target);
	if (file == NULL)
		return;
	if (fstat(fileno(file), &st) == 0 && (st.st_mode & S_IROTH) == 0) {
		findings_add(findings, FINDING_BAD, "resolv.conf", "Let all "
		    "users read it.", "not every user can read " RESOLV_CONF
		    ": programs of others ask 127.0.0.1");
		findings_paste(findings, "chmod a+r " RESOLV_CONF);
	}
	check_lines(findings, file);
	(void)fclose(file);
}

/* Bridges of containers or guests whose questions nfdnsd does not see. */
static void
check_containers(struct findings *findings, const struct config *config)
{
	char entry[BRIDGES_TEXT];

	if (bridges_entry(config, entry))
		findings_add(findings, FINDING_OK, "containers", NULL,
		    "what containers or guests behind bridges ask passes "
		    "unread; to answer them, %s: %s",
		    config->container_count > 0 ?
		    "add to \"containers\"" : "write", entry);
}

/* Whether nfdnsd is in this network namespace; "pid" 0: it does not run. */
static void
check_namespace(struct findings *findings, pid_t pid)
{
	char path[40];
	struct stat ours, theirs;

	(void)snprintf(path, sizeof(path), "/proc/%d/ns/net", (int)pid);
	if (pid == 0 || stat("/proc/self/ns/net", &ours) != 0 ||
	    stat(path, &theirs) != 0 || (ours.st_ino == theirs.st_ino &&
	    ours.st_dev == theirs.st_dev))
		return;
	findings_add(findings, FINDING_BAD, "namespace", "Run doctor there.",
	    "nfdnsd (pid %d) runs in another network namespace than this: it "
	    "answers only programs of that one", (int)pid);
	findings_paste(findings, "nsenter -t %d -n nfdns doctor", (int)pid);
}

/* The running daemon's table; NULL for whoever may not read it. */
static struct table *
open_table(const char *run_dir)
{
	struct table *table = NULL;
	const char *why;
	int code, fd;

	if (geteuid() != 0)
		return NULL;
	fd = daemon_open("table", run_dir, &code);
	if (fd >= 0) {
		if (table_open(&table, fd, &why) != 0)
			table = NULL;
		(void)close(fd);
	}
	return table;
}

static int
print(const struct findings *findings, const struct request *r)
{
	int error = 0;

	if (r->json)
		error = findings_print_json(findings, stdout);
	else
		findings_print(findings, cli_has_colour(STDOUT_FILENO),
		    cli_columns(STDOUT_FILENO), stdout);
	if (error == 0 && fflush(stdout) != 0)
		error = -errno;
	if (error != 0) {
		cli_error("doctor: cannot print: %s", strerror(-error));
		return EXIT_ERROR;
	}
	return findings_count(findings, FINDING_BAD) > 0 ? EXIT_ERROR :
	    EXIT_OK;
}

/* What is in the way first, then what does not arrive because of it. */
static void
look_at_servers(struct findings *findings, const struct config *config,
    bool runs)
{
	struct servers *servers = malloc(sizeof(*servers));
	struct trace *trace = NULL;
	int error = 0;

	if (servers == NULL)
		return;
	servers_open(servers, config, runs);
	if (config != NULL)
		error = chains_trace(&trace, servers->asks, servers->all);
	servers_ask(servers);
	if (config != NULL)
		chains_check(findings, config, trace, error, servers->asks,
		    servers->all);
	trace_close(trace);
	servers_check(findings, servers, runs ? config : NULL);
	if (config != NULL)
		servers_check_upstreams(findings, servers, config);
	free(servers);
}

static void
look_at_rules(struct findings *findings, const struct config *config,
    const struct status_page *page)
{
	struct daemon_answer answer;
	struct rules_said said;
	const bool asked = page != NULL && daemon_ask(&answer, config->run_dir,
	    "rules", DAEMON_REACTS_MS) == 0;

	if (asked)
		said = (struct rules_said){ answer.out, answer.err };
	daemon_check_rules(findings, config, page, asked &&
	    answer.code != EXIT_ERROR ? &said : NULL);
	if (asked)
		daemon_answer_free(&answer);
}

/* The configuration may be broken: peeked has its path and run_dir at least. */
static void
look(struct findings *findings, const struct config *peeked,
    struct config **config, struct status_page *page, int *error)
{
	char why[START_ERROR_TEXT] = "";
	struct start_failed failed = { .why = why };
	struct daemon_answer answer;
	struct diag diag = DIAG_INIT;
	struct table *table = NULL;

	if (config_load(config, peeked->path, &diag) != 0)
		*config = NULL;
	daemon_check_config(findings, peeked->path, *config, &diag);
	diag_free(&diag);
	*error = daemon_page(&answer, page, peeked->run_dir);
	check_namespace(findings, *error == 0 ? answer.pid : 0);
	/* What every program needs to resolve names, with or without nfdnsd. */
	check_loopback(findings);
	check_resolv_conf(findings);
	/* Causes before what comes of them. */
	if (*error != 0 && *config != NULL)
		failed.when = start_error_read(*config, why);
	if (*error != 0)
		daemon_check_status(findings, peeked->run_dir, *config, NULL,
		    &failed, *error, answer.pid);
	else {
		daemon_check_changed(findings, answer.out);
		daemon_answer_free(&answer);
	}
	if (*config != NULL)
		check_containers(findings, *config);
	if (*config != NULL)
		look_at_rules(findings, *config, *error == 0 ? page : NULL);
	look_at_servers(findings, *config, *error == 0);
	if (*error == 0)
		daemon_check_status(findings, peeked->run_dir, *config, page,
		    NULL, 0, 0);
	if (*error == 0)
		table = open_table(peeked->run_dir);
	if (table != NULL)
		servers_check_names(findings, table, peeked->path);
	table_close(table);
	findings_sort(findings);
}

int
cmd_doctor(const struct config *peeked, int argc, char **argv)
{
	struct findings *findings = calloc(1, sizeof(*findings));
	struct request request = { .json = false };
	struct config *config = NULL;
	struct status_page page;
	int error, code;

	if (findings == NULL || !command_options_only(doctor_options,
	    "nfdns doctor", &request, argc, argv)) {
		free(findings);
		return EXIT_USAGE;
	}
	look(findings, peeked, &config, &page, &error);
	code = print(findings, &request);
	if (error == 0)
		status_close(&page);
	config_free(config);
	free(findings);
	return code;
}

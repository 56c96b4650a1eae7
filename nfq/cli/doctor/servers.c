/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/cli/doctor/findings.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "resolver/dns/message.h"
#include "resolver/dns/name.h"
#include "resolver/dns/rr.h"
#include "rules/ruleset.h"

#define WAIT_MS		2000
#define GETENT_MS	3000
#define NAMES_TRIED	3
#define SOMEBODY	((uid_t)65533)	/* a user of whom no rule knows */
#define OBSTACLE	"Look first at what the line \"" FINDING_OBSTACLE "\" names."

/* systemd-resolved: its stubs, and the file in which it names its upstreams. */
#define STUB		"127.0.0.53"
#define STUB_PROXY	"127.0.0.54"
#define RESOLVED_CONF	"/run/systemd/resolve/resolv.conf"

static void
add(struct servers *servers, const struct resolv_server *server, bool canary,
    bool tcp, uint32_t mark)
{
	servers->asks[servers->count++] = (struct ask){ .server = *server,
	    .port = DNS_PORT, .canary = canary, .tcp = tcp, .mark = mark,
	    .uid = SOMEBODY, .gid = SOMEBODY, .fd = -1 };
}

static bool
is_listed(const struct servers *servers, const struct resolv_server *server)
{
	for (size_t i = 0; i < servers->count; i++)
		if (servers->asks[i].server.family == server->family &&
		    memcmp(servers->asks[i].server.address, server->address,
		    server->family == AF_INET ? 4 : 16) == 0)
			return true;
	return false;
}

/* Whether the questions of this user go by nfdnsd; root asks as another. */
static bool
is_bypassed(const struct config *config)
{
	const struct config_bypass *bypass = &config->capture.bypass;

	for (size_t i = 0; geteuid() != 0 && i < bypass->user_count; i++)
		if (bypass->users[i] == geteuid())
			return true;
	return false;
}

/*
 * The canary's mark leads past capture.bypass, as the daemon's own; over TCP no
 * rule knows it, and only root may set one.
 */
static void
add_server(struct servers *servers, const struct resolv_server *server,
    const struct config *config)
{
	if (is_listed(servers, server))
		return;
	add(servers, server, false, false, 0);
	add(servers, server, false, true, 0);
	if (config == NULL)
		return;
	if (!is_bypassed(config))
		add(servers, server, true, false,
		    geteuid() == 0 ? ruleset_canary_mark(config) : 0);
	if (!config->capture.tcp)
		return;
	if (!is_bypassed(config))
		add(servers, server, true, true, 0);
	if (geteuid() != 0)
		return;
	/* As nfdnsd asks for the program, whose connection it has. */
	add(servers, server, false, true, ruleset_relay_mark(config));
	servers->asks[servers->count - 1].uid = config->uid;
	servers->asks[servers->count - 1].gid = config->gid;
}

static void
add_upstream(struct servers *servers, const struct config *config,
    uint32_t number, bool tcp)
{
	const struct forward_upstream *up = &config->forward.upstream[number];
	struct ask *ask = &servers->asks[servers->all];

	servers->upstream[servers->all++ - servers->count] = number;
	*ask = (struct ask){ .server = { .family = (int)up->family,
		.scope_id = up->scope }, .port = (uint16_t)up->port,
		.tcp = tcp, .fd = -1, .uid = config->uid, .gid = config->gid,
		.mark = geteuid() == 0 ? ruleset_relay_mark(config) : 0 };
	memcpy(ask->server.address, up->address, sizeof(up->address));
}

/* Not over TLS: that is for nfdns-tls. */
static void
add_upstreams(struct servers *servers, const struct config *config)
{
	const struct forward_settings *f = &config->forward;

	for (uint32_t i = 0; i < f->upstreams; i++) {
		const uint32_t transport = f->upstream[i].transport;

		if (transport == FORWARD_AUTO || transport == FORWARD_UDP)
			add_upstream(servers, config, i, false);
		if (transport == FORWARD_AUTO || transport == FORWARD_TCP)
			add_upstream(servers, config, i, true);
	}
}

void
servers_open(struct servers *servers, const struct config *config, bool runs)
{
	const struct resolv_server own = { .family = AF_INET,
	    .address = { 127, 0, 0, 1 } };
	const struct config *given = config;
	struct resolv_conf conf;

	servers->count = 0;
	if (!runs)
		config = NULL;
	(void)resolv_conf_read(&conf, RESOLV_CONF_PATH);	/* empty if bad */
	for (size_t i = 0; i < conf.server_count; i++)
		add_server(servers, &conf.servers[i], config);
	if (conf.server_count == 0)
		add_server(servers, &own, config);
	if (resolv_conf_read(&conf, RESOLVED_CONF) == 0)
		for (size_t i = 0; i < conf.server_count; i++)
			add_server(servers, &conf.servers[i], config);
	servers->all = servers->count;
	if (given != NULL)
		add_upstreams(servers, given);
	ask_open(servers->asks, servers->all);
}

void
servers_ask(struct servers *servers)
{
	ask_all(servers->asks, servers->all, WAIT_MS);
}

/* A nameserver that does not answer over UDP. */
static void
tell_dead(struct findings *findings, const struct ask *ask,
    const char *address)
{
	const bool stub = strcmp(address, STUB) == 0 ||
	    strcmp(address, STUB_PROXY) == 0;

	if (findings_have_obstacle(findings)) {
		findings_add(findings, FINDING_BAD, "nameserver", OBSTACLE,
		    "nameserver %s %s", address, ask_result_text(ask));
		return;
	}
	findings_add(findings, FINDING_BAD, "nameserver", stub ?
	    "Start systemd-resolved, or name another nameserver in "
	    RESOLV_CONF_PATH "." :
	    "Start it, or name another in " RESOLV_CONF_PATH " (nameserver "
	    "ADDRESS): programs wait for it with each name that is not the "
	    "mesh's.", "nameserver %s %s", address, ask_result_text(ask));
	if (stub && access("/run/systemd/system", F_OK) == 0)
		findings_paste(findings, "systemctl start systemd-resolved");
}

static void
check_nameserver(struct findings *findings, const struct ask *udp,
    const struct ask *tcp, const char *address)
{
	if (udp->result != ASK_ANSWERED)
		tell_dead(findings, udp, address);
	else if (tcp->result != ASK_ANSWERED ||
	    (tcp->rcode == RCODE_SERVFAIL && udp->rcode != RCODE_SERVFAIL))
		findings_add(findings, FINDING_WARNING, "nameserver",
		    findings_have_obstacle(findings) ? OBSTACLE : "Let it "
		    "answer over TCP port 53: programs ask so again after a "
		    "truncated answer.", "nameserver %s answers over UDP; over "
		    "TCP it %s", address, tcp->result == ASK_ANSWERED ?
		    "cannot be reached (nfdnsd says SERVFAIL)" :
		    ask_result_text(tcp));
	else
		findings_add(findings, FINDING_OK, "nameserver", NULL,
		    "nameserver %s answers over UDP and TCP", address);
}

static void
check_canary(struct findings *findings, const struct ask *ask,
    const char *address)
{
	const char *transport = ask->tcp ? "TCP" : "UDP";

	if (ask->result == ASK_ANSWERED)
		findings_add(findings, FINDING_OK, "canary", NULL,
		    "nfdnsd answers in the place of %s (%s)", address,
		    transport);
	else if (ask->result == ASK_NO_ROUTE)
		findings_add(findings, FINDING_UNKNOWN, "canary", NULL,
		    "no route to %s (%s): nfdnsd was not asked", address,
		    transport);
	else if (ask->result == ASK_PASSED && ask->mark == 0)
		findings_add(findings, FINDING_WARNING, "canary", "nfdns "
		    "explain NAME --uid USER says which rule lets questions "
		    "of a user go by (capture.bypass, capture.nameservers).",
		    "the canary question of this user to %s (%s) went to the "
		    "nameserver, not to nfdnsd", address, transport);
	else if (ask->result == ASK_PASSED)
		findings_add(findings, FINDING_BAD, "canary", "nfdns rules "
		    "verify compares the kernel's rules with nfdnsd's.",
		    "the canary question went past nfdnsd's queue to %s (%s)",
		    address, transport);
	else
		findings_add(findings, FINDING_BAD, "canary",
		    findings_have_obstacle(findings) ? OBSTACLE : "Look for what drops packets with nfdnsd's "
		    "marks, or from lo: nft list ruleset, iptables-save.",
		    "nfdnsd does not answer in the place of %s (%s): no mesh "
		    "name is answered there", address, transport);
}

void
servers_check(struct findings *findings, const struct servers *servers,
    const struct config *config)
{
	char address[INET6_ADDRSTRLEN];

	if (config != NULL && is_bypassed(config))
		findings_add(findings, FINDING_UNKNOWN, "canary", "Run nfdns "
		    "doctor as another user.", "questions of user %u go by "
		    "nfdnsd (capture.bypass.users): no canary question was "
		    "sent", (unsigned int)geteuid());
	for (size_t i = 0; i < servers->count; i++) {
		const struct ask *ask = &servers->asks[i];

		(void)inet_ntop(ask->server.family, ask->server.address,
		    address, sizeof(address));
		if (ask->canary)
			check_canary(findings, ask, address);
		else if (!ask->tcp)	/* the one over TCP follows it */
			check_nameserver(findings, ask, ask + 1, address);
	}
}

/* Whether an upstream answered as it is asked first; "failed": what did not. */
static bool
is_answering(const struct servers *servers, uint32_t number,
    const struct ask **failed)
{
	bool answers = false, asked = false;

	*failed = NULL;
	for (size_t i = servers->count; i < servers->all; i++) {
		if (servers->upstream[i - servers->count] != number)
			continue;
		if (servers->asks[i].result == ASK_ANSWERED)
			answers = answers || !asked;
		else if (*failed == NULL)
			*failed = &servers->asks[i];
		asked = true;
	}
	return answers;
}

/* Of one whose upstreams all have been asked, and none answered. */
static void
check_domain(struct findings *findings, const struct servers *servers,
    const struct forward_settings *f, const struct forward_domain *domain)
{
	char name[NAME_TEXT_SIZE];
	const struct ask *failed;

	for (uint32_t i = 0; i < domain->upstreams; i++)
		if (f->upstream[domain->upstream[i]].transport == FORWARD_TLS ||
		    is_answering(servers, domain->upstream[i], &failed))
			return;
	if (domain->upstreams > 0)
		findings_add(findings, FINDING_BAD, "forward",
		    findings_have_obstacle(findings) ? OBSTACLE : "Start one "
		    "of its upstreams, or name another in forward.domains.",
		    "no upstream of %.200s answers", name_to_text(domain->name,
		    name));
}

void
servers_check_upstreams(struct findings *findings,
    const struct servers *servers, const struct config *config)
{
	const struct forward_settings *f = &config->forward;
	char text[FORWARD_UPSTREAM_TEXT];
	uint32_t answering = 0, asked = 0;

	for (uint32_t i = 0; i < f->upstreams; i++) {
		const struct ask *failed;
		const bool answers = is_answering(servers, i, &failed);

		asked += f->upstream[i].transport != FORWARD_TLS;
		answering += answers;
		if (failed != NULL)
			findings_add(findings, FINDING_WARNING, "upstream",
			    findings_have_obstacle(findings) ? OBSTACLE :
			    "Ask it yourself: dig @ADDRESS -p PORT NAME.",
			    "upstream %.120s %s%s", forward_upstream_text(
			    &f->upstream[i], text), answers ?
			    "answers over UDP; over TCP it " : "",
			    ask_result_text(failed));
	}
	for (uint32_t i = 0; i < f->domains; i++)
		check_domain(findings, servers, f, &f->domain[i]);
	if (answering > 0)
		findings_add(findings, FINDING_OK, "upstream", NULL, "%u of %u "
		    "upstreams answered doctor%s", answering, asked,
		    asked < f->upstreams ? ", which asks none over TLS" : "");
}

/* Its exit status; it is killed if it runs longer. */
static int
wait_for(pid_t pid)
{
	const int fd = pidfd_open(pid, 0);
	struct pollfd wait = { .fd = fd, .events = POLLIN };
	int status, late = 0;

	if (fd >= 0 && poll(&wait, 1, GETENT_MS) == 0) {
		(void)kill(pid, SIGKILL);
		late = 1;
	}
	if (fd >= 0)
		(void)close(fd);
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	if (late)
		return -ETIMEDOUT;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -EINTR;
}

#define WORDS	7

/*
 * Runs a program; its exit status or a negative errno.  What it writes, up to the
 * first line's end, goes into "out", if that is not NULL.
 */
static int
run(const char *const words[static WORDS], char *out, size_t size)
{
	union {
		const char *const *words;
		char *const *argv;	/* as posix_spawn(3) wants it */
	} arguments = { .words = words };
	posix_spawn_file_actions_t actions;
	int error, status, fds[2];
	ssize_t n = 0;
	pid_t pid = -1;

	if (pipe2(fds, O_CLOEXEC) < 0)
		return -errno;
	error = posix_spawn_file_actions_init(&actions);
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO && error == 0; fd++)
		error = fd == STDOUT_FILENO && out != NULL ?
		    posix_spawn_file_actions_adddup2(&actions, fds[1], fd) :
		    posix_spawn_file_actions_addopen(&actions, fd, "/dev/null",
		    O_RDWR, 0);
	if (error == 0)
		error = posix_spawnp(&pid, words[0], &actions, NULL,
		    arguments.argv, environ);
	(void)posix_spawn_file_actions_destroy(&actions);
	status = error != 0 ? -error : wait_for(pid);
	(void)close(fds[1]);
	/* A line fits into the pipe, so it is there by now. */
	if (out != NULL) {
		n = read(fds[0], out, size - 1);
		out[n > 0 ? n : 0] = '\0';
		out[strcspn(out, "\n")] = '\0';
	}
	(void)close(fds[0]);
	return status;
}

/* 0: found; 2: not found (getent(1)); else a negative errno. */
static int
look_up(const char *name)
{
	return run((const char *const[WORDS]){ "getent", "ahosts", name },
	    NULL, 0);
}

/* The cause, where nfdnsd itself does not answer the name. */
static void
tell_unfound(struct findings *findings, const char *path, const char *name,
    const char *what)
{
	char said[200] = "";
	const bool known = run((const char *const[WORDS]){ "/proc/self/exe",
	    "-c", path, "explain", "--brief", name }, said, sizeof(said)) >= 0 &&
	    said[0] != '\0' && strncmp(said, "answer", 6) != 0;

	findings_add(findings, FINDING_BAD, "names",
	    findings_have_obstacle(findings) ? OBSTACLE : known ? "That is "
	    "what the configuration says; nfdns explain NAME says more." :
	    "nfdns explain NAME says what nfdnsd does with it; if that is "
	    "right, look at /etc/nsswitch.conf and /etc/resolv.conf.",
	    known ? "getent ahosts %.200s %s; nfdns explain: %s" :
	    "getent ahosts %.200s %s", name, what, said);
}

static bool
has_address(const struct table *table, uint32_t node)
{
	struct rrset rrset;

	return table_rrset(table, node, TYPE_A, &rrset) ||
	    table_rrset(table, node, TYPE_AAAA, &rrset);
}

void
servers_check_names(struct findings *findings, const struct table *table,
    const char *path)
{
	char text[NAME_TEXT_SIZE], last[NAME_TEXT_SIZE] = "";
	struct dns_name name;
	size_t cursor = 0, tried = 0;
	int status = -ENOENT;
	uint32_t node;
	uint8_t flags;

	while (status != 0 && tried < NAMES_TRIED &&
	    table_next(table, &cursor, &name, &node, &flags)) {
		if (name.octets[1] == '*' || !has_address(table, node))
			continue;
		tried++;
		(void)snprintf(last, sizeof(last), "%s",
		    name_to_text(name.octets, text));
		status = look_up(last);
		if (status == -ENOENT || status == -ETIMEDOUT)
			break;
	}
	if (tried == 0 || status == -ENOENT)
		return;
	if (status == 0)
		findings_add(findings, FINDING_OK, "names", NULL,
		    "getent ahosts %.200s finds addresses", last);
	else
		tell_unfound(findings, path, last, status == -ETIMEDOUT ?
		    "does not end within three seconds" :
		    "finds nothing, but the name is in the table");
}

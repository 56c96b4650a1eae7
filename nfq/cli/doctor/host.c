/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/cli/doctor/host.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "policy/config/resolv_conf.h"
#include "resolver/dns/name.h"
#include "resolver/text/host.h"

#define MAX_FILE	((size_t)256 * 1024)
#define SHOWN_NAMES	3

static void
path_of(char path[static PATH_MAX], const char *root, const char *name)
{
	(void)snprintf(path, PATH_MAX, "%s%s", root, name);
}

/* The text of a file, at most MAX_FILE octets; NULL if there is none. */
static char *
read_text(const char *root, const char *name)
{
	char path[PATH_MAX], *text;
	size_t length;
	FILE *file;

	path_of(path, root, name);
	file = fopen(path, "re");
	if (file == NULL)
		return NULL;
	text = malloc(MAX_FILE + 1);
	length = text != NULL ? fread(text, 1, MAX_FILE, file) : 0;
	if (text != NULL)
		text[length] = '\0';
	(void)fclose(file);
	return text;
}

static bool
exists(const char *root, const char *name)
{
	char path[PATH_MAX];

	path_of(path, root, name);
	return access(path, F_OK) == 0;
}

/* A resolver on this machine, such as systemd-resolved at 127.0.0.53. */
static bool
is_loopback(const struct resolv_server *server)
{
	return host_is_loopback(server->family, server->address);
}

void
host_check_resolv_conf(struct findings *findings, const char *root)
{
	char path[PATH_MAX], address[INET6_ADDRSTRLEN], list[160] = "";
	struct resolv_conf conf;
	bool local = false;
	int error;

	path_of(path, root, RESOLV_CONF_PATH);
	error = resolv_conf_read(&conf, path);
	for (size_t i = 0; i < conf.server_count; i++) {
		const size_t used = strlen(list);

		local = local || is_loopback(&conf.servers[i]);
		(void)inet_ntop(conf.servers[i].family,
		    conf.servers[i].address, address, sizeof(address));
		(void)snprintf(list + used, sizeof(list) - used, "%s%s",
		    i > 0 ? ", " : "", address);
	}
	if (error < 0)
		findings_add(findings, FINDING_BAD, "resolv.conf", "Write a "
		    "line \"nameserver ADDRESS\" into it: programs ask nobody "
		    "without it, or their own machine.",
		    RESOLV_CONF_PATH " cannot be read: %s", strerror(-error));
	else if (conf.server_count == 0)
		findings_add(findings, FINDING_WARNING, "resolv.conf", "Name "
		    "one: without it, programs ask 127.0.0.1.",
		    RESOLV_CONF_PATH " names no nameserver");
	else
		findings_add(findings, FINDING_OK, "resolv.conf", NULL,
		    "programs ask %s%s", list, local ?
		    " (on this machine; captured on its way there, too)" : "");
}

/* The words of the line "hosts:", up to a comment; NULL: there is none. */
static char *
hosts_line(char *text)
{
	char *line, *rest = text;

	while ((line = strsep(&rest, "\n")) != NULL) {
		line += strspn(line, " \t");
		line[strcspn(line, "#")] = '\0';
		if (strncmp(line, "hosts:", 6) == 0)
			return line + 6;
	}
	return NULL;
}

/* Where a service stands in the line, from 1; 0: nowhere. */
static unsigned int
place_of(const char *line, const char *service)
{
	const size_t length = strlen(service);
	unsigned int place = 0;

	while (*(line += strspn(line, " \t")) != '\0') {
		const size_t word = strcspn(line, " \t");

		place++;
		if (word == length && strncmp(line, service, length) == 0)
			return place;
		line += word;
	}
	return 0;
}

void
host_check_nsswitch(struct findings *findings, const char *root)
{
	char *text = read_text(root, "/etc/nsswitch.conf");
	const char *line = text != NULL ? hosts_line(text) : NULL;
	unsigned int dns, mdns;

	if (line == NULL) {
		findings_add(findings, FINDING_OK, "nsswitch", NULL,
		    "no line \"hosts:\" in /etc/nsswitch.conf: programs ask "
		    "DNS, then /etc/hosts");
		free(text);
		return;
	}
	dns = place_of(line, "dns");
	mdns = place_of(line, "mdns");
	if (mdns == 0)
		mdns = place_of(line, "mdns4");
	line += strspn(line, " \t");
	if (dns == 0 && place_of(line, "resolve") == 0)
		findings_add(findings, FINDING_BAD, "nsswitch", "Add \"dns\" "
		    "to the line \"hosts:\" of /etc/nsswitch.conf.",
		    "programs do not ask DNS: \"hosts: %s\"", line);
	else if (mdns != 0 && mdns < dns)
		findings_add(findings, FINDING_WARNING, "nsswitch", "Put "
		    "\"dns\" before it, or use mdns4_minimal, which leaves "
		    "names such as NAME.svc.cluster.local alone.",
		    "multicast DNS is asked before DNS, for all names in "
		    "\"local\": \"hosts: %s\"", line);
	else
		findings_add(findings, FINDING_OK, "nsswitch", NULL,
		    "hosts: %s", line);
	free(text);
}

/* What systemd-resolved's configuration sets, as far as it concerns us. */
struct resolved {
	char over_tls[32];
	char dnssec[32];
};

static void
read_value(const char *line, const char *key, char *value, size_t size)
{
	const size_t length = strlen(key);

	if (strncasecmp(line, key, length) != 0)
		return;
	line += length;
	line += strspn(line, " \t");
	if (*line != '=')
		return;
	line++;
	line += strspn(line, " \t");
	(void)snprintf(value, size, "%.*s", (int)strcspn(line, " \t\r"), line);
}

static void
read_resolved(struct resolved *resolved, const char *root, const char *name)
{
	char *text = read_text(root, name), *rest = text, *line;

	while (text != NULL && (line = strsep(&rest, "\n")) != NULL) {
		line += strspn(line, " \t");
		read_value(line, "DNSOverTLS", resolved->over_tls,
		    sizeof(resolved->over_tls));
		read_value(line, "DNSSEC", resolved->dnssec,
		    sizeof(resolved->dnssec));
	}
	free(text);
}

/* A directory of drop-ins, in the order of their names. */
static void
read_drop_ins(struct resolved *resolved, const char *root, const char *name)
{
	char path[PATH_MAX], file[PATH_MAX];
	struct dirent **entries;
	int count;

	path_of(path, root, name);
	count = scandir(path, &entries, NULL, alphasort);
	for (int i = 0; i < count; i++) {
		const char *dot = strrchr(entries[i]->d_name, '.');

		if (dot != NULL && strcmp(dot, ".conf") == 0 &&
		    snprintf(file, sizeof(file), "%s/%s", name,
		    entries[i]->d_name) < (int)sizeof(file))
			read_resolved(resolved, root, file);
		free(entries[i]);
	}
	if (count >= 0)
		free(entries);
}

static bool
is_off(const char *value)
{
	static const char *const words[] = { "", "no", "false", "off", "0" };

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strcasecmp(value, words[i]) == 0)
			return true;
	return false;
}

/*
 * nss-resolve and D-Bus lead to systemd-resolved without a packet; its own
 * questions to nameservers are packets, unless they are encrypted.
 */
void
host_check_resolved(struct findings *findings, const char *root)
{
	struct resolved resolved = { .over_tls = "" };

	if (!exists(root, "/run/systemd/resolve/io.systemd.Resolve")) {
		findings_add(findings, FINDING_OK, "resolved", NULL,
		    "systemd-resolved does not run");
		return;
	}
	read_resolved(&resolved, root, "/etc/systemd/resolved.conf");
	read_drop_ins(&resolved, root, "/usr/lib/systemd/resolved.conf.d");
	read_drop_ins(&resolved, root, "/run/systemd/resolved.conf.d");
	read_drop_ins(&resolved, root, "/etc/systemd/resolved.conf.d");
	if (!is_off(resolved.over_tls))
		findings_add(findings, FINDING_BAD, "resolved", "Set "
		    "DNSOverTLS=no in /etc/systemd/resolved.conf and restart "
		    "systemd-resolved; or take \"resolve\" out of the line "
		    "\"hosts:\" of /etc/nsswitch.conf.",
		    "systemd-resolved asks over TLS (DNSOverTLS=%s): nfdnsd "
		    "cannot see what programs ask through it",
		    resolved.over_tls);
	else if (!is_off(resolved.dnssec))
		findings_add(findings, FINDING_WARNING, "resolved", "Name the "
		    "mesh's domain in /etc/dnssec-trust-anchors.d/"
		    "nfdns.negative and restart systemd-resolved.",
		    "systemd-resolved validates (DNSSEC=%s): it may reject "
		    "answers of nfdnsd, which are not signed", resolved.dnssec);
	else
		findings_add(findings, FINDING_OK, "resolved", NULL,
		    "systemd-resolved runs, and asks nameservers over port 53");
}

/* Whether nscd.conf(5) says "enable-cache hosts yes". */
static bool
nscd_keeps_hosts(char *text)
{
	char *line, *rest = text, word[3][32];
	bool keeps = false;

	while (text != NULL && (line = strsep(&rest, "\n")) != NULL)
		if (sscanf(line, "%31s %31s %31s", word[0], word[1],
		    word[2]) == 3 && strcmp(word[0], "enable-cache") == 0 &&
		    strcmp(word[1], "hosts") == 0)
			keeps = strcmp(word[2], "yes") == 0;
	return keeps;
}

void
host_check_nscd(struct findings *findings, const char *root)
{
	char *text;

	if (!exists(root, "/run/nscd/socket") &&
	    !exists(root, "/var/run/nscd/socket")) {
		findings_add(findings, FINDING_OK, "nscd", NULL,
		    "nscd does not run");
		return;
	}
	text = read_text(root, "/etc/nscd.conf");
	if (nscd_keeps_hosts(text))
		findings_add(findings, FINDING_WARNING, "nscd", "Set "
		    "\"enable-cache hosts no\" in /etc/nscd.conf and restart "
		    "nscd, or run \"nscd -i hosts\" when names change.",
		    "nscd keeps addresses for programs, also those that the "
		    "mesh no longer has");
	else
		findings_add(findings, FINDING_OK, "nscd", NULL,
		    "nscd runs, and keeps no addresses");
	free(text);
}

static bool
table_has(const struct table *table, const char *text)
{
	struct dns_name name;
	struct entry entry;

	if (name_from_text(&name, text, strlen(text)) != 0)
		return false;
	name_lower(&name);
	table_find(table, &name, &entry);
	return entry.kind == ENTRY_EXACT || entry.kind == ENTRY_WILDCARD;
}

/* Names of one line of hosts(5) that the table has; adds them to the list. */
static size_t
count_line(char *line, const struct table *table, char *list, size_t size,
    size_t before)
{
	char *word, *rest = line;
	size_t count = 0, words = 0;

	line[strcspn(line, "#")] = '\0';
	while ((word = strsep(&rest, " \t\r")) != NULL) {
		const size_t used = strlen(list);

		if (*word == '\0' || words++ == 0 || !table_has(table, word))
			continue;
		if (before + count++ < SHOWN_NAMES)
			(void)snprintf(list + used, size - used, "%s%s",
			    used > 0 ? ", " : "", word);
	}
	return count;
}

void
host_check_hosts(struct findings *findings, const char *root,
    const struct table *table)
{
	char *text = read_text(root, "/etc/hosts"), *rest = text, *line;
	char list[200] = "";
	size_t count = 0;

	while (text != NULL && (line = strsep(&rest, "\n")) != NULL)
		count += count_line(line, table, list, sizeof(list), count);
	free(text);
	if (count == 0)
		findings_add(findings, FINDING_OK, "hosts", NULL,
		    "no name of the table stands in /etc/hosts");
	else
		findings_add(findings, FINDING_WARNING, "hosts", "Take them "
		    "out of /etc/hosts, unless it is meant so: programs look "
		    "there first, and never ask.",
		    "%zu name%s of the table stand%s in /etc/hosts: %s%s",
		    count, count == 1 ? "" : "s", count == 1 ? "s" : "", list,
		    count > SHOWN_NAMES ? ", ..." : "");
}

static int
read_sysctl(const char *root, const char *name)
{
	char path[PATH_MAX], *text;
	int value = -1;

	(void)snprintf(path, sizeof(path), "/proc/sys/%s", name);
	text = read_text(root, path);
	if (text != NULL && text[0] >= '0' && text[0] <= '9')
		value = text[0] - '0';
	free(text);
	return value;
}

/*
 * Answers come in from lo with the nameserver's address as their source, and the
 * kernel lets them in with strict filtering, too (tests/net run with it).
 */
void
host_check_sysctls(struct findings *findings, const char *root)
{
	const int all = read_sysctl(root, "net/ipv4/conf/all/rp_filter");
	const int lo = read_sysctl(root, "net/ipv4/conf/lo/rp_filter");

	if (all < 0 || lo < 0)
		findings_add(findings, FINDING_UNKNOWN, "rp_filter", NULL,
		    "/proc/sys/net/ipv4/conf cannot be read");
	else
		findings_add(findings, FINDING_OK, "rp_filter", NULL,
		    "all %d, lo %d; nfdnsd works with strict filtering, too", all, lo);
}

void
host_check(struct findings *findings, const char *root,
    const struct table *table)
{
	host_check_resolv_conf(findings, root);
	host_check_nsswitch(findings, root);
	host_check_resolved(findings, root);
	host_check_nscd(findings, root);
	if (table != NULL)
		host_check_hosts(findings, root, table);
	else
		findings_add(findings, FINDING_UNKNOWN, "hosts", "Run as root "
		    "while nfdnsd runs.", "/etc/hosts was not compared with "
		    "the table");
	host_check_sysctls(findings, root);
}

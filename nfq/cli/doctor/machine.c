/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/cli/doctor/machine.h"

#include <arpa/inet.h>
#include <fnmatch.h>
#include <limits.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define RESOLV_CONF	"/etc/resolv.conf"

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

void
machine_check(struct findings *findings)
{
	check_loopback(findings);
	check_resolv_conf(findings);
}

static bool
is_listed(const struct config *config, const char *interface)
{
	for (size_t i = 0; i < config->container_count; i++)
		for (size_t n = 0; n < config->containers[i].interface_count; n++)
			if (fnmatch(config->containers[i].interfaces[n],
			    interface, 0) == 0)
				return true;
	return false;
}

/* Up, and a bridge: docker's, podman's, libvirt's and LXC's networks are bridges. */
static bool
is_bridge(int fd, const char *interface)
{
	struct ethtool_drvinfo driver = { .cmd = ETHTOOL_GDRVINFO };
	struct ifreq request = { .ifr_flags = 0 };

	(void)snprintf(request.ifr_name, IFNAMSIZ, "%s", interface);
	if (ioctl(fd, SIOCGIFFLAGS, &request) != 0 ||
	    (request.ifr_flags & IFF_RUNNING) == 0)
		return false;
	request.ifr_data = (char *)&driver;
	return ioctl(fd, SIOCETHTOOL, &request) == 0 &&
	    strcmp(driver.driver, "bridge") == 0;
}

static bool
forwards(void)
{
	FILE *file = fopen("/proc/sys/net/ipv4/ip_forward", "re");
	const bool on = file != NULL && fgetc(file) == '1';

	if (file != NULL)
		(void)fclose(file);
	return on;
}

void
machine_check_containers(struct findings *findings, const struct config *config)
{
	struct if_nameindex *interfaces = if_nameindex();
	const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	for (size_t i = 0; fd >= 0 && interfaces != NULL && forwards() &&
	    interfaces[i].if_name != NULL; i++)
		if (is_bridge(fd, interfaces[i].if_name) &&
		    !is_listed(config, interfaces[i].if_name))
			findings_add(findings, FINDING_OK, "containers", NULL,
			    "what containers or guests behind %s ask passes "
			    "unread, since \"containers\" does not name it",
			    interfaces[i].if_name);
	if (fd >= 0)
		(void)close(fd);
	if (interfaces != NULL)
		if_freenameindex(interfaces);
}

void
machine_check_namespace(struct findings *findings, pid_t pid)
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

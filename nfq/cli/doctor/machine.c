/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/cli/doctor/machine.h"

#include <arpa/inet.h>
#include <limits.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "nfq/cli/doctor/bridges.h"

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

void
machine_check_containers(struct findings *findings, const struct config *config)
{
	char entry[BRIDGES_TEXT];

	if (bridges_entry(config, entry))
		findings_add(findings, FINDING_OK, "containers", NULL,
		    "what containers or guests behind bridges ask passes "
		    "unread; to answer them, %s: %s",
		    config->container_count > 0 ?
		    "add to \"containers\"" : "write", entry);
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

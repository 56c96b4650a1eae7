/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a machine's files say about how its programs resolve names. */
#include "nfq/cli/doctor/host.h"

#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/check.h"
#include "tests/packets.h"

static char root[] = "/tmp/nfdns-host.XXXXXX";

/* Makes the directories of a path below root, then the file. */
static void
put(const char *name, const char *text)
{
	char path[300];
	FILE *file;

	(void)snprintf(path, sizeof(path), "%s%s", root, name);
	for (char *slash = strchr(path + sizeof(root), '/'); slash != NULL;
	     slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		(void)mkdir(path, 0700);
		*slash = '/';
	}
	file = fopen(path, "w");
	CHECK(file != NULL && fputs(text, file) >= 0 && fclose(file) == 0);
}

static int
remove_one(const char *path, const struct stat *status, int kind, struct FTW *at)
{
	(void)status;
	(void)kind;
	(void)at;
	return remove(path);
}

/* Whether a check says that of these files, and tells what to do if it is not ok. */
static bool
says(void (*check)(struct findings *, const char *), enum finding_level level,
    const char *part)
{
	static struct findings findings;
	const struct finding *f = &findings.all[0];

	findings.count = 0;
	check(&findings, root);
	if (findings.count != 1 || f->level != level ||
	    strstr(f->text, part) == NULL)
		printf("# %d %s\n", (int)f->level, f->text);
	return findings.count == 1 && f->level == level &&
	    strstr(f->text, part) != NULL &&
	    (level != FINDING_BAD || f->todo[0] != '\0');
}

static void
nameservers(void)
{
	CHECK(says(host_check_resolv_conf, FINDING_BAD, "cannot be read"));
	put("/etc/resolv.conf", "search a.example\n");
	CHECK(says(host_check_resolv_conf, FINDING_WARNING, "no nameserver"));
	put("/etc/resolv.conf", "nameserver 192.0.2.1\nnameserver 2001:db8::1\n");
	CHECK(says(host_check_resolv_conf, FINDING_OK, "192.0.2.1, 2001:db8::1"));
	put("/etc/resolv.conf", "nameserver 127.0.0.53\n");
	CHECK(says(host_check_resolv_conf, FINDING_OK, "on this machine"));
	put("/etc/resolv.conf", "nameserver ::1\n");
	CHECK(says(host_check_resolv_conf, FINDING_OK, "on this machine"));
}

static void
services_of_names(void)
{
	CHECK(says(host_check_nsswitch, FINDING_OK, "no line"));
	put("/etc/nsswitch.conf", "# hosts: nothing\npasswd: files\n");
	CHECK(says(host_check_nsswitch, FINDING_OK, "no line"));
	put("/etc/nsswitch.conf", "hosts:  files dns # all\n");
	CHECK(says(host_check_nsswitch, FINDING_OK, "hosts: files dns"));
	put("/etc/nsswitch.conf", "hosts: files mymachines\n");
	CHECK(says(host_check_nsswitch, FINDING_BAD, "do not ask DNS"));
	put("/etc/nsswitch.conf", "hosts: files resolve [!UNAVAIL=return]\n");
	CHECK(says(host_check_nsswitch, FINDING_OK, "resolve"));
	put("/etc/nsswitch.conf", "hosts: files mdns4 dns\n");
	CHECK(says(host_check_nsswitch, FINDING_WARNING, "multicast"));
	put("/etc/nsswitch.conf", "hosts: files dns mdns\n");
	CHECK(says(host_check_nsswitch, FINDING_OK, "dns mdns"));
	put("/etc/nsswitch.conf",
	    "hosts: files mdns4_minimal [NOTFOUND=return] dns\n");
	CHECK(says(host_check_nsswitch, FINDING_OK, "mdns4_minimal"));
}

static void
resolved(void)
{
	CHECK(says(host_check_resolved, FINDING_OK, "does not run"));
	put("/run/systemd/resolve/io.systemd.Resolve", "");
	CHECK(says(host_check_resolved, FINDING_OK, "port 53"));
	put("/etc/systemd/resolved.conf", "[Resolve]\n#DNSOverTLS=yes\n");
	CHECK(says(host_check_resolved, FINDING_OK, "port 53"));
	put("/etc/systemd/resolved.conf", "[Resolve]\nDNSOverTLS = opportunistic\n");
	CHECK(says(host_check_resolved, FINDING_BAD, "DNSOverTLS=opportunistic"));
	/* A drop-in counts after the file, and only if its name ends so. */
	put("/etc/systemd/resolved.conf.d/a.conf", "DNSOverTLS=no\n");
	put("/etc/systemd/resolved.conf.d/b.conf~", "DNSOverTLS=yes\n");
	CHECK(says(host_check_resolved, FINDING_OK, "port 53"));
	put("/run/systemd/resolved.conf.d/a.conf", "DNSSEC=allow-downgrade\n");
	CHECK(says(host_check_resolved, FINDING_WARNING, "DNSSEC=allow"));
}

static void
nscd(void)
{
	CHECK(says(host_check_nscd, FINDING_OK, "does not run"));
	put("/run/nscd/socket", "");
	put("/etc/nscd.conf", "# enable-cache hosts yes\n");
	CHECK(says(host_check_nscd, FINDING_OK, "keeps no addresses"));
	put("/etc/nscd.conf", "\tenable-cache\t\thosts\t\tyes\n");
	CHECK(says(host_check_nscd, FINDING_WARNING, "keeps addresses"));
}

/* The sample table has www.example.com. */
static void
hosts(void)
{
	static struct findings findings;
	struct table *table = sample_table(false);

	put("/etc/hosts", "127.0.0.1 localhost\n# 10.0.0.1 shop.example\n");
	host_check_hosts(&findings, root, table);
	CHECK(findings.all[0].level == FINDING_OK);
	put("/etc/hosts", "10.0.0.1\tweb www.example.com. # old\n"
	    "10.0.0.2 WWW.example.com\n");
	host_check_hosts(&findings, root, table);
	CHECK(findings.all[1].level == FINDING_WARNING);
	CHECK(strstr(findings.all[1].text, "2 names") != NULL);
	CHECK(strstr(findings.all[1].text, "WWW.example.com") != NULL);
	table_close(table);
}

static void
reverse_paths(void)
{
	CHECK(says(host_check_sysctls, FINDING_UNKNOWN, "cannot be read"));
	put("/proc/sys/net/ipv4/conf/all/rp_filter", "1\n");
	put("/proc/sys/net/ipv4/conf/lo/rp_filter", "0\n");
	CHECK(says(host_check_sysctls, FINDING_OK, "all 1, lo 0"));
}

/* The lines as they stand on a terminal, and what hostile text becomes. */
static void
lines(void)
{
	static const char expected[] =
	    "ok    kernel       Linux 6\n"
	    "bad   daemon       nfdnsd does not run, and this is a text that is so long that\n"
	    "                   it takes two lines\n"
	    "                   -> Start it.\n"
	    "warn  hosts        \\x1b[2J\n";
	static struct findings findings;
	char text[400] = "";
	FILE *out = fmemopen(text, sizeof(text), "w");

	findings_add(&findings, FINDING_OK, "kernel", NULL, "Linux %d", 6);
	findings_add(&findings, FINDING_BAD, "daemon", "Start it.", "nfdnsd "
	    "does not run, and this is a text that is so long that it takes "
	    "two lines");
	findings_add(&findings, FINDING_WARNING, "hosts", NULL, "\033[2J");
	CHECK(out != NULL);
	findings_print(&findings, false, FINDINGS_WIDTH, out);
	(void)fclose(out);
	CHECK(strcmp(text, expected) == 0);
	CHECK(findings_count(&findings, FINDING_BAD) == 1);
	for (int i = 0; i < 2 * FINDINGS_MAX; i++)
		findings_add(&findings, FINDING_OK, "many", NULL, "%d", i);
	CHECK(findings.count == FINDINGS_MAX);
}

int
main(void)
{
	CHECK(mkdtemp(root) != NULL);
	TEST(nameservers);
	TEST(services_of_names);
	TEST(resolved);
	TEST(nscd);
	TEST(hosts);
	TEST(reverse_paths);
	TEST(lines);
	CHECK(nftw(root, remove_one, 8, FTW_DEPTH | FTW_PHYS) == 0);
	return test_summary();
}

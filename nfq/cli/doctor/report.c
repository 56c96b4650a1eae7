/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/cli/doctor/report.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "nfq/cli/doctor/daemon.h"
#include "nfq/cli/doctor/program.h"
#include "nfq/cli/join/units.h"
#include "policy/status/load_report.h"
#include "resolver/version.h"
#include "rules/ruleset.h"

#define NAME		"nfdns-report"	/* the directory in the archive */
#define MAX_COPY	((size_t)1024 * 1024)

/* A directory of our own that becomes the archive. */
struct report {
	char path[64];
	int fd;				/* of path/NAME */
};

/* What is copied as it is, if it is there; none of it holds a secret. */
static const struct {
	const char *from, *name;
} copies[] = {
	{ "/etc/resolv.conf", "resolv.conf" },
	{ "/etc/nsswitch.conf", "nsswitch.conf" },
	{ "/etc/systemd/resolved.conf", "resolved.conf" },
	{ "/etc/nscd.conf", "nscd.conf" },
	{ "/etc/os-release", "os-release" },
	{ "/etc/nfdns/feed.conf", "feed.conf" },
	{ "/proc/net/netfilter/nfnetlink_queue", "nfnetlink_queue" },
	{ "/proc/net/ip_tables_names", "ip_tables_names" },
	{ "/proc/sys/net/ipv4/conf/all/rp_filter", "rp_filter" },
	{ "/proc/meminfo", "meminfo" },
	{ "/proc/loadavg", "loadavg" },
};

static FILE *
create(const struct report *report, const char *name)
{
	const int fd = openat(report->fd, name,
	    O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	return fd >= 0 ? fdopen(fd, "w") : NULL;
}

/* The first MAX_COPY octets of a regular file; others are left out. */
static void
copy(const struct report *report, const char *from, const char *name)
{
	const int fd = open(from, O_RDONLY | O_CLOEXEC | O_NONBLOCK |
	    O_NOCTTY);
	char buf[4096];
	size_t copied = 0;
	struct stat status;
	ssize_t n;
	FILE *out;

	if (fd < 0 || fstat(fd, &status) < 0 || !S_ISREG(status.st_mode) ||
	    (out = create(report, name)) == NULL) {
		if (fd >= 0)
			(void)close(fd);
		return;
	}
	while (copied < MAX_COPY && (n = read(fd, buf, sizeof(buf))) > 0)
		copied += fwrite(buf, 1, (size_t)n, out);
	(void)fclose(out);
	(void)close(fd);
}

static void
put_journal(const struct report *report)
{
	FILE *out;

	if (!units_are_there() || (out = create(report, "journal")) == NULL)
		return;
	(void)!program_run((const char *const[]){ "journalctl", "--no-pager", "-n",
	    "1000", "-u", "nfdnsd", "-u", "nfdns-feed", NULL }, fileno(out), 0, -1);
	(void)fclose(out);
}

static void
put_status(const struct report *report, const char *run_dir,
    const struct status_page *page)
{
	FILE *out = create(report, "status.json");

	if (out == NULL)
		return;
	(void)!status_print(page, run_dir, true, out);
	(void)fclose(out);
}

static void
put_rules(const struct report *report, const struct config *config)
{
	struct diag problems = DIAG_INIT;
	struct ruleset set;
	FILE *out = create(report, "rules.nft");

	if (out != NULL && daemon_rules(&set, config, &problems) == 0) {
		(void)!ruleset_print(&set, out);
		ruleset_free(&set);
	}
	diag_free(&problems);
	if (out != NULL)
		(void)fclose(out);
}

static void
put_findings(const struct report *report, const struct findings *findings)
{
	FILE *out = create(report, "doctor");
	struct utsname name;

	if (out == NULL)
		return;
	if (uname(&name) == 0)
		(void)fprintf(out, "nfdns " NFDNS_VERSION ", %s %s %s\n",
		    name.sysname, name.release, name.machine);
	findings_print(findings, false, FINDINGS_WIDTH, out);
	(void)fclose(out);
}

static int
begin(struct report *report)
{
	int directory;

	(void)snprintf(report->path, sizeof(report->path),
	    "/tmp/nfdns-doctor.XXXXXX");
	if (mkdtemp(report->path) == NULL)
		return -errno;
	directory = open(report->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (directory >= 0 && mkdirat(directory, NAME, 0700) == 0)
		report->fd = openat(directory, NAME,
		    O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (directory >= 0)
		(void)close(directory);
	return report->fd >= 0 ? 0 : -errno;
}

/* Removes the files, which are all ours, and both directories. */
static void
end(struct report *report)
{
	const int directory = open(report->path,
	    O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *files = report->fd >= 0 ? fdopendir(report->fd) : NULL;
	const struct dirent *entry;

	while (files != NULL && (entry = readdir(files)) != NULL)
		if (entry->d_name[0] != '.')
			(void)unlinkat(dirfd(files), entry->d_name, 0);
	if (files != NULL)
		(void)closedir(files);
	if (directory >= 0) {
		(void)unlinkat(directory, NAME, AT_REMOVEDIR);
		(void)close(directory);
	}
	(void)rmdir(report->path);
}

static int
archive(const struct report *report, const char *file,
    char why[static REPORT_WHY])
{
	const int output = open(file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
	    0600);
	int error;

	if (output < 0) {
		error = -errno;
		(void)snprintf(why, REPORT_WHY, "%s", error == -EEXIST ?
		    "is there already; name another file" : strerror(-error));
		return error;
	}
	error = program_run((const char *const[]){ "tar", "-C", report->path, "-czf",
	    "-", NAME, NULL }, output, 0, -1);
	if (error == 0 && close(output) < 0)
		error = -errno;
	if (error == 0)
		return 0;
	(void)unlink(file);
	(void)snprintf(why, REPORT_WHY, "tar(1) cannot write it: %s",
	    error < 0 ? strerror(-error) : "see above");
	return error < 0 ? error : -EIO;
}

int
report_write(const char *file, const struct findings *findings,
    const struct config *config, const struct status_page *page,
    char why[static REPORT_WHY])
{
	struct report report = { .fd = -1 };
	int error = begin(&report);

	if (error < 0) {
		(void)snprintf(why, REPORT_WHY, "a directory in /tmp cannot be "
		    "made: %s", strerror(-error));
		return error;
	}
	put_findings(&report, findings);
	for (size_t i = 0; i < sizeof(copies) / sizeof(copies[0]); i++)
		copy(&report, copies[i].from, copies[i].name);
	if (config != NULL && config->path != NULL)
		copy(&report, config->path, "nfdnsd.conf");
	if (config != NULL && page != NULL)
		put_status(&report, config->run_dir, page);
	if (config != NULL)
		put_rules(&report, config);
	put_journal(&report);
	error = archive(&report, file, why);
	end(&report);
	return error;
}

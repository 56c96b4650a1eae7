/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/process/rule_feeds.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "resolver/sources/source_file.h"

#define SUFFIX		".rules"
#define KEPT_MAX	(RULES_FEED_MAX + FEED_FILE_HEADER_MAX)

bool
rule_feed_changed(struct rule_feed *feed)
{
	const struct file_stamp before = feed->seen;

	feed->seen = file_stamp_of(feed->path);
	return !file_stamp_equal(&before, &feed->seen);
}

/* Another file, or written to; another owner or mode is not enough. */
static bool
is_written_again(const struct file_stamp *a, const struct file_stamp *b)
{
	return a->device != b->device || a->inode != b->inode ||
	    a->modified.tv_sec != b->modified.tv_sec ||
	    a->modified.tv_nsec != b->modified.tv_nsec;
}

/* The same path with another origin, or as another kind, is another feed. */
static void
name_of(struct rule_feed *feed, const struct policy *policy, size_t set)
{
	char text[NAME_TEXT_SIZE] = "", *all = NULL;
	struct feed_hash hash = { 0, 0 };
	int length;

	for (size_t i = 0; i < policy->rule_count; i++)
		if (policy->rules[i].zone == set + 1)
			(void)name_to_text(policy->rules[i].origin.octets,
			    text);
	length = asprintf(&all, "%s %s", text, feed->path);
	if (length > 0)
		hash = feed_file_hash(all, (size_t)length);
	if (length >= 0)
		free(all);
	(void)snprintf(feed->name, sizeof(feed->name), "%016" PRIx64 SUFFIX,
	    hash.high ^ hash.low);
}

/* Only root and this process's user may have written it; or the daemon's. */
static bool
is_ours(const struct rule_feeds *feeds, const struct stat *st,
    const struct config *config)
{
	return (st->st_mode & (S_IWGRP | S_IWOTH)) == 0 && (st->st_uid == 0 ||
	    st->st_uid == geteuid() ||
	    (!feeds->keep && st->st_uid == config->uid));
}

/* A descriptor or a negative errno. */
static int
open_directory(const struct rule_feeds *feeds, const struct config *config)
{
	struct stat st;
	int fd;

	if (feeds->keep && config->policy.set_count > 0)
		(void)mkdir(feeds->path, 0700);
	fd = open(feeds->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) == 0 && is_ours(feeds, &st, config))
		return fd;
	(void)close(fd);
	return -EPERM;
}

static const char *
why_not(const struct rule_feeds *feeds, const struct stat *st,
    const struct config *config)
{
	if (!S_ISREG(st->st_mode))
		return "it is no regular file";
	if ((uint64_t)st->st_size > KEPT_MAX)
		return "it is too large";
	return is_ours(feeds, st, config) ? NULL : "other users may write it";
}

/* A descriptor, or -1. */
static int
open_kept(const struct rule_feeds *feeds, const struct rule_feed *feed,
    const struct config *config, struct diag *diag)
{
	const char *why;
	struct stat st;
	int fd;

	if (feeds->directory < 0)
		return -1;
	fd = openat(feeds->directory, feed->name, O_RDONLY | O_CLOEXEC |
	    O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
	if (fd < 0 && errno == ENOENT)
		return -1;
	why = fd < 0 || fstat(fd, &st) < 0 ? strerror(errno) :
	    why_not(feeds, &st, config);
	if (why == NULL)
		return fd;
	if (fd >= 0)
		(void)close(fd);
	diag_add(diag, DIAG_WARNING, feed->path, 0, "the rules that are kept "
	    "of it cannot be used: %s/%s: %s", feeds->path, feed->name, why);
	return -1;
}

/* The file that others write; "problem" says why it is not open. */
static void
open_file(struct rule_feed *feed)
{
	struct diag diag = DIAG_INIT;
	struct stat st;
	int fd;

	/* First, so that no change is missed. */
	(void)rule_feed_changed(feed);
	fd = source_file_open(AT_FDCWD, feed->path);
	if (fd < 0)
		source_file_refuse(feed->path, fd, "policy", &diag);
	else if (!source_file_check(feed->path, fd, &diag)) {
		(void)close(fd);
		fd = -1;
	}
	if (diag.kept > 0 && diag.entries[0].text != NULL)
		(void)snprintf(feed->problem, sizeof(feed->problem), "%s",
		    diag.entries[0].text);
	feed->input.file = fd < 0 ? -1 : fd;
	if (fd >= 0 && fstat(fd, &st) == 0)
		feed->written = file_stamp_of_stat(&st);
	diag_free(&diag);
}

static const struct rule_feed *
find(const struct rule_feeds *feeds, const char *name)
{
	for (size_t i = 0; feeds != NULL && i < feeds->count; i++)
		if (strcmp(feeds->list[i].name, name) == 0)
			return &feeds->list[i];
	return NULL;
}

static void
open_feed(struct rule_feeds *feeds, struct rule_feed *feed,
    const struct config *config, const struct rule_feed *before,
    enum rule_feeds_wish wish, struct diag *diag)
{
	if (wish == RULE_FEEDS_SAFE)
		(void)snprintf(feed->problem, sizeof(feed->problem), "%s: is "
		    "not read: the compiler process failed", feed->path);
	else
		open_file(feed);
	feed->input.forced = wish == RULE_FEEDS_FORCE;
	if (before != NULL && before->input.kept >= 0) {
		feed->input.kept = fcntl(before->input.kept, F_DUPFD_CLOEXEC,
		    0);
		feed->input.unsaved = before->input.unsaved;
	} else
		feed->input.kept = open_kept(feeds, feed, config, diag);
	if (before != NULL && before->state == RULES_FEED_HELD &&
	    is_written_again(&before->written, &feed->written))
		feed->input.accepted = before->held;
}

static void
cannot_keep(struct rule_feeds *feeds, const struct rule_feed *feed, int error)
{
	(void)snprintf(feeds->trouble, sizeof(feeds->trouble), "%s: its rules "
	    "cannot be kept for the next start: %s: %s: mend that, and run "
	    "nfdns reload", feed->path, feeds->path, error == -EPERM ?
	    "another user owns it, or may write there" : strerror(-error));
}

/* Whether a and b, any of which may be a negative errno, are the same one. */
static bool
is_same_directory(int a, int b)
{
	struct stat sa, sb;

	return fstat(a, &sa) == 0 && fstat(b, &sb) == 0 &&
	    sa.st_dev == sb.st_dev && sa.st_ino == sb.st_ino;
}

int
rule_feeds_open(struct rule_feeds *feeds, const struct config *config,
    const struct rule_feeds *before, enum rule_feeds_wish wish,
    struct diag *diag)
{
	const struct policy *policy = &config->policy;

	*feeds = (struct rule_feeds){ .keep = wish != RULE_FEEDS_READ &&
		    wish != RULE_FEEDS_CHECK,
		.strict = wish == RULE_FEEDS_CHECK,
		.refuse_unloaded = policy->refuse_unloaded != 0,
		.directory = -ENOENT };
	if (policy->set_count == 0 && !feeds->keep)
		return 0;
	feeds->list = calloc(policy->set_count + 1, sizeof(*feeds->list));
	if (feeds->list == NULL || asprintf(&feeds->path, "%s/"
	    RULE_FEEDS_DIRECTORY, config->state_dir) < 0) {
		feeds->path = NULL;
		return -ENOMEM;
	}
	/* Later it is for its owner, nfdns-feed, to make it anew. */
	if (feeds->keep && before == NULL && policy->set_count > 0)
		(void)mkdir(config->state_dir, 0755);
	feeds->directory = open_directory(feeds, config);
	for (; feeds->count < policy->set_count; feeds->count++) {
		struct rule_feed *feed = &feeds->list[feeds->count];

		feed->input.file = feed->input.kept = feed->memory = -1;
		feed->path = strdup(policy->sets[feeds->count].path);
		feed->is_zone = policy->sets[feeds->count].zone != 0;
		if (feed->path == NULL)
			return -ENOMEM;
		name_of(feed, policy, feeds->count);
		open_feed(feeds, feed, config, find(before, feed->name), wish,
		    diag);
		/* Another path, or another directory there. */
		if (before != NULL && before->path != NULL &&
		    !is_same_directory(before->directory, feeds->directory))
			feed->input.unsaved = true;
	}
	return 0;
}

/* The reason that another process gives, as one line of printable text. */
static void
take_reason(struct rule_feed *feed, const char *why)
{
	struct diag diag = DIAG_INIT;

	diag_add_text(&diag, DIAG_ERROR, why);
	if (diag.entries[0].text != NULL)
		(void)snprintf(feed->problem, RULES_FEED_TEXT, "%s",
		    diag.entries[0].text);
	diag_free(&diag);
}

/* What stands in for the file, behind why it is not in use. */
static void
explain(const struct rule_feeds *feeds, struct rule_feed *feed, int64_t when)
{
	const time_t seconds = (time_t)when;
	char date[32] = "an unknown time";
	size_t n = strlen(feed->problem);
	struct tm utc;

	if (gmtime_r(&seconds, &utc) != NULL)
		(void)strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%SZ", &utc);
	if (feed->state == RULES_FEED_UNLOADED)
		(void)snprintf(feed->problem + n, sizeof(feed->problem) - n,
		    "; no rules of it are kept: what they could decide is %s "
		    "(policy_unloaded)", feeds->refuse_unloaded ? "refused" :
		    "decided without them");
	else
		(void)snprintf(feed->problem + n, sizeof(feed->problem) - n,
		    "; its last good rules, %llu names of %s, stand in for it",
		    (unsigned long long)feed->names, date);
}

/* The next number of a line; the octets may be an attacker's. */
static bool
take_number(const char **at, int base, uint64_t most, uint64_t *value)
{
	char *end;

	while (**at == ' ')
		++*at;
	if (!isxdigit((unsigned char)**at))
		return false;
	errno = 0;
	*value = strtoull(*at, &end, base);
	if (errno != 0 || end == *at || *value > most)
		return false;
	*at = end;
	return true;
}

bool
rule_feeds_report(struct rule_feeds *feeds, const char *report,
    struct diag *diag)
{
	struct rule_feed *feed;
	struct feed_hash hash;
	uint64_t number, state, names, when;

	if (!take_number(&report, 10, UINT32_MAX, &number) ||
	    !take_number(&report, 10, RULES_FEED_STATES - 1, &state) ||
	    !take_number(&report, 10, INT64_MAX, &names) ||
	    !take_number(&report, 10, INT64_MAX, &when) ||
	    !take_number(&report, 16, UINT64_MAX, &hash.high) ||
	    !take_number(&report, 16, UINT64_MAX, &hash.low) ||
	    number >= feeds->count)
		return false;
	feed = &feeds->list[number];
	feed->state = (enum rules_feed_state)state;
	feed->names = names;
	feed->held = hash;
	if (state == RULES_FEED_CURRENT) {
		feed->problem[0] = '\0';
		return true;
	}
	if (report[0] == ' ' && report[1] != '\0')
		take_reason(feed, report + 1);
	explain(feeds, feed, (int64_t)when);
	diag_add(diag, feeds->strict && state != RULES_FEED_HELD ? DIAG_ERROR :
	    DIAG_WARNING, NULL, 0, "%s", feed->problem);
	return true;
}

/* Without a file on a disk, the rules survive at least the next reload. */
static int
draft_in_memory(struct rule_feeds *feeds, struct rule_feed *feed, int error)
{
	cannot_keep(feeds, feed, error);
	feed->memory = memfd_create("nfdns-rules", MFD_CLOEXEC);
	return feed->memory < 0 ? -errno : feed->memory;
}

int
rule_feeds_draft(struct rule_feeds *feeds, const char *request)
{
	struct rule_feed *feed;
	uint64_t number, failed;
	int error;

	if (!take_number(&request, 10, UINT32_MAX, &number) ||
	    !take_number(&request, 10, INT32_MAX, &failed) ||
	    number >= feeds->count)
		return -EPROTO;
	feed = &feeds->list[number];
	if (!feeds->keep || feed->memory >= 0)
		return -EROFS;
	if (feed->drafting) {
		feed->drafting = false;
		error = replace_end(&feed->draft, REPLACE_QUICKLY,
		    failed > 0 ? -(int)failed : -EIO);
		return draft_in_memory(feeds, feed, error);
	}
	/* A zone that stands in two rules has one file. */
	for (size_t i = 0; i < feeds->count; i++)
		if (feeds->list[i].drafting &&
		    strcmp(feeds->list[i].name, feed->name) == 0)
			return -EALREADY;
	error = feeds->directory < 0 ? feeds->directory :
	    replace_begin(&feed->draft, feeds->directory, feed->name, 0600);
	if (error < 0)
		return draft_in_memory(feeds, feed, error);
	feed->drafting = true;
	return feed->draft.fd;
}

static void
take_kept(struct rule_feed *feed, int fd, bool unsaved)
{
	if (feed->input.kept >= 0)
		(void)close(feed->input.kept);
	feed->input.kept = fd;
	feed->input.unsaved = unsaved;
}

/* Files of feeds that no configuration names any more, and drafts. */
static void
remove_others(const struct rule_feeds *feeds)
{
	int fd = feeds->directory < 0 ? -1 :
	    openat(feeds->directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *directory = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;

	while (directory != NULL && (entry = readdir(directory)) != NULL)
		if (strstr(entry->d_name, SUFFIX) != NULL &&
		    find(feeds, entry->d_name) == NULL)
			(void)unlinkat(feeds->directory, entry->d_name, 0);
	if (directory != NULL)
		(void)closedir(directory);
	else if (fd >= 0)
		(void)close(fd);
}

void
rule_feeds_commit(struct rule_feeds *feeds)
{
	for (size_t i = 0; i < feeds->count; i++) {
		struct rule_feed *feed = &feeds->list[i];

		if (feed->drafting) {
			const int fd = fcntl(feed->draft.fd, F_DUPFD_CLOEXEC,
			    0);
			/* The compiler has put it on the disk: no wait here. */
			const int error = replace_end(&feed->draft,
			    REPLACE_QUICKLY, 0);

			feed->drafting = false;
			if (error < 0)
				cannot_keep(feeds, feed, error);
			if (fd >= 0)
				take_kept(feed, fd, error < 0);
		} else if (feed->memory >= 0) {
			take_kept(feed, feed->memory, true);
			feed->memory = -1;
		}
		if (feed->input.file >= 0)
			(void)close(feed->input.file);
		feed->input.file = -1;
	}
	if (feeds->keep)
		remove_others(feeds);
}

void
rule_feeds_problem(const struct rule_feeds *feeds, char *text, size_t size)
{
	const char *first = feeds->trouble;
	size_t others = 0;

	for (size_t i = feeds->count; i-- > 0;)
		if (feeds->list[i].problem[0] != '\0') {
			others++;
			first = feeds->list[i].problem;
		}
	if (others > 1)
		(void)snprintf(text, size, "%zu files of rules are not in use: "
		    "%s", others, first);
	else
		(void)snprintf(text, size, "%s", first);
}

void
rule_feeds_close(struct rule_feeds *feeds)
{
	for (size_t i = 0; feeds->list != NULL && i <= feeds->count; i++) {
		struct rule_feed *feed = &feeds->list[i];

		if (feed->path == NULL)
			continue;	/* not opened yet */
		if (feed->drafting)
			(void)!replace_end(&feed->draft, REPLACE_QUICKLY,
			    -ECANCELED);
		if (feed->memory >= 0)
			(void)close(feed->memory);
		if (feed->input.file >= 0)
			(void)close(feed->input.file);
		if (feed->input.kept >= 0)
			(void)close(feed->input.kept);
		free(feed->path);
	}
	if (feeds->path != NULL && feeds->directory >= 0)
		(void)close(feeds->directory);
	free(feeds->path);
	free(feeds->list);
	memset(feeds, 0, sizeof(*feeds));
}

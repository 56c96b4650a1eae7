/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The rules are made of all files at once.  If some of them have errors, or have
 * lost too many names, other texts take their place and all is made again: each
 * file has three texts at most, so it ends, and what is usual costs nothing.
 */
#include "policy/match/rules_feeds.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "resolver/sources/source_file.h"

/* One feed at work. */
struct work {
	const struct rules_feed_input *input;
	struct rules_feed *feed;
	struct rules_file *file;	/* which rules_build() gets */
	struct diag diag;		/* of the text in use */
	struct feed_header header;	/* of the kept text: */
	char *kept;			/* its file; NULL: none that is sound */
	const char *kept_text;
	size_t kept_length;
	bool accepted;			/* however few names it has */
};

/* Moves all to another diag; of a file, as warnings and without "why". */
static void
take_over(struct diag *to, struct diag *from, bool file, const char *why)
{
	for (size_t i = 0; i < from->kept; i++) {
		const struct diag_entry *entry = &from->entries[i];

		if (entry->text != NULL && entry->text != why)
			diag_add_text(to, file && entry->level == DIAG_ERROR ?
			    DIAG_WARNING : entry->level, entry->text);
	}
	if (diag_dropped(from) > 0)
		diag_add(to, file || from->errors == 0 ? DIAG_WARNING :
		    DIAG_ERROR, NULL, 0, "and %zu more like these",
		    diag_dropped(from));
	diag_free(from);
}

static const char *
first_error(const struct diag *diag)
{
	for (size_t i = 0; i < diag->kept; i++)
		if (diag->entries[i].level == DIAG_ERROR &&
		    diag->entries[i].text != NULL)
			return diag->entries[i].text;
	return "out of memory";
}

/* What a message says of the kept file, which has no name here. */
static void
read_kept(struct work *w, struct diag *diag)
{
	const char *path = w->file->text.path, *why = NULL;
	struct diag own = DIAG_INIT;
	size_t length;

	if (w->input->kept < 0)
		return;
	w->kept = source_file_read(path, w->input->kept, &length, &own);
	if (w->kept != NULL)
		w->kept_text = feed_file_check(&w->header, w->kept, length,
		    &w->kept_length, &why);
	if (w->kept_text != NULL && strcmp(w->header.format,
	    RULES_FEED_FORMAT) != 0) {
		w->kept_text = NULL;
		why = "it is of another format";
	}
	if (w->kept_text == NULL) {
		diag_add(diag, DIAG_WARNING, path, 0, "the rules that are kept "
		    "of it in state_dir are damaged and cannot stand in for it: "
		    "%s", why != NULL ? why : first_error(&own));
		free(w->kept);
		w->kept = NULL;
	}
	diag_free(&own);
}

static void
use_text(struct work *w, enum rules_feed_state state)
{
	const bool own = state == RULES_FEED_CURRENT;

	w->feed->state = state;
	w->file->names = 0;
	w->file->text.data = state == RULES_FEED_UNLOADED ? NULL :
	    own ? w->feed->text : w->kept_text;
	w->file->text.length = own ? w->feed->length : w->kept_length;
	diag_free(&w->diag);
}

/* The file cannot be used, as w->diag says. */
static void
give_up_file(struct work *w, struct diag *diag)
{
	const char *why = w->diag.errors > 0 ? first_error(&w->diag) : "";

	(void)snprintf(w->feed->why, sizeof(w->feed->why), "%s", why);
	take_over(diag, &w->diag, true, why);
	use_text(w, w->kept != NULL ? RULES_FEED_KEPT : RULES_FEED_UNLOADED);
}

static void
read_file(struct work *w, struct diag *diag)
{
	const char *path = w->file->text.path;
	struct stat st;

	if (w->input->file >= 0 && fstat(w->input->file, &st) == 0 &&
	    (uint64_t)st.st_size > RULES_FEED_MAX)
		diag_add(&w->diag, DIAG_ERROR, path, 0, "has %llu MiB, the "
		    "limit is %zu MiB: split it",
		    (unsigned long long)st.st_size >> 20,
		    RULES_FEED_MAX >> 20);
	else if (w->input->file >= 0)
		w->feed->text = source_file_read(path, w->input->file,
		    &w->feed->length, &w->diag);
	if (w->feed->text == NULL)
		give_up_file(w, diag);
	else
		use_text(w, RULES_FEED_CURRENT);
}

/*
 * mesh.shrink_limit; and the last name is never lost unless that is forced: many
 * writers empty a file each time, before they write it.
 */
static bool
shrinks(const struct work *w, unsigned int limit)
{
	const uint64_t before = w->header.names, now = w->file->names;
	struct feed_hash hash;

	if (w->kept == NULL || w->accepted || w->input->forced ||
	    now >= before || limit >= 100)
		return false;
	if (now == 0)
		return true;
	if (before <= RULES_FEED_FREE ||
	    (before - now) * 100 <= before * limit)
		return false;
	hash = feed_file_hash(w->feed->text, w->feed->length);
	return !feed_file_hash_equal(hash, w->input->accepted);
}

static void
hold(struct work *w, unsigned int limit)
{
	const bool any = w->file->names > 0;

	(void)snprintf(w->feed->why, sizeof(w->feed->why), "%s: lacks %llu of "
	    "%llu names, more than mesh.shrink_limit (%u %%): if that is "
	    "intended, %srun nfdns reload --force", w->file->text.path,
	    (unsigned long long)(w->header.names - w->file->names),
	    (unsigned long long)w->header.names, limit,
	    any ? "write it again or " : "");
	w->feed->hash = feed_file_hash(w->feed->text, w->feed->length);
	use_text(w, RULES_FEED_HELD);
}

/* After the rules were made: whether they have to be made of another text. */
static bool
review(struct work *w, unsigned int limit, struct diag *diag)
{
	switch (w->feed->state) {
	case RULES_FEED_CURRENT:
		if (w->diag.errors > 0)
			give_up_file(w, diag);
		else if (shrinks(w, limit))
			hold(w, limit);
		else
			return false;
		return true;
	case RULES_FEED_KEPT:
	case RULES_FEED_HELD:
		if (w->diag.errors == 0)
			return false;
		diag_add(diag, DIAG_WARNING, w->file->text.path, 0, "the rules "
		    "that are kept of it cannot stand in for it: %s",
		    first_error(&w->diag));
		/* Few names are better than none. */
		w->accepted = w->feed->state == RULES_FEED_HELD;
		use_text(w, w->accepted ? RULES_FEED_CURRENT :
		    RULES_FEED_UNLOADED);
		return true;
	default:
		return false;
	}
}

/* What is left to be told, and whether the text is another one than the kept. */
static void
finish(struct work *w, struct diag *diag)
{
	struct rules_feed *feed = w->feed;
	bool same;

	feed->names = w->file->names;
	feed->time = feed->state == RULES_FEED_UNLOADED || w->kept == NULL ? 0 :
	    w->header.time;
	if (feed->state == RULES_FEED_CURRENT)
		take_over(diag, &w->diag, true, NULL);
	same = feed->state != RULES_FEED_CURRENT ||
	    (w->kept != NULL && !w->input->unsaved &&
	    w->header.names == feed->names && feed_file_hash_equal(
	    feed_file_hash(feed->text, feed->length), w->header.hash));
	if (same) {
		free(feed->text);
		feed->text = NULL;
	}
}

static int
build(const struct rules_feeds_job *job, struct work *works,
    struct rules_file *files, struct diag *diag, uint8_t **octets, size_t *size)
{
	bool again = true;
	int error = 0;

	while (again) {
		struct diag attempt = DIAG_INIT;

		again = false;
		error = rules_build(job->policy, job->path, files, &attempt,
		    octets, size);
		for (size_t i = 0; i < job->policy->set_count &&
		    error != -ENOMEM; i++)
			again |= review(&works[i], job->limit, diag);
		if (!again) {
			take_over(diag, &attempt, false, NULL);
			break;
		}
		diag_free(&attempt);
		free(*octets);
		*octets = NULL;
	}
	return error;
}

int
rules_feeds_build(const struct rules_feeds_job *job,
    struct rules_feed *feeds, struct diag *diag, uint8_t **octets,
    size_t *size)
{
	const size_t count = job->policy->set_count;
	struct work *works = calloc(count + 1, sizeof(*works));
	struct rules_file *files = calloc(count + 1, sizeof(*files));
	int error = works == NULL || files == NULL ? -ENOMEM : 0;

	for (unsigned int i = 0; i < count && error == 0; i++) {
		works[i] = (struct work){ .input = &job->inputs[i],
			.feed = &feeds[i], .file = &files[i] };
		files[i].text.path = job->policy->sets[i].path;
		files[i].text.broker = job->broker;
		files[i].text.number = job->first + i;
		files[i].diag = &works[i].diag;
		read_kept(&works[i], diag);
		read_file(&works[i], diag);
	}
	if (error == 0)
		error = build(job, works, files, diag, octets, size);
	for (size_t i = 0; works != NULL && i < count; i++) {
		if (error == 0)
			finish(&works[i], diag);
		diag_free(&works[i].diag);
		free(works[i].kept);
	}
	free(works);
	free(files);
	return error;
}

void
rules_feeds_clear(struct rules_feed *feeds, size_t count)
{
	for (size_t i = 0; i < count; i++)
		free(feeds[i].text);
}

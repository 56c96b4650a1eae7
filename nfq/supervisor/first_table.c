/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table at the start of the daemon. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "nfq/process/diag_print.h"
#include "nfq/supervisor/parts.h"
#include "policy/log.h"

#define POLL_MS		1000

/* As compiler_run(), but SIGTERM ends it.  An fd or a negative errno. */
static int
compile_once(struct supervisor *s, enum rule_feeds_wish wish,
    struct diag *diag)
{
	struct compiler *c = NULL;
	int error;

	rule_feeds_close(&s->feeds);
	error = rule_feeds_open(&s->feeds, s->config, NULL, wish, diag);
	if (error == 0)
		error = compiler_start(&c, s->config, &s->feeds, diag);
	if (error != 0)
		return error;
	for (;;) {
		struct pollfd wait[] = {
			{ .fd = compiler_fd(c), .events = POLLIN },
			{ .fd = s->signals, .events = POLLIN },
		};

		(void)poll(wait, 2, POLL_MS);
		if (wait[1].revents != 0) {
			compiler_cancel(c);
			return -EINTR;
		}
		if (wait[0].revents != 0 && !compiler_read(c, diag))
			return compiler_finish(c, diag);
		compiler_check_time(c);
	}
}

/*
 * Errors of tables and rules are -EINVAL.  If the compiler fails otherwise, a file
 * of rules may be why: then it is not read.
 */
static int
compile_table(struct supervisor *s, struct diag *diag)
{
	int image = compile_once(s, RULE_FEEDS_KEEP, diag);

	if (image < 0 && image != -EINVAL && image != -EINTR &&
	    s->config->policy.set_count > 0)
		image = compile_once(s, RULE_FEEDS_SAFE, diag);
	return image;
}

static int
make_empty(struct supervisor *s, struct diag *diag)
{
	int image;

	rule_feeds_close(&s->feeds);
	image = rule_feeds_open(&s->feeds, s->config, NULL, RULE_FEEDS_KEEP,
	    diag);
	return image < 0 ? image :
	    compiler_unloaded(s->config, &s->feeds, diag);
}

static bool
is_missing(const struct mesh_source *source)
{
	return source->feed == NULL && access(source->path, F_OK) < 0 &&
	    errno == ENOENT;
}

/* Whether there is a table of no feed. */
static bool
has_files(const struct mesh *mesh)
{
	for (size_t i = 0; i < mesh->source_count; i++)
		if (mesh->sources[i].feed == NULL &&
		    !is_missing(&mesh->sources[i]))
			return true;
	return false;
}

/*
 * A feed's table that is damaged, or a file that is not there, does not keep the
 * other tables from being used: all of feeds, and such files, are left out until a
 * reload succeeds.  "error" is what compiling all has brought.  The image's fd or a
 * negative errno.
 */
static int
compile_the_rest(struct supervisor *s, int error)
{
	struct mesh *mesh = &s->config->mesh;
	struct diag diag = DIAG_INIT;
	const bool files = has_files(mesh);
	bool any = false;

	for (size_t i = 0; i < mesh->source_count; i++)
		if (mesh->sources[i].feed != NULL ||
		    (files && is_missing(&mesh->sources[i])))
			any = mesh->sources[i].left_out = true;
	if (any)
		error = compile_table(s, &diag);
	diag_free(&diag);
	return error;
}

/* Without a table the daemon starts anyway; mesh.unloaded says how. */
int
supervisor_start_table(struct supervisor *s)
{
	struct generation_files *g = &s->generation;
	struct diag diag = DIAG_INIT;

	s->watch = follow_open(s->config);
	g->image = compile_table(s, &diag);
	if (g->image < 0 && g->image != -EINTR) {
		const int error = compile_the_rest(s, g->image);

		(void)snprintf(s->table_error, sizeof(s->table_error), "%s: %s",
		    error < 0 ? "no table" : "tables are left out",
		    diag_first_error(&diag) != NULL ?
		    diag_first_error(&diag) : strerror(-g->image));
		g->image = error;
	}
	if (g->image == -EINTR) {
		diag_log(&diag);
		diag_free(&diag);
		return EXIT_ERROR;
	}
	if (g->image >= 0)
		g->number = 1;
	else
		g->image = make_empty(s, &diag);
	if (g->image >= 0) {
		struct rule_feeds feeds = s->feeds;

		memset(&s->feeds, 0, sizeof(s->feeds));
		supervisor_take_feeds(s, &feeds);
	}
	diag_log(&diag);
	supervisor_leave_report(s, 0, &diag);
	diag_free(&diag);
	if (g->image < 0) {
		log_error("cannot make an empty table: %s",
		    strerror(-g->image));
		return EXIT_ERROR;
	}
	if (g->number == 0)
		log_warning("starting without a table: names are %s until a "
		    "reload loads one", s->config->answers.unloaded ==
		    UNLOADED_PASS ? "passed" : "answered SERVFAIL");
	return EXIT_OK;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table at the start of the daemon. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "nfq/process/diag_print.h"
#include "nfq/supervisor/parts.h"
#include "policy/log.h"
#include "resolver/image/table.h"

#define POLL_MS		1000

/* As compiler_run(), but SIGTERM ends it.  An fd or a negative errno. */
static int
compile_once(struct supervisor *s, enum compiler_lists lists, struct diag *diag)
{
	struct compiler *c = NULL;
	const int error = compiler_start(&c, s->config, lists, diag);

	if (error != 0)
		return error;
	for (;;) {
		struct pollfd wait[2 + CLIENTS_FDS] = {
			{ .fd = compiler_fd(c), .events = POLLIN },
			{ .fd = s->signals, .events = POLLIN },
		};

		clients_poll(&s->clients, wait + 2);
		(void)poll(wait, 2 + CLIENTS_FDS, POLL_MS);
		(void)!clients_step(s, wait + 2, monotime_now());
		clients_tick(s, monotime_now());
		if (wait[1].revents != 0) {
			compiler_cancel(c);
			return -EINTR;
		}
		if (wait[0].revents != 0 && !compiler_read(c, diag))
			return compiler_finish(c, diag);
		compiler_check_time(c);
	}
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
 * reload succeeds.  Whether there are any.
 */
static bool
leave_out(struct mesh *mesh)
{
	const bool files = has_files(mesh);
	bool any = false;

	for (size_t i = 0; i < mesh->source_count; i++)
		if (mesh->sources[i].feed != NULL ||
		    (files && is_missing(&mesh->sources[i])))
			any = mesh->sources[i].left_out = true;
	return any;
}

/* A loss like one that a reload waits for: many writers empty a file first. */
static bool
has_lost_names(struct supervisor *s, int image, struct diag *diag)
{
	struct table_label last, now;

	if (table_peek(image, &now) < 0 || !last_image_peek(s->config, &last) ||
	    !reload_loses(&last, &now, diag))
		return false;
	s->reload.loss = monotime_now();
	return true;
}

/* The last good image.  table_error says so.  An fd or a negative errno. */
static int
use_last(struct supervisor *s)
{
	char date[32] = "an unknown time";
	const char *why;
	struct tm utc;
	time_t when;
	const int image = last_image_open(s->config, &s->stands_in, &why);

	if (image < 0) {
		/* A first start has none. */
		if (image != -ENOENT)
			(void)snprintf(s->table_error, sizeof(s->table_error),
			    "the last good image cannot be used: %s; ", why);
		return image;
	}
	when = (time_t)s->stands_in;
	if (gmtime_r(&when, &utc) != NULL)
		(void)strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%SZ", &utc);
	(void)snprintf(s->table_error, sizeof(s->table_error), "the last good "
	    "tables and rules, of %s, are used", date);
	return image;
}

/*
 * Without one: whatever can be used.  "error" is what compiling all has brought;
 * if the compiler did not end by itself, a file of rules may be why.
 */
static int
compile_the_rest(struct supervisor *s, int error)
{
	const enum compiler_lists lists = error == -ECANCELED ||
	    error == -ENOMEM ? COMPILER_LISTS_NONE : COMPILER_LISTS_SOUND;
	struct diag said = DIAG_INIT;
	const size_t n = strlen(s->table_error);
	int image = compile_once(s, lists, &said);

	if (image < 0 && image != -EINTR && leave_out(&s->config->mesh))
		image = compile_once(s, lists, &said);
	(void)snprintf(s->table_error + n, sizeof(s->table_error) - n, "%s",
	    image < 0 ? "no table" : "tables or files of rules are left out");
	if (image >= 0)
		s->generation.number = 1;
	else if (image != -EINTR)
		image = compiler_unloaded(s->config, lists, &said);
	diag_free(&said);
	return image;
}

static int
start_without(struct supervisor *s, int error)
{
	int image = use_last(s);

	if (image >= 0)
		s->generation.number = 1;
	else
		image = compile_the_rest(s, error);
	watch_close(s->watch);
	s->watch = follow_open(s->config, true);
	return image;
}

/* What is used, and in the status also why. */
static void
tell(struct supervisor *s, const struct diag *diag)
{
	const char *error = diag_first_error(diag);
	const size_t n = strlen(s->table_error);

	diag_log(diag);
	if (n > 0) {
		log_warning("%s", s->table_error);
		(void)snprintf(s->table_error + n, sizeof(s->table_error) - n,
		    ": %s", error != NULL ? error : "out of memory");
	}
	if (s->generation.number == 0)
		log_warning("starting without a table: names are %s until a "
		    "reload loads one", s->config->answers.unloaded ==
		    UNLOADED_PASS ? "passed" : "answered SERVFAIL");
}

/* Without a table the daemon starts anyway; mesh.unloaded says how. */
int
supervisor_start_table(struct supervisor *s)
{
	struct generation_files *g = &s->generation;
	struct diag diag = DIAG_INIT;
	int image;

	s->watch = follow_open(s->config, false);
	image = compile_once(s, COMPILER_LISTS_ALL, &diag);
	if (image >= 0 && has_lost_names(s, image, &diag)) {
		(void)close(image);
		image = -EINVAL;
	} else if (image >= 0) {
		g->number = 1;
		keep_image(s);
	}
	if (image < 0 && image != -EINTR)
		image = start_without(s, image);
	g->image = image;
	if (image >= 0) {
		tell(s, &diag);
	} else {
		diag_log(&diag);
		if (image != -EINTR)
			log_error("cannot make an empty table: %s",
			    strerror(-image));
	}
	diag_free(&diag);
	return image < 0 ? EXIT_ERROR : EXIT_OK;
}

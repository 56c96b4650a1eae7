/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A reload, as steps of the event loop:
 *
 *   check     the configuration, options that need a restart, the rules, the
 *             audit files and settings; the sources
 *   compile   in the compiler process, while the loop goes on
 *   install   the rules, if they differ
 *   swap      the worker verifies the new generation (table, settings, audit
 *             files) and reports when all its answers come from it; if the
 *             worker dies, the next worker gets the generation
 *   adopt     the configuration and the generation become the current ones
 *
 * Options that a worker has from its start (config_wants_worker()) are changed by
 * another one instead of the last three steps: worker_start.c.
 *
 * A change of tables alone (RELOAD_TABLES: a feed's push, a watched file) keeps the
 * configuration, rules, settings, audit files and cache: it checks the sources,
 * and the worker gets an image and nothing else.
 *
 * Nothing changes before "install"; after an error there or in "swap", the old
 * rules are installed again.  So after a failed reload the daemon answers as
 * before.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "nfq/process/notify.h"
#include "nfq/process/diag_print.h"
#include "nfq/queue/queue.h"
#include "nfq/supervisor/parts.h"
#include "policy/log.h"
#include "resolver/image/table.h"

#define SWAP_TRIES	5
#define SWAP_MS		30000
#define LOSS_FREE	100	/* names: of so many, all but the last may go */
#define LOSS_MS		300000	/* then the names are believed to be gone */

/* Closes and frees what was not adopted; the phase becomes idle. */
static void
discard(struct reload *r)
{
	compiler_cancel(r->compiler);
	r->compiler = NULL;
	watch_close(r->watch);
	r->watch = NULL;
	ruleset_free(&r->set);
	memset(&r->set, 0, sizeof(r->set));
	config_free(r->config);
	r->config = NULL;
	generation_files_close(&r->generation);
	diag_free(&r->diag);
	r->diag = (struct diag)DIAG_INIT;
	r->phase = RELOAD_IDLE;
}

/*
 * What the running reload changes: no setting if the configuration file is the
 * same as before.
 */
static enum reload_wish
wish_in_effect(const struct supervisor *s)
{
	const struct reload *r = &s->reload;

	return r->wish <= RELOAD_MACHINE ? r->wish : r->config != NULL &&
	    config_same_text(r->config, s->config) ? RELOAD_MACHINE :
	    RELOAD_ALL;
}

/*
 * Notes an outcome for the state.  A refused reload shows there until one that
 * does at least as much succeeds: a table that loads again does not mean that
 * the refused configuration file is valid.
 */
static void
note_outcome(struct supervisor *s, const char *error)
{
	if (error == NULL) {
		if (s->reload.wish < s->reload_refused)
			return;
		s->reload_error[0] = '\0';
		s->reload_refused = RELOAD_NOTHING;
		return;
	}
	(void)snprintf(s->reload_error, sizeof(s->reload_error),
	    "reload refused: %s", error);
	if (wish_in_effect(s) > s->reload_refused)
		s->reload_refused = wish_in_effect(s);
}

static void
take_time(struct mesh_source *source, const struct mesh_source *again)
{
	source->changed = again->changed;
	source->left_out = again->left_out;
}

/* The table is the same, but its sources may be newer: takes their times. */
static void
take_times(struct mesh *mesh, const struct mesh *again)
{
	for (size_t i = 0; i < mesh->source_count &&
	    i < again->source_count; i++)
		take_time(&mesh->sources[i], &again->sources[i]);
}

/* Whether names have been missing for so long that they are gone. */
static bool
has_lasted(const struct reload *r)
{
	return monotime_is_set(r->loss) &&
	    monotime_ms_since(monotime_now(), r->loss) >= LOSS_MS;
}

/* All sources are in use, if some were not: they are followed as the config says. */
static void
take_sources(struct supervisor *s)
{
	struct reload *r = &s->reload;

	if (s->table_error[0] != '\0')
		log_notice("all tables and files of rules are in use");
	if (s->stands_in != 0)
		atomic_store(&s->status.supervisor->table_loaded,
		    (uint64_t)time(NULL));
	s->table_error[0] = '\0';
	s->stands_in = 0;
	r->loss = MONOTIME_NEVER;
	if (r->watch != NULL) {
		watch_close(s->watch);
		s->watch = r->watch;
		r->watch = NULL;
	}
	if (!r->unchanged)
		keep_image(s);
}

static void
log_outcome(const struct supervisor *s, const char *error)
{
	const struct reload *r = &s->reload;

	/* A feed may bring a table with the same loss every second. */
	if (error != NULL && r->told)
		return;
	diag_log(&r->diag);
	if (error != NULL)
		log_error("reload refused, everything stays as it was");
	else if (r->unchanged)
		log_info("the tables have not changed");
	else
		log_notice("reloaded: table generation %llu with %llu names",
		    (unsigned long long)s->generation.number, (unsigned long long)
		    atomic_load(&s->status.supervisor->table_names));
}

/* Reports the outcome; starts the next reload if one is due. */
static void
finish(struct supervisor *s, const char *error)
{
	struct reload *r = &s->reload;
	enum reload_wish wish;

	/* It has ended by now, or it is hostile: nobody writes from here on. */
	compiler_cancel(r->compiler);
	r->compiler = NULL;
	log_outcome(s, error);
	if (error == NULL && (r->unchanged || r->wish == RELOAD_TABLES))
		take_times(&s->config->mesh, &r->config->mesh);
	if (error == NULL)
		take_sources(s);
	else if (has_lasted(r))
		r->loss = MONOTIME_NEVER;	/* it begins again */
	note_outcome(s, error);
	supervisor_show_state(s);
	status_reload_end(&s->status, error);
	clients_reloaded(s, error == NULL);
	discard(r);
	(void)notify("READY=1");
	if (r->reopen)
		supervisor_reopen_audit_files(s);
	wish = r->again;
	r->again = RELOAD_NOTHING;
	reload_begin(s, wish);
}

static void
refuse(struct supervisor *s)
{
	struct reload *r = &s->reload;
	char error[STATUS_TEXT];

	if (r->diag.errors == 0)
		diag_add(&r->diag, DIAG_ERROR, NULL, 0, "out of memory");
	(void)snprintf(error, sizeof(error), "%s", diag_first_error(&r->diag));
	finish(s, error);
}

/* The next configuration, and what follows from it; reports all errors. */
static int
check_config(struct supervisor *s)
{
	struct reload *r = &s->reload;

	if ((r->wish == RELOAD_MACHINE ?
	    config_again(&r->config, s->config, &r->diag) :
	    config_load(&r->config, s->config->path, &r->diag)) < 0)
		return -EINVAL;
	(void)!config_check_reload(s->config, r->config, &r->diag);
	(void)!supervisor_build_rules(s, &r->set, r->config, RULES_FULL,
	    &r->diag);
	(void)!supervisor_open_settings(r->config, s, &r->generation,
	    &r->diag);
	if (r->diag.errors > 0)
		return -EINVAL;
	if (r->wish != RELOAD_MACHINE)
		r->watch = follow_open(r->config, false);
	return 0;
}

/* Checks all that can be checked before compiling. */
static int
check(struct supervisor *s)
{
	struct reload *r = &s->reload;

	if (r->wish == RELOAD_TABLES)
		r->config = config_borrow(s->config);
	else if (check_config(s) < 0)
		return -EINVAL;
	if (r->config == NULL)
		return -ENOMEM;
	/* All files were watched because not all were in use. */
	if (r->watch == NULL && s->table_error[0] != '\0')
		r->watch = follow_open(r->config, false);
	return compiler_start(&r->compiler, r->config, COMPILER_LISTS_ALL,
	    &r->diag);
}

void
reload_begin(struct supervisor *s, enum reload_wish wish)
{
	struct reload *r = &s->reload;

	/* What a refused one had found on the machine is still to be taken. */
	if (wish == RELOAD_TABLES && s->reload_refused > RELOAD_TABLES)
		wish = RELOAD_MACHINE;
	if (wish == RELOAD_NOTHING || r->phase != RELOAD_IDLE) {
		if (wish > r->again)
			r->again = wish;
		return;
	}
	r->wish = wish;
	(void)notify_reloading();
	r->phase = RELOAD_COMPILING;
	r->rules_differ = r->rules_changed = r->unchanged = r->told = false;
	r->generation.number = s->generation.number + 1;
	r->tries = 0;
	r->names = atomic_load(&s->status.supervisor->table_names);
	if (check(s) < 0)
		refuse(s);
}

/* By their text, which has everything but the cgroups' numbers. */
static bool
rules_differ(const struct ruleset *a, const struct ruleset *b)
{
	char *x = ruleset_text(a), *y = ruleset_text(b);
	bool differ = x == NULL || y == NULL || strcmp(x, y) != 0 ||
	    !ruleset_same_cgroups(a, b);

	free(x);
	free(y);
	return differ;
}

/* Upstreams of resolv.conf change without any table. */
static bool
has_same_forward(const struct supervisor *s)
{
	return s->reload.config == NULL || memcmp(&s->config->forward,
	    &s->reload.config->forward, sizeof(s->config->forward)) == 0;
}

/*
 * Sends the next generation to the worker.  If that fails, the worker is dying,
 * and the next worker will get the generation.
 */
static void
send_generation(struct supervisor *s, monotime_t now)
{
	struct reload *r = &s->reload;
	int error;

	r->tries++;
	r->deadline = monotime_add_ms(now, SWAP_MS);
	error = generation_files_send(s->worker.control, &r->generation);
	if (error < 0)
		log_debug("the worker does not listen: %s", strerror(-error));
}

/* The kernel refuses these flags to nobody who has the queue. */
static void
set_overload(const struct supervisor *s, const struct ruleset *before,
    const struct ruleset *now)
{
	for (size_t i = 0; i < s->queue_count &&
	    before->fail_open != now->fail_open; i++)
		(void)!queue_set_overload(s->queues[i],
		    (uint16_t)(now->queue_number + i), now->fail_open);
}

static void
undo_rules(struct supervisor *s)
{
	struct diag diag = DIAG_INIT;

	if (!s->reload.rules_changed)
		return;
	if (rules_kernel_install(s->kernel, &s->set, &s->features, &diag) < 0)
		diag_log(&diag);
	set_overload(s, &s->reload.set, &s->set);
	diag_free(&diag);
}

/* More than half of them, or all. */
static bool
loses(const char *what, size_t old, size_t now, struct diag *diag)
{
	if (now >= old || (now > 0 && (old <= LOSS_FREE || now >= old - old / 2)))
		return false;
	diag_add(diag, DIAG_ERROR, NULL, 0, "%s %zu of %zu names: that is "
	    "believed when it has lasted for %d minutes, or at once by nfdns "
	    "reload --force", what, old - now, old, LOSS_MS / 60000);
	return true;
}

bool
reload_loses(const struct table_label *old, const struct table_label *now,
    struct diag *diag)
{
	const bool table = loses("the tables lack", old->names, now->names,
	    diag);

	return loses("the files of rules lack", old->policy_names,
	    now->policy_names, diag) || table;
}

/* Whether both configurations name the same files. */
static bool
has_same_files(const struct config *a, const struct config *b)
{
	bool same = a->mesh.source_count == b->mesh.source_count &&
	    a->policy.set_count == b->policy.set_count;

	for (size_t i = 0; same && i < a->mesh.source_count; i++)
		same = strcmp(a->mesh.sources[i].path,
		    b->mesh.sources[i].path) == 0;
	for (size_t i = 0; same && i < a->policy.set_count; i++)
		same = strcmp(a->policy.sets[i].path,
		    b->policy.sets[i].path) == 0;
	return same;
}

/*
 * An export that was cut, or a control plane that has just begun to learn, compiles
 * without an error, and looks like a mesh that has lost most of its names.
 */
static bool
may_lose(struct supervisor *s, const struct table_label *old,
    const struct table_label *now)
{
	struct reload *r = &s->reload;

	if (s->generation.number == 0 || r->wish == RELOAD_FORCED ||
	    !has_same_files(s->config, r->config) || has_lasted(r))
		return true;
	if (!reload_loses(old, now, &r->diag)) {
		r->loss = MONOTIME_NEVER;
		return true;
	}
	r->told = r->wish == RELOAD_TABLES && monotime_is_set(r->loss);
	if (!monotime_is_set(r->loss))
		r->loss = monotime_now();
	return false;
}

/* Whether to use the new image; if not, the reload is over. */
static bool
is_wanted(struct supervisor *s)
{
	struct reload *r = &s->reload;
	struct table_label old, new;

	if (table_peek(r->generation.image, &new) < 0 ||
	    table_peek(s->generation.image, &old) < 0)
		return true;		/* the worker will say what is wrong */
	if (r->wish <= RELOAD_MACHINE && s->generation.number > 0 &&
	    new.checksum == old.checksum && !r->rules_differ &&
	    has_same_forward(s) && !config_wants_worker(s->config, r->config) &&
	    r->config->absent == s->config->absent) {
		r->unchanged = true;
		finish(s, NULL);
		return false;
	}
	if (may_lose(s, &old, &new))
		return true;
	refuse(s);
	return false;
}

/* Makes the next configuration and what follows from it the current ones. */
static void
adopt_config(struct supervisor *s)
{
	struct reload *r = &s->reload;
	struct ruleset old_set = s->set;
	struct config *old_config = s->config;
	const struct generation_files old_generation = s->generation;

	s->config = r->config;
	s->set = r->set;
	s->generation = r->generation;
	r->config = old_config;
	r->set = old_set;
	r->generation = old_generation;
	s->worker.config = s->config;
	log_change_level(s->config->log_level);
}

/* Options that a worker has from its start have changed: all of it, or nothing. */
static void
replace(struct supervisor *s)
{
	struct reload *r = &s->reload;
	struct diag again = DIAG_INIT;

	worker_process_stop(&s->worker, SUPERVISOR_STOP_MS, true);
	adopt_config(s);
	if (supervisor_replace_worker(s, r->config, &r->diag) == 0) {
		finish(s, NULL);
		return;
	}
	adopt_config(s);
	if (supervisor_replace_worker(s, r->config, &again) < 0) {
		diag_log(&again);
		log_error("there is no way back either: giving up");
		s->stop = true;
		s->exit_code = EXIT_ERROR;
	}
	diag_free(&again);
	refuse(s);
}

static void
compiled(struct supervisor *s, monotime_t now)
{
	struct reload *r = &s->reload;

	r->generation.image = compiler_image(r->compiler, &r->diag);
	if (r->generation.image < 0) {
		refuse(s);
		return;
	}
	r->rules_differ = r->wish != RELOAD_TABLES &&
	    rules_differ(&s->set, &r->set);
	if (!is_wanted(s))
		return;
	if (r->wish != RELOAD_TABLES && config_wants_worker(s->config, r->config)) {
		replace(s);
		return;
	}
	if (r->rules_differ) {
		if (rules_kernel_install(s->kernel, &r->set, &s->features,
		    &r->diag) < 0) {
			refuse(s);
			return;
		}
		r->rules_changed = true;
		set_overload(s, &s->set, &r->set);
	}
	r->phase = RELOAD_SWAPPING;
	send_generation(s, now);
}

void
reload_compiler_ready(struct supervisor *s, monotime_t now)
{
	if (s->reload.phase == RELOAD_COMPILING &&
	    !compiler_read(s->reload.compiler, &s->reload.diag))
		compiled(s, now);
}

/* The worker answers from the new generation: makes it the current one. */
static void
adopt(struct supervisor *s, const struct control_message *answer)
{
	struct reload *r = &s->reload;

	if (r->wish == RELOAD_TABLES) {
		const int old_image = s->generation.image;

		s->generation.number = r->generation.number;
		s->generation.image = r->generation.image;
		r->generation.image = old_image;
	} else {
		adopt_config(s);
	}
	s->stands_in = 0;
	supervisor_note_table(s, answer);
	supervisor_renew_tls(s, monotime_now());
	finish(s, NULL);
}

void
reload_answered(struct supervisor *s, const struct control_message *answer)
{
	struct reload *r = &s->reload;

	if (r->phase != RELOAD_SWAPPING ||
	    answer->generation != r->generation.number)
		return;
	if (answer->kind == CONTROL_GENERATION_OK) {
		adopt(s, answer);
		return;
	}
	diag_add(&r->diag, DIAG_ERROR, NULL, 0,
	    "the worker cannot use the new table or settings: %s", answer->text);
	undo_rules(s);
	refuse(s);
}

/* The cache may have been thrown away with the worker that wrote it. */
static void
renew_cache(struct supervisor *s)
{
	struct generation_files *next = &s->reload.generation;

	if (next->cache >= 0)
		(void)close(next->cache);
	next->cache = -1;
	/* Without memory there is none until the next reload. */
	(void)!supervisor_open_cache(s->reload.config, &s->generation, next);
}

void
reload_worker_replaced(struct supervisor *s, monotime_t now)
{
	struct reload *r = &s->reload;

	if (r->phase != RELOAD_SWAPPING)
		return;
	if (r->tries < SWAP_TRIES) {
		if (r->wish != RELOAD_TABLES)
			renew_cache(s);
		/* The worker reads it once it is ready. */
		send_generation(s, now);
		return;
	}
	diag_add(&r->diag, DIAG_ERROR, NULL, 0,
	    "%u workers in a row died while they took the new table", r->tries);
	undo_rules(s);
	refuse(s);
}

void
reload_tick(struct supervisor *s, monotime_t now)
{
	struct reload *r = &s->reload;

	if (r->phase == RELOAD_COMPILING)
		compiler_check_time(r->compiler);
	if (r->phase == RELOAD_IDLE && has_lasted(r))
		reload_begin(s, RELOAD_TABLES);
	if (r->phase == RELOAD_SWAPPING &&
	    monotime_is_past(now, r->deadline) && !s->worker.killed) {
		log_error("the worker does not take the new table: killing it");
		worker_process_kill(&s->worker);
	}
}

void
reload_cancel(struct supervisor *s)
{
	if (s->reload.phase != RELOAD_IDLE)
		status_reload_end(&s->status, "the daemon is stopping");
	s->reload.again = RELOAD_NOTHING;
	discard(&s->reload);
}

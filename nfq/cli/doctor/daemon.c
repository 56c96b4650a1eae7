/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/cli/doctor/findings.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <time.h>

#include "nfq/cli/join/units.h"
#include "policy/status/feed_status.h"
#include "resolver/text/printable.h"
#include "resolver/version.h"
#include "rules/kernel.h"
#include "rules/ruleset.h"

#define AS_ROOT		"Run nfdns doctor as root."
#define RELOAD_REFUSED	"reload refused"	/* has a line of its own */
#define OLD_TABLE_S	((int64_t)7 * 86400)

static size_t
count_lines(const char *text)
{
	size_t lines = 0;

	for (; (text = strchr(text, '\n')) != NULL; text++)
		lines++;
	return lines;
}

void
daemon_check_config(struct findings *findings, const char *path,
    const struct config *config, const struct diag *diag)
{
	if (config == NULL) {
		const char *first = diag->kept > 0 ? diag->entries[0].text :
		    "cannot be read";

		/* The path stands before the line's number. */
		findings_add(findings, FINDING_BAD, "config", "Run nfdns "
		    "check, and mend every line that it prints.",
		    strncmp(first, path, strlen(path)) == 0 ? "%s" :
		    "%2$s: %1$s", first, path);
		if (strstr(first, ": user: there is no user \"nfdns\"") != NULL)
			findings_paste(findings, "useradd --system "
			    "--no-create-home --shell /usr/sbin/nologin nfdns");
	} else if (config->warnings > 0)
		findings_add(findings, FINDING_WARNING, "config",
		    "Run nfdns check to see them.", "%s is valid, with %zu "
		    "warning%s", path, config->warnings,
		    plural(config->warnings));
	else
		findings_add(findings, FINDING_OK, "config", NULL,
		    "%s is valid", path);
}

void
daemon_check_changed(struct findings *findings, const char *files)
{
	const size_t count = count_lines(files);

	if (count == 0)
		return;
	findings_add(findings, FINDING_WARNING, "changed", "nfdns reload",
	    "%zu file%s changed since nfdnsd loaded %s: %.*s%s", count,
	    count == 1 ? " has" : "s have", count == 1 ? "it" : "them",
	    (int)strcspn(files, "\n"), files, count > 1 ? ", ..." : "");
	findings_paste(findings, "nfdns reload");
}

static void
check_unit(struct findings *findings)
{
	if (!units_are_there())
		return;
	if (units_are_enabled("nfdnsd.service"))
		findings_add(findings, FINDING_OK, "unit", NULL,
		    "nfdnsd.service starts with the machine");
	else
		findings_add(findings, FINDING_WARNING, "unit",
		    "systemctl enable nfdnsd", "nfdnsd.service does not start "
		    "with the machine");
}

static void
check_kernel(struct findings *findings, const struct status_page *page)
{
	static const char *const modes[] = {
		[STATUS_QUEUE_NONE] = "no rule leads to the queue",
		[STATUS_QUEUE_NATIVE] = "native queue expression",
		[STATUS_QUEUE_XT] = "queue by the xt NFQUEUE target",
	};
	const uint32_t mode = page != NULL ?
	    atomic_load(&page->supervisor->queue_mode) : STATUS_QUEUE_NONE;
	struct utsname name;

	if (uname(&name) != 0)
		name.release[0] = '\0';
	findings_add(findings, FINDING_OK, "kernel", NULL, "Linux %s%s%s",
	    name.release, page != NULL ? ", " : "", page == NULL ||
	    mode >= sizeof(modes) / sizeof(modes[0]) ? "" : modes[mode]);
}

static void
check_state(struct findings *findings, const struct status_page *page)
{
	const struct status_supervisor *s = page->supervisor;
	const uint32_t state = atomic_load(&s->state);
	const uint64_t restarts = atomic_load(&s->restarts);
	char why[STATUS_TEXT];

	memcpy(why, s->degraded, sizeof(why));
	why[sizeof(why) - 1] = '\0';
	if (atomic_load(&s->paused_until) != 0) {
		findings_add(findings, FINDING_BAD, "paused", "Run nfdns "
		    "resume.", "nfdnsd is paused: every question passes, and "
		    "no mesh name is answered");
		findings_paste(findings, "nfdns resume");
	}
	if (state == STATUS_READY)
		findings_add(findings, FINDING_OK, "daemon", NULL, "nfdnsd "
		    NFDNS_VERSION " is ready, pid %d",
		    (int)atomic_load(&s->pid));
	else if (state == STATUS_DEGRADED &&
	    strncmp(why, RELOAD_REFUSED, strlen(RELOAD_REFUSED)) != 0)
		findings_add(findings, FINDING_BAD, "daemon",
		    strstr(why, "canary") == NULL ? "nfdns status and "
		    "journalctl -u nfdnsd say more." :
		    findings_have_obstacle(findings) ? "Mend what the first "
		    "line \"" FINDING_OBSTACLE "\" names." : "The lines "
		    "\"canary\" say what arrives now.",
		    "nfdnsd is degraded: %s", why);
	else if (state != STATUS_DEGRADED)
		findings_add(findings, FINDING_WARNING, "daemon",
		    "Wait a moment and ask again.", "nfdnsd is %s",
		    state == STATUS_STARTING ? "starting" : "stopping");
	if (restarts > 0)
		findings_add(findings, FINDING_WARNING, "worker",
		    "journalctl -u nfdnsd says what it died of; please report "
		    "a crash.", "the worker was started again %" PRIu64
		    " time%s", restarts, plural(restarts));
}

static void
check_table(struct findings *findings, const struct status_page *page)
{
	const struct status_supervisor *s = page->supervisor;
	const uint64_t names = atomic_load(&s->table_names);
	const int64_t age = (int64_t)time(NULL) -
	    (int64_t)atomic_load(&s->table_loaded);
	char error[STATUS_TEXT], span[FEED_SPAN_TEXT];
	bool ok;

	status_reload_error(page, &ok, error);
	if (atomic_load(&s->table_generation) == 0)
		findings_add(findings, FINDING_BAD, "table", "Run nfdns check, "
		    "mend what it prints, then nfdns reload.",
		    "no table was ever loaded: no mesh name is answered");
	else if (names == 0)
		findings_add(findings, FINDING_WARNING, "table", "Name a "
		    "source in mesh.tables, or run nfdns join.",
		    "the table is empty: no mesh name is answered");
	else
		findings_add(findings, age > OLD_TABLE_S ? FINDING_WARNING :
		    FINDING_OK, "table", age > OLD_TABLE_S ? "Is what writes "
		    "its source still at work?  nfdns status shows each "
		    "source's age." : NULL,
		    "%" PRIu64 " name%s, loaded %s ago", names, plural(names),
		    feed_status_span(age > 0 ? age : 0, span));
	if (!ok)
		findings_add(findings, FINDING_BAD, "reload", "Mend it, then "
		    "run nfdns reload: until then the old table answers.",
		    "the last reload was refused: %s", error);
}

static void
check_losses(struct findings *findings, const struct status_page *page)
{
	struct status_counters c;

	status_counters(page, &c);
	if (c.unseen + c.queue_dropped > 0)
		findings_add(findings, FINDING_WARNING, "queue", "Raise "
		    "queue.workers or queue.maxlen if the numbers grow; they "
		    "count since the start.", "of %" PRIu64 " questions, %"
		    PRIu64 " went by unseen and the kernel dropped %" PRIu64,
		    c.received, c.unseen, c.queue_dropped);
	else
		findings_add(findings, FINDING_OK, "queue", NULL, "%" PRIu64
		    " questions, none lost", c.received);
	if (atomic_load(&page->supervisor->surplus) > 0)
		findings_add(findings, FINDING_WARNING, "user_rate", "Raise "
		    "capture.user_rate if those users may ask so much; nfdns "
		    "top --once shows who asks.", "%" PRIu64 " questions were "
		    "over capture.user_rate: nfdnsd has not read them",
		    atomic_load(&page->supervisor->surplus));
	if (c.audit_lost > 0)
		findings_add(findings, FINDING_WARNING, "audit", "Is the disk "
		    "full or slow?  Answers do not wait for it.",
		    "%" PRIu64 " records were lost", c.audit_lost);
}

static void
check_upstream(struct findings *findings, const struct status_upstream *up)
{
	const uint64_t trouble = atomic_load(&up->trouble);
	char buf[RR_TEXT_SIZE];

	switch (atomic_load(&up->state)) {
	case STATUS_UPSTREAM_LOOP:
		findings_add(findings, FINDING_BAD, "upstream", "Make it ask "
		    "nameservers that nfdnsd does not forward to, or put its "
		    "user into capture.bypass.users.", "%.80s asks this "
		    "machine again: it is switched off", up->text);
		break;
	case STATUS_UPSTREAM_DOWN:
		findings_add(findings, FINDING_WARNING, "upstream", "Ask it "
		    "yourself: dig @ADDRESS -p PORT NAME.", "%.80s does not "
		    "answer: %s", up->text,
		    forward_status_trouble(trouble, buf));
		break;
	default:
		break;
	}
}

static void
check_forwarding(struct findings *findings, const struct status_page *page)
{
	struct status_forwarding *shown =
	    forward_status_read(page->forwarding);
	uint32_t up = 0;

	for (uint32_t i = 0; shown != NULL && i < shown->upstreams; i++) {
		check_upstream(findings, &shown->upstream[i]);
		up += atomic_load(&shown->upstream[i].state) <=
		    STATUS_UPSTREAM_PROBING;
	}
	if (shown != NULL && up > 0)
		findings_add(findings, FINDING_OK, "forward", NULL, "nfdnsd "
		    "takes %u of %u upstreams for alive", up,
		    shown->upstreams);
	else if (shown != NULL && shown->upstreams > 0)
		findings_add(findings, FINDING_BAD, "forward", "nfdns status "
		    "says of each what went wrong last.", "nfdnsd has no "
		    "upstream that answers: names of forward.domains fail");
	free(shown);
}

/* The text says what to do where it can be told. */
static void
check_feed(struct findings *findings, const struct feed_shown *feed)
{
	const int64_t now = (int64_t)time(NULL);
	const enum feed_health health = feed_status_health(&feed->report,
	    feed->table_time, feed->stale_after, now);
	char text[FEED_HEALTH_TEXT];

	if (feed_status_text(health, feed->name, &feed->report,
	    feed->stale_after, now, text) == NULL) {
		findings_add(findings, FINDING_OK, "feed", NULL,
		    "feed %.60s is current", feed->name);
		return;
	}
	findings_add(findings, health == FEED_WAITS || health == FEED_STALE ?
	    FINDING_BAD : FINDING_WARNING, "feed",
	    strstr(feed->report.status.error, "not yet valid") != NULL ?
	    "Is this machine's clock right?  date shows it." :
	    feed->report.running ?
	    "nfdns status shows what its server said last; names may be old "
	    "until it answers." : "Start nfdns-feed; journalctl -u nfdns-feed "
	    "says why it ended.", "%s", text);
	if (!feed->report.running && units_are_there())
		findings_paste(findings, "systemctl start nfdns-feed");
}

static void
check_feeds(struct findings *findings, const struct config *config)
{
	struct feeds_shown feeds;

	if (config == NULL)
		return;
	if (feeds_shown_read(&feeds, config) == 0)
		for (size_t i = 0; i < feeds.count; i++)
			check_feed(findings, &feeds.list[i]);
	feeds_shown_free(&feeds);
}

/* Where nothing can be written, nothing starts, and nobody says why. */
static void
check_directory(struct findings *findings, const char *option,
    const char *path)
{
	struct statvfs fs;

	if (statvfs(path, &fs) < 0)
		return;
	if ((fs.f_flag & ST_RDONLY) != 0 || fs.f_bavail == 0 ||
	    (fs.f_files > 0 && fs.f_favail == 0))
		findings_add(findings, FINDING_BAD, "directory", "Make room "
		    "there, or mount it writable: nfdnsd needs it to start.",
		    "%s %s is on a file system that is %s", option, path,
		    (fs.f_flag & ST_RDONLY) != 0 ? "read-only" : "full");
}

static void
check_start(struct findings *findings, const char *run_dir,
    const struct config *config, const struct start_failed *failed)
{
	const int64_t age = (int64_t)time(NULL) - failed->when;
	char span[FEED_SPAN_TEXT];

	check_directory(findings, "run_dir", run_dir);
	if (config != NULL)
		check_directory(findings, "state_dir", config->state_dir);
	if (failed->why[0] != '\0')
		findings_add(findings, FINDING_BAD, "daemon", units_are_there() ?
		    "Mend that, then: systemctl restart nfdnsd" :
		    "Mend that, then start nfdnsd.",
		    "nfdnsd does not run; its last start failed %s ago: %s",
		    feed_status_span(age > 0 ? age : 0, span), failed->why);
	else
		findings_add(findings, FINDING_BAD, "daemon", units_are_there() ?
		    "Start it: systemctl start nfdnsd; if it does not start, "
		    "run nfdns doctor again." : "Start it: nfdnsd; if it ends, "
		    "run nfdns doctor again.", "nfdnsd does not run (run_dir "
		    "%s)", run_dir);
}

/* Why it cannot be asked. */
static void
check_absence(struct findings *findings, const char *run_dir,
    const struct config *config, const struct start_failed *failed, int error,
    pid_t pid)
{
	if (error == -ETIMEDOUT)
		findings_add(findings, FINDING_BAD, "daemon", "If it was "
		    "stopped, kill -CONT lets it go on; else restart it.",
		    "nfdnsd (pid %d) does not react: it is starting or "
		    "stopping, or was stopped, or it hangs", (int)pid);
	else if (error == -EPROTO)
		findings_add(findings, FINDING_BAD, "daemon",
		    "systemctl restart nfdnsd", "another version of nfdnsd "
		    "runs (run_dir %s)", run_dir);
	else
		check_start(findings, run_dir, config, failed);
	if (units_are_there())
		findings_paste(findings, "systemctl restart nfdnsd");
}

void
daemon_check_status(struct findings *findings, const char *run_dir,
    const struct config *config, const struct status_page *page,
    const struct start_failed *failed, int error, pid_t pid)
{
	check_unit(findings);
	check_kernel(findings, page);
	if (page == NULL) {
		check_absence(findings, run_dir, config, failed, error, pid);
		return;
	}
	check_feeds(findings, config);
	check_state(findings, page);
	check_table(findings, page);
	check_losses(findings, page);
	check_forwarding(findings, page);
}

/* Without a daemon that says what it installed. */
static void
check_presence(struct findings *findings, bool runs)
{
	struct rules_kernel *kernel;
	bool present = false;
	int error = rules_kernel_open(&kernel);

	if (error == 0) {
		error = rules_kernel_present(kernel, &present);
		rules_kernel_close(kernel);
	}
	if (error == -EPERM)
		findings_add(findings, FINDING_UNKNOWN, "rules", AS_ROOT,
		    "the kernel shows its rules only to root");
	else if (error < 0)
		findings_add(findings, FINDING_BAD, "rules", NULL, "%s",
		    rules_kernel_open_error(error));
	else if (!present)
		findings_add(findings, FINDING_BAD, "rules", "If nfdnsd runs, "
		    "nfdns reload puts them back; else start it.  Without "
		    "them all questions go to the nameservers.",
		    "table inet " RULES_TABLE " is not in the kernel");
	else if (runs)
		findings_add(findings, FINDING_UNKNOWN, "rules", AS_ROOT,
		    "nfdnsd says only to root whether its rules were changed");
}

/* As "nfdns rules verify". */
static void
check_ruleset(struct findings *findings, const struct ruleset *set,
    const struct rules_said *said)
{
	const size_t count = count_lines(said->differences);
	char *text = ruleset_text(set);

	if (count > 0)
		findings_add(findings, FINDING_BAD, "rules", "Run nfdns "
		    "reload: it puts them right.  Another program changed "
		    "them.", "%zu difference%s, the first: %.*s", count,
		    plural(count), (int)strcspn(said->differences, "\n"),
		    said->differences);
	if (text == NULL)
		findings_add(findings, FINDING_UNKNOWN, "rules", NULL,
		    "out of memory");
	else if (strcmp(text, said->text) != 0)
		findings_add(findings, FINDING_WARNING, "rules", "Run nfdns "
		    "reload: it takes the configuration as it is now.",
		    "the configuration was edited and not reloaded: it wants "
		    "other rules than those in force");
	else if (count == 0)
		findings_add(findings, FINDING_OK, "rules", NULL, "table inet "
		    RULES_TABLE " in the kernel is as configured");
	free(text);
}

int
daemon_rules(struct ruleset *set, const struct config *config,
    const struct status_page *page, struct diag *diag)
{
	const int error = ruleset_build(set, config, page != NULL &&
	    atomic_load(&page->supervisor->paused_until) != 0 ? RULES_PAUSED :
	    RULES_FULL, diag);

	if (error == 0 && config->capture.tcp && page != NULL &&
	    page->supervisor->stream_ports[0] != 0)
		ruleset_listen_at(set, page->supervisor->stream_ports);
	return error;
}

void
daemon_check_rules(struct findings *findings, const struct config *config,
    const struct status_page *page, const struct rules_said *said)
{
	struct diag problems = DIAG_INIT;
	struct ruleset set;

	if (daemon_rules(&set, config, page, &problems) == 0) {
		if (said != NULL)
			check_ruleset(findings, &set, said);
		else
			check_presence(findings, page != NULL);
		ruleset_free(&set);
	} else
		findings_add(findings, FINDING_BAD, "rules", "Run nfdns check.",
		    "the configuration's rules cannot be made: %s",
		    problems.kept > 0 ? problems.entries[0].text :
		    "out of memory");
	diag_free(&problems);
}

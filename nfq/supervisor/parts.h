/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The supervisor's state, and the functions that its files call in each other:
 * supervisor.c (loop), lifecycle.c (start and stop), reload.c, monitor.c and
 * others.  No other room includes this header.
 */
#ifndef NFDNS_NFQ_SUPERVISOR_PARTS_H
#define NFDNS_NFQ_SUPERVISOR_PARTS_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "nfq/handover/control.h"
#include "nfq/process/compiler.h"
#include "nfq/process/last_image.h"
#include "nfq/supervisor/worker_process.h"
#include "nfq/supervisor/audit_files.h"
#include "nfq/stream/listen.h"
#include "nfq/supervisor/fdstore.h"
#include "nfq/supervisor/watch.h"
#include "resolver/clock.h"
#include "policy/config/config.h"
#include "policy/status/status.h"
#include "resolver/text/diag.h"
#include "nfq/process/exit_code.h"
#include "rules/conntrack.h"
#include "rules/kernel.h"
#include "rules/routes.h"
#include "rules/ruleset.h"
#include "resolver/image/table.h"
#include "policy/config/resolv_conf.h"
#include "policy/status/feed_status.h"
#include "nfq/process/request.h"

/* One canary in flight: canary.c. */
struct canary {
	int fd;				/* for poll(2); -1: none */
	uint16_t id;
	struct resolv_server server;
};

/* The canary question: idle, or sent and not answered yet (canary.fd >= 0). */
struct monitor_canary {
	struct canary canary;
	int interval_ms;
	monotime_t next;		/* when idle: time to send the next one */
	monotime_t sent;
	monotime_t answered;		/* when the last answer came */
	bool unanswered;		/* the last canary was not answered */
};

/* The service manager's watchdog: it restarts a daemon that does not answer. */
struct monitor_watchdog {
	int patience_ms;		/* 0: there is no watchdog */
	monotime_t next;
};

/* The comparison of the kernel's rules with the intended ones. */
struct monitor_rules {
	monotime_t next;
	bool differs;
};

/* The sets of intercepted TCP connections. */
struct monitor_streams {
	bool full;
	monotime_t full_until;		/* at least */
	uint64_t passed;		/* connections so far without room */
};

/* The feeds whose tables the configuration names. */
struct monitor_feeds {
	char problem[FEED_HEALTH_TEXT];	/* of the first that is not well, or "" */
	int64_t offset_ms;		/* of the time of day, from monotime_t */
	monotime_t settled;		/* the time of day was set: none before */
};

/* The file of metrics. */
struct monitor_metrics {
	monotime_t next;
	bool written;			/* the file is there */
	int error;			/* of the last time: each is logged once */
};

/* What the configuration names and the machine lacks: config->absent. */
struct monitor_absent {
	monotime_t next;		/* look */
	size_t seen;			/* how much it was at the last one */
};

struct monitor {
	int tick_ms;
	monotime_t next;		/* tick */
	struct monitor_canary canary;
	struct monitor_watchdog watchdog;
	struct monitor_rules rules;
	struct monitor_absent absent;
	struct monitor_streams streams;
	struct monitor_feeds feeds;
	struct monitor_metrics metrics;
	struct resolv_conf resolv_conf;	/* as last read */
};

/* What a reload is to do; each includes those before it. */
enum reload_wish {
	RELOAD_NOTHING,
	RELOAD_TABLES,		/* tables and files of rules, if they changed;
				   all else stays as it is */
	RELOAD_MACHINE,		/* and what the config takes from the machine:
				   users, cgroups, resolv.conf */
	RELOAD_ALL,		/* the config's file too */
	RELOAD_FORCED,		/* and accept a table that shrinks */
};

/* The phase of a reload. */
enum reload_phase {
	RELOAD_IDLE,
	RELOAD_COMPILING,	/* nothing has changed yet */
	RELOAD_SWAPPING,	/* new rules installed, generation sent to the worker */
};

/*
 * The next configuration and generation, until adopted or discarded.  With
 * RELOAD_TABLES, config borrows all but the sources from the current one, and
 * there is no other set of rules, and of the generation only the image.
 */
struct reload {
	enum reload_phase phase;
	enum reload_wish wish;		/* of the one under way */
	enum reload_wish again;		/* of the one to follow */
	struct config *config;
	struct ruleset set;
	bool rules_differ;		/* from those in force */
	bool rules_changed;		/* and are installed, once SWAPPING */
	struct generation_files generation;	/* the next one */
	struct compiler *compiler;
	struct watch *watch;		/* to follow from then on; NULL: as before */
	monotime_t loss;		/* names have been missing since; never: none */
	bool told;			/* that they do, by the reload before */
	uint64_t names;			/* of the table before it */
	bool reopen;			/* reopen audit files when it is over */
	bool unchanged;			/* the table is the same and stays */
	unsigned int tries;		/* how many workers got the generation */
	monotime_t deadline;		/* for this worker in SWAPPING */
	struct diag diag;
};

/* Requests to flush the cache: clients.c. */
#define FLUSHES_MAX	16
struct flushes {
	struct flush list[FLUSHES_MAX];	/* the first is the worker's, */
	unsigned int count;
	bool given;			/* if it was given to it */
	uint32_t number;		/* of the last one */
};

/* Those who ask at run_dir/control: clients.c. */
#define CLIENTS_MAX	16
#define CLIENTS_OTHERS	12	/* of these, at most: users but root, */
#define CLIENTS_USER	4	/* and one of them */
#define CLIENT_MS	2000
#define CLIENTS_FDS	(1 + CLIENTS_MAX)

struct client {
	int fd;				/* -1: none */
	uid_t uid;
	monotime_t deadline;		/* never: it waits for us */
	bool asked;			/* the line has come */
	struct daemon_request request;
	uint32_t number;		/* of the reload or flush that it waits for */
	/* What is still to be sent, a packet at a time. */
	char *err, *out;
	size_t err_length, out_length, err_sent, out_sent;
	bool ends;			/* and then: */
	int code;
	int fds[REQUEST_FDS];		/* descriptors of our own */
	size_t fd_count;
};

struct clients {
	int listener;			/* -1: closed */
	bool full;			/* no descriptor for another, until the tick */
	struct client list[CLIENTS_MAX];
	enum reload_wish wish;		/* of this step */
};

/* The deletion of old conntrack entries: zone.c. */
struct supervisor_zone {
	struct conntrack *conntrack;	/* NULL: nothing to do */
	bool sweeping;			/* a sweep is not finished */
	unsigned int looks;		/* sweeps still to come */
	monotime_t next;
	int64_t wait_ms;
};

/* The image that is kept for a start without sources: keep_image.c. */
struct kept_image {
	bool wanted;			/* the image in use is not kept yet */
	pid_t pid;			/* of the process that writes; 0: none */
	monotime_t next;		/* no write before that */
	char problem[STATUS_TEXT];	/* why it could not, or "" */
};

/* nfdns-tls: tls.c. */
struct supervisor_tls {
	int program;			/* or a negative errno */
	pid_t pid;			/* of the one that the worker has; 0: none */
	ino_t authorities;		/* that it began with */
	monotime_t started;
	bool failed;			/* the last start; logged */
};

struct supervisor {
	struct config *config;
	struct fdstore fdstore; /* a predecessor's sockets, until taken */
	int pid_file;
	bool has_status;
	struct status_page status;
	int queues[CONFIG_MAX_WORKERS];
	size_t queue_count;
	uint16_t queue_number;		/* of the first */
	char listen_problem[STATUS_TEXT];	/* why listeners are missing, or "" */
	int listeners[STREAM_LISTENERS];	/* -1: none */
	struct routes *routes;
	struct generation_files generation;	/* of the worker's answers */
	struct worker_process worker;
	struct supervisor_tls tls;
	struct rules_kernel *kernel;
	struct ruleset set;		/* borrows config */
	bool has_rules;
	struct rules_features features;
	struct supervisor_zone zone;

	int signals;			/* signalfd */
	int timer;			/* timerfd, every LIFE_LOOK_MS */
	struct reload reload;
	struct flushes flushes;
	struct clients clients;
	struct monitor monitor;
	struct watch *watch;		/* NULL: files cannot be watched */
	bool cgroups_failed;		/* the last look; logged */
	bool audit_problem;		/* audit_files_problem() has said so */
	struct kept_image kept;
	char table_error[STATUS_TEXT];	/* why not all tables and rules are in use,
					 * from the start to a reload, or "" */
	monotime_t paused_until;	/* never: it is not paused */
	int64_t stands_in;		/* when the image in use was kept; 0: it is
					 * no kept one */
	char reload_error[STATUS_TEXT];	/* of a refused reload, until one succeeds */
	enum reload_wish reload_refused;	/* what the refused reload was to do */
	bool ready;			/* the start is over */
	bool stop;
	bool hand_over;			/* leave rules and sockets to a successor */
	int exit_code;
};

/* lifecycle.c: every step in order, and all of them in reverse. */

/* EXIT_OK or another exit code; call supervisor_stop() in both cases. */
int supervisor_start(struct supervisor *s) __attribute__((warn_unused_result));
/* Undoes all steps; a half-started supervisor is allowed. */
void supervisor_stop(struct supervisor *s);

#define SUPERVISOR_STOP_MS	3000	/* for the worker to end */

/* worker_start.c */

/* A socket with the queue, by the configuration's settings, or a negative errno. */
int supervisor_open_queue(const struct supervisor *s, uint16_t number,
    struct diag *diag) __attribute__((warn_unused_result));

/*
 * Starts a worker with the generation and waits until it is ready, or until there is
 * something to read at "interrupt" (-1: nothing).  EXIT_OK, or EXIT_ERROR, logged.
 */
int supervisor_start_worker(struct supervisor *s, int interrupt)
    __attribute__((warn_unused_result));

/*
 * For a reload of options that a worker has from its start: the worker has been
 * stopped, and s->config is the one that another one starts with.  "before" was the
 * one until now.  Questions wait meanwhile.  0, or -EINVAL with an error in diag, and
 * then there is no worker.
 */
int supervisor_replace_worker(struct supervisor *s, const struct config *before,
    struct diag *diag) __attribute__((warn_unused_result));

/* first_table.c */

/*
 * Compiles the table and the rules; if that fails, the last good image is used, or
 * whatever can be compiled, or an empty one; SIGTERM ends it.  An exit code.
 */
int supervisor_start_table(struct supervisor *s)
    __attribute__((warn_unused_result));

/* listeners.c */

/*
 * Listeners and routes of s->config in place of those of another one.  0 or a negative
 * errno with an error in diag.
 */
int supervisor_change_listeners(struct supervisor *s,
    const struct config *before, struct diag *diag)
    __attribute__((warn_unused_result));

/*
 * With TCP captured: opens the listeners (listen_problem says why some are missing),
 * and policy routing.  An exit code.
 */
int supervisor_start_listeners(struct supervisor *s)
    __attribute__((warn_unused_result));
/* Tries again to get what the start could not, and uses it.  Once a second. */
void supervisor_retry_listeners(struct supervisor *s);
/* Stores the listeners with the service manager.  0 or a negative errno. */
int supervisor_keep_listeners(const struct supervisor *s)
    __attribute__((warn_unused_result));
/* A half-started one is allowed.  For a successor the routes stay. */
void supervisor_stop_stream(struct supervisor *s);
/* Call it after a change of devices, routing rules or routes, and often. */
void supervisor_watch_routes(struct supervisor *s);

/* tls.c */

/*
 * The authorities that config's upstreams over TLS need, as the generation's
 * file: that of the generation in use if they are the same, or if the same file
 * is missing.  -1 for a file that has always been missing.  0 or a negative errno
 * of ca_file_read() or of memory.
 */
int supervisor_open_authorities(const struct config *config,
    const struct supervisor *s, struct generation_files *generation)
    __attribute__((warn_unused_result));
void supervisor_start_tls(struct supervisor *s);
void supervisor_stop_tls(struct supervisor *s);
/* Starts nfdns-tls, and sends the worker a channel to it. */
void supervisor_give_tls(struct supervisor *s, monotime_t now);
/* After a reload: another one, if the authorities have changed. */
void supervisor_renew_tls(struct supervisor *s, monotime_t now);
/* Reaps it when it has ended.  Call it often. */
void supervisor_tick_tls(struct supervisor *s);

/* zone.c: no question is lost to old conntrack entries */

/*
 * Installs the full rules, as rules_kernel_install() does.  "change": until
 * now, passed questions were in another zone or in none.  Deletes their
 * conntrack entries while new questions wait in the queue, for at most a tenth
 * of a second; zone_tick() does the rest.
 */
int zone_install(struct supervisor *s, bool change, struct diag *diag)
    __attribute__((warn_unused_result));
/*
 * Call it before the rules are removed: no new entry gets the zone, and those
 * in it are deleted.  "leaving" is of stage RULES_LEAVING.  Takes at most a
 * tenth of a second.
 */
void zone_leave(struct supervisor *s, const struct ruleset *leaving);
/* Call it after they are removed: deletes the last entries, and frees. */
void zone_left(struct supervisor *s);
/* Every LIFE_LOOK_MS. */
void zone_tick(struct supervisor *s, monotime_t now);

/* keep_image.c */

/* The generation's image, of all sources, is in use: it is kept from now on. */
void keep_image(struct supervisor *s);
/* Writes it, at most once a minute.  Call it often. */
void keep_image_tick(struct supervisor *s, monotime_t now);
/* The daemon stops: what is not written yet is, unless it takes too long. */
void keep_image_stop(struct supervisor *s);

/* generation.c */

/*
 * Opens a generation's files besides its table: the audit files, config's
 * settings, and the memory of the cache, which is that of the generation before
 * if it has the size that config wants; at the start "generation" is s's own.  Each
 * file that cannot be opened is an error in diag; then none stays open.  0 or a
 * negative errno.
 */
int supervisor_open_settings(const struct config *config,
    const struct supervisor *s, struct generation_files *generation,
    struct diag *diag)
    __attribute__((warn_unused_result));

/* Tells status page and service manager: ready, or degraded and why. */
void supervisor_show_state(struct supervisor *s);
/* Shows on the status page the generation, of which the worker has said "answer". */
void supervisor_note_table(struct supervisor *s,
    const struct control_message *answer);

/*
 * The cache alone, as above: what is kept stays, unless its size changes.  0 or a
 * negative errno.
 */
int supervisor_open_cache(const struct config *config,
    const struct generation_files *before,
    struct generation_files *generation) __attribute__((warn_unused_result));

/* Opens the audit files again after the old ones were renamed. */
void supervisor_reopen_audit_files(struct supervisor *s);
/*
 * Opens what could not be opened, and connects audit sockets whose peer has come or
 * gone.  Call it often.
 */
void supervisor_tend_audit(struct supervisor *s);

/* clients.c */

/* Start from this; nothing is open. */
void clients_init(struct clients *clients);

/* Listens in s's run_dir.  0 or a negative errno. */
int clients_open(struct supervisor *s) __attribute__((warn_unused_result));

/* Ends all; what somebody waits for is not to come. */
void clients_close(struct supervisor *s);

/* What to wait for; those without a descriptor are -1. */
void clients_poll(const struct clients *clients,
    struct pollfd fds[static CLIENTS_FDS]);

/*
 * After poll(2), with what clients_poll() filled in.  Returns the reload that is asked
 * for, which has to begin before any other.
 */
enum reload_wish clients_step(struct supervisor *s,
    const struct pollfd fds[static CLIENTS_FDS], monotime_t now)
    __attribute__((warn_unused_result));

/* Drops who is too late.  Call it often. */
void clients_tick(struct supervisor *s, monotime_t now);

/*
 * A reload is over, and the status page has counted it; s->reload.diag has what it
 * said.
 */
void clients_reloaded(struct supervisor *s, bool good);

/* A worker has flushed, and says what was removed; or is new, and ready to flush. */
void clients_flushed(struct supervisor *s, const struct control_message *answer);
void clients_worker_ready(struct supervisor *s);

/* monitor.c */

#define MONITOR_RULES_MS 10000	/* from one comparison of the rules to the next */

/* Call it at the end of the start, before the first tick. */
void monitor_start(struct supervisor *s, monotime_t now);
/*
 * Call it every LIFE_LOOK_MS.  It works once a second, or more often if the
 * watchdog's time is short.
 */
enum reload_wish monitor_tick(struct supervisor *s, monotime_t now);
/* monitor_feeds.c: looks how the feeds are.  now_ms is CLOCK_REALTIME. */
void monitor_feeds_tick(struct supervisor *s, int64_t now_ms, monotime_t now);

/* canary.c */

/*
 * Sends a canary to each nameserver of /etc/resolv.conf to which there is a
 * route (127.0.0.1 if the file names none), and waits.  Returns 0 if nfdnsd
 * answered each; -ETIMEDOUT with an error in diag that names the nameserver and
 * the likely causes; or another negative errno with an error in diag.
 */
int canary_ask(const struct config *config, int timeout_ms, struct diag *diag)
    __attribute__((warn_unused_result));
/* Ends the one in flight; -1 is allowed. */
void canary_close(struct canary *canary);
void monitor_canary_start(struct monitor_canary *m, int watchdog_ms,
    int tick_ms, monotime_t now);
/* Sends the next canary when it is due; gives up on one after two seconds. */
void monitor_canary_tick(struct supervisor *s, monotime_t now);
/* Call it if the canary's descriptor is readable. */
void monitor_canary_ready(struct supervisor *s, monotime_t now);
/* Call it when a new worker is ready: sends the next canary at once. */
void monitor_worker_ready(struct supervisor *s, monotime_t now);

/* reload.c */

/* Whether the new image lacks names that have to be missing for a while: an error. */
bool reload_loses(const struct table_label *old, const struct table_label *now,
    struct diag *diag);
/* Starts a reload, if one is wished for; if one is running, another follows it. */
void reload_begin(struct supervisor *s, enum reload_wish wish);
/* Call it if the compiler's descriptor is readable. */
void reload_compiler_ready(struct supervisor *s, monotime_t now);
/* Handles the worker's answer to a generation. */
void reload_answered(struct supervisor *s, const struct control_message *answer);
/* Call it for a new worker, which answers from the old generation. */
void reload_worker_replaced(struct supervisor *s, monotime_t now);
/* Kills a compiler or a worker that takes too long.  Call it often. */
void reload_tick(struct supervisor *s, monotime_t now);
/* The daemon stops: refuses the running reload and starts no other. */
void reload_cancel(struct supervisor *s);

/* rules.c */

/*
 * ruleset_build() with the listeners' ports, which they have from
 * supervisor_start_listeners() on.
 */
int supervisor_build_rules(const struct supervisor *s, struct ruleset *set,
    const struct config *config, enum rules_stage stage, struct diag *diag)
    __attribute__((warn_unused_result));
/* Installs the rules again if a bypassed cgroup is another now.  Once a second. */
void supervisor_look_at_cgroups(struct supervisor *s);
/*
 * Lets every new question pass for that long, from now on; 0: takes them again.  0, or
 * a negative errno with an error in diag: -EBUSY while a reload runs.
 */
int supervisor_pause(struct supervisor *s, unsigned int seconds,
    struct diag *diag) __attribute__((warn_unused_result));
/* Ends the pause when it is over.  Call it often. */
void supervisor_pause_tick(struct supervisor *s, monotime_t now);

/* follow.c: files that other programs change */

/*
 * Watches the files that config wants to be watched, or all that it names; logs
 * those that cannot be.  Call it before the files are read, so that no change is
 * missed.
 */
struct watch *follow_open(const struct config *config, bool all);
/*
 * Reads the search list of /etc/resolv.conf.  RELOAD_MACHINE if it changed and
 * the configuration has no search list: then the table contains it.
 */
enum reload_wish monitor_resolv_conf(struct supervisor *s);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The supervisor's state, and the functions that its files call in each other:
 * supervisor.c (loop), lifecycle.c (start and stop), reload.c, monitor.c and
 * their parts.  No other room includes this.
 */
#ifndef NFDNS_NFQ_SUPERVISOR_PARTS_H
#define NFDNS_NFQ_SUPERVISOR_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "nfq/process/compiler.h"
#include "nfq/supervisor/canary.h"
#include "nfq/supervisor/monitor.h"
#include "nfq/supervisor/worker_process.h"
#include "nfq/sockets/message.h"
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

/* Where a reload has got to. */
enum reload_phase {
	RELOAD_IDLE,
	RELOAD_COMPILING,	/* nothing has changed yet */
	RELOAD_SWAPPING,	/* rules are the new ones, the worker was told */
};

/* What a reload is to do, the greater including the smaller. */
enum reload_wish {
	RELOAD_NOTHING,
	RELOAD_TABLES,		/* of the config that runs, if they changed */
	RELOAD_ALL,		/* the config's file too */
	RELOAD_FORCED,		/* and a table that shrinks is meant */
};

/* The next state of things, owned until it is taken over or thrown away. */
struct reload {
	enum reload_phase phase;
	enum reload_wish wish;		/* of the one under way */
	enum reload_wish again;		/* what was wished for meanwhile */
	struct config *config;
	struct ruleset set;
	bool rules_changed;		/* and are installed, once SWAPPING */
	struct generation_files generation;	/* the next one */
	struct compiler *compiler;
	struct watch *watch;		/* of the new config, if it is one */
	bool reopen;			/* audit files again when it is over */
	bool unchanged;			/* the table is, and stays */
	unsigned int tries;		/* workers that were sent the generation */
	monotime_t deadline;		/* of SWAPPING, for this worker */
	struct diag diag;
};

/* Old conntrack entries that are in the way: zone.c. */
struct supervisor_zone {
	struct conntrack *conntrack;	/* NULL: nothing to do */
	bool sweeping;			/* a sweep is to go on */
	unsigned int looks;		/* still to come, at those that waited */
	monotime_t next;
	int64_t wait_ms;
};

/* The bypassed cgroups, which come and go. */
struct cgroups {
	int inotify;			/* -1: there are none, or it cannot be had */
	bool pending;			/* a look at them is due, or will be */
	bool unfollowed;		/* some of them, and it was said */
	bool failed;			/* the last look, and it was said */
	monotime_t next;		/* no look before that */
};

struct supervisor {
	struct config *config;
	struct fdstore fdstore; /* a predecessor's sockets, until taken */
	int pid_file;
	bool has_status;
	struct status_page status;
	int queues[CONFIG_MAX_WORKERS];
	size_t queue_count;
	const char *sockets; /* where sockets are opened; NULL: here */
	bool sockets_gone;   /* and it was said */
	struct canary_sockets canary_sockets;
	int listeners[STREAM_LISTENERS];	/* -1: none */
	struct routes *routes;
	struct generation_files generation;	/* that the worker answers from */
	struct worker_process worker;
	struct rules_kernel *kernel;
	struct ruleset set;		/* borrows config */
	bool has_rules;
	struct rules_features features;
	struct supervisor_zone zone;

	int signals;			/* signalfd */
	int timer;			/* timerfd, every LIFE_LOOK_MS */
	struct reload reload;
	struct monitor monitor;
	struct watch *watch;		/* NULL: nothing can be followed */
	struct cgroups cgroups;
	char table_error[STATUS_TEXT];	/* why there is no table, "" if there is */
	char reload_error[STATUS_TEXT];	/* of one refused, until one succeeds */
	enum reload_wish reload_refused;	/* what that one was to do */
	bool ready;			/* the start is over */
	bool stop;
	bool hand_over;			/* rules and sockets are for a successor */
	int exit_code;
};

/* lifecycle.c: every step in order, and all of them in reverse. */

/* Returns EXIT_OK or the exit code; whatever was done is for supervisor_stop(). */
int supervisor_start(struct supervisor *s) __attribute__((warn_unused_result));
/* Takes a half-started supervisor too, and leaves nothing behind. */
void supervisor_stop(struct supervisor *s);

/* sockets.c */

/* The sockets for canaries, if the socket helper opens them.  An exit code. */
int supervisor_start_sockets(struct supervisor *s)
    __attribute__((warn_unused_result));
void supervisor_stop_sockets(struct supervisor *s);
/* Listeners and policy routing, if TCP is captured.  An exit code. */
int supervisor_start_stream(struct supervisor *s)
    __attribute__((warn_unused_result));
/* Takes a half-started one too; a successor's routes stay. */
void supervisor_stop_stream(struct supervisor *s);
/* The worker wants a channel to the socket helper: it is sent one, or none. */
void supervisor_give_sockets(struct supervisor *s);
/* Devices, routing rules or routes have changed, or it is time to look. */
void supervisor_watch_routes(struct supervisor *s);

/* zone.c: no question is lost to conntrack entries of before */

/*
 * Installs the full rules, as rules_kernel_install() does.  "change": questions
 * that pass were in another zone, or none, until now.  What they have left is
 * taken out while new ones wait in the queue, a tenth of a second at most; what
 * takes longer is zone_tick()'s.
 */
int zone_install(struct supervisor *s, bool change, struct diag *diag)
    __attribute__((warn_unused_result));
/*
 * The rules are about to go: nothing gets the zone any more, what has it is
 * taken out.  "leaving" is of stage RULES_LEAVING.  A tenth of a second at most.
 */
void zone_leave(struct supervisor *s, const struct ruleset *leaving);
/* The rules are out: what was in flight then.  Frees. */
void zone_left(struct supervisor *s);
/* Every LIFE_LOOK_MS. */
void zone_tick(struct supervisor *s, monotime_t now);

/* state.c */

/* What status and the service manager are told: ready, or degraded and why. */
void supervisor_show_state(struct supervisor *s);

/*
 * Leaves run_dir/load for those who ask: what the last load said and the
 * sources of the table in use.  "sequence" is the reload's once it is over.
 */
void supervisor_leave_report(const struct supervisor *s, uint32_t sequence,
    const struct diag *diag);

/* generation.c */

/*
 * Opens what a generation has besides its table: the audit files and the
 * settings of config.  Every file that cannot be opened is an error in diag;
 * then generation has none of them.  0 or a negative errno.
 */
int supervisor_open_settings(const struct config *config,
    struct generation_files *generation, struct diag *diag)
    __attribute__((warn_unused_result));

/* Opens the audit files again, under their names: somebody renamed the old. */
void supervisor_reopen_audit_files(struct supervisor *s);

/* reload.c */

/* Starts a reload, or has another follow the one that is under way. */
void reload_begin(struct supervisor *s, enum reload_wish wish);
/* The compiler's descriptor is readable. */
void reload_compiler_ready(struct supervisor *s, monotime_t now);
/* The worker's answer to a generation. */
void reload_answered(struct supervisor *s, const struct control_message *answer);
/* There is a new worker, which answers from the old generation. */
void reload_worker_replaced(struct supervisor *s, monotime_t now);
/* Ends a compiler, or kills a worker, that has had its time.  Call it often. */
void reload_tick(struct supervisor *s, monotime_t now);
/* The daemon stops: the reload under way is refused, nothing follows it. */
void reload_cancel(struct supervisor *s);

/* cgroups.c: bypassed cgroups that come, go and come again */

/* Call before the rules are made, so that no change is missed. */
void supervisor_start_cgroups(struct supervisor *s);
void supervisor_stop_cgroups(struct supervisor *s);
/* For poll(2); -1 while what it would say is known already. */
int supervisor_cgroups_fd(const struct supervisor *s);
/* That descriptor is readable. */
void supervisor_cgroups_changed(struct supervisor *s, monotime_t now);
/* Installs the rules anew, if that has become due and is possible now. */
void supervisor_cgroups_tick(struct supervisor *s, monotime_t now);
/* A reload is over: its rules are of when it began, its config may be another. */
void supervisor_cgroups_reloaded(struct supervisor *s);

/* follow.c: files that change by themselves */

/*
 * Follows what the config names from here on; what cannot be is logged.  Call
 * before the files are read, so that no change is missed.
 */
struct watch *follow_open(const struct config *config);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/supervisor/worker_death.h"

#include <arpa/inet.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#include "nfq/process/child.h"
#include "nfq/process/exit_code.h"
#include "nfq/queue/queue.h"
#include "nfq/supervisor/quarantine.h"
#include "nfq/worker/worker.h"
#include "policy/log.h"

#define TALK_MS		1000	/* in this time at most... */
#define TALK_LINES	5	/* ...so many lines about deaths */

uint64_t
worker_death_batches(const struct worker_process *k)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < config_queues(k->config); i++)
		sum += atomic_load(&k->status->workers[i].batches);
	return sum;
}

/* Limits the lines in the log. */
static bool
may_talk(const struct worker_process *k)
{
	return k->talk.said < TALK_LINES;
}

/* A number, not a name: looking up the name may ask a nameserver. */
static void
user_text(char text[static 24], uid_t uid)
{
	if (uid == (uid_t)-1)
		(void)snprintf(text, 24, "no known user");
	else
		(void)snprintf(text, 24, "user %u", (unsigned int)uid);
}

/* Whether the packet in the hands of the queue's thread may be to blame. */
static bool
is_suspicious(const struct worker_process *k, unsigned int queue,
    const struct window_packet *packet)
{
	const uint32_t fault = atomic_load(&k->window->fault);

	if (k->hangs != LIFE_MOVES)
		return queue == k->hung && k->held.known &&
		    k->held.id == packet->id;
	/* If the crash was not recorded, any thread may have crashed. */
	return fault == WINDOW_NO_FAULT || fault == queue + 1;
}

static void
keep(const struct worker_process *k, uint16_t number,
    const struct window_packet *p)
{
	struct quarantine_packet packet = {
		.queue = number,
		.id = p->id,
		.octets = p->octets,
		.length = p->length,
	};
	char path[PATH_MAX];
	int error;

	(void)clock_gettime(CLOCK_REALTIME, &packet.when);
	error = quarantine_keep(k->config->run_dir, &packet, path);
	if (error < 0)
		log_warning("cannot keep the packet that ended a worker in %s/"
		    QUARANTINE_DIR ": %s", k->config->run_dir,
		    strerror(-error));
	else if (may_talk(k))
		log_notice("the packet is kept in %s: please send it with a bug "
		    "report", path);
}

enum queue_fate
worker_death_fate(const struct worker_process *k)
{
	return policy_could_deny(&k->config->policy) ? QUEUE_DROP : QUEUE_PASS;
}

static void
blame(struct worker_process *k, unsigned int queue,
    const struct window_packet *packet, char text[static WORKER_DEATH_TEXT])
{
	const uint16_t number = (uint16_t)(k->config->queue.number + queue);
	const enum queue_fate fate = worker_death_fate(k);
	int error = queue_release(k->queues[queue], number, packet->id, fate);
	char user[24];

	if (error < 0)
		log_warning("queue %u: no verdict for packet %u: %s", number,
		    packet->id, strerror(-error));
	keep(k, number, packet);
	user_text(user, packet->uid);
	(void)snprintf(text, WORKER_DEATH_TEXT, " while it handled packet %u of "
	    "queue %u, of %s, which %s", packet->id, number, user,
	    fate == QUEUE_DROP ? "is dropped" : "passes");
	atomic_fetch_add(&k->status->supervisor->poison_packets, 1);
}

/* Notes a user whose packets kill workers repeatedly. */
static void
accuse(struct worker_process *k, uid_t uid, monotime_t now)
{
	int64_t until_ms;
	char user[24];

	if (!suspects_offend(&k->suspects, uid, k->hangs == LIFE_LOOPS ?
	    SUSPECTS_HANG : SUSPECTS_CRASH, monotime_to_ms(now), &until_ms))
		return;
	user_text(user, uid);
	log_warning("packets of %s end workers repeatedly: all packets of this "
	    "user pass unread for %lld s", user,
	    (long long)(until_ms - monotime_to_ms(now)) / 1000);
}

/* Notes a nameserver whose replies do. */
static void
accuse_source(struct worker_process *k, const struct window_source *source,
    monotime_t now)
{
	char address[INET6_ADDRSTRLEN] = "?";
	int64_t until_ms;

	(void)inet_ntop((int)source->family, source->address, address,
	    sizeof(address));
	if (!suspects_offend(&k->sources, window_source_key(source),
	    SUSPECTS_REPLY, monotime_to_ms(now), &until_ms)) {
		log_warning("a reply of nameserver %s@%u ended the worker",
		    address, source->port & 0xffff);
		return;
	}
	log_warning("replies of nameserver %s@%u end workers repeatedly: nothing "
	    "is asked of it for %lld s; see forward.domains", address,
	    source->port & 0xffff,
	    (long long)(until_ms - monotime_to_ms(now)) / 1000);
}

/*
 * The nameserver whose reply the thread was at that has crashed or hung.  A probe's
 * reply has no packet.
 */
static bool
find_source(const struct worker_process *k, struct window_source *source)
{
	const uint32_t fault = atomic_load(&k->window->fault);

	for (unsigned int i = 0; i < config_queues(k->config); i++)
		if ((k->hangs != LIFE_MOVES ? i == k->hung : fault == i + 1) &&
		    window_read_source(&k->window->queues[i], source))
			return true;
	return false;
}

static enum status_death
cause_of(const struct worker_process *k, int wait_status, bool blamed)
{
	if (k->hangs != LIFE_MOVES)
		return STATUS_DEATH_HANG;
	if (WIFSIGNALED(wait_status) && WTERMSIG(wait_status) == SIGKILL &&
	    !k->killed)
		return STATUS_DEATH_KILLED;
	return blamed ? STATUS_DEATH_POISON : STATUS_DEATH_FAILED;
}

/* A packet can be to blame only for a crash or a hang. */
static bool
may_blame(const struct worker_process *k, int wait_status)
{
	return k->hangs != LIFE_MOVES ||
	    (WIFSIGNALED(wait_status) && WTERMSIG(wait_status) != SIGKILL);
}

void
worker_death_examine(struct worker_process *k, int wait_status,
    monotime_t now, struct life_end *end, char text[static WORKER_DEATH_TEXT])
{
	struct window_source source;
	struct window_packet packet;
	unsigned int blamed = 0;
	uid_t uid = (uid_t)-1;
	const bool reply = may_blame(k, wait_status) && find_source(k, &source);

	text[0] = '\0';
	for (unsigned int i = 0; may_blame(k, wait_status) &&
	    i < config_queues(k->config); i++) {
		if (!window_read(&k->window->queues[i], &packet) ||
		    !is_suspicious(k, i, &packet))
			continue;
		blame(k, i, &packet, text);
		uid = packet.uid;
		blamed++;
	}
	/*
	 * If several packets may be to blame, the user is not known.  And a
	 * worker may look blocked because another user's programs take all CPU.
	 */
	if (reply && k->hangs != LIFE_BLOCKED)
		accuse_source(k, &source, now);
	else if (blamed == 1 && k->hangs != LIFE_BLOCKED)
		accuse(k, uid, now);
	end->blamed = blamed > 0 || reply;
	end->cause = cause_of(k, wait_status, end->blamed);
	end->worked = worker_death_batches(k) != k->batches;
	end->exited = WIFEXITED(wait_status);
	atomic_fetch_add(&k->status->supervisor->deaths[end->cause], 1);
}

bool
worker_death_distrusts(struct worker_process *k, int wait_status,
    monotime_t now)
{
	const monotime_t before = k->crashed;

	/* SIGKILL is what people, the OOM killer and the supervisor send. */
	if (!WIFSIGNALED(wait_status) || WTERMSIG(wait_status) == SIGKILL)
		return false;
	k->crashed = now;
	return WTERMSIG(wait_status) == SIGSYS || (monotime_is_set(before) &&
	    monotime_ms_since(now, before) < WORKER_TERM_MS);
}

const char *
worker_death_text(int status)
{
	if (!WIFEXITED(status))
		return "";
	switch (WEXITSTATUS(status)) {
	case WORKER_NO_PRIVILEGE:
		return ": the kernel refuses its verdicts (CAP_NET_ADMIN)";
	case WORKER_BAD_IMAGE:
		return ": it cannot use the table image";
	default:
		return "";
	}
}

void
worker_death_tell(struct worker_process *k, int status, const char *packet,
    enum life_next next)
{
	char text[CHILD_TEXT];

	if (!may_talk(k)) {
		k->talk.unsaid++;
		return;
	}
	k->talk.said++;
	log_warning("the worker %s %s%s%s%s",
	    k->hangs != LIFE_MOVES ? "hung, ended with" : "ended with",
	    child_end_text(status, text), worker_death_text(status),
	    packet,
	    next == LIFE_OVER ? ""
	    : next == LIFE_ANOTHER
		? ": starting another"
		: worker_death_fate(k) == QUEUE_DROP
		? ": starting another, the packets that it held are dropped"
		: ": starting another, the packets that it held pass");
}

void
worker_death_tell_unsaid(struct worker_process *k, monotime_t now)
{
	if (monotime_ms_since(now, k->talk.begun) < TALK_MS)
		return;
	if (k->talk.unsaid > 0)
		log_warning("%u more workers ended within a second",
		    k->talk.unsaid);
	k->talk.begun = now;
	k->talk.said = k->talk.unsaid = 0;
}

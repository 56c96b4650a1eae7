/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Makes, copies, checks and writes the page. */
#include "policy/status/status.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "resolver/fds.h"

#define LAYOUT (((uint32_t)sizeof(struct status_worker) << 16 | \
	(uint32_t)REASONS << 8 | (uint32_t)VERDICTS) ^ \
	(uint32_t)sizeof(struct status_forwarding) ^ \
	(uint32_t)sizeof(struct status_policy) << 8 ^ \
	(uint32_t)sizeof(struct status_supervisor) << 4)

#define NO_PAGE ((struct status_page){ .hitters = HITTERS_NONE })

static_assert(sizeof(struct status_supervisor) <= 4096,
    "the supervisor's part has to fit the smallest page");
static_assert(sizeof(struct status_worker) < 65536, "see LAYOUT");
static_assert(sizeof(struct status_worker) % 64 == 0 &&
    sizeof(struct status_forwarding) % 8 == 0, "what follows is aligned");

static size_t
page_size(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

/*
 * Size of the file: a page for the supervisor, then slots, forwarding and the
 * policy.
 */
static size_t
size_for(size_t workers)
{
	size_t page = page_size(), slots = workers *
	    sizeof(struct status_worker) + sizeof(struct status_forwarding) +
	    sizeof(struct status_policy);

	return page + (slots + page - 1) / page * page;
}

static void
set_pointers(struct status_page *page, void *base, size_t workers)
{
	page->supervisor = base;
	page->workers = (void *)((char *)base + page_size());
	page->worker_slots = workers;
	page->forwarding = (void *)(page->workers + workers);
	page->policy = (void *)(page->forwarding + 1);
	page->size = size_for(workers);
}

int
status_create(struct status_page *page, unsigned int workers)
{
	const size_t size = size_for(workers);
	void *base;
	int error;

	assert(workers >= 1 && workers <= STATUS_MAX_SLOTS);
	*page = NO_PAGE;
	base = mmap(NULL, size, PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (base == MAP_FAILED)
		return -errno;
	set_pointers(page, base, workers);
	error = hitters_create(&page->hitters, workers);
	if (error < 0) {
		status_close(page);
		return error;
	}
	page->supervisor->size = (uint32_t)size;
	page->supervisor->workers = workers;
	page->supervisor->layout = LAYOUT;
	atomic_store(&page->supervisor->pid, (int32_t)getpid());
	atomic_store(&page->supervisor->started, (uint64_t)time(NULL));
	atomic_store(&page->supervisor->magic, STATUS_MAGIC);
	return 0;
}

int
status_copy(const struct status_page *page)
{
	return fds_sealed("nfdns-status", page->supervisor, page->size);
}

/* Trusts nothing in the copy.  The number of slots, or -EPROTO. */
static int
check_page(const struct status_supervisor *s, size_t size)
{
	if (atomic_load(&s->magic) != STATUS_MAGIC || s->layout != LAYOUT ||
	    s->workers < 1 || s->workers > STATUS_MAX_SLOTS ||
	    s->size != size || size_for(s->workers) != size)
		return -EPROTO;
	return (int)s->workers;
}

/* The file may have become shorter: -EPROTO. */
static int
read_at(int fd, void *to, size_t size, size_t from)
{
	size_t done = 0;
	ssize_t n;

	while (done < size) {
		n = pread(fd, (char *)to + done, size - done,
		    (off_t)(from + done));
		if (n < 0 && errno != EINTR)
			return -errno;
		if (n == 0)
			return -EPROTO;
		done += n > 0 ? (size_t)n : 0;
	}
	return 0;
}

/* The number of slots that the file has, by its first octets. */
static int
read_slots(int fd)
{
	struct status_supervisor s;
	struct stat st;
	int error;

	if (fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode) || st.st_size < (off_t)size_for(1) ||
	    st.st_size > (off_t)size_for(STATUS_MAX_SLOTS))
		return -EPROTO;
	error = read_at(fd, &s, sizeof(s), 0);
	return error < 0 ? error : check_page(&s, (size_t)st.st_size);
}

/* It may be another user's, who cuts it off: no mapping of it. */
int
status_open(struct status_page *page, int fd)
{
	const int slots = read_slots(fd);
	const size_t size = slots < 0 ? 0 : size_for((size_t)slots);
	void *base;
	int error;

	*page = NO_PAGE;
	if (slots < 0)
		return slots;
	base = mmap(NULL, size, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (base == MAP_FAILED)
		return -errno;
	error = read_at(fd, base, size, 0);
	if (error == 0 && check_page(base, size) != slots)
		error = -EPROTO;
	if (error < 0)
		munmap(base, size);
	else
		set_pointers(page, base, (size_t)slots);
	return error;
}

void
status_forget_supervisor(struct status_page *page)
{
	if (page->supervisor == NULL)
		return;
	munmap(page->supervisor, page_size());
	page->supervisor = NULL;
	if (page->hitters.fd >= 0)
		close(page->hitters.fd);
	page->hitters.fd = -1;
}

void
status_close(struct status_page *page)
{
	void *workers = page->workers;

	status_forget_supervisor(page);
	if (workers != NULL)
		munmap(workers, page->size - page_size());
	hitters_close(&page->hitters);
	*page = NO_PAGE;
}

static void
copy_text(char to[static STATUS_TEXT], const char *from)
{
	size_t n = strnlen(from, STATUS_TEXT - 1);

	memcpy(to, from, n);
	memset(to + n, 0, STATUS_TEXT - n);
}

void
status_reload_end(struct status_page *page, const char *error)
{
	struct status_supervisor *s = page->supervisor;

	s->reload_ok = error == NULL;
	s->reload_time = (uint64_t)time(NULL);
	copy_text(s->reload_error, error != NULL ? error : "");
	atomic_fetch_add(&s->reloads, 1);
}

void
status_set_state(struct status_page *page, enum status_state state,
    const char *why)
{
	copy_text(page->supervisor->degraded, why != NULL ? why : "");
	atomic_store(&page->supervisor->state, (uint32_t)state);
}

void
status_reload_error(const struct status_page *page, bool *ok,
    char text[static STATUS_TEXT])
{
	const struct status_supervisor *s = page->supervisor;

	*ok = atomic_load(&s->reloads) == 0 || s->reload_ok != 0;
	copy_text(text, s->reload_error);
}

void
status_degraded(const struct status_page *page, char text[static STATUS_TEXT])
{
	copy_text(text, page->supervisor->degraded);
}

/* Sums over the slots of the page. */

static const struct {
	uint16_t type;
	const char *text;
} types[ASKED_TYPES] = {
	[ASKED_OTHER] = { 0, "other" },
	[ASKED_A] = { TYPE_A, "A" },
	[ASKED_AAAA] = { TYPE_AAAA, "AAAA" },
	[ASKED_CNAME] = { TYPE_CNAME, "CNAME" },
	[ASKED_HTTPS] = { TYPE_HTTPS, "HTTPS" },
	[ASKED_MX] = { TYPE_MX, "MX" },
	[ASKED_NS] = { TYPE_NS, "NS" },
	[ASKED_PTR] = { TYPE_PTR, "PTR" },
	[ASKED_SOA] = { TYPE_SOA, "SOA" },
	[ASKED_SRV] = { TYPE_SRV, "SRV" },
	[ASKED_SVCB] = { TYPE_SVCB, "SVCB" },
	[ASKED_TXT] = { TYPE_TXT, "TXT" },
};

enum status_type
status_type_of(uint16_t type)
{
	/* All of them are small: one load. */
	static const uint8_t places[TYPE_HTTPS + 1] = {
		[TYPE_A] = ASKED_A, [TYPE_AAAA] = ASKED_AAAA,
		[TYPE_CNAME] = ASKED_CNAME, [TYPE_HTTPS] = ASKED_HTTPS,
		[TYPE_MX] = ASKED_MX, [TYPE_NS] = ASKED_NS,
		[TYPE_PTR] = ASKED_PTR, [TYPE_SOA] = ASKED_SOA,
		[TYPE_SRV] = ASKED_SRV, [TYPE_SVCB] = ASKED_SVCB,
		[TYPE_TXT] = ASKED_TXT,
	};

	return type <= TYPE_HTTPS ? (enum status_type)places[type] :
	    ASKED_OTHER;
}

const char *
status_type_text(enum status_type type)
{
	return types[type].text;
}

static void
add_asked(struct status_counters *sum, const struct status_worker *w)
{
	const bool stream = atomic_load_explicit(&w->is_stream,
	    memory_order_relaxed) != 0;

	for (size_t f = 0; f < ASKED_FAMILIES; f++)
		for (size_t t = 0; t < ASKED_TYPES; t++)
			sum->asked[stream][f][t] += atomic_load_explicit(
			    &w->asked[f][t], memory_order_relaxed);
	for (size_t i = 0; i < STATUS_RCODES; i++) {
		sum->refusals[i] += atomic_load_explicit(&w->refusals[i],
		    memory_order_relaxed);
		sum->forwarded_rcodes[i] += atomic_load_explicit(
		    &w->forwarded_rcodes[i], memory_order_relaxed);
	}
	for (size_t i = 0; i < STATUS_SPENT; i++)
		sum->spent[i] += atomic_load_explicit(&w->spent[i],
		    memory_order_relaxed);
	sum->spent_ns += atomic_load_explicit(&w->spent_ns,
	    memory_order_relaxed);
	if (stream)
		sum->received_tcp += atomic_load_explicit(&w->received,
		    memory_order_relaxed);
}

/* A hostile worker may write anything into a slot; sums may wrap. */
static void
add_slot(struct status_counters *sum, const struct status_worker *w,
    uint64_t *gaps)
{
#define LOAD(field) atomic_load_explicit(&w->field, memory_order_relaxed)
	uint64_t generation = LOAD(table_generation);

	sum->received += LOAD(received);
	sum->streams += LOAD(streams);
	for (size_t i = 0; i < STREAM_COUNTERS; i++)
		sum->stream[i] += LOAD(stream[i]);
	for (size_t i = 0; i < FORWARD_COUNTERS; i++)
		sum->forward[i] += LOAD(forward[i]);
	sum->cached += LOAD(reasons[REASON_CACHE]);
	sum->forwarded += LOAD(verdicts[VERDICT_FORWARD]);
	sum->malformed += LOAD(malformed);
	sum->answered += LOAD(verdicts[VERDICT_ANSWER]) +
	    LOAD(verdicts[VERDICT_NODATA]) + LOAD(verdicts[VERDICT_NXDOMAIN]);
	sum->passed += LOAD(verdicts[VERDICT_PASS]);
	sum->refused += LOAD(verdicts[VERDICT_REFUSE]);
	sum->dropped += LOAD(verdicts[VERDICT_DROP]);
	sum->canaries += LOAD(canaries);
	sum->verdict_errors += LOAD(verdict_errors);
	sum->audit_lost += LOAD(audit_lost);
	sum->recorded += LOAD(recorded);
	for (size_t i = 0; i < VERDICTS; i++)
		sum->verdicts[i] += LOAD(verdicts[i]);
	for (size_t i = 0; i < REASONS; i++)
		sum->reasons[i] += LOAD(reasons[i]);
	*gaps += LOAD(id_gaps);
	if (LOAD(thread) != 0 && generation < sum->oldest_generation)
		sum->oldest_generation = generation;
#undef LOAD
}

void
status_counters(const struct status_page *page, struct status_counters *sum)
{
	const struct status_supervisor *s = page->supervisor;
	uint64_t packets, seen, gaps = 0;

	memset(sum, 0, sizeof(*sum));
	sum->oldest_generation = UINT64_MAX;
	/* Read before the slots, so a new packet does not count as "unseen". */
	packets = atomic_load(&s->rule_packets);
	for (size_t i = 0; i < page->worker_slots; i++) {
		add_slot(sum, &page->workers[i], &gaps);
		add_asked(sum, &page->workers[i]);
	}
	/* Over TCP, connections come through the queue, questions do not. */
	seen = sum->received - sum->stream[STREAM_QUESTIONS] + sum->streams;
	sum->unseen = packets > seen ? packets - seen : 0;
	sum->queue_dropped = atomic_load(&s->queue_dropped);
	if (gaps > sum->queue_dropped)
		sum->queue_dropped = gaps;
}

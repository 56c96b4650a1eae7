/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The memory file, its lock, and what answering threads do with it. */
#include "policy/status/hitters.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#define SLOTS_MAX	1024		/* that a reader believes */
#define SEALS		(F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)
#define WINDOW_NS	((int64_t)HITTERS_WINDOW_S * 1000000000)

static size_t
size_for(size_t slots)
{
	return sizeof(struct hitters_page) +
	    slots * sizeof(struct hitters_slot);
}

static int
make_file(struct hitters *h, unsigned int slots)
{
	uint64_t secret;

	h->size = size_for(slots);
	h->fd = memfd_create("nfdns-hitters", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (h->fd < 0 || ftruncate(h->fd, (off_t)h->size) < 0 ||
	    fcntl(h->fd, F_ADD_SEALS, SEALS) < 0 ||
	    getrandom(&secret, sizeof(secret), 0) != (ssize_t)sizeof(secret))
		return -errno;
	h->page = mmap(NULL, h->size, PROT_READ | PROT_WRITE, MAP_SHARED,
	    h->fd, 0);
	if (h->page == MAP_FAILED) {
		h->page = NULL;
		return -errno;
	}
	h->page->secret = secret;
	h->page->slots = slots;
	return 0;
}

int
hitters_create(struct hitters *h, unsigned int slots)
{
	int error;

	*h = HITTERS_NONE;
	error = make_file(h, slots);
	if (error < 0)
		hitters_close(h);
	return error;
}

void
hitters_look(const struct hitters *h, monotime_t now)
{
	/* A write lock would meet the read locks of those who watch. */
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

	if (h->page == NULL)
		return;
	if (fcntl(h->fd, F_OFD_GETLK, &lock) < 0 || lock.l_type == F_UNLCK)
		atomic_store(&h->page->since, 0);
	else if (atomic_load(&h->page->since) == 0)
		atomic_store(&h->page->since, now.ns);
}

/* A file that cannot shrink: no process can take its memory away. */
static int
map_file(struct hitters *h)
{
	const int seals = fcntl(h->fd, F_GET_SEALS);
	struct flock lock = { .l_type = F_RDLCK, .l_whence = SEEK_SET };
	struct stat st;

	if (seals < 0 || (seals & F_SEAL_SHRINK) == 0 ||
	    fstat(h->fd, &st) < 0 || st.st_size < (off_t)size_for(1) ||
	    st.st_size > (off_t)size_for(SLOTS_MAX))
		return -EPROTO;
	h->size = (size_t)st.st_size;
	h->page = mmap(NULL, h->size, PROT_READ, MAP_SHARED, h->fd, 0);
	if (h->page == MAP_FAILED) {
		h->page = NULL;
		return -errno;
	}
	if (size_for(h->page->slots) != h->size)
		return -EPROTO;
	return fcntl(h->fd, F_OFD_SETLK, &lock) < 0 ? -errno : 0;
}

int
hitters_watch(struct hitters *h, int fd)
{
	int error;

	*h = HITTERS_NONE;
	h->fd = fd;
	error = map_file(h);
	if (error < 0)
		hitters_close(h);
	return error;
}

void
hitters_close(struct hitters *h)
{
	if (h->page != NULL)
		(void)munmap(h->page, h->size);
	if (h->fd >= 0)
		(void)close(h->fd);
	*h = HITTERS_NONE;
}

/* Readers leave a bank alone whose "since" is not the page's. */
static void
renew(struct hitters_bank *bank, int64_t since, int64_t window)
{
	atomic_store(&bank->since, 0);
	for (size_t kind = 0; kind < HITTERS_KINDS; kind++)
		hitters_clear(&bank->tables[kind]);
	atomic_store(&bank->window, window);
	atomic_store(&bank->since, since);
}

struct hitters_bank *
hitters_begin(struct hitters_page *page, unsigned int slot, monotime_t now)
{
	const int64_t since = atomic_load_explicit(&page->since,
	    memory_order_relaxed);
	const int64_t window = now.ns / WINDOW_NS;
	struct hitters_bank *bank;

	if (since == 0)
		return NULL;
	bank = &page->slot[slot].banks[window % 2];
	if (atomic_load_explicit(&bank->since, memory_order_relaxed) != since ||
	    atomic_load_explicit(&bank->window, memory_order_relaxed) != window)
		renew(bank, since, window);
	return bank;
}

void
hitters_question(struct hitters_bank *bank, uint64_t secret,
    const struct question *q, const struct asker *asker)
{
	struct in6_addr client = { .s6_addr = { [10] = 0xff, [11] = 0xff } };

	if (q->form == QUESTION_PLAIN)
		hitters_count(&bank->tables[HITTERS_NAMES], secret,
		    q->name.octets, q->name.length);
	if (asker->device == 0) {
		hitters_count(&bank->tables[HITTERS_USERS], secret,
		    (const uint8_t *)&asker->uid, sizeof(asker->uid));
		return;
	}
	if (asker->family == AF_INET)
		memcpy(&client.s6_addr[12], asker->address, 4);
	else
		memcpy(&client, asker->address, sizeof(client));
	hitters_count(&bank->tables[HITTERS_USERS], secret, client.s6_addr,
	    sizeof(client));
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "policy/status/hitters.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <xxhash.h>

#define COUNT_MASK	((UINT64_C(1) << 48) - 1)
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
map(struct hitters *h, int protection)
{
	h->page = mmap(NULL, h->size, protection, MAP_SHARED, h->fd, 0);
	if (h->page != MAP_FAILED)
		return 0;
	h->page = NULL;
	return -errno;
}

int
hitters_create(struct hitters *h, unsigned int slots)
{
	uint64_t secret = 0;
	int error;

	*h = HITTERS_NONE;
	h->size = size_for(slots);
	h->fd = memfd_create("nfdns-hitters", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (h->fd < 0 || ftruncate(h->fd, (off_t)h->size) < 0 ||
	    fcntl(h->fd, F_ADD_SEALS, SEALS) < 0 ||
	    getrandom(&secret, sizeof(secret), 0) != (ssize_t)sizeof(secret))
		error = -errno;
	else
		error = map(h, PROT_READ | PROT_WRITE);
	if (h->page == NULL) {
		hitters_close(h);
		return error;
	}
	h->page->secret = secret;
	h->page->slots = slots;
	return 0;
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
	int error;

	if (seals < 0 || (seals & F_SEAL_SHRINK) == 0 ||
	    fstat(h->fd, &st) < 0 || st.st_size < (off_t)size_for(1) ||
	    st.st_size > (off_t)size_for(SLOTS_MAX))
		return -EPROTO;
	h->size = (size_t)st.st_size;
	error = map(h, PROT_READ);
	if (h->page != NULL && size_for(h->page->slots) != h->size)
		error = -EPROTO;
	return error < 0 ? error :
	    fcntl(h->fd, F_OFD_SETLK, &lock) < 0 ? -errno : 0;
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

static uint64_t
load(const _Atomic uint64_t *value)
{
	return atomic_load_explicit(value, memory_order_relaxed);
}

static void
store(_Atomic uint64_t *value, uint64_t to)
{
	atomic_store_explicit(value, to, memory_order_relaxed);
}

/* Readers leave a bank alone whose "since" is not the page's. */
static void
renew(struct hitters_bank *bank, int64_t since, int64_t window)
{
	atomic_store(&bank->since, 0);
	for (size_t kind = 0; kind < HITTERS_KINDS; kind++)
		for (size_t i = 0; i < HITTERS_SETS * HITTERS_WAYS; i++)
			store(&bank->tables[kind].counts[i / HITTERS_WAYS]
			    [i % HITTERS_WAYS], 0);
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

static void
count(struct hitters_table *t, uint64_t secret, const void *octets,
    size_t length)
{
	const uint64_t hash = XXH3_64bits_withSeed(octets, length, secret);
	const unsigned int set = (unsigned int)(hash % HITTERS_SETS);
	unsigned int smallest = 0;
	struct hitters_key *key;
	uint64_t error;

	for (unsigned int way = 0; way < HITTERS_WAYS; way++) {
		const uint64_t n = load(&t->counts[set][way]);

		key = &t->keys[set][way];
		/* Equal hashes of different keys can be found by trying. */
		if (n != 0 && load(&t->hashes[set][way]) == hash &&
		    key->length == length &&
		    memcmp(key->octets, octets, length) == 0) {
			store(&t->counts[set][way], n + 1);
			return;
		}
		if (n < load(&t->counts[set][smallest]))
			smallest = way;
	}
	key = &t->keys[set][smallest];
	error = load(&t->counts[set][smallest]);
	store(&t->hashes[set][smallest], hash);
	key->length = (uint8_t)length;
	memcpy(key->octets, octets, length);
	store(&t->errors[set][smallest], error);
	store(&t->counts[set][smallest], error + 1);
}

void
hitters_question(struct hitters_bank *bank, uint64_t secret,
    const struct question *q, const struct asker *asker)
{
	struct in6_addr client = { .s6_addr = { [10] = 0xff, [11] = 0xff } };
	struct hitters_table *users = &bank->tables[HITTERS_USERS];

	if (q->form == QUESTION_PLAIN)
		count(&bank->tables[HITTERS_NAMES], secret, q->name.octets,
		    q->name.length);
	if (asker->device == 0) {
		count(users, secret, &asker->uid, sizeof(asker->uid));
		return;
	}
	if (asker->family == AF_INET)
		memcpy(&client.s6_addr[12], asker->address, 4);
	else
		memcpy(&client, asker->address, sizeof(client));
	count(users, secret, &client, sizeof(client));
}

/* False: the octets are no key of that kind. */
static bool
take_key(struct hitter *hitter, const struct hitters_key *key,
    enum hitters_kind kind)
{
	if (kind == HITTERS_NAMES)
		return name_read_lower(&hitter->name, key->octets,
		    key->length) == 0;
	hitter->uid = (uid_t)-1;
	if (key->length == sizeof(hitter->client))
		memcpy(&hitter->client, key->octets, sizeof(hitter->client));
	else if (key->length == sizeof(hitter->uid))
		memcpy(&hitter->uid, key->octets, sizeof(hitter->uid));
	else
		return false;
	return true;
}

/*
 * Adds what a table keeps.  A key that is not what its hash says is only half
 * written, or a worker lies.
 */
static void
read_table(struct hitters_list *list, const struct hitters_table *t,
    uint64_t secret, enum hitters_kind kind)
{
	for (size_t i = 0; i < HITTERS_SETS * HITTERS_WAYS; i++) {
		const size_t set = i / HITTERS_WAYS, way = i % HITTERS_WAYS;
		const uint64_t hash = load(&t->hashes[set][way]);
		const uint64_t n = load(&t->counts[set][way]) & COUNT_MASK;
		const uint64_t error = load(&t->errors[set][way]) & COUNT_MASK;
		const struct hitters_key key = t->keys[set][way];
		struct hitter *hitter = &list->list[list->count];

		*hitter = (struct hitter){ .count = n > error ? n - error : 0 };
		list->total += n;
		list->count += n != 0 && XXH3_64bits_withSeed(key.octets,
		    key.length, secret) == hash && take_key(hitter, &key, kind);
	}
}

static int
compare_keys(const void *left, const void *right)
{
	const struct hitter *a = left, *b = right;

	if (a->name.length != b->name.length)
		return a->name.length < b->name.length ? -1 : 1;
	if (a->uid != b->uid)
		return a->uid < b->uid ? -1 : 1;
	return a->name.length > 0 ? memcmp(a->name.octets, b->name.octets,
	    a->name.length) : memcmp(&a->client, &b->client, sizeof(a->client));
}

static int
compare_counts(const void *left, const void *right)
{
	const struct hitter *a = left, *b = right;

	if (a->count != b->count)
		return a->count > b->count ? -1 : 1;
	return compare_keys(left, right);
}

int
hitters_list_read(struct hitters_list *list, const struct hitters *h,
    enum hitters_kind kind, monotime_t now)
{
	const int64_t since = h->page == NULL ? 0 :
	    atomic_load(&h->page->since);
	const int64_t window = now.ns / WINDOW_NS;
	int64_t begin = (window - 1) * WINDOW_NS;
	size_t banks;
	size_t kept = 0;

	*list = (struct hitters_list){ .list = NULL };
	if (since == 0 || since > now.ns)
		return 0;
	if (begin < since)
		begin = since;
	list->covered_ns = now.ns - begin;
	/* The number of slots was checked against the size when it was mapped. */
	banks = (h->size - sizeof(*h->page)) / sizeof(struct hitters_bank);
	list->list = calloc(banks * HITTERS_SETS * HITTERS_WAYS + 1,
	    sizeof(*list->list));
	if (list->list == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < banks; i++) {
		const struct hitters_bank *bank =
		    &h->page->slot[i / 2].banks[i % 2];
		const int64_t number = atomic_load(&bank->window);

		if (atomic_load(&bank->since) == since &&
		    (number == window || number == window - 1))
			read_table(list, &bank->tables[kind], h->page->secret,
			    kind);
	}
	/* One of each key. */
	qsort(list->list, list->count, sizeof(*list->list), compare_keys);
	for (size_t i = 0; i < list->count; i++)
		if (kept > 0 && compare_keys(&list->list[kept - 1],
		    &list->list[i]) == 0)
			list->list[kept - 1].count += list->list[i].count;
		else
			list->list[kept++] = list->list[i];
	list->count = kept;
	qsort(list->list, list->count, sizeof(*list->list), compare_counts);
	return 0;
}

void
hitters_list_free(struct hitters_list *list)
{
	free(list->list);
	*list = (struct hitters_list){ .list = NULL };
}

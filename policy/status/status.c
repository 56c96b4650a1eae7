/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Creates, reads, checks and writes the page. */
#include "policy/status/status.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "resolver/replace.h"

#define READS_MAX	100		/* for a copy whose texts are whole */

#define LAYOUT (((uint32_t)sizeof(struct status_worker) << 16 | \
	(uint32_t)REASONS << 8 | (uint32_t)VERDICTS) ^ \
	(uint32_t)sizeof(struct status_forwarding) ^ \
	(uint32_t)sizeof(struct status_policy) << 8 ^ \
	(uint32_t)sizeof(struct status_supervisor) << 4)

#define NO_PAGE ((struct status_page){ .fd = -1, .hitters = HITTERS_NONE })

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

static int
path_of(char path[static PATH_MAX], const char *run_dir)
{
	int n = snprintf(path, PATH_MAX, "%s/" STATUS_FILE, run_dir);

	return n < 0 || n >= PATH_MAX ? -ENAMETOOLONG : 0;
}

/*
 * Only the daemon can open the file for writing, so only the daemon can hold a
 * write lock; the test is not disturbed by read locks, which anybody may take.
 */
static bool
is_locked(int fd)
{
	struct flock lock = { .l_type = F_RDLCK, .l_whence = SEEK_SET };

	return fcntl(fd, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

static bool
daemon_lives(int fd, int32_t pid)
{
	return pid > 0 && (kill(pid, 0) == 0 || errno == EPERM) &&
	    is_locked(fd);
}

static void
set_pointers(struct status_page *page, void *base, size_t workers, int fd)
{
	page->supervisor = base;
	page->workers = (void *)((char *)base + page_size());
	page->worker_slots = workers;
	page->forwarding = (void *)(page->workers + workers);
	page->policy = (void *)(page->forwarding + 1);
	page->size = size_for(workers);
	page->fd = fd;
}

static int
check_nobody_has(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	bool locked;

	if (fd < 0)
		return errno == ENOENT ? 0 : -errno;
	locked = is_locked(fd);
	close(fd);
	return locked ? -EBUSY : 0;
}

/*
 * Fills in the new file.  "lock" is a second description of the file and
 * becomes the page's.  A mapping keeps its own description, and that one's
 * locks, as long as any process has the mapping; the worker has it, too.
 */
static int
make_file(struct status_page *page, int fd, int lock, unsigned int workers)
{
	struct flock all = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	size_t size = size_for(workers);
	int error;
	void *base;

	if (lock < 0)
		return -errno;
	/* Allocates now: a full file system must not mean SIGBUS later. */
	error = posix_fallocate(fd, 0, (off_t)size);
	if (error != 0)
		return -error;
	if (fcntl(lock, F_OFD_SETLK, &all) < 0)
		return -errno;
	base = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (base == MAP_FAILED)
		return -errno;
	set_pointers(page, base, workers, lock);
	error = hitters_create(&page->hitters, workers);
	if (error < 0)
		return error;
	page->supervisor->hitters_fd = page->hitters.fd;
	page->supervisor->size = (uint32_t)size;
	page->supervisor->workers = workers;
	page->supervisor->layout = LAYOUT;
	atomic_store(&page->supervisor->pid, (int32_t)getpid());
	atomic_store(&page->supervisor->started, (uint64_t)time(NULL));
	atomic_store(&page->supervisor->magic, STATUS_MAGIC);
	return 0;
}

int
status_create(struct status_page *page, const char *run_dir,
    unsigned int workers)
{
	char path[PATH_MAX];
	struct replace file;
	int error, lock;

	assert(workers >= 1 && workers <= STATUS_MAX_SLOTS);
	*page = NO_PAGE;
	error = path_of(path, run_dir);
	if (error == 0)
		error = check_nobody_has(path);
	if (error == 0)
		error = replace_begin(&file, AT_FDCWD, path, 0644);
	if (error != 0)
		return error;
	lock = open(file.fresh, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
	error = replace_end(&file, REPLACE_QUICKLY,
	    make_file(page, file.fd, lock, workers));
	if (error < 0) {
		if (page->supervisor != NULL)
			status_close(page);
		else if (lock >= 0)
			close(lock);
	}
	return error;
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

/* They grow when the page's texts change. */
struct sequences {
	uint32_t reload, degraded, forwarding;
};

static int
read_sequences(const struct status_page *page, struct sequences *now)
{
	const struct status_supervisor *s = page->supervisor;
	const struct {
		const void *at;
		uint32_t *to;
	} words[] = {
		{ &s->reload_sequence, &now->reload },
		{ &s->degraded_sequence, &now->degraded },
		{ &page->forwarding->sequence, &now->forwarding },
	};
	int error = 0;

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]) && error == 0;
	    i++)
		error = read_at(page->fd, words[i].to, sizeof(*words[i].to),
		    (size_t)((const char *)words[i].at - (const char *)s));
	return error;
}

int
status_refresh(struct status_page *page)
{
	struct sequences before, after;
	int error, slots;

	error = read_sequences(page, &before);
	for (int i = 0; i < READS_MAX && error == 0; i++) {
		error = read_at(page->fd, page->supervisor, page->size, 0);
		if (error == 0)
			error = read_sequences(page, &after);
		if (error < 0 || memcmp(&before, &after, sizeof(after)) == 0)
			break;
		before = after;
	}
	if (error < 0)
		return error;
	slots = check_page(page->supervisor, page->size);
	return slots == (int)page->worker_slots ? 0 : -EPROTO;
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

/*
 * A copy, and no mapping of the file: whoever may write it may cut it off, and
 * then a reader would die of SIGBUS.
 */
static int
copy_existing(struct status_page *page, int fd)
{
	const int slots = read_slots(fd);
	const size_t size = slots < 0 ? 0 : size_for((size_t)slots);
	void *base;
	int error;

	if (slots < 0)
		return slots;
	base = mmap(NULL, size, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (base == MAP_FAILED)
		return -errno;
	set_pointers(page, base, (size_t)slots, fd);
	error = status_refresh(page);
	if (error == 0 &&
	    !daemon_lives(fd, atomic_load(&page->supervisor->pid)))
		error = -ESRCH;
	if (error < 0)
		munmap(base, size);
	return error;
}

int
status_open(struct status_page *page, const char *run_dir)
{
	char path[PATH_MAX];
	int error = path_of(path, run_dir), fd;

	*page = NO_PAGE;
	if (error < 0)
		return error;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0)
		return errno == ELOOP ? -EPROTO : -errno;
	error = copy_existing(page, fd);
	if (error < 0) {
		*page = NO_PAGE;
		(void)close(fd);
	}
	return error;
}

void
status_forget_supervisor(struct status_page *page)
{
	if (page->supervisor == NULL)
		return;
	munmap(page->supervisor, page_size());
	page->supervisor = NULL;
	close(page->fd);
	page->fd = -1;
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

bool
status_lives(const struct status_page *page)
{
	return daemon_lives(page->fd, atomic_load(&page->supervisor->pid));
}

void
status_remove(struct status_page *page, const char *run_dir)
{
	char path[PATH_MAX];

	if (path_of(path, run_dir) == 0)
		unlink(path);
	status_close(page);
}

static void
copy_text(char to[static STATUS_TEXT], const char *from)
{
	size_t n = strnlen(from, STATUS_TEXT - 1);

	memcpy(to, from, n);
	memset(to + n, 0, STATUS_TEXT - n);
}

void
status_reload_begin(struct status_page *page)
{
	struct status_supervisor *s = page->supervisor;

	/* Odd; a second begin without an end changes nothing. */
	atomic_fetch_or(&s->reload_sequence, 1);
	atomic_thread_fence(memory_order_seq_cst);
}

void
status_reload_end(struct status_page *page, const char *error)
{
	struct status_supervisor *s = page->supervisor;

	status_reload_begin(page);
	s->reload_ok = error == NULL;
	s->reload_time = (uint64_t)time(NULL);
	copy_text(s->reload_error, error != NULL ? error : "");
	atomic_fetch_add(&s->reload_sequence, 1);
}

void
status_set_state(struct status_page *page, enum status_state state,
    const char *why)
{
	struct status_supervisor *s = page->supervisor;

	atomic_fetch_or(&s->degraded_sequence, 1);
	atomic_thread_fence(memory_order_seq_cst);
	copy_text(s->degraded, why != NULL ? why : "");
	atomic_fetch_add(&s->degraded_sequence, 1);
	atomic_store(&s->state, (uint32_t)state);
}

void
status_reload_error(const struct status_page *page, bool *ok,
    char text[static STATUS_TEXT])
{
	const struct status_supervisor *s = page->supervisor;
	uint32_t before;

	/* Limited: a writer that died halfway must not block the reader. */
	for (int i = 0; i < 1000; i++) {
		before = atomic_load(&s->reload_sequence);
		*ok = before < 2 || s->reload_ok != 0;
		copy_text(text, s->reload_error);
		atomic_thread_fence(memory_order_seq_cst);
		if ((before & 1) == 0 &&
		    atomic_load(&s->reload_sequence) == before)
			return;
	}
}

void
status_degraded(const struct status_page *page, char text[static STATUS_TEXT])
{
	const struct status_supervisor *s = page->supervisor;
	uint32_t before;

	for (int i = 0; i < 1000; i++) {
		before = atomic_load(&s->degraded_sequence);
		copy_text(text, s->degraded);
		atomic_thread_fence(memory_order_seq_cst);
		if ((before & 1) == 0 &&
		    atomic_load(&s->degraded_sequence) == before)
			return;
	}
}

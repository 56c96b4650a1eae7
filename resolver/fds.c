/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolver/fds.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#define SEALS	(F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)

void
fds_attach(struct msghdr *message, union fds_ancillary *ancillary,
    const int *fds, size_t count)
{
	struct cmsghdr *item = &ancillary->align;

	assert(count <= FDS_MAX);
	if (count == 0)
		return;
	memset(ancillary, 0, sizeof(*ancillary));
	message->msg_control = ancillary->octets;
	message->msg_controllen = CMSG_SPACE(sizeof(int) * count);
	item->cmsg_level = SOL_SOCKET;
	item->cmsg_type = SCM_RIGHTS;
	item->cmsg_len = CMSG_LEN(sizeof(int) * count);
	memcpy(CMSG_DATA(item), fds, sizeof(int) * count);
}

void
fds_expect(struct msghdr *message, union fds_ancillary *ancillary, size_t count)
{
	assert(count <= FDS_MAX);
	memset(ancillary, 0, sizeof(*ancillary));
	message->msg_control = ancillary->octets;
	message->msg_controllen = CMSG_SPACE(sizeof(int) * count);
}

size_t
fds_take(struct msghdr *message, int *fds, size_t room)
{
	size_t came = 0;

	for (struct cmsghdr *item = CMSG_FIRSTHDR(message); item != NULL;
	    item = CMSG_NXTHDR(message, item)) {
		size_t count;

		if (item->cmsg_level != SOL_SOCKET ||
		    item->cmsg_type != SCM_RIGHTS)
			continue;
		count = (item->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		for (size_t i = 0; i < count; i++, came++) {
			int fd;

			memcpy(&fd, CMSG_DATA(item) + i * sizeof(fd),
			    sizeof(fd));
			if (came < room)
				fds[came] = fd;
			else
				(void)close(fd);
		}
	}
	return came;
}

int
fds_write_all(int fd, struct iovec *parts, size_t count)
{
	while (count > 0) {
		ssize_t n = writev(fd, parts, (int)count);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		while (count > 0 && (size_t)n >= parts->iov_len) {
			n -= (ssize_t)parts->iov_len;
			parts++;
			count--;
		}
		if (count > 0) {
			parts->iov_base = (char *)parts->iov_base + n;
			parts->iov_len -= (size_t)n;
		}
	}
	return 0;
}

int
fds_read_all(int fd, void *octets, size_t size, size_t *length)
{
	*length = 0;
	while (*length < size) {
		const ssize_t n = read(fd, (uint8_t *)octets + *length,
		    size - *length);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			break;
		*length += (size_t)n;
	}
	return 0;
}

int
fds_copy(int to, int from)
{
	struct stat st;
	off_t done = 0;

	if (fstat(from, &st) != 0)
		return -errno;
	while (done < st.st_size) {
		const size_t left = (size_t)(st.st_size - done);
		const ssize_t n = sendfile(to, from, &done, left);

		if (n < 0 && errno != EINTR)
			return -errno;
		if (n == 0)
			return -EIO;
	}
	return 0;
}

int
fds_seal(int fd)
{
	return fcntl(fd, F_ADD_SEALS, SEALS) < 0 ? -errno : 0;
}

bool
fds_is_sealed(int fd)
{
	const int seals = fcntl(fd, F_GET_SEALS);

	return seals >= 0 && (seals & SEALS) == SEALS;
}

int
fds_sealed(const char *name, const void *octets, size_t length)
{
	const int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
	struct iovec part = { (void *)(uintptr_t)octets, length };
	int error = fd < 0 ? -errno : fds_write_all(fd, &part, 1);

	if (error == 0)
		error = fds_seal(fd);
	if (error == 0)
		return fd;
	if (fd >= 0)
		(void)close(fd);
	return error;
}

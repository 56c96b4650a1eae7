/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolver/sources/source_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "resolver/text/utf8.h"
#include "resolver/fds.h"

int
source_file_open(int directory, const char *path)
{
	int fd = openat(directory, path,
	    O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);

	return fd < 0 ? -errno : fd;
}

void
source_file_refuse(const char *path, int error, const char *option,
    struct diag *diag)
{
	const char *why = strerror(-error);

	if (error == -ENOENT)
		diag_add(diag, DIAG_ERROR, path, 0, "cannot be opened: %s: "
		    "write it or take it out of %s", why, option);
	else if (error == -EMFILE)
		diag_add(diag, DIAG_ERROR, path, 0, "cannot be opened: %s: "
		    "name fewer files in %s, or raise LimitNOFILE", why,
		    option);
	else
		diag_add(diag, DIAG_ERROR, path, 0, "cannot be opened: %s",
		    why);
}

/* The error for something that is not a regular file. */
static const char *
kind_of(mode_t mode)
{
	switch (mode & S_IFMT) {
	case S_IFDIR:
		return "is a directory: name the file in it";
	case S_IFIFO:
		return "is a fifo: write what comes out of it to a file and"
		    " name that";
	case S_IFSOCK:
		return "is a socket: name a file";
	default:
		return "is a device: name a file";
	}
}

bool
source_file_check(const char *path, int fd, struct diag *diag)
{
	struct stat st;

	if (fstat(fd, &st) != 0) {
		diag_add(diag, DIAG_ERROR, path, 0,
		    "cannot be examined: %s", strerror(errno));
		return false;
	}
	if (!S_ISREG(st.st_mode)) {
		diag_add(diag, DIAG_ERROR, path, 0, "%s",
		    kind_of(st.st_mode));
		return false;
	}
	if ((uint64_t)st.st_size > SOURCE_FILE_MAX) {
		diag_add(diag, DIAG_ERROR, path, 0, "has %llu MiB, the"
		    " limit is %zu MiB: split it into several tables",
		    (unsigned long long)st.st_size >> 20,
		    SOURCE_FILE_MAX >> 20);
		return false;
	}
	return true;
}

/* Reads until the end or until the buffer is full. */
static ssize_t
read_up_to(int fd, char *buffer, size_t size)
{
	size_t got = 0;

	while (got < size) {
		ssize_t n = pread(fd, buffer + got, size - got, (off_t)got);

		if (n == 0)
			break;
		if (n < 0 && errno != EINTR)
			return -errno;
		if (n > 0)
			got += (size_t)n;
	}
	return (ssize_t)got;
}

char *
source_file_read(const char *path, int fd, size_t *length, struct diag *diag)
{
	char *data = NULL;
	struct stat st;
	ssize_t got;

	if (!source_file_check(path, fd, diag) || fstat(fd, &st) != 0)
		return NULL;
	/* One octet more, to notice a file that grows meanwhile. */
	data = malloc((size_t)st.st_size + 1);
	if (data == NULL) {
		diag_add(diag, DIAG_ERROR, path, 0, "no memory for its"
		    " %lld octets", (long long)st.st_size);
		return NULL;
	}
	got = read_up_to(fd, data, (size_t)st.st_size + 1);
	*length = got > 0 ? (size_t)got : 0;
	if (got == (ssize_t)st.st_size && bom_take(data, length))
		return data;
	if (got == (ssize_t)st.st_size)
		diag_add(diag, DIAG_ERROR, path, 0, BOM_UTF16);
	else if (got < 0)
		diag_add(diag, DIAG_ERROR, path, 0,
		    "cannot be read: %s", strerror((int)-got));
	else
		diag_add(diag, DIAG_ERROR, path, 0, "changed while it"
		    " was read: write to another file and rename that");
	free(data);
	return NULL;
}

/* The answer to a request; the file is sent with it. */
struct answer {
	int32_t error;		/* 0 or a negative errno */
};

/* The directory that a file lies in, as it is written, without the last '/'. */
static int
directory_of(char directory[static PATH_MAX], const char *path)
{
	const char *slash = strrchr(path, '/');
	size_t length = slash != NULL ? (size_t)(slash - path) : 0;

	if (length >= PATH_MAX)
		return -ENAMETOOLONG;
	memcpy(directory, path, length);
	directory[length] = '\0';
	return 0;
}

int
include_open(const char *source_path, const char *name)
{
	const struct open_how how = {
		.flags = O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS,
	};
	char directory[PATH_MAX];
	int error = directory_of(directory, source_path);
	size_t length = strlen(directory);
	int fd, beneath;

	if (error != 0)
		return error;
	/* An absolute path is allowed if it lies below that directory. */
	if (name[0] == '/' && strncmp(name, directory, length) == 0 &&
	    name[length] == '/')
		name += length + 1;
	beneath = open(strchr(source_path, '/') == NULL ? "." :
	    length == 0 ? "/" : directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (beneath < 0)
		return -errno;
	/* The C library has no function for openat2(2). */
	fd = (int)syscall(SYS_openat2, beneath, name, &how, sizeof(how));
	error = fd < 0 ? -errno : 0;
	(void)close(beneath);
	return error != 0 ? error : fd;
}

/* The file that came with the answer, or an errno. */
static int
receive_file(int broker)
{
	struct answer answer = { .error = -EPROTO };
	struct iovec part = { &answer, sizeof(answer) };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };
	union fds_ancillary ancillary;
	size_t count;
	ssize_t n;
	int fd;

	fds_expect(&message, &ancillary, 1);
	do
		n = recvmsg(broker, &message, MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	count = fds_take(&message, &fd, 1);
	if (n == sizeof(answer) && answer.error == 0 && count == 1)
		return fd;
	if (count > 0)
		(void)close(fd);
	return n == sizeof(answer) && answer.error < 0 ? answer.error :
	    -EPROTO;
}

int
include_ask(int broker, unsigned int source, const char *name)
{
	char request[INCLUDE_REQUEST_MAX];
	int length = snprintf(request, sizeof(request), "I %u %s\n", source,
	    name);

	if (length < 0 || (size_t)length >= sizeof(request))
		return -ENAMETOOLONG;
	while (write(broker, request, (size_t)length) < 0) {
		if (errno != EINTR)
			return -errno;
	}
	return receive_file(broker);
}

static int
send_file(int broker, int fd)
{
	struct answer answer = { .error = fd < 0 ? fd : 0 };
	struct iovec part = { &answer, sizeof(answer) };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };
	union fds_ancillary ancillary;

	fds_attach(&message, &ancillary, &fd, fd >= 0 ? 1 : 0);
	return sendmsg(broker, &message, MSG_NOSIGNAL) < 0 ? -errno : 0;
}

int
include_serve(int broker, const char *source_path, const char *name)
{
	int fd = include_open(source_path, name);
	int error = send_file(broker, fd);

	if (fd >= 0)
		(void)close(fd);
	return error;
}

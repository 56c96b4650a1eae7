/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "policy/config/ca_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "resolver/fds.h"
#include "resolver/text/utf8.h"

#define MARK	"-----BEGIN CERTIFICATE-----"
#define MARK_TRUSTED "-----BEGIN TRUSTED CERTIFICATE-----"

/* Debian, then Fedora and RHEL, then what openssl(1) itself installs. */
static const char *const places[] = {
	"/etc/ssl/certs/ca-certificates.crt",
	"/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
	"/etc/pki/tls/certs/ca-bundle.crt",
	"/etc/ssl/cert.pem",
};

/* A pipe or a device could make the reader wait. */
static int
open_regular(const char *path, size_t *size)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;
	int error = 0;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) < 0)
		error = -errno;
	else if (!S_ISREG(st.st_mode))
		error = -EISDIR;
	else if (st.st_size > (off_t)CA_FILE_MAX)
		error = -EFBIG;
	if (error < 0) {
		(void)close(fd);
		return error;
	}
	*size = (size_t)st.st_size;
	return fd;
}

/* The file may become shorter while it is read, but not longer. */
static int
read_all(int fd, char *octets, size_t size, size_t *length)
{
	const int error = fds_read_all(fd, octets, size, length);

	if (error < 0)
		return error;
	(void)bom_take(octets, length);
	octets[*length] = '\0';
	return memmem(octets, *length, MARK, strlen(MARK)) != NULL ||
	    memmem(octets, *length, MARK_TRUSTED, strlen(MARK_TRUSTED)) != NULL ?
	    0 : -ENODATA;
}

static int
read_one(const char *path, char **octets, size_t *length)
{
	size_t size = 0;
	int fd = open_regular(path, &size), error;

	if (fd < 0)
		return fd;
	*octets = malloc(size + 1);
	error = *octets == NULL ? -ENOMEM : read_all(fd, *octets, size, length);
	(void)close(fd);
	if (error < 0) {
		free(*octets);
		*octets = NULL;
	}
	return error;
}

int
ca_file_read(const char *path, char **octets, size_t *length)
{
	int error = -ENOENT;

	*octets = NULL;
	*length = 0;
	if (path[0] != '\0')
		return read_one(path, octets, length);
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]) &&
	    error == -ENOENT; i++)
		error = read_one(places[i], octets, length);
	return error;
}

const char *
ca_file_error(int error)
{
	switch (error) {
	case -ENODATA:
		return "there is no certificate (PEM) in it";
	case -EFBIG:
		return "it is longer than 4 MiB";
	case -EISDIR:
		return "it is not a regular file";
	default:
		return strerror(-error);
	}
}

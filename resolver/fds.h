/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Descriptors: passes them between processes in messages of AF_UNIX sockets
 * (SCM_RIGHTS of unix(7)), which the caller sends and receives; and writes to
 * them and reads from them what one write(2) or read(2) may not take whole.
 */
#ifndef NFDNS_RESOLVER_FDS_H
#define NFDNS_RESOLVER_FDS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/uio.h>

#define FDS_MAX	253		/* in one message: SCM_MAX_FD of include/net/scm.h */

/* Ancillary part of a message. */
union fds_ancillary {
	char octets[CMSG_SPACE(sizeof(int) * FDS_MAX)];
	struct cmsghdr align;
};

/*
 * Adds copies of "count" descriptors (0 to FDS_MAX) to a message before
 * sendmsg(2); "ancillary" must live until the message is sent.
 */
void fds_attach(struct msghdr *message, union fds_ancillary *ancillary,
    const int *fds, size_t count);

/*
 * Makes room for "count" descriptors in a message before recvmsg(2).  The kernel
 * closes descriptors for which there is no room and sets MSG_CTRUNC.
 */
void fds_expect(struct msghdr *message, union fds_ancillary *ancillary,
    size_t count);

/*
 * Takes the descriptors out of a received message; the caller owns them.  Puts
 * the first "room" into fds and closes the others.  Returns how many came.
 */
size_t fds_take(struct msghdr *message, int *fds, size_t room);

/*
 * Writes all parts, in as many writev(2) as it takes; changes the parts.  0 or
 * a negative errno, after which some of it may be written.  For descriptors
 * that block.
 */
int fds_write_all(int fd, struct iovec *parts, size_t count)
    __attribute__((warn_unused_result));

/*
 * Reads until the end of the file, at most "size" octets; *length is how many
 * came, also after an error.  0 or a negative errno.
 */
int fds_read_all(int fd, void *octets, size_t size, size_t *length)
    __attribute__((warn_unused_result));

/*
 * A sealed memory file with these octets (memfd_create(2)): from then on no process
 * can change it.  The caller's, or a negative errno.
 */
int fds_sealed(const char *name, const void *octets, size_t length)
    __attribute__((warn_unused_result));

/* Seals a memory file that may be.  0 or a negative errno. */
int fds_seal(int fd) __attribute__((warn_unused_result));

bool fds_is_sealed(int fd);

/* Copies the whole of a regular file to where "to" stands.  0 or a negative errno. */
int fds_copy(int to, int from) __attribute__((warn_unused_result));

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Descriptors that go from process to process in messages of AF_UNIX sockets:
 * SCM_RIGHTS of unix(7).  The caller sends and receives the messages.
 */
#ifndef NFDNS_NFQ_PROCESS_FDS_H
#define NFDNS_NFQ_PROCESS_FDS_H

#include <stddef.h>
#include <sys/socket.h>
#include <sys/types.h>

#define FDS_MAX	32		/* in one message */

/* The ancillary part of a message: descriptors, and the sender's credentials. */
union fds_ancillary {
	char octets[CMSG_SPACE(sizeof(int) * FDS_MAX) +
	    CMSG_SPACE(sizeof(struct ucred))];
	struct cmsghdr align;
};

/*
 * Makes copies of count descriptors (FDS_MAX at most, or none) part of the
 * message that sendmsg(2) is to send; "ancillary" must live until then.
 */
void fds_attach(struct msghdr *message, union fds_ancillary *ancillary,
    const int *fds, size_t count);

/*
 * Makes room for count descriptors, and for credentials (SO_PASSCRED), in the
 * message that recvmsg(2) is to fill.  What finds no room is closed by the
 * kernel, and the message has MSG_CTRUNC; without credentials one descriptor
 * more may come in their room.
 */
void fds_expect(struct msghdr *message, union fds_ancillary *ancillary,
    size_t count);

/*
 * Takes the descriptors out of a received message: the caller's from here on.
 * The first "room" are put into fds, more are closed.  Returns how many came.
 */
size_t fds_take(struct msghdr *message, int *fds, size_t room);

/* The sender's user, or (uid_t)-1 if the message does not say it. */
uid_t fds_sender(struct msghdr *message);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What may be asked at run_dir/control: a socket of SOCK_SEQPACKET, one line to a
 * connection.
 *
 *   status [json|all]		everybody may ask this,
 *   metrics [openmetrics]	this,
 *   page			and this: the files that have changed since they were
 *				loaded, a line each; a descriptor of a copy of the
 *				status page; for root, one more of what is counted of
 *				names
 *   reload [force]		root, or the user of nfdnsd, all else
 *   flush [tree] NAME		the cache: of a name, and of all below it
 *   pause SECONDS		every question passes for so long, until
 *   resume
 *   rules			the rules in force, as text; on standard error how the
 *				kernel's differ, and the exit code says whether
 *   table, cache, running	descriptors: of the table in use; of the cache's memory;
 *				of table and settings
 *
 * Each packet that comes back begins with an octet that says what it is.
 */
#ifndef NFDNS_NFQ_PROCESS_REQUEST_H
#define NFDNS_NFQ_PROCESS_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "resolver/dns/name.h"

#define REQUEST_SOCKET	"control"	/* in run_dir */
#define REQUEST_MAX	(NAME_TEXT_SIZE + 32)	/* octets of a line */

/* What a packet of the answer is. */
#define REQUEST_TAKEN	'0'	/* the request is worked on */
#define REQUEST_OUT	'1'	/* octets for standard output, */
#define REQUEST_ERR	'2'	/* for standard error */
#define REQUEST_END	'x'	/* an exit code in digits; the descriptors are here */

#define REQUEST_PACKET	32768	/* octets of a packet, at most */
#define REQUEST_FDS	2
#define REQUEST_PAUSE_MAX 86400	/* seconds */

enum request_kind {
	REQUEST_STATUS,
	REQUEST_METRICS,
	REQUEST_PAGE,
	REQUEST_RELOAD,
	REQUEST_FLUSH,
	REQUEST_PAUSE,
	REQUEST_RESUME,
	REQUEST_RULES,
	REQUEST_TABLE,
	REQUEST_CACHE,
	REQUEST_RUNNING,
};

struct daemon_request {
	enum request_kind kind;
	unsigned int option;		/* 0, or which of the words behind it; PAUSE: the
					 * seconds */
	struct dns_name name;		/* FLUSH: lower case */
};

/*
 * The socket's address.  A path that does not fit goes by a descriptor of the
 * directory, in *directory, which the caller closes; else that is -1.  0 or a
 * negative errno.
 */
int request_address(struct sockaddr_un *address, const char *run_dir,
    int *directory) __attribute__((warn_unused_result));

/* Reads a line, which may end with a line feed.  0 or -EPROTO. */
int request_parse(struct daemon_request *request, const char *line, size_t length)
    __attribute__((warn_unused_result));

/* Whether everybody may ask it. */
static inline bool
request_is_open(const struct daemon_request *request)
{
	return request->kind <= REQUEST_PAGE;
}

#endif

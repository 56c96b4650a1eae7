/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The requests of one reflector, one after the other, over an HTTP/2 connection
 * of their own (link.h), which stays open between them.
 */
#ifndef NFDNS_RESOLVER_FEED_KUBE_HTTP_H
#define NFDNS_RESOLVER_FEED_KUBE_HTTP_H

#include "resolver/feed/kubeconfig.h"
#include "resolver/feed/link.h"
#include "resolver/feed/reflector.h"

/* How a request is authorised; borrowed for the call. */
struct kube_login {
	const struct kube_access *access;
	const char *token;		/* "": none */
};

/* Owns its texts and the link. */
struct kube_transfer {
	struct reflector *reflector;	/* borrowed */
	struct link *link;		/* NULL: there is no connection */
	char *server;			/* that it leads to, and how */
	bool running;			/* a request, from here on: */
	bool sent;
	bool headed;			/* the reflector knows the status */
	unsigned int retry_after;	/* seconds, as the answer says; or 0 */
	char *authority, *path, *bearer; /* until it is sent */
	struct link_end end;
};

/* A place for them. */
void kube_transfer_init(struct kube_transfer *transfer,
    struct reflector *reflector);
void kube_transfer_free(struct kube_transfer *transfer);

/*
 * Begins a request; "target" is its path and query.  "fresh": over a connection of
 * its own, since the last one may be the fault.  Returns 0; -EINVAL if the server
 * or proxy is none; -ENOMEM.
 */
int kube_transfer_start(struct kube_transfer *transfer,
    const struct kube_login *login, const char *target, bool fresh,
    monotime_t now) __attribute__((warn_unused_result));

/* Gives it up; the reflector is not told. */
void kube_transfer_stop(struct kube_transfer *transfer);

/* What to wait for: at most LINK_FDS, and until when, which may be never. */
size_t kube_transfer_poll(struct kube_transfer *transfer, struct pollfd *fds,
    monotime_t now);
monotime_t kube_transfer_deadline(struct kube_transfer *transfer,
    monotime_t now);

/*
 * After poll(2), with what kube_transfer_poll() filled in: hands what came to the
 * reflector.  True: the request has ended, and how; "end" is good until the next
 * one.
 */
bool kube_transfer_step(struct kube_transfer *transfer,
    const struct pollfd *fds, size_t count, monotime_t now,
    struct reflector_end *end);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Requests of reflectors over HTTP/1.1, a transfer each, by libcurl.  This file
 * is the only one that knows of libcurl.
 *
 * libcurl resolves names in threads of its own, by getaddrinfo(3).
 */
#ifndef NFDNS_RESOLVER_FEED_KUBE_HTTP_H
#define NFDNS_RESOLVER_FEED_KUBE_HTTP_H

#include "resolver/feed/kube_tls.h"
#include "resolver/feed/kubeconfig.h"
#include "resolver/feed/reflector.h"

/* How a request is authorised; borrowed until it has ended. */
struct kube_login {
	const struct kube_access *access;
	const struct kube_tls *tls;
	const char *token;		/* "": none */
};

/* What came of the requests, for the feed's status. */
struct kube_http_news {
	bool life;			/* any octet from a server */
	char peer[FEED_TEXT];		/* "ADDRESS:PORT"; "": none new */
};

struct kube_transfer {
	struct reflector *reflector;	/* borrowed */
	struct kube_http *http;
	void *easy;			/* NULL: no request runs */
	void *headers;
	void *elsewhere;		/* where the server is, by another name */
	void *addresses;		/* of the server's name */
	bool waits;			/* for them, */
	struct kube_transfer *next;	/* and the next one that does */
	bool headed;			/* the reflector knows the status */
	char *error;
};

struct kube_http;

/* Returns 0 or -ENOMEM. */
int kube_http_new(struct kube_http **http) __attribute__((warn_unused_result));

/* All transfers have ended before. */
void kube_http_free(struct kube_http *http);

/* A place for the requests of one reflector.  Returns 0 or -ENOMEM. */
int kube_transfer_init(struct kube_transfer *transfer, struct kube_http *http,
    struct reflector *reflector) __attribute__((warn_unused_result));
void kube_transfer_free(struct kube_transfer *transfer);

/*
 * Sends the request; "target" is its path and query.  "fresh": over a
 * connection of its own, since the last one may be the fault.  Returns 0, or
 * -EINVAL if libcurl does not take it, or -ENOMEM.
 */
int kube_transfer_start(struct kube_transfer *transfer,
    const struct kube_login *login, const char *target, bool fresh)
    __attribute__((warn_unused_result));

/* Gives it up; the reflector is not told. */
void kube_transfer_stop(struct kube_transfer *transfer);

/*
 * Waits for octets, for "stop_fd" or for the time, and hands what came to the
 * reflectors.  Returns 1 if stop_fd is readable, 0 if not, or a negative errno.
 */
int kube_http_wait(struct kube_http *http, int stop_fd, int timeout_ms,
    struct kube_http_news *news) __attribute__((warn_unused_result));

/*
 * A transfer that has ended, and how; NULL if there is none.  "end" is good
 * until the transfer starts again.
 */
struct kube_transfer *kube_http_ended(struct kube_http *http,
    struct reflector_end *end);

#endif

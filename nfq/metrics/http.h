/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The answers of nfdns-metrics over HTTP, by libmicrohttpd: /metrics in either
 * format, a line at / that points to it.  Each connection has one request.
 */
#ifndef NFDNS_NFQ_METRICS_HTTP_H
#define NFDNS_NFQ_METRICS_HTTP_H

#include "nfq/metrics/peers.h"
#include "nfq/metrics/reports.h"
#include "policy/status/status.h"
#include "resolver/clock.h"

struct http;

/* Borrows page, reports and peers.  NULL for lack of memory or descriptors. */
struct http *http_new(struct status_page *page,
    const struct metrics_reports *reports, struct peers *peers);
void http_free(struct http *http);

/* Readable when http_run() has work. */
int http_fd(const struct http *http);
/* Milliseconds until it has work of its own, at most "most". */
int http_wait(const struct http *http, int most);

/* Takes a connection, whose descriptor it closes.  Its place is in peers. */
void http_add(struct http *http, int fd, uid_t uid, monotime_t now);
/* Reads and writes what is ready; closes what has ended. */
void http_run(struct http *http, monotime_t now);

#endif

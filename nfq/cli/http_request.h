/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A request for metrics over HTTP (RFC 9110, RFC 9112), and what to answer. */
#ifndef NFDNS_NFQ_CLI_HTTP_REQUEST_H
#define NFDNS_NFQ_CLI_HTTP_REQUEST_H

#include <stdbool.h>
#include <stddef.h>

#define HTTP_REQUEST_MAX	8192	/* octets of request line and header */

enum http_status {
	HTTP_MORE = 0,			/* the header has not ended yet */
	HTTP_OK = 200,
	HTTP_BAD = 400,
	HTTP_NOT_FOUND = 404,
	HTTP_METHOD = 405,		/* neither GET nor HEAD */
	HTTP_TIMEOUT = 408,		/* never of http_request_read() */
	HTTP_TOO_LARGE = 431,
	HTTP_UNAVAILABLE = 503,		/* never of http_request_read() */
	HTTP_VERSION = 505,		/* not HTTP/1 */
};

struct http_request {
	bool head;			/* the answer has no body */
	bool index;			/* for "/"; else for /metrics */
};

/*
 * Reads a request from its first octets.  Of the header only its end is looked for:
 * one answer is given, whatever else it says.  HTTP_OK: *request says for what, and
 * of HTTP_NOT_FOUND whether it is HEAD.
 */
enum http_status http_request_read(const char *octets, size_t length,
    struct http_request *request);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/cli/http_request.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#define SCHEME		"http://"
#define LINE_MAX_OCTETS	512

/* The path, also of "http://HOST/PATH" (RFC 9112 section 3.2), without a query. */
static enum http_status
find(char *target, struct http_request *request)
{
	if (strncasecmp(target, SCHEME, strlen(SCHEME)) == 0) {
		target = strchr(target + strlen(SCHEME), '/');
		if (target == NULL)
			return HTTP_NOT_FOUND;
	}
	target[strcspn(target, "?")] = '\0';
	request->index = strcmp(target, "/") == 0;
	return request->index || strcmp(target, "/metrics") == 0 ? HTTP_OK :
	    HTTP_NOT_FOUND;
}

static enum http_status
read_line(const char *line, struct http_request *request)
{
	char method[16], target[LINE_MAX_OCTETS], major, minor;
	int end = 0;

	if (sscanf(line, "%15[A-Z] %511[!-~] HTTP/%c.%c%n", method, target,
	    &major, &minor, &end) != 4 || line[end] != '\0' ||
	    major < '0' || major > '9' || minor < '0' || minor > '9')
		return HTTP_BAD;
	if (major != '1')
		return HTTP_VERSION;
	request->head = strcmp(method, "HEAD") == 0;
	if (!request->head && strcmp(method, "GET") != 0)
		return HTTP_METHOD;
	return find(target, request);
}

enum http_status
http_request_read(const char *octets, size_t length,
    struct http_request *request)
{
	const bool full = length >= HTTP_REQUEST_MAX;
	char line[LINE_MAX_OCTETS];
	size_t n;

	*request = (struct http_request){ .head = false };
	/* RFC 9112 section 2.2: empty lines before it; LF alone ends a line, too. */
	for (; length > 0 && (*octets == '\r' || *octets == '\n'); length--)
		octets++;
	if (memmem(octets, length, "\n\r\n", 3) == NULL &&
	    memmem(octets, length, "\n\n", 2) == NULL)
		return full ? HTTP_TOO_LARGE : HTTP_MORE;
	n = (size_t)((const char *)memchr(octets, '\n', length) - octets);
	n -= n > 0 && octets[n - 1] == '\r';
	if (n >= sizeof(line) || memchr(octets, '\0', n) != NULL)
		return HTTP_BAD;
	memcpy(line, octets, n);
	line[n] = '\0';
	return read_line(line, request);
}

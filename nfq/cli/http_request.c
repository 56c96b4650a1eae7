/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/cli/http_request.h"

#include <string.h>
#include <strings.h>

/* Of methods and names of fields (RFC 9110 section 5.6.2). */
#define TOKEN	"!#$%&'*+-.^_`|~0123456789" \
	"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define SCHEME	"http://"

/* A part of the request. */
struct piece {
	const char *at;
	size_t length;
};

static bool
is_text(const struct piece *piece, const char *text)
{
	return piece->length == strlen(text) &&
	    memcmp(piece->at, text, piece->length) == 0;
}

/* Cuts off what stands before the first "separator", which goes, too. */
static bool
cut(struct piece *rest, char separator, struct piece *before)
{
	const char *end = memchr(rest->at, separator, rest->length);

	if (end == NULL)
		return false;
	*before = (struct piece){ rest->at, (size_t)(end - rest->at) };
	rest->at = end + 1;
	rest->length -= before->length + 1;
	return true;
}

/* LF alone ends a line, too (RFC 9112 section 2.2). */
static bool
next_line(struct piece *rest, struct piece *line)
{
	if (!cut(rest, '\n', line))
		return false;
	if (line->length > 0 && line->at[line->length - 1] == '\r')
		line->length--;
	return true;
}

static bool
is_token(const struct piece *piece)
{
	for (size_t i = 0; i < piece->length; i++)
		if (piece->at[i] == '\0' ||
		    strchr(TOKEN, piece->at[i]) == NULL)
			return false;
	return piece->length > 0;
}

/* No control character but, where they are allowed, tabs; octets of 0x80 on. */
static bool
is_printable(const struct piece *piece, bool tabs)
{
	for (size_t i = 0; i < piece->length; i++) {
		const unsigned char c = (unsigned char)piece->at[i];

		if ((c < ' ' && !(tabs && c == '\t')) || c == 0x7f)
			return false;
	}
	return true;
}

/* "Name: value", which no other line continues (RFC 9112 section 5). */
static bool
is_field(const struct piece *line, unsigned int *hosts)
{
	struct piece value = *line, name;

	if (!cut(&value, ':', &name) || !is_token(&name) ||
	    !is_printable(&value, true))
		return false;
	*hosts += name.length == 4 && strncasecmp(name.at, "Host", 4) == 0;
	return true;
}

/* The path, also of "http://HOST/PATH" (RFC 9112 section 3.2), without a query. */
static enum http_status
find(struct piece target, struct http_request *request)
{
	struct piece path;

	if (target.length > strlen(SCHEME) &&
	    strncasecmp(target.at, SCHEME, strlen(SCHEME)) == 0) {
		const char *end = target.at + target.length;
		const char *host = target.at + strlen(SCHEME);
		const char *slash = memchr(host, '/', (size_t)(end - host));

		if (slash == NULL)
			return HTTP_NOT_FOUND;
		target = (struct piece){ slash, (size_t)(end - slash) };
	}
	if (cut(&target, '?', &path))
		target = path;
	request->index = is_text(&target, "/");
	return request->index || is_text(&target, "/metrics") ? HTTP_OK :
	    HTTP_NOT_FOUND;
}

/* The request line.  *old: HTTP/1.0, which has no Host. */
static enum http_status
read_first(struct piece line, struct http_request *request, bool *old)
{
	struct piece method, target;

	if (!cut(&line, ' ', &method) || !is_token(&method) ||
	    !cut(&line, ' ', &target) || target.length == 0 ||
	    !is_printable(&target, false) || line.length != 8 ||
	    memcmp(line.at, "HTTP/", 5) != 0 || line.at[6] != '.' ||
	    line.at[5] < '0' || line.at[5] > '9' || line.at[7] < '0' ||
	    line.at[7] > '9')
		return HTTP_BAD;
	if (line.at[5] != '1')
		return HTTP_VERSION;
	*old = line.at[7] == '0';
	request->head = is_text(&method, "HEAD");
	if (!request->head && !is_text(&method, "GET"))
		return HTTP_METHOD;
	return find(target, request);
}

enum http_status
http_request_read(const char *octets, size_t length,
    struct http_request *request)
{
	struct piece rest = { octets, length }, line = { octets, 0 };
	enum http_status status;
	unsigned int hosts = 0;
	bool more, old = false;

	*request = (struct http_request){ .head = false };
	do				/* RFC 9112 section 2.2 */
		more = next_line(&rest, &line);
	while (more && line.length == 0);
	status = more ? read_first(line, request, &old) : HTTP_MORE;
	while ((more = next_line(&rest, &line)) && line.length > 0)
		if (!is_field(&line, &hosts))
			status = HTTP_BAD;
	if (!more)
		return length < HTTP_REQUEST_MAX ? HTTP_MORE : HTTP_TOO_LARGE;
	return status != HTTP_VERSION && (hosts > 1 || (hosts == 0 && !old)) ?
	    HTTP_BAD : status;
}

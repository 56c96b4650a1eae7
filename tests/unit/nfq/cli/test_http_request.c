/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/cli/http_request.h"

#include <string.h>

#include "tests/check.h"

#define HOST	"Host: localhost\r\n"

/* Also in two parts, wherever it is divided: the first is not enough. */
static enum http_status
read_text(const char *text, struct http_request *request)
{
	const size_t length = strlen(text);
	const enum http_status whole = http_request_read(text, length, request);

	for (size_t i = 0; i < length && whole != HTTP_MORE; i++) {
		struct http_request part;

		CHECK(http_request_read(text, i, &part) == HTTP_MORE);
	}
	return whole;
}

TEST(what_is_asked_for)
{
	static const struct {
		const char *target;
		enum http_status status;
		bool index;
	} cases[] = {
		{ "/metrics", HTTP_OK, false }, { "/", HTTP_OK, true },
		{ "/metrics?name=x", HTTP_OK, false }, { "/?", HTTP_OK, true },
		{ "http://vm:9153/metrics", HTTP_OK, false },
		{ "HTTP://[::1]:9153/", HTTP_OK, true },
		{ "http://vm", HTTP_NOT_FOUND, false },
		{ "http:///metrics?/", HTTP_OK, false },
		{ "/metrics/", HTTP_NOT_FOUND, false },
		{ "//metrics", HTTP_NOT_FOUND, false },
		{ "/Metrics", HTTP_NOT_FOUND, false },
		{ "/metric", HTTP_NOT_FOUND, false },
		{ "/../etc/passwd", HTTP_NOT_FOUND, false },
		{ "/%2e%2e/metrics", HTTP_NOT_FOUND, false },
		{ "*", HTTP_NOT_FOUND, false }, { "?", HTTP_NOT_FOUND, false },
		{ "/\xff", HTTP_BAD, false }, { "/\x01", HTTP_BAD, false },
		{ "", HTTP_BAD, false },
		{ "/ x", HTTP_BAD, false },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		for (int head = 0; head < 2; head++) {
			struct http_request request;
			char text[128];
			enum http_status status;

			(void)snprintf(text, sizeof(text), "%s %s HTTP/1.1\r\n"
			    HOST "\r\n", head ? "HEAD" : "GET",
			    cases[i].target);
			status = read_text(text, &request);
			if (status != cases[i].status)
				printf("  %s: %d\n", cases[i].target, status);
			CHECK(status == cases[i].status);
			CHECK(status != HTTP_OK ||
			    request.index == cases[i].index);
			CHECK(status == HTTP_BAD || request.head == head);
		}
}

TEST(what_is_a_request)
{
	static const struct {
		const char *text;
		enum http_status status;
	} cases[] = {
		{ "GET / HTTP/1.0\r\n\r\n", HTTP_OK },
		{ "GET / HTTP/1.0\r\n" HOST "\r\n", HTTP_OK },
		{ "GET / HTTP/1.9\n" HOST "\n", HTTP_OK },
		{ "\r\n\n\r\nGET / HTTP/1.1\n" HOST "\r\n", HTTP_OK },
		{ "get / HTTP/1.1\r\n" HOST "\r\n", HTTP_BAD },
		{ "POST /metrics HTTP/1.1\r\n" HOST "Content-Length: 9\r\n\r\n",
		  HTTP_METHOD },
		{ "BREW /nothing HTTP/1.1\r\n" HOST "\r\n", HTTP_METHOD },
		{ "GET / HTTP/2.0\r\n\r\n", HTTP_VERSION },
		{ "GET / HTTP/0.9\r\n\r\n", HTTP_VERSION },
		{ "GET / HTTP/1.1 \r\n" HOST "\r\n", HTTP_BAD },
		{ "GET / HTTP/1.x\r\n" HOST "\r\n", HTTP_BAD },
		{ "GET / HTTP/1:1\r\n" HOST "\r\n", HTTP_BAD },
		{ "GET / http/1.1\r\n" HOST "\r\n", HTTP_BAD },
		{ "GET /\r\n\r\n", HTTP_BAD }, { "GET\r\n\r\n", HTTP_BAD },
		{ "G(T / HTTP/1.1\r\n" HOST "\r\n", HTTP_BAD },
		{ " / HTTP/1.1\r\n" HOST "\r\n", HTTP_BAD },
		{ "\x16\x03\x01\n\n", HTTP_BAD },
		{ "", HTTP_MORE }, { "\r\n\r\n", HTTP_MORE },
		{ "GET / HTTP/1.1\r\n" HOST, HTTP_MORE },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct http_request request;
		const enum http_status status = read_text(cases[i].text,
		    &request);

		if (status != cases[i].status)
			printf("  %s: %d\n", cases[i].text, status);
		CHECK(status == cases[i].status);
	}
}

TEST(octets_that_are_no_text)
{
	static const char target[] = "GET /\0 HTTP/1.1\r\n" HOST "\r\n";
	static const char more[] = "GET / HTTP/1.1\r\n" HOST "\r\nGET \0 nothing";
	static char large[HTTP_REQUEST_MAX];
	struct http_request request;

	CHECK(http_request_read(target, sizeof(target) - 1, &request) ==
	    HTTP_BAD);
	/* What follows the header is not looked at. */
	CHECK(http_request_read(more, sizeof(more) - 1, &request) == HTTP_OK);
	memset(large, 'x', sizeof(large));
	CHECK(http_request_read(large, sizeof(large) - 1, &request) == HTTP_MORE);
	CHECK(http_request_read(large, sizeof(large), &request) ==
	    HTTP_TOO_LARGE);
	/* One that just fits. */
	memcpy(large, "GET / HTTP/1.0\r\nx:", 18);
	memcpy(large + sizeof(large) - 4, "\r\n\r\n", 4);
	CHECK(http_request_read(large, sizeof(large), &request) == HTTP_OK);
}

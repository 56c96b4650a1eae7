/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "policy/config/listen.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "resolver/text/number.h"

#define UNIX		"unix:"
#define PATH_OCTETS	100	/* sockaddr_un has room for 107 */
#define HOST_OCTETS	64
#define PORT_MIN	1024
#define PORT_MAX	65535

/* The octets before the last ':', without "[]"; NULL: it is no "HOST:PORT". */
static const char *
split(const char *text, char host[static HOST_OCTETS])
{
	const char *colon = strrchr(text, ':');
	size_t length = colon != NULL ? (size_t)(colon - text) : 0;

	if (length > 1 && text[0] == '[' && text[length - 1] == ']') {
		text++;
		length -= 2;
	} else if (memchr(text, ':', length) != NULL) {
		return NULL;		/* IPv6 has brackets */
	}
	if (length == 0 || length >= HOST_OCTETS)
		return NULL;
	memcpy(host, text, length);
	host[length] = '\0';
	return colon + 1;
}

static bool
read_port(const char *text, uint16_t *port)
{
	uint64_t number;

	if (!number_from_text(text, PORT_MAX, &number) || number < PORT_MIN)
		return false;
	*port = (uint16_t)number;
	return true;
}

enum host { HOST_NONE, HOST_LOOPBACK, HOST_OTHER };

static enum host
read_host(const char *text, int *family)
{
	static const struct in6_addr loopback = IN6ADDR_LOOPBACK_INIT;
	struct in6_addr v6;
	struct in_addr v4;

	if (inet_pton(AF_INET, text, &v4) == 1) {
		*family = AF_INET;
		return v4.s_addr == htonl(INADDR_LOOPBACK) ? HOST_LOOPBACK :
		    HOST_OTHER;
	}
	if (inet_pton(AF_INET6, text, &v6) != 1)
		return HOST_NONE;
	*family = AF_INET6;
	return memcmp(&v6, &loopback, sizeof(v6)) == 0 ? HOST_LOOPBACK :
	    HOST_OTHER;
}

static void
read_path(const struct config_load *load, const struct config_option *option,
    const config_setting_t *value, struct config_listen *listen)
{
	const char *path = config_setting_get_string(value) + strlen(UNIX);

	if (path[0] != '/' || strlen(path) > PATH_OCTETS) {
		config_expected(load, option, value);
		return;
	}
	free(listen->path);
	listen->path = strdup(path);
	if (listen->path == NULL)
		config_wrong(load, value, "out of memory");
}

void
config_read_listen(const struct config_load *load,
    const struct config_option *option, const config_setting_t *value, void *to)
{
	const char *text = config_setting_get_string(value), *port;
	struct config_listen *listen = to;
	char host[HOST_OCTETS];
	enum host kind = HOST_NONE;

	if (text[0] == '\0')
		return;
	if (strncmp(text, UNIX, strlen(UNIX)) == 0) {
		read_path(load, option, value, listen);
		return;
	}
	port = split(text, host);
	if (port != NULL)
		kind = read_host(host, &listen->family);
	if (kind == HOST_OTHER)
		config_wrong(load, value, "\"%s\" is not a loopback address of "
		    "this machine (127.0.0.1, [::1]): nothing here encrypts, or "
		    "asks who it is that reads; listen there, and put a proxy "
		    "with TLS before it, or let node_exporter read metrics.prom "
		    "in run_dir", text);
	else if (kind == HOST_NONE || !read_port(port, &listen->port))
		config_expected(load, option, value);
}

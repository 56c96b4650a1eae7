/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "policy/config/listen.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "resolver/text/host.h"

#define UNIX		"unix:"
#define PATH_OCTETS	100	/* sockaddr_un has room for 107 */
#define PORT_MIN	1024

enum host { HOST_NONE, HOST_LOOPBACK, HOST_OTHER };

static enum host
read_host(const char *text, int *family)
{
	static const uint8_t v4[] = { 127, 0, 0, 1 }, v6[16] = { [15] = 1 };
	uint8_t address[16];
	bool loopback;

	*family = host_address(text, address);
	if (*family == AF_UNSPEC)
		return HOST_NONE;
	loopback = *family == AF_INET ? memcmp(address, v4, sizeof(v4)) == 0 :
	    memcmp(address, v6, sizeof(v6)) == 0;
	return loopback ? HOST_LOOPBACK : HOST_OTHER;
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
	const char *text = config_setting_get_string(value);
	struct config_listen *listen = to;
	char host[HOST_TEXT];
	enum host kind = HOST_NONE;

	if (text[0] == '\0')
		return;
	if (strncmp(text, UNIX, strlen(UNIX)) == 0) {
		read_path(load, option, value, listen);
		return;
	}
	if (host_split(text, host, &listen->port))
		kind = read_host(host, &listen->family);
	if (kind == HOST_OTHER)
		config_wrong(load, value, "\"%s\" is not a loopback address of "
		    "this machine (127.0.0.1, [::1]): nothing here encrypts, or "
		    "asks who it is that reads; listen there, and put a proxy "
		    "with TLS before it, or let node_exporter read metrics.prom "
		    "in run_dir", text);
	else if (kind == HOST_NONE || listen->port < PORT_MIN)
		config_expected(load, option, value);
}

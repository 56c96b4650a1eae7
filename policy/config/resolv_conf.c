/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "policy/config/resolv_conf.h"

#include <sys/socket.h>
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "resolver/fds.h"
#include "resolver/text/utf8.h"
#include "resolver/text/host.h"
#include "resolver/text/number.h"

/* What is behind this is not read; real files have a few hundred octets. */
#define MAX_OCTETS 65536

/* One word of a line; borrows from the text. */
struct word {
	const char *text;
	size_t length;
};

static bool
is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\0';
}

/* Cuts the next word off the line.  False when there is none left. */
static bool
next_word(const char **pos, const char *end, struct word *word)
{
	while (*pos < end && is_blank(**pos))
		(*pos)++;
	word->text = *pos;
	while (*pos < end && !is_blank(**pos))
		(*pos)++;
	word->length = (size_t)(*pos - word->text);
	return word->length > 0;
}

static bool
word_is(const struct word *word, const char *text)
{
	return word->length == strlen(text) &&
	    memcmp(word->text, text, word->length) == 0;
}

/* The part of fe80::1%eth0 behind the '%': a name, or a number. */
static uint32_t
scope_from_text(const char *text)
{
	unsigned int index = if_nametoindex(text);
	uint64_t number;

	if (index != 0)
		return index;
	return number_from_text(text, UINT32_MAX, &number) ? (uint32_t)number :
	    0;
}

static void
add_server(struct resolv_conf *conf, const struct word *word)
{
	char text[INET6_ADDRSTRLEN + IF_NAMESIZE + 1];
	struct resolv_server *server;
	char *scope;

	if (conf->server_count == RESOLV_CONF_MAX_SERVERS ||
	    word->length >= sizeof(text))
		return;
	memcpy(text, word->text, word->length);
	text[word->length] = '\0';
	scope = strchr(text, '%');
	if (scope != NULL)
		*scope++ = '\0';

	server = &conf->servers[conf->server_count];
	memset(server, 0, sizeof(*server));
	server->family = host_address(text, server->address);
	if (server->family == AF_UNSPEC)
		return;
	if (scope != NULL)
		server->scope_id = scope_from_text(scope);
	server->absent = scope != NULL && server->scope_id == 0;
	conf->server_count++;
}

static void
add_search(struct resolv_conf *conf, const struct word *word)
{
	struct dns_name *name = &conf->search[conf->search_count];

	if (conf->search_count == MESH_MAX_SEARCH ||
	    name_from_text(name, word->text, word->length) < 0 ||
	    name->labels == 0)
		return;
	name_lower(name);
	for (size_t i = 0; i < conf->search_count; i++)
		if (name_equal(&conf->search[i], name))
			return;
	conf->search_count++;
}

static void
parse_line(struct resolv_conf *conf, const char *pos, const char *end)
{
	struct word keyword, word;

	/* The keyword must start the line: resolv.conf(5). */
	if (pos == end || is_blank(*pos) || *pos == '#' || *pos == ';' ||
	    !next_word(&pos, end, &keyword))
		return;
	if (word_is(&keyword, "nameserver")) {
		if (next_word(&pos, end, &word))
			add_server(conf, &word);
	} else if (word_is(&keyword, "search")) {
		/* The last search or domain line wins. */
		conf->search_given = true;
		conf->search_count = 0;
		while (next_word(&pos, end, &word))
			add_search(conf, &word);
	} else if (word_is(&keyword, "domain")) {
		conf->search_given = true;
		conf->search_count = 0;
		if (next_word(&pos, end, &word))
			add_search(conf, &word);
	}
}

void
resolv_conf_parse(struct resolv_conf *conf, const char *text, size_t length)
{
	const char *end = text + length;

	memset(conf, 0, sizeof(*conf));
	while (text < end) {
		const char *line_end = memchr(text, '\n', (size_t)(end - text));

		if (line_end == NULL)
			line_end = end;
		parse_line(conf, text, line_end);
		text = line_end < end ? line_end + 1 : end;
	}
}

/* resolv.conf(5): "the local domain name is taken from the host name". */
static void
search_from_host_name(struct resolv_conf *conf)
{
	char host[HOST_NAME_MAX + 1];
	struct word word;

	if (gethostname(host, sizeof(host)) < 0)
		return;
	host[HOST_NAME_MAX] = '\0';
	word.text = strchr(host, '.');
	if (word.text == NULL)
		return;
	word.text++;
	word.length = strlen(word.text);
	add_search(conf, &word);
}

int
resolv_conf_read(struct resolv_conf *conf, const char *path)
{
	size_t length = 0;
	char *text;
	int fd, error = 0;

	memset(conf, 0, sizeof(*conf));
	text = malloc(MAX_OCTETS);
	if (text == NULL)
		return -ENOMEM;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		error = -errno;
	else {
		error = fds_read_all(fd, text, MAX_OCTETS, &length);
		(void)close(fd);
	}
	(void)bom_take(text, &length);
	resolv_conf_parse(conf, text, length);
	free(text);
	if (!conf->search_given)
		search_from_host_name(conf);
	return error;
}

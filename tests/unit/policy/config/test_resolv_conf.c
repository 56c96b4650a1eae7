/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "policy/config/resolv_conf.h"

#include <sys/socket.h>
#include <errno.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/check.h"

static struct resolv_conf conf;

static void
parse(const char *text)
{
	/* Memory of exactly that size: a sanitizer sees what reads on. */
	size_t length = strlen(text);
	char *copy = malloc(length > 0 ? length : 1);

	if (copy == NULL)
		return;
	memcpy(copy, text, length);
	resolv_conf_parse(&conf, copy, length);
	free(copy);
}

static bool
search_is(size_t index, const char *text)
{
	char buf[NAME_TEXT_SIZE];

	return index < conf.search_count && strcmp(name_to_text(
	    conf.search[index].octets, buf), text) == 0;
}

TEST(servers_are_read)
{
	static const uint8_t first[] = { 192, 0, 2, 53 };

	parse("# comment\n; another\nnameserver 192.0.2.53\n"
	    "nameserver\t ::1 trailing\nnameserver fe80::1%lo\n"
	    "nameserver 192.0.2.54\n");
	/* The C libraries look at three. */
	CHECK(conf.server_count == 3);
	CHECK(conf.servers[0].family == AF_INET);
	CHECK(memcmp(conf.servers[0].address, first, 4) == 0);
	CHECK(conf.servers[1].family == AF_INET6);
	CHECK(conf.servers[1].address[15] == 1);
	CHECK(conf.servers[1].scope_id == 0);
	CHECK(conf.servers[2].scope_id == if_nametoindex("lo"));
	CHECK(!conf.search_given && conf.search_count == 0);
	parse("nameserver fe80::1%7");
	CHECK(conf.server_count == 1 && conf.servers[0].scope_id == 7);
}

TEST(what_is_no_server_is_passed_over)
{
	parse(" nameserver 192.0.2.1\nnameserver\nnameserver dns.example\n"
	    "nameserver192.0.2.1\nnameserver 1.2.3\n#nameserver 192.0.2.2\n"
	    "nameserver 192.0.2.12345678901234567890123456789012345678901234567"
	    "8901234567890\noptions ndots:5\nNAMESERVER 192.0.2.1\n");
	CHECK(conf.server_count == 0);
}

TEST(the_last_search_or_domain_line_wins)
{
	parse("search a.example b.example\nsearch Shop.svc.Cluster.Local. "
	    "svc.cluster.local svc.cluster.local\n");
	CHECK(conf.search_given && conf.search_count == 2);
	CHECK(search_is(0, "shop.svc.cluster.local."));
	CHECK(search_is(1, "svc.cluster.local."));
	parse("search a.example\ndomain b.example c.example\n");
	CHECK(conf.search_count == 1 && search_is(0, "b.example."));
	parse("domain b.example\nsearch a.example\tc.example\r\n");
	CHECK(conf.search_count == 2 && search_is(1, "c.example."));
	parse("search a.example\nsearch\n");
	CHECK(conf.search_given && conf.search_count == 0);
}

TEST(search_domains_that_are_none_are_left_out)
{
	char text[2000] = "search . a..b ok.example ";
	size_t n = strlen(text);

	memset(text + n, 'x', 300);
	parse(text);
	CHECK(conf.search_count == 1 && search_is(0, "ok.example."));
	n = 0;
	n += (size_t)snprintf(text, sizeof(text), "search");
	for (int i = 0; i < MESH_MAX_SEARCH + 5; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, " s%d", i);
	parse(text);
	CHECK(conf.search_count == MESH_MAX_SEARCH);
}

TEST(files_are_read)
{
	char path[] = "/tmp/nfdns-resolv-XXXXXX";
	static const char text[] = "search x.example\nnameserver ::1";
	int fd = mkstemp(path);

	CHECK(fd >= 0 && write(fd, text, sizeof(text) - 1) ==
	    (ssize_t)sizeof(text) - 1);
	close(fd);
	CHECK(resolv_conf_read(&conf, path) == 0);
	CHECK(conf.server_count == 1 && search_is(0, "x.example."));
	unlink(path);
	CHECK(resolv_conf_read(&conf, path) == -ENOENT);
	CHECK(conf.server_count == 0 && !conf.search_given);
	CHECK(resolv_conf_read(&conf, "/") == -EISDIR);
}

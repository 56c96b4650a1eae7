/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Search list and nameservers of the machine's resolv.conf. */
#include <string.h>
#include <sys/socket.h>

#include "nfq/supervisor/parts.h"
#include "policy/log.h"
#include "resolver/dns/name.h"

static bool
same_search(const struct dns_name *a, size_t a_count, const struct dns_name *b,
    size_t b_count)
{
	if (a_count != b_count)
		return false;
	for (size_t i = 0; i < a_count; i++)
		if (!name_equal(&a[i], &b[i]))
			return false;
	return true;
}

static bool
same_servers(const struct resolv_conf *a, const struct resolv_conf *b)
{
	if (a->server_count != b->server_count)
		return false;
	for (size_t i = 0; i < a->server_count; i++)
		if (a->servers[i].family != b->servers[i].family ||
		    a->servers[i].scope_id != b->servers[i].scope_id ||
		    memcmp(a->servers[i].address, b->servers[i].address,
		    a->servers[i].family == AF_INET ? 4 : 16) != 0)
			return false;
	return true;
}

enum reload_wish
monitor_resolv_conf(struct supervisor *s)
{
	struct resolv_conf now, *before = &s->monitor.resolv_conf;
	const struct mesh *mesh = &s->config->mesh;
	bool is_ours, same, servers;

	if (resolv_conf_read(&now, RESOLV_CONF_PATH) < 0)
		return RELOAD_NOTHING;	/* being replaced */
	is_ours = same_search(mesh->search, mesh->search_count,
	    before->search, before->search_count);
	same = same_search(now.search, now.search_count,
	    before->search, before->search_count);
	servers = s->config->machine_upstreams && !same_servers(&now, before);
	*before = now;
	if ((!is_ours || same) && !servers)
		return RELOAD_NOTHING;
	log_notice("the %s of %s changed: reloading",
	    servers ? "nameservers" : "search list", RESOLV_CONF_PATH);
	return RELOAD_MACHINE;
}

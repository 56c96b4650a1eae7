/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The search list of the machine's resolv.conf. */
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

enum monitor_wish
monitor_resolv_conf(struct supervisor *s)
{
	struct resolv_conf now, *before = &s->monitor.resolv_conf;
	const struct mesh *mesh = &s->config->mesh;
	bool is_ours, same;

	if (resolv_conf_read(&now, RESOLV_CONF_PATH) < 0)
		return MONITOR_NOTHING;	/* being replaced */
	is_ours = same_search(mesh->search, mesh->search_count,
	    before->search, before->search_count);
	same = same_search(now.search, now.search_count,
	    before->search, before->search_count);
	*before = now;
	if (!is_ours || same)
		return MONITOR_NOTHING;
	log_notice("the search list of %s changed: reloading", RESOLV_CONF_PATH);
	return MONITOR_RELOAD;
}

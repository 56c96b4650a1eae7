/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The files that the supervisor watches: sources, zones and the search list. */
#include <string.h>
#include <sys/socket.h>

#include "nfq/supervisor/parts.h"
#include "policy/log.h"
#include "policy/config/capture.h"
#include "policy/config/resolv_conf.h"
#include "resolver/sources/source_format.h"
#include "resolver/dns/name.h"

static void
add(struct watch *watch, const char *path, unsigned int what, bool beside)
{
	if (watch_add(watch, path, what, beside) < 0)
		log_warning("cannot watch %s: out of memory: run nfdns reload "
		    "after a change", path);
}

static void
add_sets(struct watch *watch, const struct policy *policy,
    const struct policy_span *names)
{
	for (uint32_t i = 0; i < names->count; i++) {
		const struct policy_name *name =
		    &policy->names[names->first + i];

		if (name->kind == POLICY_SET)
			add(watch, policy->sets[name->set].path, WATCH_TABLES,
			    false);
	}
}

struct watch *
follow_open(const struct config *config, bool all)
{
	const struct mesh *mesh = &config->mesh;
	struct watch *watch = watch_open();

	if (watch == NULL) {
		log_warning("cannot watch files: out of memory: run nfdns "
		    "reload after a change");
		return NULL;
	}
	add(watch, CONFIG_PASSWD, WATCH_USERS, false);
	add(watch, CONFIG_GROUP, WATCH_USERS, false);
	if (config->machine_search || config->machine_upstreams)
		add(watch, RESOLV_CONF_PATH, WATCH_RESOLV, false);
	for (size_t i = 0; i < mesh->source_count; i++) {
		const struct mesh_source *source = &mesh->sources[i];

		if (source->format->kept)
			add(watch, source->path, WATCH_FEEDS, false);
		else if (source->watch || all)
			add(watch, source->path, WATCH_TABLES,
			    source->format->includes);
	}
	for (size_t i = 0; i < config->policy.rule_count; i++) {
		const struct policy_rule *rule = &config->policy.rules[i];

		if (rule->watch == 0 && !all)
			continue;
		if (rule->zone != 0)
			add(watch, config->policy.sets[rule->zone - 1].path,
			    WATCH_TABLES, true);
		add_sets(watch, &config->policy, &rule->match.names);
		add_sets(watch, &config->policy, &rule->not.names);
	}
	return watch;
}

/* Search list and nameservers of the machine's resolv.conf. */

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

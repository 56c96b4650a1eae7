/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The files that the supervisor watches: sources, zones and the search list. */
#include "nfq/supervisor/parts.h"
#include "policy/log.h"
#include "policy/config/capture.h"
#include "policy/config/resolv_conf.h"
#include "resolver/sources/source_format.h"

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

static void
add_rules(struct watch *watch, const struct policy *policy, bool all)
{
	for (size_t i = 0; i < policy->rule_count; i++) {
		const struct policy_rule *rule = &policy->rules[i];

		if (rule->watch == 0 && !all)
			continue;
		if (rule->zone != 0)
			add(watch, policy->sets[rule->zone - 1].path,
			    WATCH_TABLES, true);
		add_sets(watch, policy, &rule->match.names);
		add_sets(watch, policy, &rule->not.names);
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
	add_rules(watch, &config->policy, all);
	return watch;
}

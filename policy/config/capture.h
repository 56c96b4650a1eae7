/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Readers of the worker's user and of what is captured and bypassed: numbers
 * for the kernel.
 */
#ifndef NFDNS_POLICY_CONFIG_CAPTURE_H
#define NFDNS_POLICY_CONFIG_CAPTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "policy/config/setting.h"
#include "policy/config/policy.h"
#include "resolver/text/diag.h"

config_read_value config_read_user, config_read_mark_mask, config_read_users,
    config_read_groups, config_read_marks, config_read_cgroups,
    config_read_prefixes, config_read_nameservers;

/* The user of nfdns-feed, if it exists: it asks for its control plane's own name. */
void config_bypass_feed(const struct config_load *load);

/* Where users and groups are looked for first (nsswitch.conf(5): "files"). */
#define CONFIG_PASSWD	"/etc/passwd"
#define CONFIG_GROUP	"/etc/group"

/*
 * The number of a user or group that is not there.  An empty list would be all,
 * so the list has the one number that no process can have (INVALID_UID in
 * include/linux/uidgid.h).  It is also that of a user who is not known: what
 * compares with a list takes it for nobody's.
 */
#define CONFIG_NOBODY	UINT32_MAX

/*
 * A user, a group, an address or prefix of a setting, by name or number.  False
 * after an error in load->diag.  A user or group that does not exist (yet) is a
 * warning, and has the number CONFIG_NOBODY.
 */
bool config_user_of(const struct config_load *load,
    const struct config_option *option, const config_setting_t *value,
    uint32_t *uid);
bool config_group_of(const struct config_load *load,
    const struct config_option *option, const config_setting_t *value,
    uint32_t *gid);
bool config_prefix_of(const struct config_load *load,
    const struct config_option *option, const config_setting_t *value,
    struct config_prefix *prefix);

/* Readers of the entries of "audit". */

config_read_value config_read_audits, config_read_audit_verdict,
    config_read_audit_rcode,
    config_read_audit_path;

/* Readers of the entries of "containers". */

config_read_value config_read_containers, config_read_interface,
    config_read_source;

void config_containers_free(struct config *config);

/* Readers of what only feed.conf has. */

extern const char *const feed_types[];	/* by enum feed_type, then NULL */

config_read_value feed_read_server, feed_read_addresses, feed_read_address,
    feed_read_labels, feed_read_namespaces;

/* What goes together: struct config_load's "check". */
void feed_check(const struct config_load *load, const config_setting_t *root);

/* Readers of the options "forward.*". */

config_read_value config_read_forward_domains, config_read_forward_name,
    config_read_upstreams, config_read_ca;

/* After all options: what depends on several of them.  Errors go to diag. */
void config_complete_forward(const struct config_load *load);

/* Readers of the lists of groups and of their members. */

config_read_value config_read_search, config_read_tables, config_read_format,
    config_read_origin, config_read_namespaces, config_read_zones;

/* Readers of the policy's rules and of their members. */

/* What a rule may do, as the file says it: bits of policy_rule.given. */
enum given {
	GIVEN_ACTION = 0x01,
	GIVEN_ADDRESSES = 0x02,
	GIVEN_CNAME = 0x04,
	GIVEN_REWRITE = 0x08,
	GIVEN_FILTER = 0x10,
	GIVEN_ZONE = 0x20,
};

config_read_value config_read_rules, config_read_rule_name,
    config_read_rule_names, config_read_rule_types, config_read_rule_users,
    config_read_rule_groups, config_read_rule_prefixes,
    config_read_rule_protocols, config_read_rule_source,
    config_read_rule_action,
    config_read_rule_addresses, config_read_rule_cname, config_read_rule_only,
    config_read_rule_pattern,
    config_read_rule_over, config_read_rule_log, config_read_rule_format,
    config_read_rule_path;

/* Checks what needs all rules. */
void config_complete_policy(const struct config_load *load);

/* Names of a policy as people write them, in the configuration and in files. */

/*
 * Reads "a.example", "*.a.example", ".a.example", or "*": all names.  Octets
 * that names of hosts do not have, a star elsewhere among them, are written as
 * escapes (\047, \*); labels in UTF-8 become A-labels.
 * Returns 0 and name, lower-cased, of any kind but POLICY_SET; -EINVAL;
 * -ENAMETOOLONG for a label above 63 or a name above 255 octets; -EILSEQ for one
 * that IDNA does not allow; or -ENOMEM.
 */
int policy_pattern_read(struct policy_name *name, const char *text,
    size_t length) __attribute__((warn_unused_result));

/* What is wrong, behind the text and a blank. */
const char *policy_pattern_why(int error);

/* What an operator hardly meant: warnings about rules that are valid. */

/*
 * Warns of rules that can never match, because an earlier rule decides about all
 * questions that they match.  Only what is certain is told: conditions that are
 * the same or wider, compared one by one; files of names only with themselves.
 * With many rules that have names, those are not compared with each other.
 */
void policy_check_order(const struct policy *policy, struct diag *diag);

/* Settings by which questions get past a policy, or that do not hold beside one. */
struct policy_gaps {
	bool absent_passes;	/* queue.absent */
	bool overload_passes;	/* queue.overload */
	bool tcp;		/* capture.tcp */
};

/*
 * For a policy that could deny something: warns of those by which what it denies
 * is resolved (queue.absent = "pass", capture.tcp = false), and of one that does
 * not hold then (queue.overload = "pass").
 */
void policy_check_gaps(const struct policy *policy,
    const struct policy_gaps *gaps, const char *file, struct diag *diag);

#endif

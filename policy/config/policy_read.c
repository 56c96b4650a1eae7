/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <arpa/inet.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "policy/config/capture.h"
#include "policy/config/setting.h"
#include "resolver/dns/rr.h"
#include "resolver/text/host.h"
#include "resolver/idn.h"

/*
 * Whether it is made of what names are made of, escapes and octets of UTF-8:
 * anything else belongs to another format, and would match nothing.
 */
static bool
is_written_well(const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++) {
		const uint8_t c = (uint8_t)text[i];

		if (c == '\\')
			i++;
		else if (!((c | 0x20) >= 'a' && (c | 0x20) <= 'z') &&
		    !(c >= '0' && c <= '9') && c != '.' && c != '-' &&
		    c != '_' && c < 0x80)
			return false;
	}
	return true;
}

int
policy_pattern_read(struct policy_name *name, const char *text, size_t length)
{
	const bool all = length == 1 && text[0] == '*';
	size_t skip = 0;
	int error;

	name->kind = POLICY_EXACT;
	if (all || (length >= 2 && memcmp(text, "*.", 2) == 0)) {
		name->kind = POLICY_BELOW;
		skip = all ? 1 : 2;
	} else if (length >= 2 && text[0] == '.') {
		name->kind = POLICY_WITHIN;
		skip = 1;
	}
	if (length == 0 || !is_written_well(text + skip, length - skip))
		return -EINVAL;
	error = idn_name_from_text(&name->name, text + skip, length - skip);
	/* Nobody means all names by "*." or "..". */
	if (error == 0 && name->name.labels == 0 && skip > 0 && !all)
		error = -EINVAL;
	if (error == 0)
		name_lower(&name->name);
	return error;
}

const char *
policy_pattern_why(int error)
{
	switch (error) {
	case -ENAMETOOLONG:
		return "has a label over 63 octets, or is over 255 octets long";
	case -EILSEQ:
		return IDN_REFUSED;
	default:
		return "is not a valid domain name";
	}
}

static struct policy *
policy_of(const struct config_load *load)
{
	return &load->config->policy;
}

/* The rule that is being read. */
static struct policy_rule *
current(const struct config_load *load)
{
	struct policy *policy = policy_of(load);

	return &policy->rules[policy->rule_count - 1];
}

/* The next item of a span, which is the last of its array. */
static void
grow_span(struct policy_span *span, size_t count)
{
	if (span->count++ == 0)
		span->first = (uint32_t)count - 1;
}

static void
add_number(const struct config_load *load, struct policy_span *span,
    uint32_t number)
{
	struct policy *policy = policy_of(load);
	uint32_t *item = config_append(load, &policy->numbers,
	    &policy->number_count, sizeof(*item));

	if (item == NULL)
		return;
	*item = number;
	grow_span(span, policy->number_count);
}

void
config_read_rule_name(const struct config_load *load,
    const struct config_option *option, const config_setting_t *value, void *to)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyz"
	    "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";
	const char *text = config_setting_get_string(value);
	const size_t length = strlen(text);

	if (length < 1 || length > RULE_NAME_MAX ||
	    strspn(text, allowed) != length)
		config_expected(load, option, value);
	else
		memcpy(to, text, length + 1);
}

/* A name or "*.NAME" or ".NAME", which "text" is behind. */
static bool
read_pattern(const struct config_load *load, const config_setting_t *value,
    const char *text, struct policy_name *name)
{
	const int error = policy_pattern_read(name, text, strlen(text));

	if (error < 0)
		config_wrong(load, value, "found \"%.100s\", which %s",
		    config_setting_get_string(value),
		    policy_pattern_why(error));
	return error == 0;
}

/* "@/path": the same file may stand in several rules, and is read once. */
static void
add_set(const struct config_load *load, const config_setting_t *value,
    struct policy_name *name)
{
	struct policy *policy = policy_of(load);
	const char *path = config_setting_get_string(value) + 1;
	struct policy_set *set;

	name->kind = POLICY_SET;
	if (path[0] != '/') {
		config_wrong(load, value, "found \"%.100s\", expected \"@\" and "
		    "an absolute path", path - 1);
		return;
	}
	for (size_t i = 0; i < policy->set_count; i++) {
		name->set = (uint32_t)i;
		if (policy->sets[i].zone == 0 &&
		    strcmp(policy->sets[i].path, path) == 0)
			return;
	}
	name->set = (uint32_t)policy->set_count;
	set = config_append(load, &policy->sets, &policy->set_count,
	    sizeof(*set));
	if (set == NULL)
		return;
	set->file = load->path;
	set->line = config_setting_source_line(value);
	config_store_text(load, &set->path, strdup(path));
}

void
config_read_rule_names(const struct config_load *load,
    const struct config_option *option, const config_setting_t *value, void *to)
{
	struct policy *policy = policy_of(load);
	const char *text = config_setting_get_string(value);
	struct policy_name *name = config_append(load, &policy->names,
	    &policy->name_count, sizeof(*name));

	(void)option;
	if (name == NULL)
		return;
	grow_span(to, policy->name_count);
	if (text[0] == '@')
		add_set(load, value, name);
	else
		(void)read_pattern(load, value, text, name);
}

void
config_read_rule_types(const struct config_load *load,
    const struct config_option *option, const config_setting_t *value, void *to)
{
	uint16_t type;

	if (rr_type_from_text(&type, config_setting_get_string(value)) < 0)
		config_expected(load, option, value);
	else
		add_number(load, to, type);
}

void
config_read_rule_users(const struct config_load *load,
    const struct config_option *option, const config_setting_t *value, void *to)
{
	uint32_t uid;

	if (config_user_of(load, option, value, &uid))
		add_number(load, to, uid);
}

void
config_read_rule_groups(const struct config_load *load,
    const struct config_option *option, const config_setting_t *value, void *to)
{
	uint32_t gid;

	if (config_group_of(load, option, value, &gid))
		add_number(load, to, gid);
}

void
config_read_rule_prefixes(const struct config_load *load,
    const struct config_option *option, const config_setting_t *value, void *to)
{
	struct policy *policy = policy_of(load);
	struct policy_prefix *item;
	struct config_prefix prefix;

	if (!config_prefix_of(load, option, value, &prefix))
		return;
	item = config_append(load, &policy->prefixes, &policy->prefix_count,
	    sizeof(*item));
	if (item == NULL)
		return;
	memcpy(item->address, prefix.address, sizeof(item->address));
	item->family = (uint8_t)prefix.family;
	item->length = prefix.length;
	grow_span(to, policy->prefix_count);
}

/* Sets the bit of a choice in a mask. */
static void
read_bit(const struct config_load *load, const struct config_option *option,
    const config_setting_t *value, uint32_t *mask)
{
	const char *text = config_setting_get_string(value);

	for (unsigned int i = 0; option->choices[i] != NULL; i++)
		if (strcmp(option->choices[i], text) == 0) {
			*mask |= (uint32_t)1 << i;
			return;
		}
	config_expected(load, option, value);
}

void
config_read_rule_protocols(const struct config_load *load,
    const struct config_option *option, const config_setting_t *value, void *to)
{
	read_bit(load, option, value, to);
}

void
config_read_rule_source(const struct config_load *load,
    const struct config_option *option, const config_setting_t *value, void *to)
{
	read_bit(load, option, value, to);
}

void
config_read_rule_action(const struct config_load *load,
    const struct config_option *option, const config_setting_t *value, void *to)
{
	struct policy_rule *rule = current(load);

	/* The choices are in the order of enum rule_action. */
	config_read_choice(load, option, value, to);
	rule->given |= GIVEN_ACTION;
}

void
config_read_rule_addresses(const struct config_load *load,
    const struct config_option *option, const config_setting_t *value, void *to)
{
	struct policy *policy = policy_of(load);
	const char *text = config_setting_get_string(value);
	struct policy_address address = { .family = AF_UNSPEC }, *item;

	address.family = (uint8_t)host_address(text, address.address);
	if (address.family == AF_UNSPEC) {
		config_expected(load, option, value);
		return;
	}
	item = config_append(load, &policy->addresses, &policy->address_count,
	    sizeof(*item));
	if (item == NULL)
		return;
	*item = address;
	grow_span(to, policy->address_count);
	current(load)->given |= GIVEN_ADDRESSES;
}

void
config_read_rule_cname(const struct config_load *load,
    const struct config_option *option, const config_setting_t *value, void *to)
{
	config_read_name(load, option, value, to);
	current(load)->given |= GIVEN_CNAME;
}

void
config_read_rule_pattern(const struct config_load *load,
    const struct config_option *option, const config_setting_t *value, void *to)
{
	struct policy_name *name = to;

	current(load)->given |= GIVEN_REWRITE;
	if (read_pattern(load, value, config_setting_get_string(value), name) &&
	    name->kind == POLICY_WITHIN)
		config_expected(load, option, value);
}

void
config_read_rule_only(const struct config_load *load,
    const struct config_option *option, const config_setting_t *value, void *to)
{
	struct policy_rule *rule = current(load);

	(void)to;
	if (strcmp(config_setting_get_string(value), "A") == 0)
		rule->only = RULE_ONLY_A;
	else if (strcmp(config_setting_get_string(value), "AAAA") == 0)
		rule->only = RULE_ONLY_AAAA;
	else if (strcmp(config_setting_get_string(value), "addresses") == 0)
		rule->only = RULE_ONLY_BOTH;
	else
		config_expected(load, option, value);
	rule->given |= GIVEN_FILTER;
}

void
config_read_rule_log(const struct config_load *load,
    const struct config_option *option, const config_setting_t *value, void *to)
{
	uint32_t log = RULE_LOG_ONLY;

	if (config_setting_type(value) == CONFIG_TYPE_BOOL)
		log = config_setting_get_bool(value) != 0 ? RULE_LOG_ALL :
		    RULE_LOG_NONE;
	else if (strcmp(config_setting_get_string(value), "only") != 0) {
		config_expected(load, option, value);
		return;
	}
	memcpy(to, &log, sizeof(log));
}

void
config_read_rule_format(const struct config_load *load,
    const struct config_option *option, const config_setting_t *value, void *to)
{
	(void)to;
	if (strcmp(config_setting_get_string(value), "rpz") != 0)
		config_expected(load, option, value);
	current(load)->given |= GIVEN_ZONE;
}

void
config_read_rule_path(const struct config_load *load,
    const struct config_option *option, const config_setting_t *value, void *to)
{
	struct policy *policy = policy_of(load);
	struct policy_set *set = config_append(load, &policy->sets,
	    &policy->set_count, sizeof(*set));
	const uint32_t number = (uint32_t)policy->set_count;

	if (set == NULL)
		return;
	set->file = load->path;
	set->line = config_setting_source_line(value);
	set->zone = 1;
	memcpy(to, &number, sizeof(number));
	config_read_path(load, option, value, &set->path);
}

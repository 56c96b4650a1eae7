/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "policy/config/capture.h"

#include <sys/socket.h>
#include <arpa/inet.h>
#include <assert.h>
#include <ctype.h>
#include <grp.h>
#include <netinet/in.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policy/config/setting.h"
#include "resolver/text/host.h"
#include "resolver/text/suggest.h"

/* A 32-bit number written as such or in quotes. */
static bool
number_of(const config_setting_t *value, uint32_t *number)
{
	long long wide;

	if (config_setting_type(value) == CONFIG_TYPE_STRING)
		return config_number_from_text(config_setting_get_string(value),
		    number);
	wide = config_setting_get_int64(value);
	/* libconfig 1.5 reads 0x80000000 as a negative int. */
	if (config_setting_get_format(value) == CONFIG_FORMAT_HEX &&
	    config_setting_type(value) == CONFIG_TYPE_INT)
		wide &= UINT32_MAX;
	*number = (uint32_t)wide;
	return wide >= 0 && wide <= UINT32_MAX;
}

void
config_read_mark_mask(const struct config_load *load,
    const struct config_option *option, const config_setting_t *value, void *to)
{
	struct config_capture *capture = &load->config->capture;
	uint32_t mask;

	if (!number_of(value, &mask) || __builtin_popcount(mask) != 3) {
		config_expected(load, option, value);
		return;
	}
	assert(to == &capture->mark_mask);
	capture->mark_mask = mask;
	capture->mark_passed = mask & -mask;
	mask &= mask - 1;
	capture->mark_answered = mask & -mask;
	mask &= mask - 1;
	capture->mark_stream = mask;
}

/* Adds a number to a list of them unless it is there. */
static void
add_number(const struct config_load *load, uint32_t **numbers, size_t *count,
    uint32_t number)
{
	uint32_t *item;

	for (size_t i = 0; i < *count; i++)
		if ((*numbers)[i] == number)
			return;
	item = config_append(load, numbers, count, sizeof(*item));
	if (item != NULL)
		*item = number;
}

static_assert(sizeof(uid_t) == sizeof(uint32_t) &&
    sizeof(gid_t) == sizeof(uint32_t), "add_number() takes them");

/* Adds a user whose questions are bypassed. */
static void
add_user(const struct config_load *load, uid_t uid)
{
	struct config_bypass *bypass = &load->config->capture.bypass;

	add_number(load, &bypass->users, &bypass->user_count, uid);
}

/* A number of a user or group; -1 is the kernel's "none". */
static bool
id_of(const config_setting_t *value, uint32_t *number)
{
	return number_of(value, number) && *number != UINT32_MAX;
}

/*
 * The end of a message: the first close name of those in the machine's file;
 * other sources (LDAP) may have too many.
 */
static const char *
close_name(const char *name, const char *path, char text[static SUGGEST_TEXT])
{
	FILE *file = fopen(path, "re");
	char line[512] = "";
	struct suggest suggest;

	suggest_start(&suggest, name);
	while (file != NULL && suggest.best == NULL &&
	    fgets(line, sizeof(line), file) != NULL)
		suggest_offer(&suggest, line, strcspn(line, ":\n"));
	if (file != NULL)
		(void)fclose(file);
	return suggest_text(&suggest, text);
}

void
config_read_user(const struct config_load *load,
    const struct config_option *option, const config_setting_t *value, void *to)
{
	struct config *config = load->config;
	const struct passwd *entry;
	char near[SUGGEST_TEXT];
	uint32_t number;
	char *text;

	if (id_of(value, &number)) {
		entry = getpwuid(number);
		config->uid = number;
		config->gid = entry != NULL ? entry->pw_gid : number;
		if (asprintf(&text, "%u", number) < 0)
			text = NULL;
	} else if (config_setting_type(value) != CONFIG_TYPE_STRING) {
		config_expected(load, option, value);
		return;
	} else {
		text = strdup(config_setting_get_string(value));
		entry = text != NULL ? getpwnam(text) : NULL;
		if (text != NULL && entry == NULL) {
			config_wrong(load, value, "there is no user \"%.60s\"%s "
			    "create it (useradd --system --no-create-home "
			    "--shell /usr/sbin/nologin %.60s, or "
			    "systemd-sysusers) or name another", text,
			    close_name(text, CONFIG_PASSWD, near)[0] != '\0' ?
			    near : ";", text);
			free(text);
			return;
		}
		if (entry != NULL) {
			config->uid = entry->pw_uid;
			config->gid = entry->pw_gid;
		}
	}
	config_store_text(load, to, text);
	add_user(load, config->uid);
	if (text != NULL && config->uid == 0)
		diag_add(load->diag, DIAG_WARNING, load->file,
		    config_setting_source_line(value), "user: questions of "
		    "root are bypassed, since the worker is root's; give it "
		    "a user of its own");
}

/* A user or group that is not there matches nobody until it is. */
static void
tell_absent(const struct config_load *load, const config_setting_t *value,
    bool users)
{
	const char *name = config_setting_get_string(value);
	const char *what = users ? "user" : "group";
	char text[SUGGEST_TEXT];

	(void)close_name(name, users ? CONFIG_PASSWD : CONFIG_GROUP, text);
	config_absent(load, value, "there is no %s \"%.60s\" on this "
	    "machine%s nobody matches it until there is one", what, name,
	    text[0] != '\0' ? text : ":");
}

/* Text that is no number. */
static bool
is_name(const struct config_load *load, const struct config_option *option,
    const config_setting_t *value)
{
	uint32_t number;

	if (config_setting_type(value) == CONFIG_TYPE_STRING &&
	    !number_of(value, &number))
		return true;
	config_expected(load, option, value);
	return false;
}

bool
config_user_of(const struct config_load *load,
    const struct config_option *option, const config_setting_t *value,
    uint32_t *uid)
{
	const struct passwd *entry;

	if (id_of(value, uid))
		return true;
	if (!is_name(load, option, value))
		return false;
	entry = getpwnam(config_setting_get_string(value));
	*uid = entry != NULL ? entry->pw_uid : CONFIG_NOBODY;
	if (entry == NULL)
		tell_absent(load, value, true);
	return true;
}

void
config_read_users(const struct config_load *load,
    const struct config_option *option, const config_setting_t *value, void *to)
{
	uint32_t uid;

	assert(to == &load->config->capture.bypass);
	if (config_user_of(load, option, value, &uid) && uid != CONFIG_NOBODY)
		add_user(load, uid);
}

void
config_bypass_feed(const struct config_load *load)
{
	const struct passwd *entry = getpwnam(CONFIG_FEED_USER);

	if (entry != NULL)
		add_user(load, entry->pw_uid);
}

bool
config_group_of(const struct config_load *load,
    const struct config_option *option, const config_setting_t *value,
    uint32_t *gid)
{
	const struct group *entry;

	if (id_of(value, gid))
		return true;
	if (!is_name(load, option, value))
		return false;
	entry = getgrnam(config_setting_get_string(value));
	*gid = entry != NULL ? entry->gr_gid : CONFIG_NOBODY;
	if (entry == NULL)
		tell_absent(load, value, false);
	return true;
}

void
config_read_groups(const struct config_load *load,
    const struct config_option *option, const config_setting_t *value, void *to)
{
	struct config_bypass *bypass = to;
	uint32_t gid;

	if (config_group_of(load, option, value, &gid) && gid != CONFIG_NOBODY)
		add_number(load, &bypass->groups, &bypass->group_count, gid);
}

/* "VALUE" or "VALUE/MASK". */
static bool
mark_from_text(const char *text, struct config_mark *mark)
{
	char left[16];
	const char *slash = strchr(text, '/');
	size_t length = slash != NULL ? (size_t)(slash - text) : strlen(text);

	if (length >= sizeof(left))
		return false;
	memcpy(left, text, length);
	left[length] = '\0';
	mark->mask = UINT32_MAX;
	return config_number_from_text(left, &mark->value) &&
	    (slash == NULL || config_number_from_text(slash + 1, &mark->mask));
}

void
config_read_marks(const struct config_load *load,
    const struct config_option *option, const config_setting_t *value, void *to)
{
	struct config_bypass *bypass = to;
	uint32_t ours = load->config->capture.mark_mask;
	struct config_mark mark, *item;

	if (!mark_from_text(config_setting_get_string(value), &mark) ||
	    mark.mask == 0) {
		config_expected(load, option, value);
		return;
	}
	if ((mark.value & ~mark.mask) != 0) {
		config_wrong(load, value, "0x%x has bits outside its mask 0x%x, "
		    "so no packet can match", mark.value, mark.mask);
		return;
	}
	/* A mark without a mask asks that our bits are clear: that is fine. */
	if ((mark.value & ours) != 0 ||
	    (mark.mask != UINT32_MAX && (mark.mask & ours) != 0)) {
		config_wrong(load, value, "0x%x/0x%x overlaps capture.mark_mask "
		    "0x%x, whose bits are nfdns's own; change one of them",
		    mark.value, mark.mask, ours);
		return;
	}
	for (size_t i = 0; i < bypass->mark_count; i++)
		if (bypass->marks[i].value == mark.value &&
		    bypass->marks[i].mask == mark.mask)
			return;
	item = config_append(load, &bypass->marks, &bypass->mark_count,
	    sizeof(*item));
	if (item != NULL)
		*item = mark;
}

/*
 * Whether a part of the path is empty, "." or ".."; or one has a quote or a control
 * character, which nft(8) has no way to write.
 */
static bool
has_odd_part(const char *path)
{
	for (;;) {
		const size_t length = strcspn(path, "/");

		if (length == 0 || (length <= 2 && strspn(path, ".") >= length))
			return true;
		for (size_t i = 0; i < length; i++)
			if (path[i] == '"' || iscntrl((unsigned char)path[i]))
				return true;
		path += length;
		if (*path++ == '\0')
			return false;
	}
}

void
config_read_cgroups(const struct config_load *load,
    const struct config_option *option, const config_setting_t *value, void *to)
{
	struct config_bypass *bypass = to;
	struct config_cgroup *item;
	char *path = strdup(config_setting_get_string(value));
	char *start = path;
	size_t length;

	if (path == NULL) {
		config_wrong(load, value, "out of memory");
		return;
	}
	while (*start == '/')
		start++;
	length = strlen(start);
	while (length > 0 && start[length - 1] == '/')
		start[--length] = '\0';
	memmove(path, start, length + 1);
	if (has_odd_part(path)) {
		config_expected(load, option, value);
		free(path);
		return;
	}
	for (size_t i = 0; i < bypass->cgroup_count; i++)
		if (strcmp(bypass->cgroups[i].path, path) == 0) {
			free(path);
			return;
		}
	item = config_append(load, &bypass->cgroups, &bypass->cgroup_count,
	    sizeof(*item));
	if (item != NULL)
		*item = (struct config_cgroup){ .path = path,
			.file = load->path,
			.line = config_setting_source_line(value) };
	else
		free(path);
}

/* Clears the bits behind the prefix length.  True if there were any. */
static bool
clear_host_bits(struct config_prefix *prefix)
{
	bool any = false;

	for (unsigned int bit = prefix->length; bit < 128; bit++) {
		uint8_t mask = (uint8_t)(0x80 >> bit % 8);

		any |= (prefix->address[bit / 8] & mask) != 0;
		prefix->address[bit / 8] &= (uint8_t)~mask;
	}
	return any;
}

/* "ADDRESS" or "ADDRESS/LENGTH", host bits left as they are. */
static bool
prefix_from_text(const char *text, struct config_prefix *prefix)
{
	char address[INET6_ADDRSTRLEN];
	const char *slash = strchr(text, '/');
	size_t length = slash != NULL ? (size_t)(slash - text) : strlen(text);
	uint32_t bits;

	memset(prefix, 0, sizeof(*prefix));
	if (length >= sizeof(address))
		return false;
	memcpy(address, text, length);
	address[length] = '\0';
	prefix->family = (uint8_t)host_address(address, prefix->address);
	if (prefix->family == AF_UNSPEC)
		return false;
	prefix->length = prefix->family == AF_INET ? 32 : 128;
	if (slash == NULL)
		return true;
	if (slash[1] == '0' && slash[2] != '\0')
		return false;
	if (!config_number_from_text(slash + 1, &bits) || bits > prefix->length)
		return false;
	prefix->length = (uint8_t)bits;
	return true;
}

static void
add_prefix(const struct config_load *load, struct config_prefix **prefixes,
    size_t *count, const struct config_prefix *prefix)
{
	struct config_prefix *item = config_append(load, prefixes, count,
	    sizeof(*item));

	if (item != NULL)
		*item = *prefix;
}

bool
config_prefix_of(const struct config_load *load,
    const struct config_option *option, const config_setting_t *value,
    struct config_prefix *prefix)
{
	const char *text = config_setting_get_string(value);
	char right[INET6_ADDRSTRLEN];

	if (strchr(text, '%') != NULL) {
		config_wrong(load, value, "an address is written without its "
		    "interface here: leave out \"%.40s\"", strchr(text, '%'));
		return false;
	}
	if (!prefix_from_text(text, prefix)) {
		config_expected(load, option, value);
		return false;
	}
	if (clear_host_bits(prefix)) {
		inet_ntop(prefix->family, prefix->address, right,
		    sizeof(right));
		config_wrong(load, value, "%s has bits set behind its length; "
		    "write \"%s/%u\", or the address alone", text, right,
		    prefix->length);
		return false;
	}
	return true;
}

void
config_read_prefixes(const struct config_load *load,
    const struct config_option *option, const config_setting_t *value, void *to)
{
	struct config_bypass *bypass = to;
	struct config_prefix prefix;

	if (config_prefix_of(load, option, value, &prefix))
		add_prefix(load, &bypass->destinations,
		    &bypass->destination_count, &prefix);
}

void
config_read_nameservers(const struct config_load *load,
    const struct config_option *option, const config_setting_t *value, void *to)
{
	struct config_capture *capture = to;
	struct config_prefix prefix;

	if (strcmp(config_setting_get_string(value), "any") == 0) {
		if (config_setting_length(config_setting_parent(value)) > 1)
			config_wrong(load, value, "\"any\" stands alone: take "
			    "it out, or the addresses beside it");
		capture->any_nameserver = true;
	} else if (config_prefix_of(load, option, value, &prefix))
		add_prefix(load, &capture->nameservers,
		    &capture->nameserver_count, &prefix);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What applications on this machine ask: resolv.conf(5). */
#ifndef NFDNS_POLICY_CONFIG_RESOLV_CONF_H
#define NFDNS_POLICY_CONFIG_RESOLV_CONF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "resolver/image/mesh.h"
#include "resolver/dns/name.h"

#define RESOLV_CONF_PATH "/etc/resolv.conf"
#define RESOLV_CONF_MAX_SERVERS 3	/* the C libraries read no more (MAXNS) */

struct resolv_server {
	int family;			/* AF_INET or AF_INET6 */
	uint8_t address[16];
	uint32_t scope_id;		/* of a link-local address, else 0 */
	bool absent;			/* there is no such interface */
};

/* A value. */
struct resolv_conf {
	struct resolv_server servers[RESOLV_CONF_MAX_SERVERS];
	size_t server_count;
	struct dns_name search[MESH_MAX_SEARCH];	/* lower-cased */
	size_t search_count;
	bool search_given;		/* there was a "search" or "domain" line */
};

/*
 * Reads the text of such a file.  As the C libraries do, it passes over what
 * it does not understand; the root as a search domain is left out.
 */
void resolv_conf_parse(struct resolv_conf *conf, const char *text,
    size_t length);

/*
 * Reads the file at path.  Without a search or domain line the search list is
 * the host name's domain, if it has one.  0 or a negative errno; conf is
 * usable, if empty, in both cases.
 */
int resolv_conf_read(struct resolv_conf *conf, const char *path);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolver/compile/source_files.h"

#include <string.h>

#include "resolver/kubernetes/kubernetes.h"

static const struct source_format formats[] = {
	{ .name = "nds", .ending = ".json", .read = source_nds_read },
	{ .name = "nds-proto", .ending = "", .read = source_nds_proto_read },
	{ .name = "hosts", .ending = "", .read = source_hosts_read },
	{ .name = "zone", .read = source_zone_read, .includes = true },
	{ .name = "kubernetes", .ending = ".json",
	  .read = source_kubernetes_read, .begin = source_kubernetes_begin,
	  .add = source_kubernetes_add, .end = source_kubernetes_end },
	{ .name = "feed", .kept = true },
};

const struct source_format *
formats_find(const char *name)
{
	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		if (strcmp(formats[i].name, name) == 0)
			return &formats[i];
	}
	return NULL;
}

const char *
formats_names(void)
{
	return "nds, nds-proto, hosts, zone, kubernetes, feed";
}

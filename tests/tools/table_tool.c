/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * table_tool: "nfdns table" over one source, without a configuration file.
 *
 *   table_tool FORMAT PATH DOMAIN NAMESPACE table list|get ...
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "nfq/cli/commands.h"
#include "nfq/process/compiler.h"
#include "nfq/process/exit_code.h"
#include "resolver/dns/name.h"
#include "resolver/compile/formats.h"

int
main(int argc, char **argv)
{
	struct mesh_source source = { 0 };
	static char path[] = "nfdnsd.conf";	/* for messages; not read */
	struct config config = { .path = path, .uid = getuid(), .gid = getgid(),
	    .mesh = { .ttl = 30, .sources = &source,
	    .source_count = 1 } };

	if (argc > 5) {
		source.format = formats_find(argv[1]);
		source.path = argv[2];
		config.mesh.namespace = argv[4];
	}
	if (source.format == NULL || name_from_text(&config.mesh.domain, argv[3],
	    strlen(argv[3])) != 0) {
		fputs("usage: table_tool FORMAT PATH DOMAIN NAMESPACE table"
		    " ...\n", stderr);
		return EXIT_USAGE;
	}
	return cmd_table(&config, argc - 5, argv + 5);
}

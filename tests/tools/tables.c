/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Prints the programs' tables, for the lint that compares manual pages and
 * completions with them: the commands of nfdns (command_print_tables()), and the
 * options of the configuration files as
 *
 *	config FILE PATH DEFAULT RELOAD		"-": it has none
 */
#include <stdio.h>

#include "nfq/cli/command.h"
#include "policy/config/feed_config.h"
#include "policy/config/option.h"

static void
print_config(const char *file, const struct config_option *options,
    size_t count)
{
	for (size_t i = 0; i < count; i++)
		(void)printf("config\t%s\t%s\t%s\t%d\n", file,
		    options[i].path, options[i].fallback != NULL ?
		    options[i].fallback : "-", options[i].reload);
}

int
main(void)
{
	command_print_tables(stdout);
	print_config("nfdnsd.conf", config_options, config_option_count);
	print_config("feed.conf", feed_options, feed_option_count);
	return fflush(stdout) == 0 ? 0 : 1;
}

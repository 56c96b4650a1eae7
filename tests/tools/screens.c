/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Findings as "nfdns doctor" prints them, for tests/net/test_screens. */
#include <stdio.h>
#include <unistd.h>

#include "nfq/cli/commands.h"
#include "nfq/cli/doctor/findings.h"

int
main(void)
{
	struct findings findings = { .count = 0 };

	findings_add(&findings, FINDING_OK, "config", NULL,
	    "/etc/nfdns/nfdnsd.conf is valid");
	findings_add(&findings, FINDING_BAD, "daemon", "start nfdnsd: systemctl "
	    "start nfdnsd", "it is not running");
	findings_add(&findings, FINDING_WARNING, "resolved", "set DNSOverTLS=no "
	    "in /etc/systemd/resolved.conf: what is encrypted, nfdns cannot "
	    "see", "systemd-resolved asks over TLS");
	findings_add(&findings, FINDING_UNKNOWN, "rules", "run it as root",
	    "only root can see them \033[31m");
	findings_print(&findings, cli_has_colour(STDOUT_FILENO),
	    cli_columns(STDOUT_FILENO), stdout);
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <string.h>

#include "rules/nft_error.h"

const char *
nft_error_reason(int error)
{
	switch (error) {
	case -EPERM:
	case -EACCES:
		return "no permission to use nf_tables: needs CAP_NET_ADMIN: "
		    "run as root";
	case -EPROTONOSUPPORT:
		return "this kernel has no nf_tables: load module nf_tables or "
		    "use a kernel with CONFIG_NF_TABLES";
	default:
		return strerror(-error);
	}
}

void
nft_error_explain(const struct batch_part *failed, int error, struct diag *diag)
{
	const char *reason = strerror(-error);
	const struct rule *rule = failed->item;

	if (failed->subject == MESSAGE_STALE && error == -EPERM)
		diag_add(diag, DIAG_ERROR, NULL, 0, "another program (nfdnsd?) "
		    "owns table inet " RULES_TABLE "; stop it first");
	else if (failed->subject == MESSAGE_TABLE &&
	    (error == -EOPNOTSUPP || error == -EINVAL))
		diag_add(diag, DIAG_ERROR, NULL, 0, "the kernel does not take "
		    "a table with an owner (%s): use Linux 5.14 or later",
		    reason);
	else if (failed->subject == MESSAGE_RULE)
		diag_add(diag, DIAG_ERROR, NULL, 0, "the kernel does not take "
		    "rule \"%s\" (%s): %s", rule->comment, reason,
		    rule_remedy(rule));
	else if (failed->subject == MESSAGE_CHAIN)
		diag_add(diag, DIAG_ERROR, NULL, 0, "the kernel does not take "
		    "the chains of table inet " RULES_TABLE " (%s): use a "
		    "kernel with CONFIG_NF_TABLES_INET", reason);
	else if (failed->subject == MESSAGE_STREAMS)
		diag_add(diag, DIAG_ERROR, NULL, 0, "the kernel does not take "
		    "a set of TCP connections (%s): set capture.tcp = false",
		    reason);
	else if (failed->subject == MESSAGE_USERS)
		diag_add(diag, DIAG_ERROR, NULL, 0, "the kernel does not take "
		    "the set of users (%s): set capture.user_rate = 0", reason);
	else if (failed->subject == MESSAGE_SET)
		diag_add(diag, DIAG_ERROR, NULL, 0, "the kernel does not take "
		    "the address sets of capture.nameservers and "
		    "capture.bypass.destinations (%s): remove addresses", reason);
	else
		diag_add(diag, DIAG_ERROR, NULL, 0, "cannot put in table inet "
		    RULES_TABLE ": %s", nft_error_reason(error));
}

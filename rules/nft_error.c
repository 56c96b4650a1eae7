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

/* What there is to do when the kernel refuses a rule of that kind. */
static const char *
match_remedy(enum rule_match match)
{
	switch (match) {
	case MATCH_CGROUP:
		return "remove it from capture.bypass.cgroups, or use a kernel "
		    "with CONFIG_NFT_SOCKET (5.13 or later)";
	case MATCH_CLASSID:
		return "remove it from capture.bypass.classids, or use a kernel "
		    "with CONFIG_CGROUP_NET_CLASSID";
	case MATCH_USER:
		return "remove it from capture.bypass.users";
	case MATCH_GROUP:
		return "remove it from capture.bypass.groups";
	case MATCH_MARK:
		return "remove it from capture.bypass.marks";
	case MATCH_FOREIGN_SOURCE:
	case MATCH_BROADCAST:
		return "load module nft_fib_inet, or use a kernel with "
		    "CONFIG_NFT_FIB_INET";
	case MATCH_DESTINATION4:
	case MATCH_DESTINATION6:
		return "remove capture.bypass.destinations";
	default:
		return "use a kernel with CONFIG_NF_TABLES_INET";
	}
}

static const char *
rule_remedy(const struct rule *rule)
{
	switch (rule->action) {
	case ACTION_QUEUE:
	case ACTION_QUEUE_STREAM:
		return "load module nft_queue, or use a kernel with "
		    "CONFIG_NFT_QUEUE, or with CONFIG_NFT_COMPAT and "
		    "CONFIG_NETFILTER_XT_TARGET_NFQUEUE";
	case ACTION_SET_ZONE:
		return "load module nft_ct, or use a kernel with CONFIG_NFT_CT "
		    "and CONFIG_NF_CONNTRACK_ZONES";
	case ACTION_NOTRACK:
		return "load module nft_ct, or use a kernel with CONFIG_NFT_CT";
	case ACTION_REMEMBER:
	case ACTION_FORGET:
	case ACTION_RENEW:
	case ACTION_DIVERT:
	case ACTION_RENEW_DIVERT:
	case ACTION_RELEASE:
		return "set capture.tcp = false";
	case ACTION_TPROXY:
		return "load module nft_tproxy, use a kernel with "
		    "CONFIG_NFT_TPROXY, or set capture.tcp = false";
	case ACTION_SURPLUS:
	case ACTION_SURPLUS_MARKED:
		return "load module nft_limit, use a kernel with "
		    "CONFIG_NFT_LIMIT, or set capture.user_rate = 0";
	case ACTION_ACCEPT:
	case ACTION_CLEAR:
		break;
	}
	return match_remedy(rule->match);
}

void
nft_error_explain(const struct batch_part *failed, int error, struct diag *diag)
{
	const char *reason = strerror(-error);
	const struct rule *rule = failed->item;

	if (failed->subject == MESSAGE_STALE && error == -EPERM)
		diag_add(diag, DIAG_ERROR, NULL, 0, "another program (nfdnsd?) "
		    "owns table inet " RULES_TABLE "; stop it first");
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

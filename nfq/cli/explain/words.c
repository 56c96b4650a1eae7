/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/cli/explain/print.h"

#include <arpa/inet.h>
#include <grp.h>
#include <inttypes.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "resolver/dns/rdata.h"
#include "resolver/dns/rr.h"
#include "resolver/dns/wire.h"

static const char *const reasons[REASONS] = {
	[REASON_NOT_MESH] = "no table has the name",
	[REASON_MALFORMED] = "the packet does not parse",
	[REASON_NOT_QUERY] = "it is not a question",
	[REASON_NO_QUESTION] = "the message has no question",
	[REASON_CLASS] = "its class is not IN",
	[REASON_SIGNED] = "it is signed",
	[REASON_TRANSFER] = "zone transfers are the nameserver's",
	[REASON_OTHER_TYPE] = "the mesh has only addresses of this public name",
	[REASON_UNLOADED] = "no table has loaded yet",
	[REASON_MANY_QUESTIONS] = "the message has several questions",
	[REASON_MANY_OPT] = "the message has two OPT records",
	[REASON_EDNS_VERSION] = "its EDNS version does not exist",
	[REASON_RECORD] = "the table has the records",
	[REASON_WILDCARD] = "a wildcard of the table has the records",
	[REASON_SEARCH] = "the name without its search domain is in the table",
	[REASON_ADDRESS_TYPE] = "the name has no address of this type",
	[REASON_OWNED_TYPE] = "the name is the mesh's and has no such record",
	[REASON_SUPPRESSED] = "mesh.suppress_https: its hints lead round it",
	[REASON_EMPTY_NAME] = "the table has only names below it",
	[REASON_ZONE_SOA] = "it is the zone's own record",
	[REASON_UNKNOWN_NAME] = "its zone is the mesh's and lacks the name",
	[REASON_OWN_NAME] = "it is a name of nfdns itself",
	[REASON_UNREACHABLE] = "the nameserver does not answer",
	[REASON_FORWARD] = "its domain has nameservers of its own",
	[REASON_CHASE] = "its CNAME leads out of the table and is followed",
	[REASON_FORWARD_FULL] = "too many questions wait for answers",
	[REASON_FORWARD_DENIED] = "the policy denies a name of the answer",
	[REASON_CACHE] = "an upstream's answer is kept",
	[REASON_POLICY] = "the policy says so",
	[REASON_RATE] = "it is over the rate of the rule",
	[REASON_UNANSWERABLE] = "no answer would come back to it",
	[REASON_UNJUDGED] = "a rule could deny it, and it cannot be judged",
	[REASON_UNREADABLE] = "no question can be read, and a rule could deny one",
};

static const char *const ways_found[] = {
	[ENTRY_NONE] = "does not have the name",
	[ENTRY_EXACT] = "is in the table",
	[ENTRY_WILDCARD] = "is covered by a wildcard of the table",
	[ENTRY_SEARCH] = "is in the table",
	[ENTRY_SEARCH_WILDCARD] = "is covered by a wildcard of the table",
	[ENTRY_EMPTY] = "has only names below this one",
};

const char *
words_reason(enum reason reason)
{
	return reasons[reason];
}

const char *
words_kind(enum entry_kind kind)
{
	static const char *const kinds[] = { [ENTRY_NONE] = "none",
		[ENTRY_EXACT] = "exact", [ENTRY_WILDCARD] = "wildcard",
		[ENTRY_SEARCH] = "search",
		[ENTRY_SEARCH_WILDCARD] = "search-wildcard",
		[ENTRY_EMPTY] = "empty" };

	return kinds[kind];
}

const char *
words_found(enum entry_kind kind)
{
	return ways_found[kind];
}

/* "user 33 (www-data)", or without the name if there is none.  Its length. */
static size_t
put_id(char *buf, size_t size, const char *what, uint32_t id, const char *name)
{
	int n;

	if (id == UINT32_MAX)
		n = snprintf(buf, size, "%s not known", what);
	else if (name != NULL)
		n = snprintf(buf, size, "%s %" PRIu32 " (%.32s)", what, id, name);
	else
		n = snprintf(buf, size, "%s %" PRIu32, what, id);
	return n < 0 ? 0 : (size_t)n < size ? (size_t)n : size - 1;
}

const char *
words_asker(const struct explain_question *question,
    char buf[static WORDS_ASKER])
{
	const struct passwd *user = question->uid == (uid_t)-1 ? NULL :
	    getpwuid(question->uid);
	size_t n = put_id(buf, WORDS_ASKER, "user", question->uid,
	    user != NULL ? user->pw_name : NULL);
	const struct group *group = question->gid == (gid_t)-1 ? NULL :
	    getgrgid(question->gid);

	(void)put_id(buf + n, WORDS_ASKER - n, ", group", question->gid,
	    group != NULL ? group->gr_name : NULL);
	return buf;
}

const char *
words_key(enum rule_key key)
{
	static const char *const keys[RULE_KEYS] = {
		[RULE_NAMES] = "names", [RULE_TYPES] = "types",
		[RULE_USERS] = "users", [RULE_GROUPS] = "groups",
		[RULE_NAMESERVERS] = "nameservers",
		[RULE_CLIENTS] = "clients", [RULE_PROTOCOLS] = "protocols",
		[RULE_SOURCE] = "source",
	};

	return keys[key];
}

/* The records of a set behind "buf"; false: there is no room. */
static bool
put_set(const struct rrset *set, char *buf, size_t *n)
{
	const uint8_t *rdata = set->rdata;
	const bool plain = set->rdlength != 0 || set->type == TYPE_CNAME;
	char type[RR_TEXT_SIZE];

	for (uint32_t i = 0; i < set->count; i++) {
		const size_t skip = set->rdlength != 0 ? 0 : 2;
		const size_t length = skip == 0 ? set->rdlength :
		    wire_load_u16(rdata);
		char *text = rdata_to_text(set->type, rdata + skip, length);
		int put;

		if (text == NULL)
			return false;
		put = snprintf(buf + *n, WORDS_ACTION - *n, "%s%s%s%s",
		    *n > 0 ? ", " : "", plain ? "" :
		    rr_type_text(set->type, type), plain ? "" : " ", text);
		free(text);
		if (put < 0 || (size_t)put >= WORDS_ACTION - *n) {
			buf[*n] = '\0';
			return false;
		}
		*n += (size_t)put;
		rdata += skip + length;
	}
	return true;
}

/* The records of a rule, as many as there is room for. */
static const char *
records(const struct rules_rule *rule, char buf[static WORDS_ACTION])
{
	struct rrset set;
	size_t n = 0;

	buf[0] = '\0';
	for (unsigned int i = 0; rules_rrset(rule, i, &set) &&
	    put_set(&set, buf, &n); i++)
		;
	return n > 0 ? buf : "records of the name";
}

static const char *
target(const struct rules_rule *rule, const char *before,
    char buf[static WORDS_ACTION])
{
	char text[WORDS_ACTION];

	(void)snprintf(buf, WORDS_ACTION, "%s%.280s", before,
	    records(rule, text));
	return buf;
}

static const char *
rewriting(const struct rules_rule *rule, char buf[static WORDS_ACTION])
{
	char from[NAME_TEXT_SIZE], to[NAME_TEXT_SIZE];

	(void)snprintf(buf, WORDS_ACTION, "rewrite %s%.140s to %s%.140s",
	    rule->from_below ? "*." : "", name_to_text(rule->from, from),
	    rule->to_below ? "*." : "", name_to_text(rule->to, to));
	return buf;
}

const char *
words_action(const struct rules_rule *rule, char buf[static WORDS_ACTION])
{
	static const char *const actions[RULE_ACTIONS] = {
		[RULE_ANSWER] = "answer, as if there were no policy",
		[RULE_PASS] = "pass", [RULE_NXDOMAIN] = "nxdomain",
		[RULE_NODATA] = "nodata", [RULE_REFUSE] = "refuse",
		[RULE_DROP] = "drop",
		[RULE_TCP_ONLY] = "over TCP only", [RULE_NOTHING] = "nothing",
	};
	static const char *const onlys[] = { "only addresses", "only A",
		"only AAAA" };

	switch (rule->action) {
	case RULE_ADDRESSES:
	case RULE_RECORDS:
		return records(rule, buf);
	case RULE_CNAME:
		return target(rule, "cname ", buf);
	case RULE_CNAME_BELOW:
		return target(rule, "cname to the name and ", buf);
	case RULE_REWRITE:
		return rewriting(rule, buf);
	case RULE_FILTER:
		return onlys[rule->only];
	default:
		return actions[rule->action];
	}
}

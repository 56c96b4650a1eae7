/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What iptables-legacy-save(8) prints, and what of it touches port 53. */
#include "nfq/cli/doctor/legacy.h"

#include <string.h>

#include "tests/check.h"

static struct findings findings;

/* The number of findings in a text, which may be cut anywhere. */
static size_t
found(const char *text, bool unanswered)
{
	static const struct config config = { .capture = { .tcp = true,
	    .mark_mask = 0x70000000, .mark_answered = 0x20000000,
	    .mark_stream = 0x40000000 } };
	char copy[1024];

	(void)snprintf(copy, sizeof(copy), "%s", text);
	findings.count = 0;
	legacy_check_text(&findings, &config, unanswered, "iptables-legacy",
	    copy);
	return findings.count;
}

#define NAT	"*nat\n:OUTPUT ACCEPT [0:0]\n"

static void
rules(void)
{
	CHECK(found("", false) == 0);
	CHECK(found(NAT "-A OUTPUT -p udp -m udp --dport 53 -j REDIRECT "
	    "--to-ports 15053\nCOMMIT\n", false) == 1);
	CHECK(findings.all[0].level == FINDING_BAD);
	CHECK(strstr(findings.all[0].text, "REDIRECT 15053") != NULL);
	CHECK(strcmp(findings.all[0].paste, "iptables-legacy -t nat -I OUTPUT "
	    "-p udp --dport 53 -j ACCEPT") == 0);
	CHECK(found(NAT "-A OUTPUT -p udp -m udp --dport 53 -j ACCEPT\n"
	    "-A OUTPUT -p udp -m udp --dport 53 -j REDIRECT\n", false) == 0);
	CHECK(found(NAT "-A OUTPUT -p tcp -m tcp --dport 53 -j ACCEPT\n"
	    "-A OUTPUT -p udp -m udp --dport 53 -j REDIRECT\n", false) == 1);
	CHECK(found(NAT "-A OUTPUT -p udp -m multiport --dports 22,50:60 -j "
	    "DNAT --to-destination 127.0.0.1:5\n", false) == 1);
	CHECK(found(NAT "-A OUTPUT -p udp -m udp --dport 5353 -j DROP\n"
	    "-A OUTPUT -p udp -m udp ! --dport 53 -j DROP\n"
	    "-A PREROUTING -p udp --dport 53 -j REDIRECT\n", false) == 0);
	/* Of one user only: it may be meant. */
	CHECK(found(NAT "-A OUTPUT -p udp -m owner --uid-owner 7 -m udp "
	    "--dport 53 -j DROP\n", false) == 1);
	CHECK(findings.all[0].level == FINDING_WARNING);
}

static void
policies(void)
{
	CHECK(found("*filter\n:INPUT DROP [0:0]\n", false) == 0);
	CHECK(found("*filter\n:INPUT DROP [0:0]\n:FORWARD DROP [0:0]\n",
	    true) == 1);
	CHECK(strstr(findings.all[0].paste, "0x20000000 0x40000000") != NULL);
	CHECK(strstr(findings.all[0].paste, "-I INPUT") != NULL);
}

static void
odd_lines(void)
{
	static const char *const odd[] = { "-A ", "-A", "-A OUTPUT", ":", "*",
	    "-A OUTPUT --dport", "-A OUTPUT --dport 53 -j",
	    "-A OUTPUT --dport 99999999999999999999: -j DROP",
	    ":OUTPUT", "-A  OUTPUT --dports , -j DROP" };

	for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++)
		CHECK(found(odd[i], true) == 0);
}

static void
worst_first(void)
{
	static const enum finding_level levels[] = { FINDING_OK, FINDING_BAD,
	    FINDING_UNKNOWN, FINDING_WARNING, FINDING_BAD };

	findings.count = 0;
	for (size_t i = 0; i < 5; i++)
		findings_add(&findings, levels[i], "t", NULL, "%zu", i);
	findings_sort(&findings);
	for (size_t i = 0; i < 5; i++)
		CHECK(findings.all[i].text[0] == "14320"[i]);
}

int
main(void)
{
	TEST(rules);
	TEST(policies);
	TEST(odd_lines);
	TEST(worst_first);
	return test_summary();
}

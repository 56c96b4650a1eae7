/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The rows of "audit" in the table of option.c, which includes this. */
#ifndef NFDNS_POLICY_CONFIG_AUDIT_ROWS_H
#define NFDNS_POLICY_CONFIG_AUDIT_ROWS_H

#define CONFIG_AUDIT_ROWS \
	{ "audit", "( )", \
	  "Files that get a record of each question that was answered.", \
	  .allowed = "at most 16 groups { path = ...; }", \
	  GROUPS, .read = config_read_audits, IN(config, audits), \
	  .reload = true }, \
	{ "audit[].format", "\"json\"", \
	  "Format of the records: EVE-style JSON, one object for each line; " \
	  "packets that Wireshark opens; or dnstap.", \
	  STRING, CHOICE(audit_format_names), \
	  IN(config_audit, sink.format), .reload = true }, \
	{ "audit[].path", NULL, \
	  "Where records are appended: a file; \"-\", the daemon's standard " \
	  "output; or \"unix:\" and the path of a Unix socket that a program " \
	  "listens at.", \
	  .allowed = "a path, \"-\" or \"unix:/PATH\"", \
	  STRING, .read = config_read_audit_path, IN(config_audit, path), \
	  .reload = true }, \
	{ "audit[].passes", "false", \
	  "Whether questions that passed get a record too.  Such a record has no " \
	  "answer: the nameserver's does not come through nfdnsd.", \
	  BOOLEAN, IN(config_audit, passes), .reload = true }, \
	{ "audit[].verdicts", "[ ]", \
	  "Only questions with these verdicts get a record; an empty list is all " \
	  "but \"pass\".  \"forward\" is each question for a forward domain and " \
	  "each chain that was followed, whatever came of it.", \
	  .allowed = "\"pass\", \"answer\", \"nodata\", \"nxdomain\", " \
	  "\"refuse\", \"drop\" or \"forward\"", \
	  STRINGS, .read = config_read_audit_verdict, IN(config_audit, sink), \
	  .reload = true }, \
	{ "audit[].rcodes", "[ ]", \
	  "Only answers with these response codes get a record, of the verdicts " \
	  "above; an empty list is every one, and questions without an answer.", \
	  .allowed = "response codes, such as \"SERVFAIL\", \"NXDOMAIN\"", \
	  STRINGS, .read = config_read_audit_rcode, IN(config_audit, sink), \
	  .reload = true }, \
	{ "audit[].max_size", "1000", \
	  "Size in MiB at which nothing more is written to the file, and losses " \
	  "are counted, until it is renamed and SIGUSR2 comes; 0: any size.", \
	  INTEGER, RANGE(0, 1048576), IN(config_audit, sink.max_size), \
	  .reload = true }, \
	{ "audit[].privacy", "false", \
	  "Whether user, group, and the client's address and port are left out.", \
	  BOOLEAN, IN(config_audit, sink.is_private), .reload = true },

#endif

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
	  "packets that Wireshark opens; dnstap; lines for the syslog daemon; or " \
	  "fields for systemd's journal.", \
	  STRING, CHOICE(audit_format_names), \
	  IN(config_audit, sink.format), .reload = true }, \
	{ "audit[].path", NULL, \
	  "The file of json, pcapng or dnstap; records are appended.", \
	  .allowed = "a path", \
	  STRING, .read = config_read_path, IN(config_audit, path), \
	  .reload = true }, \
	{ "audit[].socket", NULL, \
	  "Unix socket of a program that takes dnstap, instead of a file; or of " \
	  "the syslog daemon (/dev/log unless given) or the journal " \
	  "(/run/systemd/journal/socket).", \
	  .allowed = "a path", \
	  STRING, .read = config_read_path, IN(config_audit, socket), \
	  .reload = true }, \
	{ "audit[].key", NULL, \
	  "File with a key, for seals and samples; without it a seal shows " \
	  "accidents, but anybody can make one.", \
	  .allowed = "a path of a file with 32 hexadecimal digits", \
	  STRING, .read = config_read_audit_key, IN(config_audit, sink), \
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
	{ "audit[].names", "[ ]", \
	  "Only questions for these names get a record; an empty list is all.", \
	  .allowed = "at most 32 names, or \"*.\" and a name for all below it", \
	  STRINGS, .read = config_read_audit_name, IN(config_audit, sink), \
	  .reload = true }, \
	{ "audit[].users", "[ ]", \
	  "Only questions of these users get a record; an empty list is all.", \
	  .allowed = "at most 32 names or numbers of users", \
	  STRINGS_INTEGERS, .read = config_read_audit_user, \
	  IN(config_audit, sink), .reload = true }, \
	{ "audit[].rules", "[ ]", \
	  "Only questions that these policy rules decided get a record; an empty " \
	  "list is all.", \
	  .allowed = "at most 32 names of rules, of 63 characters each", \
	  STRINGS, .read = config_read_audit_rule, IN(config_audit, sink), \
	  .reload = true }, \
	{ "audit[].sample", "1", \
	  "Only one of so many questions gets a record, chosen by a keyed hash of " \
	  "name and client: a client's questions for a name have all a record, or " \
	  "none.", \
	  INTEGER, RANGE(1, 1000000), IN(config_audit, sink.sample), \
	  .reload = true }, \
	{ "audit[].rate", "0", \
	  "Records a second at most; 0: any number.", \
	  INTEGER, RANGE(0, 1000000), IN(config_audit, sink.rate), \
	  .reload = true }, \
 \
	{ "audit[].strict", "false", \
	  "Whether a question is refused (REFUSED) if there is no room in memory " \
	  "for its record.", \
	  BOOLEAN, IN(config_audit, sink.strict), .reload = true }, \
	{ "audit[].privacy.uid", "false", \
	  "Whether user and group are left out.", \
	  BOOLEAN, IN(config_audit, sink.hide_uid), .reload = true }, \
	{ "audit[].privacy.client", "\"full\"", \
	  "How much of the client's address is recorded; \"prefix24\": the first " \
	  "24 bits, of IPv6 48.", \
	  STRING, CHOICE(config_audit_clients), \
	  IN(config_audit, sink.client_prefix), .reload = true }, \
	{ "audit[].privacy.names", "\"plain\"", \
	  "How names are recorded; \"hash\": as a keyed hash, and answers without " \
	  "their records.  It needs audit[].key.", \
	  STRING, CHOICE(config_audit_names), IN(config_audit, sink.hash_names), \
	  .reload = true }, \
	{ "audit[].max_size", "0", \
	  "Size in MiB at which nfdnsd renames the file and begins another; 0: any.", \
	  INTEGER, RANGE(0, 1048576), IN(config_audit, max_size), \
	  .reload = true }, \
	{ "audit[].max_age", "0", \
	  "Age in seconds at which it does so; 0: any.", \
	  INTEGER, RANGE(0, 31536000), IN(config_audit, max_age), \
	  .reload = true }, \
	{ "audit[].max_files", "0", \
	  "How many renamed files are kept; the oldest are removed; 0: all.", \
	  INTEGER, RANGE(0, 10000), IN(config_audit, max_files), \
	  .reload = true },

#endif

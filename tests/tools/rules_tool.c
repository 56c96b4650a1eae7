/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Drives rules/ from a test, without the daemon.  Owns the table as nfdnsd
 * does, until its input ends.  One order a line:
 *
 *   install canary|full FILE	-> "ok native=0|1"
 *   counter			-> "ok PACKETS"
 *   streams			-> "ok IPV4 IPV6", connections in the sets
 *   remove			-> "ok"
 *   verify			-> "ok": all is as it was put in
 *   fork			-> "ok", after a child has closed its copy
 *   print FILE			-> the text, then "ok"
 *   without NAME		-> "ok": from now on the kernel seems to lack the
 *				   expression of that name; "owner": the table is
 *				   everybody's
 *
 * or "error ERRNO", after lines "- TEXT" with what diag has to say.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <libmnl/libmnl.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "policy/config/config.h"
#include "rules/kernel.h"
#include "rules/ruleset.h"

/* What the kernel is made to lack; "" where the list ends. */
static char lacking[4][16];

static int
disown(const struct nlattr *attribute, void *data)
{
	(void)data;
	if (mnl_attr_get_type(attribute) == NFTA_TABLE_FLAGS)
		memset(mnl_attr_get_payload(attribute), 0, sizeof(uint32_t));
	return MNL_CB_OK;
}

/*
 * Spoils what is lacking in a message on its way, so that a real kernel answers
 * it as one would that never had it: an expression that none has.
 */
static void
spoil(struct nlmsghdr *message, const char *what)
{
	char *octets = (char *)message;
	struct { uint16_t length, type; } name = {
		(uint16_t)(sizeof(name) + strlen(what) + 1), NFTA_EXPR_NAME
	};
	char wanted[64];
	size_t size = sizeof(name) + strlen(what) + 1;

	if ((message->nlmsg_type & 0xff) == NFT_MSG_NEWTABLE &&
	    strcmp(what, "owner") == 0)
		(void)mnl_attr_parse(message, sizeof(struct nfgenmsg), disown,
		    NULL);
	if ((message->nlmsg_type & 0xff) != NFT_MSG_NEWRULE)
		return;
	memcpy(wanted, &name, sizeof(name));
	memcpy(wanted + sizeof(name), what, strlen(what) + 1);
	for (size_t at = sizeof(*message); at + size <= message->nlmsg_len; at++)
		if (memcmp(octets + at, wanted, size) == 0)
			octets[at + 4] = 'X';
}

/* Stands before libmnl's own: everything to the kernel goes through here. */
ssize_t
mnl_socket_sendto(const struct mnl_socket *socket, const void *data,
    size_t size)
{
	const struct sockaddr_nl kernel = { .nl_family = AF_NETLINK };
	struct nlmsghdr *message;
	int left = (int)size;
	ssize_t sent;
	char *copy = malloc(size);

	if (copy == NULL)
		return -1;
	memcpy(copy, data, size);
	for (message = (void *)copy; mnl_nlmsg_ok(message, left);
	    message = mnl_nlmsg_next(message, &left))
		for (size_t i = 0; i < 4 && *lacking[i] != '\0'; i++)
			if (message->nlmsg_type >> 8 == NFNL_SUBSYS_NFTABLES)
				spoil(message, lacking[i]);
	sent = sendto(mnl_socket_get_fd(socket), copy, size, 0,
	    (const void *)&kernel, sizeof(kernel));
	free(copy);
	return sent;
}

static int
lack(const char *what)
{
	for (size_t i = 0; i < 4; i++)
		if (*lacking[i] == '\0') {
			snprintf(lacking[i], sizeof(lacking[i]), "%s", what);
			return 0;
		}
	return -1;
}

static void
reply(int rc, struct diag *diag)
{
	for (size_t i = 0; i < diag->kept; i++)
		printf("- %s\n", diag->entries[i].text);
	if (rc != 0)
		printf("error %d\n", -rc);
	else
		puts("ok");
}

/* What differs is an error of the order: ENOENT or ENOTUNIQ. */
static int
verify(struct rules_kernel *kernel, struct diag *diag)
{
	enum rules_state state;
	int rc = rules_kernel_verify(kernel, &state, diag);

	if (rc != 0 || state == RULES_EQUAL)
		return rc;
	return state == RULES_ABSENT ? -ENOENT : -ENOTUNIQ;
}

static int
with_rules(struct rules_kernel *kernel, const char *order, const char *file,
    enum rules_stage stage, struct diag *diag)
{
	struct rules_features features = { .native_queue = false };
	struct config *config = NULL;
	struct ruleset set;
	int rc = config_load(&config, file, diag);

	if (rc != 0)
		return rc;
	rc = ruleset_build(&set, config, stage, diag);
	if (rc != 0)
		goto out;
	ruleset_listen_at(&set, (const uint16_t[2]){ 5300, 5300 });
	if (strcmp(order, "print") == 0)
		rc = ruleset_print(&set, stdout);
	else
		rc = rules_kernel_install(kernel, &set, &features, diag);
	if (rc == 0 && strcmp(order, "install") == 0)
		printf("ok native=%d\n", features.native_queue);
	ruleset_free(&set);
out:
	config_free(config);
	return rc;
}

/* What a worker process does with the supervisor's object. */
static int
close_in_child(struct rules_kernel *kernel)
{
	int status = 0;
	pid_t child = fork();

	if (child == 0) {
		rules_kernel_close(kernel);
		_exit(0);
	}
	return child < 0 || waitpid(child, &status, 0) != child || status != 0 ?
	    -1 : 0;
}

static void
obey(struct rules_kernel *kernel, const char *line)
{
	struct diag diag = DIAG_INIT;
	char order[16], stage[16], file[256];
	uint64_t packets[RULES_COUNTERS];
	uint32_t streams[2];
	int rc;

	if (sscanf(line, "install %15s %255s", stage, file) == 2) {
		rc = with_rules(kernel, "install", file,
		    strcmp(stage, "canary") == 0 ? RULES_CANARY : RULES_FULL,
		    &diag);
		if (rc != 0)
			reply(rc, &diag);
	} else if (strcmp(line, "fork\n") == 0) {
		reply(close_in_child(kernel), &diag);
	} else if (strcmp(line, "verify\n") == 0) {
		reply(verify(kernel, &diag), &diag);
	} else if (sscanf(line, "without %15s", stage) == 1) {
		reply(lack(stage), &diag);
	} else if (strncmp(line, "streams", 7) == 0) {
		rc = rules_kernel_streams(kernel, false, streams);
		if (rc == 0)
			printf("ok %u %u\n", streams[0], streams[1]);
		else
			reply(rc, &diag);
	} else if (sscanf(line, "%15s %255s", order, file) == 2) {
		reply(with_rules(kernel, order, file, RULES_FULL, &diag), &diag);
	} else if (strcmp(line, "counter\n") == 0) {
		rc = rules_kernel_counters(kernel, packets);
		if (rc == 0)
			printf("ok %" PRIu64 "\n",
			    packets[COUNTER_QUESTIONS]);
		else
			reply(rc, &diag);
	} else {
		reply(rules_kernel_remove(kernel), &diag);
	}
	diag_free(&diag);
	fflush(stdout);
}

int
main(void)
{
	struct rules_kernel *kernel;
	char line[512];
	int rc = rules_kernel_open(&kernel);

	if (rc != 0) {
		printf("- %s\nerror %d\n", rules_kernel_open_error(rc), -rc);
		return 1;
	}
	while (fgets(line, sizeof(line), stdin) != NULL)
		obey(kernel, line);
	rules_kernel_close(kernel);
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * istiod turns the metadata into JSON and that into a Go struct: a value of the
 * wrong kind ends the stream.  What looks like a bool is a string there
 * (istio, pkg/model/proxy.go, StringBool), and so are the joined addresses.
 */
#include "resolver/feed/xds_session.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "resolver/text/given.h"
#include "resolver/version.h"

#define FIRST_IPV4	"192.0.2.1"
#define FIRST_IPV6	"2001:db8::1"

enum { NODE_ID = 1, NODE_CLUSTER = 2, NODE_METADATA = 3, NODE_USER_AGENT = 6,
	NODE_USER_AGENT_VERSION = 7 };
enum { STRUCT_FIELDS = 1, ENTRY_KEY = 1, ENTRY_VALUE = 2, VALUE_STRING = 3,
	VALUE_STRUCT = 5 };

static void
take_ipv4(struct node_machine *machine, const struct sockaddr *address)
{
	struct sockaddr_in in;

	memcpy(&in, address, sizeof(in));
	if (*machine->ipv4 == '\0' &&
	    (ntohl(in.sin_addr.s_addr) >> 16) != 0xa9fe)	/* 169.254/16 */
		(void)inet_ntop(AF_INET, &in.sin_addr, machine->ipv4,
		    sizeof(machine->ipv4));
}

static void
take_ipv6(struct node_machine *machine, const struct sockaddr *address)
{
	struct sockaddr_in6 in6;

	memcpy(&in6, address, sizeof(in6));
	if (*machine->ipv6 == '\0' && !IN6_IS_ADDR_LINKLOCAL(&in6.sin6_addr))
		(void)inet_ntop(AF_INET6, &in6.sin6_addr, machine->ipv6,
		    sizeof(machine->ipv6));
}

static void
read_addresses(struct node_machine *machine)
{
	struct ifaddrs *all;

	if (getifaddrs(&all) != 0)
		return;
	for (const struct ifaddrs *a = all; a != NULL; a = a->ifa_next) {
		if (a->ifa_addr == NULL || (a->ifa_flags & IFF_UP) == 0 ||
		    (a->ifa_flags & IFF_LOOPBACK) != 0)
			continue;
		if (a->ifa_addr->sa_family == AF_INET)
			take_ipv4(machine, a->ifa_addr);
		else if (a->ifa_addr->sa_family == AF_INET6)
			take_ipv6(machine, a->ifa_addr);
	}
	freeifaddrs(all);
}

void
node_machine_read(const struct feed_node *node, struct node_machine *machine)
{
	memset(machine, 0, sizeof(*machine));
	if (gethostname(machine->name, sizeof(machine->name) - 1) != 0)
		*machine->name = '\0';
	/* '~' divides the parts of the node's id, a dot its namespace. */
	machine->name[strcspn(machine->name, ".~")] = '\0';
	if (!text_is_given(node->ip))
		read_addresses(machine);
	else
		(void)snprintf(strchr(node->ip, ':') == NULL ? machine->ipv4 :
		    machine->ipv6, strchr(node->ip, ':') == NULL ?
		    sizeof(machine->ipv4) : sizeof(machine->ipv6), "%s",
		    node->ip);
}

static void
write_string(struct protobuf_writer *w, const char *key, const char *text)
{
	size_t entry = protobuf_begin(w), value;

	protobuf_write_string(w, ENTRY_KEY, key);
	value = protobuf_begin(w);
	/* "" is a value like any other: a member of a oneof is always written. */
	protobuf_write_octets(w, VALUE_STRING, text, strlen(text));
	protobuf_end(w, ENTRY_VALUE, value);
	protobuf_end(w, STRUCT_FIELDS, entry);
}

static void
write_if_set(struct protobuf_writer *w, const char *key, const char *text)
{
	if (text_is_given(text))
		write_string(w, key, text);
}

static void
write_labels(struct protobuf_writer *w, const struct feed_node *node)
{
	size_t entry = protobuf_begin(w), value, labels;

	if (node->label_count == 0)
		return;
	protobuf_write_string(w, ENTRY_KEY, "LABELS");
	value = protobuf_begin(w);
	labels = protobuf_begin(w);
	for (size_t i = 0; i < node->label_count; i++)
		write_string(w, node->labels[i].key, node->labels[i].value);
	protobuf_end(w, VALUE_STRUCT, labels);
	protobuf_end(w, ENTRY_VALUE, value);
	protobuf_end(w, STRUCT_FIELDS, entry);
}

/* All of INSTANCE_IPS, the first one first. */
static void
write_addresses(struct protobuf_writer *w, const struct node_machine *machine)
{
	char ips[sizeof(FIRST_IPV6) + sizeof(machine->ipv4) +
	    sizeof(machine->ipv6) + 2];
	bool only_ipv6 = *machine->ipv4 == '\0' && *machine->ipv6 != '\0';

	(void)snprintf(ips, sizeof(ips), "%s%s%s%s%s",
	    only_ipv6 ? FIRST_IPV6 : FIRST_IPV4,
	    *machine->ipv4 != '\0' ? "," : "", machine->ipv4,
	    *machine->ipv6 != '\0' ? "," : "", machine->ipv6);
	write_string(w, "INSTANCE_IPS", ips);
}

void
node_write(struct protobuf_writer *writer, uint32_t field,
    const struct feed_node *node, const struct node_machine *machine)
{
	const char *namespace = text_is_given(node->namespace) ?
	    node->namespace : "default";
	const char *ip = *machine->ipv4 != '\0' ? machine->ipv4 :
	    *machine->ipv6 != '\0' ? machine->ipv6 : FIRST_IPV4;
	size_t begin = protobuf_begin(writer);
	char id[1024], cluster[300];
	size_t metadata;

	/* Only a "sidecar" gets what its namespace and labels select. */
	(void)snprintf(id, sizeof(id),
	    "sidecar~%s~%s-nfdns.%.253s~%.253s.svc.cluster.local", ip,
	    *machine->name != '\0' ? machine->name : "vm", namespace,
	    namespace);
	(void)snprintf(cluster, sizeof(cluster), "nfdns.%.253s", namespace);
	protobuf_write_string(writer, NODE_ID, id);
	protobuf_write_string(writer, NODE_CLUSTER, cluster);
	metadata = protobuf_begin(writer);
	write_string(writer, "NAMESPACE", namespace);
	write_if_set(writer, "SERVICE_ACCOUNT", node->service_account);
	write_if_set(writer, "CLUSTER_ID", node->cluster);
	write_if_set(writer, "NETWORK", node->network);
	write_addresses(writer, machine);
	/* Without it, ServiceEntries without addresses are left out. */
	write_string(writer, "DNS_CAPTURE", "true");
	write_labels(writer, node);
	protobuf_end(writer, NODE_METADATA, metadata);
	protobuf_write_string(writer, NODE_USER_AGENT, "nfdns");
	protobuf_write_string(writer, NODE_USER_AGENT_VERSION, NFDNS_VERSION);
	protobuf_end(writer, field, begin);
}

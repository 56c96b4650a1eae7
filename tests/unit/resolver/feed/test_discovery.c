/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The first request and its answers, octet for octet, and what a response is. */
#include "resolver/feed/xds_session.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "resolver/sources/protobuf.h"
#include "tests/check.h"

/* The octets of a field; those of its n-th occurrence. */
static struct span
field(struct span message, uint32_t number, unsigned int n)
{
	struct protobuf p = protobuf_inside(message);
	struct protobuf_field f;

	while (protobuf_next(&p, &f))
		if (f.number == number && f.type == PROTOBUF_OCTETS && n-- == 0)
			return f.octets;
	return (struct span){ NULL, 0 };
}

static bool
is(struct span span, const char *text)
{
	return span.text != NULL && span_equal(span, span_of(text));
}

/* The value of a key in a Struct. */
static struct span
value_of(struct span metadata, const char *key)
{
	struct span entry;

	for (unsigned int i = 0; (entry = field(metadata, 1, i)).text != NULL;
	    i++)
		if (is(field(entry, 1, 0), key))
			return field(entry, 2, 0);
	return (struct span){ NULL, 0 };
}

static char shop[] = "shop", kubernetes[] = "Kubernetes", account[] = "vm",
	app[] = "app", web[] = "web", empty[] = "";
static struct feed_label label = { .key = app, .value = web };

static struct protobuf_writer writer;

static struct span
request(const struct discovery_request *r)
{
	protobuf_writer_free(&writer);
	discovery_request_write(&writer, r);
	CHECK(!writer.failed);
	return (struct span){ (const char *)writer.octets, writer.length };
}

static struct span
first_request(const struct feed_node *node, const struct node_machine *machine)
{
	const struct discovery_request r = { .node = node, .machine = machine };

	return request(&r);
}

TEST(first_request_has_a_node)
{
	const struct feed_node node = { .namespace = shop,
		.cluster = kubernetes, .service_account = account,
		.network = empty, .labels = &label, .label_count = 1 };
	const struct node_machine machine = { .name = "vm1",
		.ipv4 = "10.0.0.5", .ipv6 = "fd00::5" };
	struct span message = first_request(&node, &machine);
	struct span written = field(message, 2, 0);
	struct span metadata = field(written, 3, 0);

	CHECK(is(field(message, 4, 0), DISCOVERY_NAME_TABLE));
	CHECK(field(message, 1, 0).text == NULL);	/* no version */
	CHECK(field(message, 3, 0).text == NULL);	/* no names */
	CHECK(field(message, 5, 0).text == NULL);	/* no nonce */
	CHECK(is(field(written, 1, 0),
	    "sidecar~10.0.0.5~vm1-nfdns.shop~shop.svc.cluster.local"));
	/* Each is a string: istiod ends the stream for another kind. */
	CHECK(is(field(value_of(metadata, "NAMESPACE"), 3, 0), "shop"));
	CHECK(is(field(value_of(metadata, "CLUSTER_ID"), 3, 0), "Kubernetes"));
	CHECK(is(field(value_of(metadata, "SERVICE_ACCOUNT"), 3, 0), "vm"));
	CHECK(is(field(value_of(metadata, "DNS_CAPTURE"), 3, 0), "true"));
	CHECK(value_of(metadata, "NETWORK").text == NULL);
	CHECK(value_of(metadata, "AUTO_REGISTER_GROUP").text == NULL);
	CHECK(value_of(metadata, "WORKLOAD_ENTRY").text == NULL);
	CHECK(is(field(value_of(field(value_of(metadata, "LABELS"), 5, 0),
	    "app"), 3, 0), "web"));
}

static bool
instance_ips_are(const struct node_machine *machine, const char *ips)
{
	const struct feed_node node = { .namespace = shop };
	struct span written = field(first_request(&node, machine), 2, 0);

	return is(field(value_of(field(written, 3, 0), "INSTANCE_IPS"), 3, 0),
	    ips);
}

/* istiod finds a connection by its first address: it must not be ours. */
TEST(the_first_address_is_nobodys)
{
	const struct node_machine four = { .ipv4 = "10.0.0.5" };
	const struct node_machine six = { .ipv6 = "fd00::5" };
	const struct node_machine both = { .ipv4 = "10.0.0.5",
		.ipv6 = "fd00::5" };
	const struct node_machine none = { .ipv4 = "" };

	CHECK(instance_ips_are(&four, "192.0.2.1,10.0.0.5"));
	CHECK(instance_ips_are(&six, "2001:db8::1,fd00::5"));
	CHECK(instance_ips_are(&both, "192.0.2.1,10.0.0.5,fd00::5"));
	CHECK(instance_ips_are(&none, "192.0.2.1"));
}

TEST(address_from_the_config)
{
	char v4[] = "10.1.2.3", v6[] = "fd00::9";
	struct feed_node node = { .ip = v4 };
	struct node_machine machine;

	node_machine_read(&node, &machine);
	CHECK(strcmp(machine.ipv4, v4) == 0 && *machine.ipv6 == '\0');
	node.ip = v6;
	node_machine_read(&node, &machine);
	CHECK(strcmp(machine.ipv6, v6) == 0 && *machine.ipv4 == '\0');
	CHECK(strpbrk(machine.name, ".~") == NULL);
}

TEST(ack_and_nack)
{
	struct discovery_request r = { .version = span_of("7"),
		.nonce = span_of("n8") };
	struct span message = request(&r), status;

	CHECK(is(field(message, 1, 0), "7") && is(field(message, 5, 0), "n8"));
	CHECK(is(field(message, 4, 0), DISCOVERY_NAME_TABLE));
	CHECK(field(message, 2, 0).text == NULL);	/* the node, once */
	CHECK(field(message, 6, 0).text == NULL);
	r.refusal = "no table";
	status = field(request(&r), 6, 0);
	CHECK(is(field(status, 2, 0), "no table"));
	CHECK(status.length > 2 && status.text[0] == 0x08 &&
	    status.text[1] == 13);
}

static size_t
put_resource(struct protobuf_writer *w, const char *type, const char *value)
{
	size_t any = protobuf_begin(w);

	protobuf_write_string(w, 1, type);
	protobuf_write_string(w, 2, value);
	protobuf_end(w, 2, any);
	return w->length;
}

TEST(response_is_read)
{
	struct protobuf_writer w = { 0 };
	struct discovery_response r;

	protobuf_write_string(&w, 1, "2026-11-22/5");
	put_resource(&w, DISCOVERY_NAME_TABLE, "first");
	protobuf_write_varint(&w, 3, 1);
	protobuf_write_string(&w, 99, "unknown");
	put_resource(&w, "type.googleapis.com/other", "other");
	put_resource(&w, DISCOVERY_NAME_TABLE, "last");
	protobuf_write_string(&w, 4, DISCOVERY_NAME_TABLE);
	protobuf_write_string(&w, 5, "n5");
	CHECK(discovery_response_read(w.octets, w.length, &r) == 0);
	CHECK(is(r.version, "2026-11-22/5") && is(r.nonce, "n5"));
	CHECK(is(r.type, DISCOVERY_NAME_TABLE) && is(r.table, "last"));
	CHECK(r.tables == 2 && r.others == 1 && r.broken == 0);
	protobuf_writer_free(&w);
}

/* An Any without octets of a table is the empty table. */
TEST(empty_table_and_none)
{
	struct protobuf_writer w = { 0 };
	struct discovery_response r;

	put_resource(&w, DISCOVERY_NAME_TABLE, "");
	CHECK(discovery_response_read(w.octets, w.length, &r) == 0);
	CHECK(r.tables == 1 && r.table.length == 0 && r.table.text != NULL);
	protobuf_writer_free(&w);
	CHECK(discovery_response_read("", 0, &r) == 0);
	CHECK(r.tables == 0 && r.others == 0 && r.broken == 0);
}

TEST(broken_responses)
{
	struct protobuf_writer w = { 0 };
	struct discovery_response r;

	put_resource(&w, DISCOVERY_NAME_TABLE, "good");
	protobuf_write_octets(&w, 2, "\xff", 1);
	CHECK(discovery_response_read(w.octets, w.length, &r) == 0);
	CHECK(r.tables == 1 && r.broken == 1);
	for (size_t n = 1; n < w.length; n++)
		if (discovery_response_read(w.octets, n, &r) == 0)
			CHECK(r.tables <= 1);
	CHECK(discovery_response_read("\xff", 1, &r) == -EBADMSG);
	protobuf_writer_free(&w);
}

int
main(void)
{
	test_run();
	protobuf_writer_free(&writer);
	return test_summary();
}

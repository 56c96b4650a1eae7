/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdio.h>

#include "resolver/sources/name_table.h"
#include "tests/check.h"
#include "tests/name_table.h"

#define MUST(condition) do { if (!(condition)) abort(); } while (0)

static struct name_table
opened(const struct proto *m)
{
	struct name_table table;

	MUST(name_table_open(&table, m->octets, m->length) == 0);
	return table;
}

static bool
is(struct span span, const char *text)
{
	return span_equal(span, span_of(text));
}

/* Whether these are the texts, and no others. */
static bool
texts_are(struct name_table_texts texts, const char *const *wanted, size_t count)
{
	struct span text;
	size_t i = 0;

	while (name_table_text(&texts, &text))
		if (i == count || !is(text, wanted[i++]))
			return false;
	return i == count;
}

TEST(an_entry_has_all_its_parts)
{
	static const char *const ips[] = { "10.0.0.1", "", "2001:db8::1" };
	static const char *const hosts[] = { "a.test", "b.test" };
	struct proto m = { .length = 0 }, info = { .length = 0 };
	struct name_table_entry e;
	struct name_table_walk walk;

	proto_text(&info, PROTO_ALT_HOSTS, hosts[0]);
	for (size_t i = 0; i < 3; i++)
		proto_text(&info, PROTO_IPS, ips[i]);
	proto_text(&info, PROTO_ALT_HOSTS, hosts[1]);
	proto_text(&info, PROTO_REGISTRY, "Kubernetes");
	proto_text(&info, PROTO_SHORTNAME, "web");
	proto_text(&info, PROTO_NAMESPACE, "shop");
	proto_text(&info, 77, "later");
	proto_entry(&m, "web.shop.svc.mesh.test", &info);
	walk = name_table_walk_over(m.octets, m.length);
	CHECK(name_table_next(&walk, &e) && e.fault == NULL);
	CHECK(is(e.host, "web.shop.svc.mesh.test"));
	CHECK(is(e.registry, "Kubernetes") && is(e.shortname, "web") &&
	    is(e.namespace, "shop"));
	CHECK(texts_are(name_table_ips(&e), ips, 3));
	CHECK(texts_are(name_table_alt_hosts(&e), hosts, 2));
	/* Once more: the entry was not used up. */
	CHECK(texts_are(name_table_ips(&e), ips, 3));
	CHECK(e.field == m.octets);
	CHECK(!name_table_next(&walk, &e) && !name_table_failed(&walk));
	CHECK(name_table_offset(&walk) == m.length);
}

/* Several values of a key are one: lists joined, of other fields the last. */
TEST(values_of_one_key_are_merged)
{
	static const char *const ips[] = { "1.1.1.1", "2.2.2.2" };
	struct proto m = { .length = 0 }, entry = { .length = 0 };
	struct name_table_walk walk;
	struct name_table_entry e;

	proto_put(&entry, PROTO_INFO, "\n\0071.1.1.1\x12\1a\x1a\1s", 15);
	proto_text(&entry, PROTO_HOST, "x");
	proto_put(&entry, PROTO_INFO, "\n\0072.2.2.2\x12\1b", 12);
	proto_text(&entry, PROTO_HOST, "y");
	proto_put(&m, PROTO_ENTRY, entry.octets, entry.length);
	walk = name_table_walk_over(m.octets, m.length);
	CHECK(name_table_next(&walk, &e) && e.fault == NULL);
	CHECK(is(e.host, "y") && is(e.registry, "b") && is(e.shortname, "s"));
	CHECK(texts_are(name_table_ips(&e), ips, 2));
}

TEST(faults_are_of_one_entry)
{
	static const struct {
		const char *octets;
		size_t length;
	} bad[] = {
		{ "\n\1x\x12\5\n\x09", 7 },	/* a length beyond the entry */
		{ "\n\1x\x12\4\n\x03zz", 8 },	/* beyond the value */
		{ "\n\1x\x12", 4 },
		{ "\n\1x\x12\1\x0c", 6 },	/* end of no group */
		{ "\x08\1", 2 },		/* a host that is a number */
		{ "\n\1x\x10\1", 5 },		/* a value that is one */
		{ "\n\1x\x12\2\x08\1", 7 },	/* an address that is one */
		{ "\n\1x\x12\2\x10\1", 7 },
		{ "\n\1\xff", 3 },		/* not UTF-8 */
		{ "\n\1x\x12\3\n\1\xff", 8 },
		{ "\n\1x\x12\3\x2a\1\xff", 8 },
		{ "\n\1x\x12\3\x1a\1\xff", 8 },
		{ "", 0 },			/* no host */
		{ "\x12\0", 2 },
	};
	const size_t count = sizeof(bad) / sizeof(bad[0]);
	struct proto m = { .length = 0 };
	struct name_table table;
	struct name_table_entry e;

	proto_host(&m, "first.test", "10.0.0.1");
	for (size_t i = 0; i < count; i++)
		proto_put(&m, PROTO_ENTRY, bad[i].octets, bad[i].length);
	proto_octet(&m, PROTO_ENTRY << 3);	/* an entry that is a number */
	proto_octet(&m, 5);
	proto_host(&m, "last.test", "10.0.0.2");
	table = opened(&m);
	CHECK(table.names == 2 && table.faulty == count + 1 &&
	    table.replaced == 0 && table.sorted);
	MUST(name_table_index(&table) == 0);
	CHECK(name_table_find(&table, span_of("first.test"), &e));
	CHECK(name_table_find(&table, span_of("last.test"), &e));
	CHECK(!name_table_find(&table, span_of("x"), &e));
	CHECK(!name_table_find(&table, span_of(""), &e));
	name_table_close(&table);
}

/* Without an entry's end nobody knows where the next begins. */
TEST(cut_off_at_every_octet)
{
	struct proto m = { .length = 0 };
	struct name_table table;
	size_t first, accepted = 0;

	proto_host(&m, "first.test", "10.0.0.1");
	first = m.length;
	proto_host(&m, "last.test", "10.0.0.2");
	for (size_t n = 0; n <= m.length; n++) {
		uint8_t *copy = malloc(n + (n == 0));
		int error;

		memcpy(copy, m.octets, n);
		error = name_table_open(&table, copy, n);
		CHECK(error == (n == 0 || n == first || n == m.length ? 0 :
		    -EBADMSG));
		CHECK(error == 0 || table.failed_at <= n);
		if (error == 0) {
			CHECK(table.names == (n == 0 ? 0u : n == first ? 1u :
			    2u));
			accepted++;
			name_table_close(&table);
		}
		free(copy);
	}
	CHECK(accepted == 3);
}

TEST(of_entries_with_one_host_the_last_counts)
{
	static const char *const ips[] = { "10.0.0.3" };
	struct proto m = { .length = 0 };
	struct name_table_walk walk;
	struct name_table_entry e;
	struct name_table table;
	size_t counting = 0;

	proto_host(&m, "a.test", "10.0.0.1");
	proto_host(&m, "b.test", "10.0.0.2");
	proto_host(&m, "a.test", "10.0.0.3");
	/* Faulty, so the one before stays. */
	proto_put(&m, PROTO_ENTRY, "\n\6a.test\x12\5\n\x09", 12);
	table = opened(&m);
	CHECK(table.names == 2 && table.replaced == 1 && table.faulty == 1);
	CHECK(name_table_find(&table, span_of("a.test"), &e));
	CHECK(texts_are(name_table_ips(&e), ips, 1));
	walk = name_table_walk_over(m.octets, m.length);
	while (name_table_next(&walk, &e))
		counting += name_table_counts(&table, &e);
	CHECK(counting == 2);
	name_table_close(&table);
}

/* None, and enough names that the index grows. */
TEST(many_names)
{
	const size_t count = 5000;
	uint8_t *octets = malloc(count * 64);
	struct name_table table, none;
	struct name_table_entry e;
	size_t length = 0, found = 0;
	char host[32];

	for (size_t i = 0; i < count; i++) {
		struct proto m = { .length = 0 };

		(void)snprintf(host, sizeof(host), "n%zu.test", i);
		proto_host(&m, host, "10.0.0.1");
		memcpy(octets + length, m.octets, m.length);
		length += m.length;
	}
	MUST(name_table_open(&table, octets, length) == 0);
	MUST(name_table_open(&none, octets, 0) == 0);
	CHECK(table.names == count && none.names == 0);
	for (size_t i = 0; i < count; i++) {
		(void)snprintf(host, sizeof(host), "n%zu.test", i);
		found += name_table_find(&table, span_of(host), &e) &&
		    is(e.host, host);
	}
	CHECK(found == count);
	MUST(name_table_index(&none) == 0);
	CHECK(!name_table_find(&none, span_of("n1.test"), &e));
	name_table_close(&table);
	name_table_close(&none);
	free(octets);
}

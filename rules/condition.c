/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <arpa/inet.h>
#include <assert.h>
#include <inttypes.h>
#include <linux/netfilter.h>
#include <linux/rtnetlink.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

#include "rules/nft_message.h"
#include "rules/rule.h"

/* Where addresses and ports stand in the headers; octets. */
#define IPV4_SOURCE		12
#define IPV4_DESTINATION	16
#define IPV6_SOURCE		8
#define IPV6_DESTINATION	24
#define PORT_SOURCE		0
#define PORT_DESTINATION	2
#define TCP_FLAGS		13

/* One load from the packet's headers into registers; size 0: none. */
struct load {
	enum nft_payload_bases base;
	uint8_t offset, size;
	uint8_t reg;
};

/* All that is known of a subject. */
struct subject_row {
	const char *name;		/* as nft writes it */
	uint8_t size;			/* of its value */
	/* What nft need not say before it. */
	enum subject implies;
	void (*print)(const struct condition *condition, const uint8_t *value,
	    FILE *out);
	void (*load)(struct expr_builder *b, const struct subject_row *row,
	    const struct condition *condition);
	uint32_t key;			/* NFT_META_*, NFTA_FIB_F_* */
	struct load loads[3];
	const char *remedy;
};

static const struct subject_row subjects[SUBJECTS];

static uint64_t
number_of(const uint8_t *value, uint8_t size)
{
	uint16_t port;
	uint32_t number;
	uint64_t id;

	switch (size) {
	case 1:
		return *value;
	case 2:
		memcpy(&port, value, sizeof(port));
		return ntohs(port);
	case 4:
		memcpy(&number, value, sizeof(number));
		return number;
	default:
		memcpy(&id, value, sizeof(id));
		return id;
	}
}

/* The only values of two octets are ports, which packets have in their order. */
static void
put_number(uint8_t value[static 16], uint8_t size, uint64_t number)
{
	uint16_t port = htons((uint16_t)number);
	uint32_t word = (uint32_t)number;

	switch (size) {
	case 1:
		*value = (uint8_t)number;
		break;
	case 2:
		memcpy(value, &port, sizeof(port));
		break;
	case 4:
		memcpy(value, &word, sizeof(word));
		break;
	default:
		assert(size == sizeof(number));
		memcpy(value, &number, sizeof(number));
		break;
	}
}

static void
print_decimal(const struct condition *condition, const uint8_t *value,
    FILE *out)
{
	fprintf(out, "%" PRIu64, number_of(value, condition->size));
}

static void
print_mark(const struct condition *condition, const uint8_t *value, FILE *out)
{
	fprintf(out, "0x%08" PRIx64, number_of(value, condition->size));
}

static void
print_family(const struct condition *condition, const uint8_t *value, FILE *out)
{
	(void)condition;
	fputs(*value == NFPROTO_IPV4 ? "ipv4" : "ipv6", out);
}

static void
print_protocol(const struct condition *condition, const uint8_t *value,
    FILE *out)
{
	(void)condition;
	fputs(*value == IPPROTO_TCP ? "tcp" : "udp", out);
}

static void
print_cgroup(const struct condition *condition, const uint8_t *value, FILE *out)
{
	(void)value;
	fprintf(out, "level %" PRIu32 " \"%s\"", condition->level,
	    condition->name);
}

static void
print_interface(const struct condition *condition, const uint8_t *value,
    FILE *out)
{
	uint64_t index = number_of(value, condition->size);

	if (index == RULE_LOOPBACK)
		fputs("\"lo\"", out);
	else
		fprintf(out, "%" PRIu64, index);
}

/* A name that "*" ends has no octet 0 behind it. */
static void
print_name(const struct condition *condition, const uint8_t *value, FILE *out)
{
	fprintf(out, "\"%.*s%s\"", condition->size, (const char *)value,
	    condition->size < sizeof(condition->value) ? "*" : "");
}

static void
print_missing(const struct condition *condition, const uint8_t *value,
    FILE *out)
{
	(void)condition;
	(void)value;
	fputs("missing", out);
}

static void
print_address_type(const struct condition *condition, const uint8_t *value,
    FILE *out)
{
	fputs(number_of(value, condition->size) == RTN_LOCAL ? "local" :
	    "broadcast", out);
}

/* With the length of the prefix, unless that is the whole address. */
static void
print_address(const struct condition *condition, const uint8_t *value,
    FILE *out)
{
	uint8_t whole = subjects[condition->subject].size;
	unsigned int length = condition->masked ? 0 : condition->size * 8U;
	char text[INET6_ADDRSTRLEN];

	for (size_t i = 0; condition->masked && i < whole; i++)
		length += (unsigned int)__builtin_popcount(condition->mask[i]);
	inet_ntop(whole == 4 ? AF_INET : AF_INET6, value, text, sizeof(text));
	fputs(text, out);
	if (length < whole * 8U)
		fprintf(out, "/%u", length);
}

static void
print_flags(const struct condition *condition, const uint8_t *value, FILE *out)
{
	static const char *const names[] = { "fin", "syn", "rst", "psh", "ack" };
	bool many = (*value & (*value - 1)) != 0;
	const char *separator = "";

	(void)condition;
	if (*value == 0)
		fputc('0', out);
	if (many)
		fputc('(', out);
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		if ((*value >> i & 1) == 0)
			continue;
		fprintf(out, "%s%s", separator, names[i]);
		separator = " | ";
	}
	if (many)
		fputc(')', out);
}

static void
load_meta(struct expr_builder *b, const struct subject_row *row,
    const struct condition *condition)
{
	(void)condition;
	expr_load_meta(b, (enum nft_meta_keys)row->key);
}

/* Of a prefix of whole octets no more than those, as nft(8) does it. */
static void
load_payload(struct expr_builder *b, const struct subject_row *row,
    const struct condition *condition)
{
	bool single = row->loads[1].size == 0;

	for (size_t i = 0; i < 3 && row->loads[i].size != 0; i++) {
		const struct load *load = &row->loads[i];

		expr_load_payload_to(b, load->reg, load->base, load->offset,
		    single ? condition->size : load->size);
	}
}

/* The interface, and in the registers behind it the address. */
static void
load_source(struct expr_builder *b, const struct subject_row *row,
    const struct condition *condition)
{
	(void)condition;
	expr_load_meta(b, NFT_META_IIF);
	expr_load_payload_to(b, NFT_REG32_01, NFT_PAYLOAD_NETWORK_HEADER,
	    row->key == NFPROTO_IPV4 ? IPV4_SOURCE : IPV6_SOURCE,
	    row->key == NFPROTO_IPV4 ? 4 : 16);
}

static void
load_fib(struct expr_builder *b, const struct subject_row *row,
    const struct condition *condition)
{
	(void)condition;
	expr_add(b, "fib");
	expr_put_u32(b, NFTNL_EXPR_FIB_RESULT, NFT_FIB_RESULT_ADDRTYPE);
	expr_put_u32(b, NFTNL_EXPR_FIB_FLAGS, row->key);
	expr_put_u32(b, NFTNL_EXPR_FIB_DREG, NFT_REG_1);
}

static void
load_fib_back(struct expr_builder *b, const struct subject_row *row,
    const struct condition *condition)
{
	(void)condition;
	expr_add(b, "fib");
	expr_put_u32(b, NFTNL_EXPR_FIB_RESULT, NFT_FIB_RESULT_OIF);
	expr_put_u32(b, NFTNL_EXPR_FIB_FLAGS, row->key);
	expr_put_u32(b, NFTNL_EXPR_FIB_DREG, NFT_REG_1);
}

static void
load_cgroup(struct expr_builder *b, const struct subject_row *row,
    const struct condition *condition)
{
	(void)row;
	expr_add(b, "socket");
	expr_put_u32(b, NFTNL_EXPR_SOCKET_KEY, NFT_SOCKET_CGROUPV2);
	expr_put_u32(b, NFTNL_EXPR_SOCKET_DREG, NFT_REG_1);
	expr_put_u32(b, NFTNL_EXPR_SOCKET_LEVEL, condition->level);
}

#define FIB_REMEDY "load module nft_fib_inet, or use a kernel with " \
	"CONFIG_NFT_FIB_INET"
#define META(text, octets, printer, number) \
	{ .name = (text), .size = (octets), .print = (printer), .load = load_meta, \
	  .key = (number) }
#define FIB(text, flags) \
	{ .name = (text), .size = 4, .print = print_address_type, \
	  .load = load_fib, .key = (flags), .remedy = FIB_REMEDY }
#define ADDRESS(text, at, octets) \
	{ .name = (text), .size = (octets), .implies = SUBJECT_NFPROTO, \
	  .print = print_address, .load = load_payload, .loads = { \
	  { NFT_PAYLOAD_NETWORK_HEADER, (at), (octets), NFT_REG_1 } } }
/* In registers one behind the other, each part padded to four octets. */
#define STREAM4(text, client, port, nameserver) \
	{ .name = (text), .implies = SUBJECT_L4PROTO, .load = load_payload, \
	  .loads = { { NFT_PAYLOAD_NETWORK_HEADER, (client), 4, NFT_REG_1 }, \
	  { NFT_PAYLOAD_TRANSPORT_HEADER, (port), 2, NFT_REG32_01 }, \
	  { NFT_PAYLOAD_NETWORK_HEADER, (nameserver), 4, NFT_REG32_02 } } }
#define STREAM6(text, client, port, nameserver) \
	{ .name = (text), .implies = SUBJECT_L4PROTO, .load = load_payload, \
	  .loads = { { NFT_PAYLOAD_NETWORK_HEADER, (client), 16, NFT_REG_1 }, \
	  { NFT_PAYLOAD_TRANSPORT_HEADER, (port), 2, NFT_REG_2 }, \
	  { NFT_PAYLOAD_NETWORK_HEADER, (nameserver), 16, NFT_REG32_05 } } }

static const struct subject_row subjects[SUBJECTS] = {
	[SUBJECT_NFPROTO] = META("meta nfproto", 1, print_family,
	    NFT_META_NFPROTO),
	[SUBJECT_L4PROTO] = META("meta l4proto", 1, print_protocol,
	    NFT_META_L4PROTO),
	[SUBJECT_MARK] = META("meta mark", 4, print_mark, NFT_META_MARK),
	[SUBJECT_SKUID] = META("meta skuid", 4, print_decimal, NFT_META_SKUID),
	[SUBJECT_SKGID] = META("meta skgid", 4, print_decimal, NFT_META_SKGID),
	[SUBJECT_IIF] = META("iif", 4, print_interface, NFT_META_IIF),
	[SUBJECT_IIFNAME] = META("iifname", 16, print_name, NFT_META_IIFNAME),
	[SUBJECT_FIB_BACK] = { .name = "fib saddr . iif oif", .size = 4,
	    .print = print_missing, .load = load_fib_back,
	    .key = NFTA_FIB_F_SADDR | NFTA_FIB_F_IIF, .remedy = FIB_REMEDY },
	[SUBJECT_CGROUPV2] = { .name = "socket cgroupv2", .size = 8,
	    .print = print_cgroup, .load = load_cgroup },
	[SUBJECT_FIB_SADDR_TYPE] = FIB("fib saddr type", NFTA_FIB_F_SADDR),
	[SUBJECT_FIB_DADDR_TYPE] = FIB("fib daddr type", NFTA_FIB_F_DADDR),
	[SUBJECT_IP_SADDR] = ADDRESS("ip saddr", IPV4_SOURCE, 4),
	[SUBJECT_IP_DADDR] = ADDRESS("ip daddr", IPV4_DESTINATION, 4),
	[SUBJECT_IP6_SADDR] = ADDRESS("ip6 saddr", IPV6_SOURCE, 16),
	[SUBJECT_IP6_DADDR] = ADDRESS("ip6 daddr", IPV6_DESTINATION, 16),
	[SUBJECT_TH_DPORT] = { .name = "dport", .size = 2,
	    .implies = SUBJECT_L4PROTO, .print = print_decimal,
	    .load = load_payload, .loads = {
	    { NFT_PAYLOAD_TRANSPORT_HEADER, PORT_DESTINATION, 2, NFT_REG_1 } } },
	[SUBJECT_TCP_FLAGS] = { .name = "tcp flags", .size = 1,
	    .implies = SUBJECT_L4PROTO, .print = print_flags,
	    .load = load_payload, .loads = {
	    { NFT_PAYLOAD_TRANSPORT_HEADER, TCP_FLAGS, 1, NFT_REG_1 } } },
	[SUBJECT_SOURCE4] = { .name = "iif . ip saddr", .load = load_source,
	    .key = NFPROTO_IPV4 },
	[SUBJECT_SOURCE6] = { .name = "iif . ip6 saddr", .load = load_source,
	    .key = NFPROTO_IPV6 },
	[SUBJECT_STREAM4] = STREAM4("ip saddr . tcp sport . ip daddr",
	    IPV4_SOURCE, PORT_SOURCE, IPV4_DESTINATION),
	[SUBJECT_STREAM6] = STREAM6("ip6 saddr . tcp sport . ip6 daddr",
	    IPV6_SOURCE, PORT_SOURCE, IPV6_DESTINATION),
	[SUBJECT_STREAM4_REPLY] = STREAM4("ip daddr . tcp dport . ip saddr",
	    IPV4_DESTINATION, PORT_DESTINATION, IPV4_SOURCE),
	[SUBJECT_STREAM6_REPLY] = STREAM6("ip6 daddr . tcp dport . ip6 saddr",
	    IPV6_DESTINATION, PORT_DESTINATION, IPV6_SOURCE),
};

struct condition
condition_number(enum subject subject, enum condition_operator operator,
    uint64_t number)
{
	struct condition made = {
		.subject = subject, .operator = operator,
		.size = subjects[subject].size,
	};

	put_number(made.value, made.size, number);
	return made;
}

/* A mask of all bits is none, as nft(8) has it. */
struct condition
condition_masked(enum subject subject, enum condition_operator operator,
    uint32_t number, uint32_t mask)
{
	struct condition made = condition_number(subject, operator, number);

	put_number(made.mask, made.size, mask);
	made.masked = mask != UINT32_MAX;
	return made;
}

struct condition
condition_prefix(enum subject subject, const uint8_t *address,
    unsigned int length)
{
	struct condition made = {
		.subject = subject, .operator = OPERATOR_EQUAL,
		.size = subjects[subject].size,
	};

	assert(length > 0 && length <= made.size * 8U);
	memcpy(made.value, address, made.size);
	made.masked = length % 8 != 0;
	if (!made.masked)
		made.size = (uint8_t)(length / 8);
	for (unsigned int i = 0; i < length; i++)
		made.mask[i / 8] |= (uint8_t)(0x80 >> i % 8);
	return made;
}

struct condition
condition_in(enum subject subject, const char *set)
{
	return (struct condition){
		.subject = subject, .operator = OPERATOR_IN,
		.size = subjects[subject].size, .name = set,
	};
}

struct condition
condition_interface(const char *name)
{
	struct condition made = { .subject = SUBJECT_IIFNAME,
		.operator = OPERATOR_EQUAL, .size = sizeof(made.value) };
	const size_t length = strnlen(name, sizeof(made.value) - 1);

	memcpy(made.value, name, length);
	if (length > 0 && name[length - 1] == '*')
		made.size = (uint8_t)(length - 1);
	return made;
}

struct condition
condition_cgroup(uint64_t id, uint32_t level, const char *path)
{
	struct condition made = condition_number(SUBJECT_CGROUPV2,
	    OPERATOR_EQUAL, id);

	made.level = level;
	made.name = path;
	return made;
}

const char *
subject_name(enum subject subject)
{
	return subjects[subject].name;
}

const char *
subject_remedy(enum subject subject)
{
	return subjects[subject].remedy;
}

void
subject_load(struct expr_builder *b, enum subject subject)
{
	const struct condition whole = { .size = subjects[subject].size };

	subjects[subject].load(b, &subjects[subject], &whole);
}

void
condition_encode(struct expr_builder *b, const struct condition *condition)
{
	const struct subject_row *row = &subjects[condition->subject];
	const uint8_t none[16] = { 0 };

	row->load(b, row, condition);
	if (condition->operator == OPERATOR_IN) {
		expr_add(b, "lookup");
		expr_put_u32(b, NFTNL_EXPR_LOOKUP_SREG, NFT_REG_1);
		expr_put_string(b, NFTNL_EXPR_LOOKUP_SET, condition->name);
		return;
	}
	if (condition->masked)
		expr_change_octets(b, condition->mask, none, condition->size);
	expr_compare(b, condition->operator == OPERATOR_EQUAL ? NFT_CMP_EQ :
	    NFT_CMP_NEQ, condition->value, condition->size);
}

/* Whether the next condition says as much: "udp dport 53" says UDP. */
static bool
is_implied(const struct condition *condition, const struct condition *next)
{
	return condition->operator == OPERATOR_EQUAL &&
	    subjects[next->subject].implies == condition->subject;
}

/* "before" is the condition that this one implied, or NULL. */
static void
print_condition(const struct condition *condition,
    const struct condition *before, FILE *out)
{
	const struct subject_row *row = &subjects[condition->subject];
	bool is_equal = condition->operator == OPERATOR_EQUAL;

	/* A port's name is that of its protocol. */
	if (condition->subject == SUBJECT_TH_DPORT) {
		if (before != NULL)
			print_protocol(before, before->value, out);
		else
			fputs("th", out);
		fputc(' ', out);
	}
	fprintf(out, "%s ", row->name);
	if (condition->operator == OPERATOR_IN) {
		fprintf(out, "@%s", condition->name);
		return;
	}
	if (condition->masked && row->print != print_address) {
		fputs("& ", out);
		row->print(condition, condition->mask, out);
		fputs(is_equal ? " == " : " != ", out);
	} else if (!is_equal) {
		fputs("!= ", out);
	}
	row->print(condition, condition->value, out);
}

void
conditions_print(const struct condition *conditions, size_t count, FILE *out)
{
	const struct condition *before = NULL;
	const char *separator = "";

	for (size_t i = 0; i < count; i++) {
		if (i + 1 < count && is_implied(&conditions[i],
		    &conditions[i + 1])) {
			before = &conditions[i];
			continue;
		}
		fputs(separator, out);
		print_condition(&conditions[i], before, out);
		before = NULL;
		separator = " ";
	}
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * push: what it costs until a change of a name table is answered.
 *
 *   push write SERVICES PATH                writes the table, as nfdns-feed keeps it
 *   push run SERVICES PATH SERVER PUSHES SECONDS [PAUSE]
 *                                           changes one service's address, and
 *                                           asks until it is answered; so often,
 *                                           or until the time is over, with
 *                                           so many milliseconds between them
 *
 * Service N is sN.ns-M.svc.cluster.local, N of eight digits, M = N % 100, and has the
 * address 110.a.b.c, where a, b and c are 100 plus two digits of N each.  Only
 * services of the second half are changed.  "run" prints one JSON object;
 * times are in milliseconds.
 */
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>

#include "resolver/dns/name.h"
#include "resolver/dns/rr.h"
#include "resolver/dns/wire.h"
#include "resolver/sources/feed_file.h"
#include "resolver/sources/name_table.h"
#include "tests/tools/load.h"

#define SERVICES_MAX	10000000u
#define PUSHES_MAX	100000u
#define SECONDS_MAX	3600u
#define PAUSE_MAX	60000u
#define ENTRY_MAX	256
#define QUERY_MAX	(12 + NAME_MAX_OCTETS + 4)
#define ANSWER_MS	500	/* a question without an answer is lost */
#define GIVE_UP_NS	((uint64_t)60 * 1000000000)
#define AGAIN_NS	300000	/* between questions */

struct pushes {
	uint32_t services;
	const char *path;
	uint8_t *table;
	size_t length;
	uint32_t *addresses;	/* offsets of the services' addresses */
	uint64_t number;	/* of the push */
	uint64_t asked, lost, wrong;
};

static size_t
put_text(uint8_t *at, unsigned int field, const char *text)
{
	const size_t length = strlen(text);

	at[0] = (uint8_t)(field << 3 | PROTOBUF_OCTETS);
	at[1] = (uint8_t)length;
	memcpy(at + 2, text, length);
	return 2 + length;
}

static void
host_of(uint32_t service, char host[static 64])
{
	(void)snprintf(host, 64, "s%08u.ns-%u.svc.cluster.local", service,
	    service % 100);
}

/* The service's address, and after a push that one's; always 15 characters. */
static uint32_t
address_of(uint64_t number, uint32_t first)
{
	return first << 24 | (100u + (uint32_t)(number / 10000 % 100)) << 16 |
	    (100u + (uint32_t)(number / 100 % 100)) << 8 |
	    (100u + (uint32_t)(number % 100));
}

static void
address_text(uint32_t address, char text[static 16])
{
	(void)snprintf(text, 16, "%u.%u.%u.%u", address >> 24,
	    address >> 16 & 255, address >> 8 & 255, address & 255);
}

/* Writes one entry; *address is where its address stands, from its start. */
static size_t
put_entry(uint8_t *out, uint32_t service, uint32_t *address)
{
	uint8_t info[ENTRY_MAX], entry[ENTRY_MAX];
	char host[64], text[16], name[16], space[16];
	size_t n, length;

	host_of(service, host);
	address_text(address_of(service, 110), text);
	(void)snprintf(name, sizeof(name), "s%08u", service);
	(void)snprintf(space, sizeof(space), "ns-%u", service % 100);
	length = put_text(info, 1, text);
	length += put_text(info + length, 2, "Kubernetes");
	length += put_text(info + length, 3, name);
	length += put_text(info + length, 4, space);
	n = put_text(entry, 1, host);
	entry[n++] = 2 << 3 | PROTOBUF_OCTETS;
	entry[n++] = (uint8_t)length;
	/* In front: tag and length of the entry; of the address. */
	*address = (uint32_t)(2 + n + 2);
	memcpy(entry + n, info, length);
	n += length;
	if (n > 127)
		fail("entry", "too long for a length of one octet");
	out[0] = 1 << 3 | PROTOBUF_OCTETS;
	out[1] = (uint8_t)n;
	memcpy(out + 2, entry, n);
	return 2 + n;
}

static void
make_table(struct pushes *p)
{
	p->table = allocate(p->services, ENTRY_MAX);
	p->addresses = allocate(p->services, sizeof(*p->addresses));
	for (uint32_t i = 0; i < p->services; i++) {
		const size_t start = p->length;

		p->length += put_entry(p->table + start, i, &p->addresses[i]);
		p->addresses[i] += (uint32_t)start;
	}
}

static void
write_all(int fd, const void *octets, size_t length)
{
	const uint8_t *p = octets;

	while (length > 0) {
		ssize_t n = write(fd, p, length);

		if (n < 0)
			fail("write", strerror(errno));
		p += n;
		length -= (size_t)n;
	}
}

static size_t
make_header(const struct pushes *p, char text[static FEED_FILE_HEADER_MAX])
{
	struct feed_header header = { .time = time(NULL),
		.names = p->services, .length = p->length,
		.hash = feed_file_hash(p->table, p->length) };

	(void)snprintf(header.format, sizeof(header.format), "nds-proto");
	(void)snprintf(header.source, sizeof(header.source), "192.0.2.10:15012");
	return feed_file_header_write(&header, text);
}

/* Writes a new file beside the table; rename(2) is the push. */
static void
write_new(const struct pushes *p, char new[static 4096])
{
	char header[FEED_FILE_HEADER_MAX];
	int fd;

	(void)snprintf(new, 4096, "%s.new", p->path);
	fd = open(new, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (fd < 0)
		fail(new, strerror(errno));
	write_all(fd, header, make_header(p, header));
	write_all(fd, p->table, p->length);
	(void)close(fd);
}

static void
put_in_place(const struct pushes *p, const char *new)
{
	if (rename(new, p->path) != 0)
		fail(p->path, strerror(errno));
}

/* Gives the service the push's address; returns it. */
static uint32_t
change(struct pushes *p, uint32_t service)
{
	const uint32_t address = address_of(++p->number, 120);
	char text[16];

	address_text(address, text);
	memcpy(p->table + p->addresses[service], text, strlen(text));
	return address;
}

static size_t
make_question(uint8_t octets[static QUERY_MAX], uint16_t id, uint32_t service)
{
	struct wire_writer w = wire_writer_over(octets, QUERY_MAX);
	struct dns_name name;
	char host[64];

	host_of(service, host);
	if (name_from_text(&name, host, strlen(host)) != 0)
		fail(host, "no name");
	wire_write_u16(&w, id);
	wire_write_u16(&w, 0x0100);
	wire_write_u16(&w, 1);
	wire_write_octets(&w, "\0\0\0\0\0", 6);
	wire_write_octets(&w, name.octets, name.length);
	wire_write_u16(&w, TYPE_A);
	wire_write_u16(&w, CLASS_IN);
	return wire_written(&w);
}

/* The address in the answer, 0 if it has none; the record is its last octets. */
static uint32_t
ask(struct pushes *p, int fd, uint32_t service)
{
	struct pollfd wait = { .fd = fd, .events = POLLIN };
	uint8_t query[QUERY_MAX], answer[1500];
	const uint16_t id = (uint16_t)++p->asked;
	const size_t length = make_question(query, id, service);

	if (send(fd, query, length, 0) < 0)
		fail("send", strerror(errno));
	while (poll(&wait, 1, ANSWER_MS) > 0) {
		ssize_t n = recv(fd, answer, sizeof(answer), 0);

		if (n < (ssize_t)length || wire_load_u16(answer) != id)
			continue;
		return n < (ssize_t)length + 4 ? 0 :
		    (uint32_t)wire_load_u16(answer + n - 4) << 16 |
		    wire_load_u16(answer + n - 2);
	}
	p->lost++;
	return 0;
}

/* Asks until the new address is the answer.  Milliseconds since then. */
static double
wait_for(struct pushes *p, int fd, uint32_t service, uint32_t old,
    uint32_t new, uint64_t since)
{
	const struct timespec pause = { 0, AGAIN_NS };

	for (;;) {
		const uint32_t got = ask(p, fd, service);
		const uint64_t now = now_ns();

		if (got == new)
			return (double)(now - since) / 1e6;
		if (got != 0 && got != old)
			p->wrong++;
		if (now - since > GIVE_UP_NS)
			fail("push", "not answered after a minute");
		(void)nanosleep(&pause, NULL);
	}
}

static void
run(struct pushes *p, const struct server *server, uint64_t count,
    uint64_t seconds, uint64_t pause_ms)
{
	const struct timespec pause = { (time_t)(pause_ms / 1000),
		(long)(pause_ms % 1000 * 1000000) };
	const uint64_t end = now_ns() + seconds * 1000000000;
	const uint32_t half = p->services / 2;
	uint32_t *now = allocate(p->services, sizeof(*now));
	char new[4096];
	int fd = socket(server->address.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || connect(fd, (const struct sockaddr *)&server->address,
	    server->length) != 0)
		fail("socket", strerror(errno));
	printf("{\"octets\": %zu, \"ms\": [", p->length);
	for (uint64_t i = 0; i < count && (i == 0 || now_ns() < end); i++) {
		const uint32_t service = half +
		    (uint32_t)(i * 7919 % (p->services - half));
		const uint32_t old = now[service] != 0 ? now[service] :
		    address_of(service, 110);
		uint64_t begun;

		now[service] = change(p, service);
		write_new(p, new);
		(void)nanosleep(&pause, NULL);
		begun = now_ns();
		put_in_place(p, new);
		printf("%s%.2f", i > 0 ? ", " : "", wait_for(p, fd, service,
		    old, now[service], begun));
	}
	printf("], \"asked\": %llu, \"lost\": %llu, \"wrong\": %llu}\n",
	    (unsigned long long)p->asked, (unsigned long long)p->lost,
	    (unsigned long long)p->wrong);
	(void)close(fd);
	free(now);
}

int
main(int argc, char **argv)
{
	struct pushes p = { .number = 0 };
	struct server server;
	char new[4096];

	if (argc < 4)
		fail("usage", "push write|run SERVICES PATH ...");
	p.services = (uint32_t)number(argv[2], SERVICES_MAX);
	p.path = argv[3];
	make_table(&p);
	if (strcmp(argv[1], "write") == 0) {
		write_new(&p, new);
		put_in_place(&p, new);
	} else if (argc == 7 || argc == 8) {
		server = read_server(argv[4], 53);
		run(&p, &server, number(argv[5], PUSHES_MAX),
		    number(argv[6], SECONDS_MAX), argc == 8 ?
		    number(argv[7], PAUSE_MAX) : 0);
	} else {
		fail("usage", "push run SERVICES PATH SERVER PUSHES SECONDS "
		    "[PAUSE]");
	}
	return 0;
}

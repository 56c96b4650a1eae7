/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * forge: sends forged replies, as an attacker does who sees no question: from
 * the nameserver's address and port, to a random port of a range, with a random
 * id, for a name that may just be asked, and 6.6.6.6 for its address.
 *
 *   forge [-o] [-r RATE] [-s SECONDS] FROM PORT TO LOW HIGH NAMES
 *
 * NAMES is as dnsload's.  -o: for other names than those, which nobody asks.
 * Needs CAP_NET_RAW.  Prints one JSON object.
 */
#include <netinet/ip.h>
#include <netinet/udp.h>
#include <stdbool.h>

#include "resolver/dns/name.h"
#include "resolver/dns/rr.h"
#include "resolver/dns/wire.h"
#include "tests/tools/load.h"

#define NAMES_MAX	100000
#define BATCH		64
#define PACKET_MAX	512
#define HEADER		12

struct name {
	uint8_t octets[NAME_MAX_OCTETS];
	size_t length;
};

static struct {
	struct server from, to;
	uint16_t port, low, high;
	bool other;
	uint64_t rate, seconds;
	struct name *names;
	size_t count;
	uint64_t random;
} f = { .rate = 100000, .seconds = 3, .random = 0x9e3779b97f4a7c15 };

static uint64_t
draw(uint64_t below)
{
	f.random ^= f.random << 13;
	f.random ^= f.random >> 7;
	f.random ^= f.random << 17;
	return (f.random >> 16) % below;
}

static void
read_names(const char *path)
{
	char line[512], text[300];
	struct dns_name wire;
	FILE *file = fopen(path, "r");

	if (file == NULL)
		fail(path, strerror(errno));
	f.names = allocate(NAMES_MAX, sizeof(*f.names));
	while (f.count < NAMES_MAX && fgets(line, sizeof(line), file) != NULL) {
		if (sscanf(line, "%299s", text) != 1 ||
		    name_from_text(&wire, text, strlen(text)) != 0)
			continue;
		memcpy(f.names[f.count].octets, wire.octets, wire.length);
		f.names[f.count++].length = wire.length;
	}
	(void)fclose(file);
	if (f.count == 0)
		fail(path, "no names in it");
}

static size_t
write_reply(uint8_t *at, size_t size)
{
	static const uint8_t record[16] =
	    "\xc0\x0c\0\1\0\1\0\0\1\54\0\4\6\6\6\6";
	const struct name *name = &f.names[draw(f.count)];
	struct wire_writer w = wire_writer_over(at, size);

	wire_write_u16(&w, (uint16_t)draw(65536));
	wire_write_u16(&w, 0x8180);
	wire_write_u16(&w, 1);
	wire_write_u16(&w, 1);
	wire_write_octets(&w, "\0\0\0\0", 4);
	wire_write_octets(&w, name->octets, name->length);
	wire_write_u16(&w, TYPE_A);
	wire_write_u16(&w, CLASS_IN);
	wire_write_octets(&w, record, sizeof(record));
	if (f.other)
		at[HEADER + 1] ^= 1;
	return wire_written(&w);
}

/* A whole IPv4 packet; the kernel fills in its checksum: raw(7). */
static size_t
write_packet(uint8_t *packet)
{
	const size_t before = sizeof(struct iphdr) + sizeof(struct udphdr);
	const size_t length = write_reply(packet + before, PACKET_MAX - before);
	const struct sockaddr_in *from = (const struct sockaddr_in *)
	    &f.from.address, *to = (const struct sockaddr_in *)&f.to.address;
	const struct iphdr ip = { .version = 4, .ihl = 5, .ttl = 64,
		.protocol = IPPROTO_UDP, .saddr = from->sin_addr.s_addr,
		.daddr = to->sin_addr.s_addr,
		.tot_len = htons((uint16_t)(before + length)) };
	const struct udphdr udp = { .source = htons(f.port),	/* checksum 0: none */
		.dest = htons((uint16_t)(f.low + draw(1U + f.high - f.low))),
		.len = htons((uint16_t)(sizeof(udp) + length)) };

	memcpy(packet, &ip, sizeof(ip));
	memcpy(packet + sizeof(ip), &udp, sizeof(udp));
	return before + length;
}

static int
send_batch(int fd, unsigned int count)
{
	static uint8_t packets[BATCH][PACKET_MAX];
	struct mmsghdr messages[BATCH] = { 0 };
	struct iovec iov[BATCH];

	for (unsigned int i = 0; i < count; i++) {
		iov[i] = (struct iovec){ packets[i], write_packet(packets[i]) };
		messages[i].msg_hdr = (struct msghdr){
			.msg_name = &f.to.address, .msg_namelen = f.to.length,
			.msg_iov = &iov[i], .msg_iovlen = 1 };
	}
	return sendmmsg(fd, messages, count, 0);
}

static void
run(int fd)
{
	const uint64_t start = now_ns(), end = start +
	    f.seconds * UINT64_C(1000000000);
	uint64_t now, sent = 0;

	while ((now = now_ns()) < end) {
		const uint64_t due = (now - start) / 1000 * f.rate / 1000000;
		const uint64_t left = due > sent ? due - sent : 0;
		const struct timespec pause = { .tv_nsec = 200000 };
		int n;

		if (left < BATCH) {
			(void)nanosleep(&pause, NULL);
			continue;
		}
		n = send_batch(fd, BATCH);
		if (n < 0 && errno != ENOBUFS)
			fail("send", strerror(errno));
		sent += n > 0 ? (uint64_t)n : 0;
	}
	(void)printf("{\"sent\": %llu, \"rate\": %llu}\n",
	    (unsigned long long)sent, (unsigned long long)(sent / f.seconds));
}

int
main(int argc, char **argv)
{
	int option, fd;

	while ((option = getopt(argc, argv, "or:s:")) != -1) {
		if (option == 'o')
			f.other = true;
		else if (option == 'r')
			f.rate = number(optarg, 1000000);
		else if (option == 's')
			f.seconds = number(optarg, 600);
		else
			return 2;
	}
	if (argc - optind != 6) {
		(void)fprintf(stderr, "usage: forge [-o] [-r RATE] [-s SECONDS]"
		    " FROM PORT TO LOW HIGH NAMES\n");
		return 2;
	}
	argv += optind;
	f.port = (uint16_t)number(argv[1], 65535);
	f.from = read_server(argv[0], f.port);
	f.to = read_server(argv[2], 0);
	f.low = (uint16_t)number(argv[3], 65535);
	f.high = (uint16_t)number(argv[4], 65535);
	read_names(argv[5]);
	f.random ^= now_ns();
	fd = socket(AF_INET, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_RAW);
	if (fd < 0 || f.high < f.low)
		fail("forge", fd < 0 ? strerror(errno) : "LOW is above HIGH");
	set_buffers(fd, 8 << 20);
	run(fd);
	return EXIT_SUCCESS;
}

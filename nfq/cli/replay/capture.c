/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/cli/replay/capture.h"

#include <errno.h>
#include <net/ethernet.h>
#include <pcap/pcap.h>
#include <pcap/sll.h>
#include <stdlib.h>
#include <string.h>

#include "resolver/dns/wire.h"

#define VLAN_TAGS	4		/* of a frame at most */
#define TPID_SERVICE	0x88a8		/* IEEE 802.1ad */
#define IPV4_MIN	20
#define IPV6_MIN	40

struct capture {
	pcap_t *pcap;
	int link;			/* DLT_* */
};

static const struct {
	int link;
	size_t header;			/* octets before the IP header */
	size_t protocol;		/* of a VLAN tag, if there is one; 0: no tags */
} links[] = {
	{ DLT_RAW, 0, 0 },
	{ DLT_IPV4, 0, 0 },
	{ DLT_IPV6, 0, 0 },
	{ DLT_NULL, 4, 0 },
	{ DLT_LOOP, 4, 0 },
	{ DLT_EN10MB, 14, 12 },
	{ DLT_LINUX_SLL, 16, 14 },
	{ DLT_LINUX_SLL2, 20, 0 },
	{ DLT_PPP, 4, 0 },
};
#define LINKS (sizeof(links) / sizeof(links[0]))

static size_t
link_index(int link)
{
	size_t i = 0;

	while (i < LINKS && links[i].link != link)
		i++;
	return i;
}

static size_t
behind_vlan_tags(const uint8_t *octets, size_t length, size_t protocol,
    size_t header)
{
	for (unsigned int tags = 0; tags < VLAN_TAGS; tags++) {
		uint16_t type;

		if (length < header + 4)
			break;
		type = wire_load_u16(octets + protocol);
		if (type != ETHERTYPE_VLAN && type != TPID_SERVICE)
			break;
		protocol += 4;
		header += 4;
	}
	return header;
}

/*
 * Where the IP header begins; length if there is none.  What it is, 4 or 6,
 * stands in its first octet, so the number of the protocol need not be read.
 */
static size_t
ip_offset(const struct capture *capture, const uint8_t *octets, size_t length)
{
	const size_t i = link_index(capture->link);
	size_t header = links[i].header;

	if (links[i].protocol != 0)
		header = behind_vlan_tags(octets, length, links[i].protocol,
		    header);
	if (length <= header)
		return length;
	switch (octets[header] >> 4) {
	case 4:
		return length - header < IPV4_MIN ? length : header;
	case 6:
		return length - header < IPV6_MIN ? length : header;
	default:
		return length;
	}
}

/*
 * The octets of the packet itself: a short Ethernet frame has padding behind
 * it.  Total Length of RFC 791, Payload Length of RFC 8200; 0 in a packet that
 * the sender's device would have cut to pieces (TSO).
 */
static size_t
stated_length(const uint8_t *ip)
{
	if (ip[0] >> 4 == 4)
		return wire_load_u16(ip + 2);
	return wire_load_u16(ip + 4) == 0 ? 0 :
	    wire_load_u16(ip + 4) + (size_t)IPV6_MIN;
}

static void
set_packet(struct capture_packet *packet, const struct pcap_pkthdr *header,
    const uint8_t *octets, size_t offset)
{
	size_t stated;

	packet->octets = octets + offset;
	packet->length = header->caplen - offset;
	packet->whole_length = header->len > offset ? header->len - offset : 0;
	if (packet->whole_length < packet->length)
		packet->whole_length = packet->length;
	stated = stated_length(packet->octets);
	if (stated != 0 && stated < packet->whole_length)
		packet->whole_length = stated;
	if (packet->length > packet->whole_length)
		packet->length = packet->whole_length;
}

struct capture *
capture_open(FILE *file, char why[static CAPTURE_WHY])
{
	struct capture *capture = calloc(1, sizeof(*capture));
	char error[PCAP_ERRBUF_SIZE] = "out of memory";

	if (capture != NULL)
		capture->pcap = pcap_fopen_offline_with_tstamp_precision(file,
		    PCAP_TSTAMP_PRECISION_NANO, error);
	if (capture == NULL || capture->pcap == NULL) {
		(void)fclose(file);
		free(capture);
		(void)snprintf(why, CAPTURE_WHY, "%s", error);
		return NULL;
	}
	capture->link = pcap_datalink(capture->pcap);
	if (link_index(capture->link) < LINKS)
		return capture;
	(void)snprintf(why, CAPTURE_WHY, "has packets of link type %d, which "
	    "nfdns cannot read; capture on an Ethernet device or on \"any\"",
	    capture->link);
	capture_close(capture);
	return NULL;
}

int
capture_next(struct capture *capture, struct capture_packet *packet,
    char why[static CAPTURE_WHY])
{
	struct pcap_pkthdr *header;
	const uint8_t *octets;
	size_t offset;

	switch (pcap_next_ex(capture->pcap, &header, &octets)) {
	case 1:
		break;
	case PCAP_ERROR_BREAK:
		return 0;
	default:
		(void)snprintf(why, CAPTURE_WHY, "%s",
		    pcap_geterr(capture->pcap));
		return -EBADMSG;
	}
	*packet = (struct capture_packet){ .time_ns =
	    (uint64_t)header->ts.tv_sec * 1000000000U +
	    (uint64_t)header->ts.tv_usec };	/* nanoseconds, as asked for */
	offset = ip_offset(capture, octets, header->caplen);
	if (offset < header->caplen)
		set_packet(packet, header, octets, offset);
	return 1;
}

long long
capture_offset(const struct capture *capture)
{
	return (long long)ftello(pcap_file(capture->pcap));
}

void
capture_close(struct capture *capture)
{
	if (capture == NULL)
		return;
	pcap_close(capture->pcap);	/* closes the file, too */
	free(capture);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The IP packets of a capture file, pcap or pcapng, through libpcap.  The file
 * may be anybody's: whoever reads one gives up his privileges first
 * (sandbox_reader()).
 *
 * This room replays captures: packets through the daemon's own interception,
 * without a queue, a rule or a daemon.
 */
#ifndef NFDNS_NFQ_CLI_REPLAY_CAPTURE_H
#define NFDNS_NFQ_CLI_REPLAY_CAPTURE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct capture;

/* One packet; octets are the capture's and valid until the next one. */
struct capture_packet {
	uint64_t time_ns;		/* since 1970 */
	const uint8_t *octets;		/* from the IP header on; NULL: no IP */
	size_t length;			/* that were captured */
	size_t whole_length;		/* of the packet */
};

#define CAPTURE_WHY 300

/*
 * Reads from file, which is the capture's from then on, also after an error.
 * NULL: no capture, of a link type that is not known, or no memory; "why" says
 * which.
 */
struct capture *capture_open(FILE *file, char why[static CAPTURE_WHY])
    __attribute__((warn_unused_result));

/*
 * The next packet: 1; 0 at the end of the file; -EBADMSG, and "why", if the file
 * is damaged from here on.
 */
int capture_next(struct capture *capture, struct capture_packet *packet,
    char why[static CAPTURE_WHY]) __attribute__((warn_unused_result));

/* Octets of the file that have been read, for a progress bar. */
long long capture_offset(const struct capture *capture);

/* NULL is allowed. */
void capture_close(struct capture *capture);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Packets of which a worker died, kept for a bug report: run_dir/poison/, a
 * file each, in the format of pcap(3), so that Wireshark and tcpdump open it.
 * Questions are private: directory and files are for the daemon's user and
 * root alone.
 */
#ifndef NFDNS_NFQ_SUPERVISOR_QUARANTINE_H
#define NFDNS_NFQ_SUPERVISOR_QUARANTINE_H

#include <limits.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#define QUARANTINE_DIR	"poison"	/* in run_dir */
#define QUARANTINE_MAX	10		/* files; the oldest makes room */

struct quarantine_packet {
	struct timespec when;		/* CLOCK_REALTIME */
	uint16_t queue;
	uint32_t id;
	const uint8_t *octets;		/* from the IP header on; not looked at */
	size_t length;
};

/*
 * Writes it to a new file, whose name (time, queue, id) goes to path.
 * 0 or a negative errno: then there is no file.
 */
int quarantine_keep(const char *run_dir, const struct quarantine_packet *packet,
    char path[static PATH_MAX]) __attribute__((warn_unused_result));

#endif

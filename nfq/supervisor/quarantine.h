/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Keeps packets that killed a worker for a bug report: one file each in
 * run_dir/poison/, in the format of pcap(3), so that Wireshark and tcpdump can
 * read it.  Questions are private: only the daemon's user and root may read
 * directory and files.
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
	const uint8_t *octets;		/* from the IP header on; not parsed */
	size_t length;
};

/*
 * Writes the packet to a new file and the file's name (time, queue, id) to
 * path. 0, or a negative errno; then there is no file.
 */
int quarantine_keep(const char *run_dir, const struct quarantine_packet *packet,
    char path[static PATH_MAX]) __attribute__((warn_unused_result));

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What "nfdns cache flush" asks of the daemon.  The command writes the request to
 * run_dir/flush.NUMBER, a name that does not exist yet, and sends FLUSH_SIGNAL
 * with the number as its value (sigqueue(3)), which only root and the daemon's own
 * user may.  The supervisor reads the file and hands the request to the worker
 * (control.h); the status page has the outcome.
 */
#ifndef NFDNS_NFQ_HANDOVER_FLUSH_H
#define NFDNS_NFQ_HANDOVER_FLUSH_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "resolver/dns/name.h"

/* Queued by the kernel, unlike SIGHUP: none is lost behind another. */
#define FLUSH_SIGNAL	SIGRTMIN
#define FLUSH_OCTETS	(1 + NAME_MAX_OCTETS)

struct flush {
	uint32_t number;
	bool below;		/* all names below it, too */
	struct dns_name name;	/* lower case */
};

/* The file's octets.  Returns how many. */
size_t flush_write(const struct flush *flush, uint8_t out[static FLUSH_OCTETS]);

/* The same backwards, of any octets; the number stays.  0 or -EPROTO. */
int flush_parse(struct flush *flush, const uint8_t *octets, size_t length)
    __attribute__((warn_unused_result));

/*
 * Writes the file, which must not exist, or removes it.  0 or a negative errno:
 * -EEXIST if another number is to be taken.
 */
int flush_leave(const struct flush *flush, const char *run_dir)
    __attribute__((warn_unused_result));
void flush_remove(uint32_t number, const char *run_dir);

/*
 * Reads the file of that number; nothing but a regular file.  0 or a negative
 * errno: -EPROTO if it is not what flush_leave() writes.
 */
int flush_take(struct flush *flush, uint32_t number, const char *run_dir)
    __attribute__((warn_unused_result));

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * state_dir/last.image: table and rules as they were compiled last, for a start whose
 * sources are broken or missing.  0600, replaced by rename(2), and used only if root or
 * this user has written it.
 */
#ifndef NFDNS_NFQ_PROCESS_LAST_IMAGE_H
#define NFDNS_NFQ_PROCESS_LAST_IMAGE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "policy/config/config.h"
#include "resolver/image/table.h"

#define LAST_IMAGE	"last.image"

/*
 * The image, checked, in memory; *time is when it was written, CLOCK_REALTIME seconds.
 * A sealed descriptor, the caller's; or a negative errno and *why, a static text.
 */
int last_image_open(const struct config *config, int64_t *time,
    const char **why) __attribute__((warn_unused_result));

/* What its header says.  False: there is none, or the configuration is newer. */
bool last_image_peek(const struct config *config, struct table_label *label)
    __attribute__((warn_unused_result));

/*
 * Starts a process that writes the image to the disk, which may take its time, and
 * makes state_dir if it is not there.  Its pid, whose exit status is 0 or an errno; or a
 * negative errno.
 */
pid_t last_image_write(const struct config *config, int image)
    __attribute__((warn_unused_result));

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The cache over a restart of the daemon: a file with a header and the octets of
 * its memory.  The supervisor copies them and understands none; the worker checks
 * the memory as it checks that of a worker before it (cache_open()).
 *
 * A file that is cut off, damaged, writable by others, of another version, of other
 * settings of forwarding, or from the future is not taken.  One that is taken is
 * removed, so that an old state never comes back.
 */
#ifndef NFDNS_NFQ_CACHE_CACHE_FILE_H
#define NFDNS_NFQ_CACHE_CACHE_FILE_H

#include <stdint.h>

#include "policy/config/forward_settings.h"

/*
 * Writes the memory file "fd" of a cache with these settings to path, by rename;
 * mode 0600.  0 or a negative errno.
 */
int cache_file_save(int fd, const struct forward_settings *settings,
    const char *path) __attribute__((warn_unused_result));

/*
 * Makes a memory file of the file at path; its answers are those of "generation".
 * A descriptor, or a negative errno: -ENOENT if there is none, -EPERM if others
 * may write it, -ESTALE if it is of other settings, -EPROTO if it is damaged.
 */
int cache_file_load(const char *path, const struct forward_settings *settings,
    uint64_t generation) __attribute__((warn_unused_result));

#endif

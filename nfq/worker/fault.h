/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which thread of this process crashed: its last words, for the supervisor.
 * The process dies of the signal all the same, with its core dump.
 */
#ifndef NFDNS_NFQ_WORKER_FAULT_H
#define NFDNS_NFQ_WORKER_FAULT_H

#include <stdatomic.h>
#include <stdint.h>

/*
 * From here on, a thread that gets SIGSEGV, SIGBUS, SIGILL, SIGFPE or SIGABRT
 * writes its name to *where, in memory that outlives the process, if nothing
 * but 0 stands there.  "others" is what threads without a name write.  A stack
 * that overflowed leaves no room for this, and seccomp's SIGSYS kills at once.
 */
void fault_watch(_Atomic uint32_t *where, uint32_t others);

/* The calling thread's name, not 0. */
void fault_name_thread(uint32_t name);

#endif

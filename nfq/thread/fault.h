/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tells the supervisor which thread of the worker crashed.  The process still
 * dies of the signal.
 */
#ifndef NFDNS_NFQ_THREAD_FAULT_H
#define NFDNS_NFQ_THREAD_FAULT_H

#include <stdatomic.h>
#include <stdint.h>

/*
 * From now on, a thread that gets SIGSEGV, SIGBUS, SIGILL, SIGFPE or SIGABRT
 * writes its number to *where, unless another thread has: *where, which must be
 * in memory that outlives the process, is 0 before.  Threads without a number
 * write "others".  Nothing is written if the thread's stack overflowed, which
 * leaves no room for a signal handler, or for seccomp's SIGSYS, which kills at
 * once.
 */
void fault_watch(_Atomic uint32_t *where, uint32_t others);

/* Gives the calling thread its number, which is not 0. */
void fault_name_thread(uint32_t number);

#endif

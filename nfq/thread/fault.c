/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/thread/fault.h"

#include <signal.h>
#include <stddef.h>

static const int faults[] = { SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT };

#define FAULTS (sizeof(faults) / sizeof(faults[0]))

/* Static, because a signal handler has no argument of ours. */
static _Atomic uint32_t *place;
static uint32_t number_of_others;
static struct sigaction before[FAULTS];
static _Thread_local uint32_t number_of_thread;	/* 0: it has none */

/*
 * SA_RESETHAND has put the default action back: on return the faulting
 * instruction is run again, and kills.  A signal that was sent does not come
 * again by itself.  A sanitizer's handler, if there is one, has the last word.
 */
static void
on_fault(int signal_number, siginfo_t *info, void *context)
{
	uint32_t nobody = 0;

	(void)atomic_compare_exchange_strong(place, &nobody,
	    number_of_thread != 0 ? number_of_thread : number_of_others);
	for (size_t i = 0; i < FAULTS; i++) {
		if (faults[i] == signal_number &&
		    (before[i].sa_flags & SA_SIGINFO) != 0) {
			before[i].sa_sigaction(signal_number, info, context);
			return;
		}
	}
	if (info->si_code <= 0)
		(void)raise(signal_number);
}

void
fault_watch(_Atomic uint32_t *where, uint32_t others)
{
	struct sigaction action = {
		.sa_sigaction = on_fault,
		.sa_flags = SA_SIGINFO | (int)SA_RESETHAND,
	};

	place = where;
	number_of_others = others;
	for (size_t i = 0; i < FAULTS; i++)
		(void)sigaction(faults[i], &action, &before[i]);
}

void
fault_name_thread(uint32_t number)
{
	number_of_thread = number;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * NFDNS_VERSION is the program's version as text, "0.1.0".  The Makefile defines
 * NFDNS_VERSION_NUMBER without quotes, so that compilers and analysers can take
 * its flags word by word.
 */
#ifndef NFDNS_RESOLVER_VERSION_H
#define NFDNS_RESOLVER_VERSION_H

#define NFDNS_TEXT_OF(number)	#number
#define NFDNS_TEXT(number)	NFDNS_TEXT_OF(number)
#define NFDNS_VERSION		NFDNS_TEXT(NFDNS_VERSION_NUMBER)

#endif

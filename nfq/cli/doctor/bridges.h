/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Networks of containers and guests on this machine, as far as they are bridges. */
#ifndef NFDNS_NFQ_CLI_DOCTOR_BRIDGES_H
#define NFDNS_NFQ_CLI_DOCTOR_BRIDGES_H

#include <stdbool.h>

#include "policy/config/config.h"

#define BRIDGES_TEXT	512

/*
 * If the machine forwards packets and has bridges that no entry of "containers"
 * names: true, and what is to be written for the first dozen, "containers = ( {
 * interfaces = [ "docker0", "br-*" ]; } );", or the entry alone if there are others.
 */
bool bridges_entry(const struct config *config, char text[static BRIDGES_TEXT]);

#endif

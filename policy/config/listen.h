/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The reader of metrics.listen. */
#ifndef NFDNS_POLICY_CONFIG_LISTEN_H
#define NFDNS_POLICY_CONFIG_LISTEN_H

#include "policy/config/setting.h"

/* What nfdns-sockets opens, and needs no privilege for. */
#define CONFIG_LISTEN_ALLOWED "\"127.0.0.1:PORT\" or \"[::1]:PORT\" with a " \
	"port from 1024 to 65535, \"unix:\" and an absolute path of at most 100 " \
	"octets, or \"\" for nowhere"

config_read_value config_read_listen;

#endif

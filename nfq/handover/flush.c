/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/handover/control.h"

#include <errno.h>
#include <string.h>

size_t
flush_write(const struct flush *flush, uint8_t out[static FLUSH_OCTETS])
{
	out[0] = flush->below;
	memcpy(out + 1, flush->name.octets, flush->name.length);
	return 1U + flush->name.length;
}

int
flush_parse(struct flush *flush, const uint8_t *octets, size_t length)
{
	if (length < 2 || octets[0] > 1 ||
	    name_read_lower(&flush->name, octets + 1, length - 1) != 0 ||
	    flush->name.length != length - 1)
		return -EPROTO;
	flush->below = octets[0] == 1;
	return 0;
}

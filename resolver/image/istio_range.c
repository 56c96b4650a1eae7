/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolver/image/istio_range.h"

#include <string.h>

const uint8_t istio_range_v4[ISTIO_RANGE_V4_OCTETS] = { 240, 240 };
const uint8_t istio_range_v6[ISTIO_RANGE_V6_OCTETS] = {
	0x20, 0x01, 0x00, 0x02, 0, 0 };

bool
istio_range_has(const uint8_t *octets, size_t length)
{
	return length == 4 ?
	    memcmp(octets, istio_range_v4, sizeof(istio_range_v4)) == 0 :
	    memcmp(octets, istio_range_v6, sizeof(istio_range_v6)) == 0;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Any octets as a name that a person wrote: refused, or a name that is read back
 * as the same.  ASCII is read as without IDNA.
 */
#include <errno.h>
#include <string.h>

#include "resolver/idn.h"
#include "tests/fuzz/fuzz.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;
	struct dns_name name, again;
	char out[NAME_TEXT_SIZE];
	int error = idn_name_from_text(&name, text, size);
	bool ascii = true;

	for (size_t i = 0; i < size; i++)
		ascii = ascii && data[i] < 0x80;
	if (ascii)
		check(name_from_text(&again, text, size) == error);
	check(error == 0 || error == -EINVAL || error == -ENAMETOOLONG ||
	    (!ascii && error == -EILSEQ));
	if (error != 0)
		return 0;
	if (ascii)
		check(name_equal(&name, &again));
	(void)name_to_text(name.octets, out);
	check(name_from_text(&again, out, strlen(out)) == 0);
	check(name_equal(&name, &again));
	/* Nothing but an escape is an octet of its own; "*" comes of "*" only. */
	if (memchr(data, '\\', size) != NULL)
		return 0;
	for (size_t i = 0; i < name.length; i++)
		check(name.octets[i] < 0x80);
	check(strchr(out, '*') == NULL || memchr(data, '*', size) != NULL);
	return 0;
}

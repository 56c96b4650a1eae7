/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolver/idn.h"

#include <errno.h>
#include <idn2.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Of A-labels; UTS #46 makes a dot of the other scripts' full stops, too. */
#define LDH "abcdefghijklmnopqrstuvwxyz0123456789-_."

/* A name in ASCII while it is put together. */
struct ascii {
	size_t length;
	char text[NAME_TEXT_SIZE];
};

static int
append(struct ascii *to, const char *text, size_t length)
{
	if (length > sizeof(to->text) - to->length)
		return -ENAMETOOLONG;
	memcpy(to->text + to->length, text, length);
	to->length += length;
	return 0;
}

static bool
is_ascii(const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if ((uint8_t)text[i] >= 0x80)
			return false;
	return true;
}

static int
error_of(int idn)
{
	switch (idn) {
	case IDN2_MALLOC:
		return -ENOMEM;
	case IDN2_PUNYCODE_BIG_OUTPUT:
	case IDN2_TOO_BIG_LABEL:
	case IDN2_TOO_BIG_DOMAIN:
		return -ENAMETOOLONG;
	default:
		return -EILSEQ;
	}
}

/*
 * What the library makes of a label is looked at: UTS #46 maps some characters
 * to "*", to a backslash or to nothing.
 */
static int
append_label(struct ascii *to, const char *text, size_t length)
{
	uint8_t label[NAME_TEXT_SIZE], *made = NULL;
	int error;

	if (length >= sizeof(label))
		return -ENAMETOOLONG;
	if (memchr(text, '\0', length) != NULL)
		return -EILSEQ;
	memcpy(label, text, length);
	label[length] = '\0';
	error = idn2_lookup_u8(label, &made, IDN2_NONTRANSITIONAL);
	if (error != IDN2_OK)
		return error_of(error);
	length = strlen((const char *)made);
	error = length == 0 || strspn((const char *)made, LDH) != length ?
	    -EILSEQ : append(to, (const char *)made, length);
	idn2_free(made);
	return error;
}

/* The octets before the next dot that no backslash stands before. */
static size_t
label_length(const char *text, size_t length)
{
	size_t n = 0;

	while (n < length && text[n] != '.')
		n += text[n] == '\\' && n + 1 < length ? 2 : 1;
	return n;
}

int
idn_name_from_text(struct dns_name *name, const char *text, size_t length)
{
	struct ascii ascii = { .length = 0 };
	int error = 0;

	if (is_ascii(text, length))
		return name_from_text(name, text, length);
	while (length > 0 && error == 0) {
		const size_t n = label_length(text, length);
		const size_t dot = n < length ? 1 : 0;

		error = is_ascii(text, n) ? append(&ascii, text, n) :
		    append_label(&ascii, text, n);
		if (error == 0)
			error = append(&ascii, text + n, dot);
		text += n + dot;
		length -= n + dot;
	}
	return error < 0 ? error :
	    name_from_text(name, ascii.text, ascii.length);
}

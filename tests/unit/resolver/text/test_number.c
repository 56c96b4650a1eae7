/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolver/text/number.h"

#include "tests/check.h"

#define UNTOUCHED 4711

static uint64_t
value_of(const char *text, uint64_t most)
{
	uint64_t number = UNTOUCHED;
	const bool good = number_from_text(text, most, &number);

	CHECK(good || number == UNTOUCHED);
	return good ? number : UNTOUCHED;
}

TEST(digits_are_a_number)
{
	CHECK(value_of("0", 0) == 0);
	CHECK(value_of("53", UINT16_MAX) == 53);
	CHECK(value_of("0000000000000000000000007", 7) == 7);
	CHECK(value_of("18446744073709551615", UINT64_MAX) == UINT64_MAX);
}

TEST(anything_else_is_none)
{
	static const char *const texts[] = { "", " ", " 1", "1 ", "+1", "-1",
		"-0", "0x10", "1.0", "1e3", "one", "1\n", "\xb1", ":", "/" };

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		CHECK(value_of(texts[i], UINT64_MAX) == UNTOUCHED);
}

TEST(times_are_seconds)
{
	uint64_t seconds = 0;

	CHECK(number_of_seconds("90", 90, &seconds) && seconds == 90);
	CHECK(number_of_seconds("90s", 90, &seconds) && seconds == 90);
	CHECK(number_of_seconds("2h", 7200, &seconds) && seconds == 7200);
	CHECK(!number_of_seconds("2h", 7199, &seconds));
	CHECK(!number_of_seconds("", 9, &seconds));
	CHECK(!number_of_seconds("h", 9, &seconds));
	CHECK(!number_of_seconds("1w", UINT64_MAX, &seconds));
	CHECK(!number_of_seconds("1mm", UINT64_MAX, &seconds));
	CHECK(!number_of_seconds("-1h", UINT64_MAX, &seconds));
	CHECK(!number_of_seconds("300000000000000d", UINT64_MAX, &seconds));
	CHECK(seconds == 7200);
}

TEST(more_than_the_most_is_none)
{
	CHECK(value_of("1", 0) == UNTOUCHED);
	CHECK(value_of("9", 8) == UNTOUCHED && value_of("8", 8) == 8);
	CHECK(value_of("65536", UINT16_MAX) == UNTOUCHED);
	CHECK(value_of("65535", UINT16_MAX) == UINT16_MAX);
	CHECK(value_of("655350", UINT16_MAX) == UNTOUCHED);
	CHECK(value_of("18446744073709551616", UINT64_MAX) == UNTOUCHED);
	CHECK(value_of("99999999999999999999", UINT64_MAX) == UNTOUCHED);
	CHECK(value_of("184467440737095516150", UINT64_MAX) == UNTOUCHED);
}

TEST(hexadecimal_digits)
{
	static const char digits[] = "0123456789abcdef", upper[] = "ABCDEF";

	for (int i = 0; i < 16; i++)
		CHECK(number_hex_digit(digits[i]) == i);
	for (int i = 0; i < 6; i++)
		CHECK(number_hex_digit(upper[i]) == 10 + i);
	CHECK(number_hex_digit('g') == -1 && number_hex_digit('G') == -1);
	CHECK(number_hex_digit('/') == -1 && number_hex_digit(':') == -1);
	CHECK(number_hex_digit('@') == -1 && number_hex_digit('\0') == -1);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Values of "metrics" that are refused: rows of the table in test_config_bad.c. */

#define LISTEN(text) "metrics = { listen = \"" text "\"; };"

	{ "metrics.interval", "metrics = { interval = 3601; };",
	  "expected a number of seconds from 0 to 3600" },
	{ "metrics.listen", LISTEN("0.0.0.0:9153"), "\"0.0.0.0:9153\" is not a "
	  "loopback address of this machine" },
	{ "metrics.listen", LISTEN("[::]:9153"), "is not a loopback address" },
	{ "metrics.listen", LISTEN("127.0.0.2:9153"), "is not a loopback" },
	{ "metrics.listen", LISTEN("[::ffff:127.0.0.1]:9153"), "is not a" },
	{ "metrics.listen", LISTEN("127.0.0.1:1023"), "found" },
	{ "metrics.listen", LISTEN("127.0.0.1:65536"), "found" },
	{ "metrics.listen", LISTEN("127.0.0.1:09153x"), "found" },
	{ "metrics.listen", LISTEN("127.0.0.1:"), "found" },
	{ "metrics.listen", LISTEN(":9153"), "found" },
	{ "metrics.listen", LISTEN("9153"), "found" },
	{ "metrics.listen", LISTEN("[]:9153"), "found" },
	{ "metrics.listen", LISTEN("::1:9153"), "found" },
	{ "metrics.listen", LISTEN("localhost:9153"), "found" },
	{ "metrics.listen", LISTEN("unix:"), "found" },
	{ "metrics.listen", LISTEN("unix:metrics.sock"), "found" },

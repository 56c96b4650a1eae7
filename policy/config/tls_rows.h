/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The rows of upstreams over TLS: a part of the table in option.c. */
	{ "forward.tls.ca", "\"\"",
	  "Certificates (PEM) of the authorities that certify upstreams over "
	  "TLS; if empty, those of this machine.",
	  .allowed = "a path", STRING, .read = config_read_ca,
	  IN(config, forward_ca), .reload = true },
	{ "forward.tls.idle", "20",
	  "Seconds that a connection over TLS is kept without a question.",
	  INTEGER, RANGE(1, 3600), IN(config, forward.tls.idle_s),
	  .reload = true },

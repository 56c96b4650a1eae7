/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "policy/status/forward_status.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "resolver/dns/name.h"

/*
 * A writer that died halfway must not block the reader; one that waits for a CPU
 * is waited for.
 */
#define READS_MAX	10
#define READ_PAUSE_NS	1000000

static void
limit(uint32_t *value, uint32_t most)
{
	if (*value > most)
		*value = most;
}

/* A name that ends within its array, or the root. */
static void
mend_name(uint8_t octets[static FORWARD_NAME])
{
	struct dns_name name;

	if (name_read_lower(&name, octets, FORWARD_NAME) != 0)
		octets[0] = 0;
}

/* What goes to a terminal. */
static void
mend_text(char *text, size_t size)
{
	text[size - 1] = '\0';
	for (; *text != '\0'; text++)
		if (*text < 0x20 || *text > 0x7e)
			*text = '?';
}

static void
mend(struct status_forwarding *f)
{
	limit(&f->upstreams, FORWARD_UPSTREAMS);
	limit(&f->domains, FORWARD_DOMAINS);
	for (uint32_t i = 0; i < f->upstreams; i++) {
		mend_text(f->upstream[i].text, FORWARD_UPSTREAM_TEXT);
		mend_text(f->upstream[i].tls, STATUS_TLS_TEXT);
	}
	for (uint32_t i = 0; i < f->domains; i++) {
		struct status_domain *domain = &f->domain[i];

		mend_name(domain->name);
		limit(&domain->upstreams, FORWARD_PER_DOMAIN);
		for (uint32_t n = 0; n < domain->upstreams; n++)
			limit(&domain->upstream[n], FORWARD_UPSTREAMS - 1);
	}
}

struct status_forwarding *
forward_status_read(const struct status_forwarding *page)
{
	const struct timespec pause = { 0, READ_PAUSE_NS };
	struct status_forwarding *copy = calloc(1, sizeof(*copy));

	for (int i = 0; copy != NULL && i < READS_MAX; i++) {
		const uint32_t before = atomic_load(&page->sequence);

		memcpy(copy, page, sizeof(*copy));
		atomic_thread_fence(memory_order_seq_cst);
		if ((before & 1) == 0 &&
		    atomic_load(&page->sequence) == before)
			break;
		(void)nanosleep(&pause, NULL);
	}
	if (copy != NULL)
		mend(copy);
	return copy;
}

const char *
forward_status_state(uint32_t state)
{
	static const char *const texts[STATUS_UPSTREAM_STATES] = {
		[STATUS_UPSTREAM_UP] = "up",
		[STATUS_UPSTREAM_PROBING] = "probing",
		[STATUS_UPSTREAM_DOWN] = "down",
		[STATUS_UPSTREAM_LOOP] = "loop",
	};

	return state < STATUS_UPSTREAM_STATES ? texts[state] : "unknown";
}

const char *
forward_status_trouble(uint64_t trouble, char buf[static RR_TEXT_SIZE])
{
	const uint32_t code = (uint32_t)trouble;

	switch (trouble >> 32) {
	case TROUBLE_NONE:
		return "";
	case TROUBLE_TIMEOUT:
		return "no reply in time";
	case TROUBLE_NETWORK:
		return strerror((int)(code & INT32_MAX));
	case TROUBLE_RCODE:
		return rcode_text((uint16_t)code, buf);
	case TROUBLE_MALFORMED:
		return "malformed reply";
	case TROUBLE_LAME:
		return "refers to other nameservers";
	case TROUBLE_LOOP:
		return "its questions come back here";
	default:
		return "unknown";
	}
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "policy/audit/privacy.h"

#include <sys/socket.h>
#include <string.h>

#include "policy/audit/siphash.h"
#include "resolver/dns/name.h"
#include "resolver/dns/wire.h"

#define PREFIX_V4	3U		/* octets that are kept: a /24 */
#define PREFIX_V6	6U		/* and a /48, what one site has */
#define HASH_DIGITS	16

bool
privacy_is_wanted(const struct audit_sink *sink)
{
	return sink->hide_uid != 0 || sink->client_prefix != 0 ||
	    sink->hash_names != 0;
}

static void
put_digits(uint8_t *to, uint64_t hash)
{
	static const char digits[] = "0123456789abcdef";

	for (int i = HASH_DIGITS - 1; i >= 0; i--, hash >>= 4)
		to[i] = (uint8_t)digits[hash & 15];
}

/*
 * The message's header and question; a message whose question cannot be read
 * keeps its header alone.  Returns the length.
 */
static uint16_t
hash_message(const struct audit_sink *sink, const uint8_t *message,
    uint16_t length, uint8_t to[static PRIVACY_MESSAGE])
{
	struct dns_name name;
	uint8_t *at = to + DNS_HEADER;

	if (length < DNS_HEADER)
		return 0;
	memcpy(to, message, DNS_HEADER);
	memset(to + 4, 0, 8);		/* the counts */
	if (wire_load_u16(message + 4) == 0 || name_read_lower(&name,
	    message + DNS_HEADER, length - DNS_HEADER) < 0 ||
	    length < DNS_HEADER + name.length + 4U)
		return DNS_HEADER;
	to[5] = 1;
	*at++ = HASH_DIGITS;
	put_digits(at, siphash(sink->key.octets, name.octets, name.length));
	at += HASH_DIGITS;
	*at++ = 0;
	memcpy(at, message + DNS_HEADER + name.length, 4);
	return PRIVACY_MESSAGE;
}

void
privacy_apply(struct private_record *to, const struct audit_sink *sink,
    const struct audit_record *record)
{
	struct audit_record *r = &to->record;

	*r = *record;
	if (sink->hide_uid != 0) {
		r->uid = (uid_t)-1;
		r->gid = (gid_t)-1;
	}
	if (sink->client_prefix != 0) {
		const size_t keep = r->family == AF_INET ? PREFIX_V4 :
		    PREFIX_V6;

		memset(r->client + keep, 0, sizeof(r->client) - keep);
	}
	if (sink->hash_names == 0)
		return;
	r->question_length = hash_message(sink, record->question,
	    record->question_length, to->question);
	r->question = to->question;
	r->answer_length = hash_message(sink, record->answer,
	    record->answer_length, to->answer);
	r->answer = to->answer;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "policy/status/forward_print.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdarg.h>
#include <string.h>

#include "policy/status/feed_status.h"
#include "resolver/dns/name.h"
#include "resolver/text/printable.h"

static const char *const upstream_keys[UPSTREAM_COUNTERS] = {
	[UPSTREAM_SENT] = "sent", [UPSTREAM_SENT_TCP] = "sent_tcp",
	[UPSTREAM_SENT_TLS] = "sent_tls", [UPSTREAM_REPLIES] = "replies",
	[UPSTREAM_TIMEOUTS] = "timeouts", [UPSTREAM_ERRORS] = "errors",
	[UPSTREAM_FAILURES] = "failures",
	[UPSTREAM_MISMATCHED] = "mismatched",
};

static const char *const domain_keys[DOMAIN_COUNTERS] = {
	[DOMAIN_QUESTIONS] = "questions", [DOMAIN_WAITING] = "waiting",
	[DOMAIN_ANSWERED] = "answered", [DOMAIN_HITS] = "hits",
	[DOMAIN_STALE] = "stale", [DOMAIN_FAILED] = "failed",
	[DOMAIN_REFUSED] = "refused", [DOMAIN_PASSED] = "passed",
};

static const uint32_t buckets_ms[] = PROBE_BUCKETS_MS;

_Static_assert(sizeof(buckets_ms) / sizeof(buckets_ms[0]) + 1 ==
    PROBE_BUCKETS, "the last one has no bound");

static uint64_t
load(const _Atomic uint64_t *value)
{
	return atomic_load_explicit(value, memory_order_relaxed);
}

/* Lines */

static void __attribute__((format(printf, 5, 6)))
line(const char *what, const char *name, int column, FILE *out,
    const char *format, ...)
{
	int width = fprintf(out, "forward.%s.", what);
	va_list arguments;

	width += printable_put(name, out);
	(void)fprintf(out, "%*s", width < column ? column - width : 1, "");
	va_start(arguments, format);
	(void)vfprintf(out, format, arguments);
	va_end(arguments);
}

/* ", 3 timeouts" for each that is not 0. */
static void
print_counters(const _Atomic uint64_t *counters, const char *const *keys,
    size_t first, size_t count, FILE *out)
{
	for (size_t i = first; i < count; i++)
		if (load(&counters[i]) != 0)
			(void)fprintf(out, ", %" PRIu64 " %s",
			    load(&counters[i]), keys[i]);
}

static void
print_upstream(const struct status_upstream *up, int column, uint64_t now,
    FILE *out)
{
	const uint32_t srtt = atomic_load(&up->srtt_us);
	const uint64_t trouble = load(&up->trouble);
	char span[FEED_SPAN_TEXT], buf[RR_TEXT_SIZE];

	line("upstream", up->text, column, out, "%s for %s",
	    forward_status_state(atomic_load(&up->state)),
	    feed_status_span((int64_t)status_age(load(&up->since), now),
	    span));
	if (srtt != 0)
		(void)fprintf(out, ", %u.%u ms", srtt / 1000,
		    srtt % 1000 / 100);
	print_counters(up->counters, upstream_keys, 0, UPSTREAM_COUNTERS, out);
	if (trouble != 0)
		(void)fprintf(out, "; last error %s ago: %s",
		    feed_status_span((int64_t)status_age(load(&up->trouble_at),
		    now), span), forward_status_trouble(trouble, buf));
	if (up->tls[0] != '\0') {
		(void)fputs("; TLS: ", out);
		(void)printable_put(up->tls, out);
	}
	(void)fputc('\n', out);
}

static void
print_domain(const struct status_domain *domain, int column, FILE *out)
{
	char name[NAME_TEXT_SIZE];

	line("domain", name_to_text(domain->name, name), column, out,
	    "%" PRIu64 " %s", load(&domain->counters[DOMAIN_QUESTIONS]),
	    domain_keys[DOMAIN_QUESTIONS]);
	print_counters(domain->counters, domain_keys, DOMAIN_QUESTIONS + 1,
	    DOMAIN_COUNTERS, out);
	(void)fputc('\n', out);
}

static void
print_probe(const struct status_probe *probe, int column, FILE *out)
{
	const _Atomic uint64_t *c = probe->counters;
	const uint64_t trouble = load(&probe->trouble);
	char buf[RR_TEXT_SIZE];

	line("probe", probe->label, column, out, "%s, %" PRIu64 " asked, %"
	    PRIu64 " errors",
	    forward_status_probe_state(atomic_load(&probe->state)),
	    load(&c[PROBE_ASKED]), load(&c[PROBE_ERRORS]));
	if (load(&c[PROBE_LAST_US]) != 0)
		(void)fprintf(out, ", %.1f ms (at most %.1f)",
		    (double)load(&c[PROBE_LAST_US]) / 1000,
		    (double)load(&c[PROBE_MAX_US]) / 1000);
	if (trouble != 0)
		(void)fprintf(out, "; last error: %s",
		    forward_status_trouble(trouble, buf));
	(void)fputc('\n', out);
}

void
forward_print(const struct status_forwarding *f, int column, uint64_t now,
    FILE *out)
{
	for (uint32_t i = 0; i < f->domains; i++)
		print_domain(&f->domain[i], column, out);
	for (uint32_t i = 0; i < f->upstreams; i++)
		print_upstream(&f->upstream[i], column, now, out);
	for (uint32_t i = 0; i < f->probes; i++)
		print_probe(&f->probe[i], column, out);
}

/* JSON; its integers are signed, and a hostile worker can write anything. */

static json_int_t
number(uint64_t value)
{
	return (json_int_t)(value & INT64_MAX);
}

static int
add_counters(json_t *object, const _Atomic uint64_t *counters,
    const char *const *keys, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (json_object_set_new(object, keys[i],
		    json_integer(number(load(&counters[i])))) < 0)
			return -ENOMEM;
	return 0;
}

static json_t *
upstream_json(const struct status_upstream *up, uint64_t now)
{
	const uint64_t trouble = load(&up->trouble);
	char buf[RR_TEXT_SIZE];
	json_t *object = json_pack("{s:s, s:s, s:I, s:I, s:s, s:I, s:s}",
	    "address", up->text, "state",
	    forward_status_state(atomic_load(&up->state)), "state_seconds",
	    number(status_age(load(&up->since), now)), "srtt_us",
	    number(atomic_load(&up->srtt_us)), "error",
	    forward_status_trouble(trouble, buf), "error_seconds",
	    number(status_age(load(&up->trouble_at), now)), "tls_error", up->tls);

	if (object == NULL || add_counters(object, up->counters,
	    upstream_keys, UPSTREAM_COUNTERS) < 0) {
		json_decref(object);
		return NULL;
	}
	return object;
}

static json_t *
domain_json(const struct status_forwarding *f,
    const struct status_domain *domain)
{
	char name[NAME_TEXT_SIZE];
	json_t *object = json_pack("{s:s, s:[]}", "name",
	    name_to_text(domain->name, name), "upstreams");
	json_t *servers = json_object_get(object, "upstreams");
	int error = object == NULL ? -ENOMEM : add_counters(object,
	    domain->counters, domain_keys, DOMAIN_COUNTERS);

	for (uint32_t i = 0; i < domain->upstreams && error == 0; i++)
		error = json_array_append_new(servers, json_string(
		    f->upstream[domain->upstream[i]].text));
	if (error == 0)
		return object;
	json_decref(object);
	return NULL;
}

/* Cumulative, as Prometheus wants them: replies within so many milliseconds. */
static json_t *
buckets_json(const struct status_probe *probe)
{
	json_t *list = json_array();
	uint64_t sum = 0;

	for (size_t i = 0; i < PROBE_BUCKETS; i++) {
		json_t *one;

		sum += load(&probe->buckets[i]);
		one = json_pack("{s:I}", "count", number(sum));
		if (i < PROBE_BUCKETS - 1)
			(void)json_object_set_new(one, "le_ms",
			    json_integer(buckets_ms[i]));
		(void)json_array_append_new(list, one);
	}
	return list;
}

static json_t *
probe_json(const struct status_forwarding *f, const struct status_probe *p)
{
	const uint32_t state = atomic_load(&p->state);
	char name[NAME_TEXT_SIZE], type[RR_TEXT_SIZE], buf[RR_TEXT_SIZE];

	return json_pack("{s:s, s:s, s:s, s:s, s:I, s:b, s:s, s:I, s:I, s:s, "
	    "s:{s:I, s:I, s:I, s:o}}", "label", p->label, "server",
	    f->upstream[p->upstream].text, "name",
	    name_to_text(p->name, name), "type",
	    rr_type_text((uint16_t)p->type, type), "interval",
	    (json_int_t)p->interval_s, "ready", state == PROBE_GOOD,
	    "state", forward_status_probe_state(state), "asked",
	    number(load(&p->counters[PROBE_ASKED])), "errors",
	    number(load(&p->counters[PROBE_ERRORS])), "error",
	    forward_status_trouble(load(&p->trouble), buf), "latency",
	    "last_us", number(load(&p->counters[PROBE_LAST_US])),
	    "max_us", number(load(&p->counters[PROBE_MAX_US])),
	    "sum_us", number(load(&p->counters[PROBE_SUM_US])),
	    "buckets", buckets_json(p));
}

int
forward_print_json(const struct status_forwarding *f, uint64_t now,
    json_t *object)
{
	json_t *upstreams = json_array(), *domains = json_array();
	json_t *probes = json_array();
	int error = 0;

	for (uint32_t i = 0; i < f->upstreams && error == 0; i++)
		error = json_array_append_new(upstreams,
		    upstream_json(&f->upstream[i], now));
	for (uint32_t i = 0; i < f->domains && error == 0; i++)
		error = json_array_append_new(domains,
		    domain_json(f, &f->domain[i]));
	for (uint32_t i = 0; i < f->probes && error == 0; i++)
		error = json_array_append_new(probes,
		    probe_json(f, &f->probe[i]));
	error |= json_object_set_new(object, "upstreams", upstreams);
	error |= json_object_set_new(object, "domains", domains);
	error |= json_object_set_new(object, "probes", probes);
	return error == 0 ? 0 : -ENOMEM;
}

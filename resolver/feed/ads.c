/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "resolver/feed/xds_session.h"
#include "resolver/feed/http2.h"
#include "resolver/sources/protobuf.h"

enum { REQUEST_VERSION = 1, REQUEST_NODE = 2, REQUEST_TYPE = 4,
	REQUEST_NONCE = 5, REQUEST_ERROR = 6 };
enum { STATUS_CODE = 1, STATUS_MESSAGE = 2 };
enum { RESPONSE_VERSION = 1, RESPONSE_RESOURCES = 2, RESPONSE_TYPE = 4,
	RESPONSE_NONCE = 5 };
enum { ANY_TYPE = 1, ANY_VALUE = 2 };

static void
write_span(struct protobuf_writer *w, uint32_t field, struct span span)
{
	if (span.length > 0)
		protobuf_write_octets(w, field, span.text, span.length);
}

void
discovery_request_write(struct protobuf_writer *writer,
    const struct discovery_request *request)
{
	size_t error;

	write_span(writer, REQUEST_VERSION, request->version);
	if (request->node != NULL)
		node_write(writer, REQUEST_NODE, request->node,
		    request->machine);
	protobuf_write_string(writer, REQUEST_TYPE, DISCOVERY_NAME_TABLE);
	write_span(writer, REQUEST_NONCE, request->nonce);
	if (request->refusal == NULL)
		return;
	error = protobuf_begin(writer);
	protobuf_write_varint(writer, STATUS_CODE, GRPC_INTERNAL);
	protobuf_write_string(writer, STATUS_MESSAGE, request->refusal);
	protobuf_end(writer, REQUEST_ERROR, error);
}

static void
read_resource(struct span any, struct discovery_response *response)
{
	struct protobuf p = protobuf_inside(any);
	struct span type = span_of(""), value = span_of("");
	struct protobuf_field f;

	while (protobuf_next(&p, &f)) {
		if (f.type != PROTOBUF_OCTETS)
			continue;
		if (f.number == ANY_TYPE)
			type = f.octets;
		else if (f.number == ANY_VALUE)
			value = f.octets;
	}
	if (p.failed) {
		response->broken++;
	} else if (!span_equal(type, span_of(DISCOVERY_NAME_TABLE))) {
		response->others++;
	} else {
		response->tables++;
		response->table = value;
	}
}

int
discovery_response_read(const void *octets, size_t length,
    struct discovery_response *response)
{
	struct protobuf p = protobuf_over(octets, length);
	struct protobuf_field f;

	*response = (struct discovery_response){ .version = span_of(""),
		.type = span_of(""), .nonce = span_of(""),
		.table = span_of("") };
	while (protobuf_next(&p, &f)) {
		if (f.type != PROTOBUF_OCTETS)
			continue;
		if (f.number == RESPONSE_VERSION)
			response->version = f.octets;
		else if (f.number == RESPONSE_TYPE)
			response->type = f.octets;
		else if (f.number == RESPONSE_NONCE)
			response->nonce = f.octets;
		else if (f.number == RESPONSE_RESOURCES)
			read_resource(f.octets, response);
	}
	return p.failed ? -EBADMSG : 0;
}

struct ads *
ads_new(const struct feed_config *config, const struct link_options *options,
    const struct node_machine *machine, monotime_t now)
{
	struct ads *a = calloc(1, sizeof(*a));

	if (a == NULL)
		return NULL;
	a->config = config;
	a->machine = machine;
	a->link = link_new(options, now);
	if (a->link != NULL)
		return a;
	free(a);
	return NULL;
}

void
ads_free(struct ads *ads)
{
	if (ads == NULL)
		return;
	link_free(ads->link);
	free(ads->version);
	free(ads->message);
	free(ads);
}

static void
send_request(struct ads *a, const struct discovery_request *request)
{
	struct protobuf_writer w = { 0 };
	int error = -ENOMEM;

	discovery_request_write(&w, request);
	if (!w.failed)
		error = link_send(a->link, w.octets, w.length);
	protobuf_writer_free(&w);
	/* A link that has ended has said why. */
	if (error != 0)
		link_abandon(a->link, FEED_CAUSE_PROTOCOL, error == -ENOBUFS ?
		    "the server does not take our answers" :
		    "an answer could not be sent");
}

static void
ask(struct ads *a, monotime_t now)
{
	const struct discovery_request request = { .node = &a->config->node,
		.machine = a->machine };

	a->asked = true;
	a->deadline = monotime_add_ms(now, ADS_FIRST_MS);
	send_request(a, &request);
}

static void
keep_version(struct ads *a, struct span version)
{
	uint8_t *octets = malloc(version.length + 1);

	free(a->version);
	a->version = octets;
	a->version_length = octets != NULL ? version.length : 0;
	if (octets != NULL && version.length > 0)
		memcpy(octets, version.text, version.length);
}

void
ads_answer(struct ads *ads, const char *refusal)
{
	struct discovery_request request = { .nonce = ads->response.nonce,
		.refusal = refusal };

	if (refusal == NULL)
		keep_version(ads, ads->response.version);
	request.version = (struct span){ (const char *)ads->version,
		ads->version_length };
	send_request(ads, &request);
}

uint8_t *
ads_take(struct ads *ads)
{
	uint8_t *message = ads->message;

	ads->message = NULL;
	return message;
}

static bool
is_sound(const struct discovery_response *r)
{
	return r->version.length <= ADS_OPAQUE_MOST &&
	    r->nonce.length <= ADS_OPAQUE_MOST;
}

static void
take_message(struct ads *a, uint8_t *octets, size_t length, monotime_t now)
{
	struct discovery_response response;

	if (discovery_response_read(octets, length, &response) != 0 ||
	    !is_sound(&response)) {
		free(octets);
		link_abandon(a->link, FEED_CAUSE_CONTENT,
		    "the server sent something that is not a DiscoveryResponse");
		return;
	}
	/* An answer would subscribe to that type. */
	if (!span_equal(response.type, span_of(DISCOVERY_NAME_TABLE))) {
		free(octets);
		a->strange++;
		return;
	}
	a->message = octets;
	a->message_length = length;
	a->response = response;
	a->answered = true;
	a->take(a->arg, a, now);
	free(ads_take(a));
}

/* The first response, and then whatever comes, in time? */
static void
watch(struct ads *a, monotime_t now)
{
	size_t inside = link_inside(a->link);

	/* It is for us to go on. */
	if (link_waits(a->link)) {
		a->progress = 0;
		a->deadline = monotime_add_ms(now, ADS_PROGRESS_MS);
		return;
	}
	if (!a->asked || (a->answered && inside == 0)) {
		a->progress = 0;
		return;
	}
	if (inside > 0 && (a->progress == 0 || inside < a->progress ||
	    inside - a->progress >= ADS_PROGRESS)) {
		a->progress = inside;
		a->deadline = monotime_add_ms(now, ADS_PROGRESS_MS);
	}
	if (!monotime_is_past(now, a->deadline))
		return;
	if (inside > 0)
		link_abandon(a->link, FEED_CAUSE_TIMEOUT,
		    "the table comes too slowly");
	else
		link_abandon(a->link, FEED_CAUSE_TIMEOUT,
		    "the server does not answer the request for the table");
}

void
ads_step(struct ads *ads, const struct pollfd *fds, size_t count,
    monotime_t now)
{
	uint8_t *octets;
	size_t length;

	link_step(ads->link, fds, count, now);
	if (!ads->asked && link_is_open(ads->link))
		ask(ads, now);
	while ((octets = link_message(ads->link, &length)) != NULL)
		take_message(ads, octets, length, now);
	if (link_ended(ads->link) == NULL)
		watch(ads, now);
}

monotime_t
ads_deadline(struct ads *ads, monotime_t now)
{
	monotime_t deadline = link_deadline(ads->link, now);

	if (ads->asked && (!ads->answered || link_inside(ads->link) > 0) &&
	    monotime_is_past(deadline, ads->deadline))
		deadline = ads->deadline;
	return deadline;
}

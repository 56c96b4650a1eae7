/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Questions that the TCP thread has the engine ask: nfq/thread/errands.h. */
#include "nfq/forward/thread_state.h"

#include <stdlib.h>
#include <string.h>

#define AT_ONCE		64	/* a round; held packets have their turn between */
#define DNS_PORT	53

struct errand_client {
	struct engine_client client;	/* first */
	struct errand *errand;
};

static void
give_back(struct forward_thread *f, struct engine_client *client,
    enum errand_end end)
{
	struct errand_client *c = (struct errand_client *)client;

	c->errand->end = end;
	errands_return(&f->thread.threads->errands, c->errand);
	free(c);
}

static void
answer(void *arg, struct engine_client *client, const uint8_t *octets,
    size_t length)
{
	struct forward_thread *f = arg;
	struct errand *errand = ((struct errand_client *)client)->errand;

	errand->answer = malloc(length);
	if (errand->answer != NULL) {
		memcpy(errand->answer, octets, length);
		errand->answer_length = length;
		errand->options = client->options;
	}
	give_back(f, client, errand->answer != NULL ? ERRAND_ANSWERED :
	    ERRAND_FAILED);
}

static void
end(void *arg, struct engine_client *client, bool passed)
{
	give_back(arg, client, passed ? ERRAND_PASSED : ERRAND_FAILED);
}

const struct forwarder_streams thread_errands = { .answer = answer, .end = end };

static void
begin(struct forward_thread *f, struct errand *errand)
{
	struct errand_client *c = calloc(1, sizeof(*c));

	if (c == NULL) {
		errands_return(&f->thread.threads->errands, errand);
		return;
	}
	c->errand = errand;
	c->client = (struct engine_client){
		.message = errand->octets,
		.length = errand->length,
		.uid = errand->uid,
		.stream = true,
		.chase = errand->chase.length > 0 ? &errand->chase : NULL,
		.nameserver = { .family = errand->family, .port = DNS_PORT,
		    .scope = errand->scope, .transport = FORWARD_AUTO },
	};
	memcpy(c->client.nameserver.address, errand->address,
	    sizeof(errand->address));
	engine_ask(f->forwarder->engine, f->forwarder->boot, &c->client);
}

void
thread_errands_take(struct forward_thread *f)
{
	f->errands_left = true;
	for (unsigned int i = 0; i < AT_ONCE && f->errands_left; i++) {
		struct errand *errand =
		    errands_next(&f->thread.threads->errands);

		f->errands_left = errand != NULL;
		if (errand != NULL)
			begin(f, errand);
	}
}

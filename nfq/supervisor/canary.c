/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The canary: a question that the supervisor sends as an application would, to
 * the nameservers that applications use.  The worker answers it.  It proves the
 * whole way: rules, queue, worker, verdict, mark, reroute, input.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "nfq/supervisor/parts.h"
#include "nfq/sockets/open.h"
#include "resolver/clock.h"
#include "policy/decide.h"
#include "resolver/dns/message.h"
#include "resolver/dns/name.h"
#include "resolver/dns/rr.h"
#include "resolver/dns/wire.h"
#include "rules/ruleset.h"
#include "policy/log.h"

#define MESSAGE_MAX	512

/* The canary's destination if resolv.conf has no nameserver. */
static const struct resolv_server own_address = {
	.family = AF_INET, .address = { 127, 0, 0, 1 } };

/* Writes the question; returns its length. */
static size_t
write_question(uint8_t message[static MESSAGE_MAX], uint16_t id)
{
	struct wire_writer w = wire_writer_over(message, MESSAGE_MAX);
	struct dns_name name;

	if (name_from_text(&name, DECIDE_CANARY_NAME,
	    strlen(DECIDE_CANARY_NAME)) < 0)
		return 0;
	wire_write_u16(&w, id);
	wire_write_u16(&w, 0);
	wire_write_u16(&w, 1);		/* QDCOUNT */
	wire_write_u16(&w, 0);
	wire_write_u32(&w, 0);
	wire_write_octets(&w, name.octets, name.length);
	wire_write_u16(&w, TYPE_TXT);
	wire_write_u16(&w, CLASS_CH);
	return wire_written(&w);
}

/* Whether it is nfdnsd's answer; no real nameserver gives it. */
static bool
is_answer(const uint8_t *message, size_t length, uint16_t id)
{
	struct wire_reader r = wire_reader_over(message, length);
	const uint16_t answer_id = wire_read_u16(&r);
	const uint16_t flags = wire_read_u16(&r);

	wire_skip(&r, 2);
	return wire_read_u16(&r) == 1 && !r.failed && answer_id == id &&
	    (flags & DNS_FLAG_QR) != 0 && (flags & DNS_RCODE_MASK) == RCODE_NOERROR;
}

static int
send_to(struct canary *c, const struct config *config,
    const struct resolv_server *server)
{
	const struct sockets_request request = {
		.kind = SOCKETS_DATAGRAM, .family = server->family };
	const uint32_t mark = ruleset_canary_mark(config);
	uint8_t message[MESSAGE_MAX];
	union sockets_address address;
	const socklen_t size = sockets_address_make(&address, server->family,
	    server->address, DNS_PORT, server->scope_id);
	size_t length;
	int error = 0;

	if (getrandom(&c->id, sizeof(c->id), 0) != (ssize_t)sizeof(c->id))
		return -errno;
	c->server = *server;
	length = write_question(message, c->id);
	c->fd = sockets_open(&request, 0);
	if (c->fd < 0)
		return c->fd;
	/* Connected: only answers from that nameserver's address arrive. */
	if (setsockopt(c->fd, SOL_SOCKET, SO_MARK, &mark, sizeof(mark)) < 0 ||
	    connect(c->fd, &address.any, size) < 0 ||
	    send(c->fd, message, length, MSG_DONTWAIT) < 0) {
		error = -errno;
		canary_close(c);
	}
	return error;
}

/*
 * 0 if nfdnsd has answered; -EAGAIN if no answer has come yet; -EPROTO or another
 * negative errno if somebody else answered: then the question was not queued.
 */
static int
receive(struct canary *c)
{
	uint8_t message[MESSAGE_MAX];
	ssize_t length = recv(c->fd, message, sizeof(message),
	    MSG_DONTWAIT);

	if (length < 0)
		return errno == EINTR ? -EAGAIN : -errno;
	return is_answer(message, (size_t)length, c->id) ? 0 : -EPROTO;
}

void
canary_close(struct canary *c)
{
	if (c->fd >= 0)
		(void)close(c->fd);
	c->fd = -1;
}

/* There is no route to the nameserver, for applications either. */
static bool
is_unroutable(int error)
{
	return error == -ENETUNREACH || error == -EHOSTUNREACH ||
	    error == -ENETDOWN || error == -EADDRNOTAVAIL ||
	    error == -EAFNOSUPPORT || error == -ENODEV || error == -EINVAL;
}

/* To the first nameserver to which sending works.  0, or a negative errno. */
static int
send_one(struct canary *c, const struct config *config)
{
	struct resolv_conf conf;

	(void)resolv_conf_read(&conf, RESOLV_CONF_PATH);	/* empty if bad */
	for (size_t i = 0; i < conf.server_count; i++) {
		int error = send_to(c, config, &conf.servers[i]);

		if (!is_unroutable(error))
			return error;
	}
	return send_to(c, config, &own_address);
}

static bool
loopback_is_down(void)
{
	struct ifreq request = { .ifr_name = "lo" };
	/* A socket of any family serves for this ioctl. */
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	bool down;

	if (fd < 0)
		return false;
	down = ioctl(fd, SIOCGIFFLAGS, &request) == 0 &&
	    (request.ifr_flags & IFF_UP) == 0;
	(void)close(fd);
	return down;
}

/* Adds one error: which way is blocked, and what may block it. */
static void
explain(const struct resolv_server *server, const struct config *config,
    int error, struct diag *diag)
{
	const struct config_capture *capture = &config->capture;
	char text[INET6_ADDRSTRLEN];

	if (inet_ntop(server->family, server->address, text, sizeof(text)) == NULL)
		text[0] = '\0';
	if (loopback_is_down())
		diag_add(diag, DIAG_ERROR, NULL, 0, "the canary question to "
		    "nameserver %s was not answered: the loopback interface is "
		    "down, over which answers come: ip link set lo up", text);
	else if (error == -EPERM)
		diag_add(diag, DIAG_ERROR, NULL, 0, "the canary question to "
		    "nameserver %s was refused on its way out: an output chain "
		    "before nfdns's drops it: accept UDP port 53 there", text);
	else if (error == -ECONNREFUSED || error == -EPROTO)
		diag_add(diag, DIAG_ERROR, NULL, 0, "the canary question to "
		    "nameserver %s went past the queue to the nameserver: "
		    "another program's rules accept or change it before "
		    "nfdns's (nft list ruleset)", text);
	else if (error != -ETIMEDOUT)
		diag_add(diag, DIAG_ERROR, NULL, 0, "cannot send the canary "
		    "question to nameserver %s: %s", text, strerror(-error));
	else
		diag_add(diag, DIAG_ERROR, NULL, 0, "the canary question to "
		    "nameserver %s was not answered: likely causes: an output "
		    "chain drops our answers (there, add: meta mark & 0x%08x "
		    "== 0x%08x accept), an input chain drops what comes by lo "
		    "(there, add: iif lo accept), the worker has no "
		    "CAP_NET_ADMIN", text, capture->mark_mask,
		    capture->mark_answered);
}

/* 0 when answered; -ETIMEDOUT, or an error of receive(). */
static int
wait_answer(struct canary *c, int timeout_ms)
{
	const monotime_t deadline =
	    monotime_add_ms(monotime_now(), timeout_ms);

	for (;;) {
		struct pollfd wait = { .fd = c->fd, .events = POLLIN };
		int left = monotime_poll_timeout(monotime_now(), deadline);
		int error;

		if (left == 0)
			return -ETIMEDOUT;
		if (poll(&wait, 1, left) <= 0)
			continue;
		error = receive(c);
		if (error != -EAGAIN)
			return error;
	}
}

/* Sends one canary to one nameserver and waits for the answer. */
static int
ask_one(const struct config *config, const struct resolv_server *server,
    int timeout_ms)
{
	struct canary c = { .fd = -1 };
	int error = send_to(&c, config, server);

	if (error < 0)
		return error;
	error = wait_answer(&c, timeout_ms);
	canary_close(&c);
	return error;
}

int
canary_ask(const struct config *config, int timeout_ms, struct diag *diag)
{
	struct resolv_conf conf;
	size_t asked = 0;
	int error;

	(void)resolv_conf_read(&conf, RESOLV_CONF_PATH);	/* empty if bad */
	for (size_t i = 0; i < conf.server_count; i++) {
		error = ask_one(config, &conf.servers[i], timeout_ms);
		if (is_unroutable(error))
			continue;
		if (error < 0) {
			explain(&conf.servers[i], config, error, diag);
			return error;
		}
		asked++;
	}
	if (asked > 0)
		return 0;
	error = ask_one(config, &own_address, timeout_ms);
	if (error < 0)
		explain(&own_address, config, error, diag);
	return error;
}

/*
 * The canary question, which the loop sends every few seconds.  Two states:
 *
 *   idle      after the interval, or when a new worker is ready: sent
 *   sent      answered: idle.  Refused, answered by somebody else, or not
 *             answered for two seconds: idle and "unanswered"
 */

#define INTERVAL_MS	5000
#define WAIT_MS		2000

void
monitor_canary_start(struct monitor_canary *m, int watchdog_ms, int tick_ms,
    monotime_t now)
{
	m->canary.fd = -1;
	/* One canary before each answer to the watchdog. */
	m->interval_ms = watchdog_ms > 0 && watchdog_ms / 4 < INTERVAL_MS ?
	    watchdog_ms / 4 : INTERVAL_MS;
	m->answered = now;		/* the start had its canary */
	m->next = monotime_add_ms(now, tick_ms);
}

/* Ends a canary: 0 if it was answered, else a negative errno. */
static void
end_canary(struct supervisor *s, int error, monotime_t now)
{
	struct monitor_canary *m = &s->monitor.canary;

	canary_close(&m->canary);
	if (error == 0) {
		m->answered = now;
		if (m->unanswered)
			log_notice("the canary question is answered again");
	} else if (!m->unanswered) {
		log_error("the canary question is not answered: %s",
		    strerror(-error));
	}
	if (m->unanswered != (error != 0)) {
		m->unanswered = error != 0;
		supervisor_show_state(s);
	}
}

static void
send_canary(struct supervisor *s, monotime_t now)
{
	struct monitor_canary *m = &s->monitor.canary;
	int error;

	m->next = monotime_add_ms(now, m->interval_ms);
	m->sent = now;
	error = send_one(&m->canary, s->config);
	if (error < 0)
		end_canary(s, error, now);
}

void
monitor_canary_tick(struct supervisor *s, monotime_t now)
{
	const struct monitor_canary *m = &s->monitor.canary;

	if (m->canary.fd < 0) {
		if (monotime_is_past(now, m->next))
			send_canary(s, now);
	} else if (monotime_ms_since(now, m->sent) >= WAIT_MS) {
		end_canary(s, -ETIMEDOUT, now);
	}
}

void
monitor_canary_ready(struct supervisor *s, monotime_t now)
{
	int error;

	/* A new worker in the same round of the loop may have ended it. */
	if (s->monitor.canary.canary.fd < 0)
		return;
	error = receive(&s->monitor.canary.canary);
	if (error != -EAGAIN)
		end_canary(s, error, now);
}

/*
 * A canary in flight was for the last worker.  It may have passed to the
 * nameserver, so its outcome says nothing about the new worker.
 */
void
monitor_worker_ready(struct supervisor *s, monotime_t now)
{
	canary_close(&s->monitor.canary.canary);
	send_canary(s, now);
}

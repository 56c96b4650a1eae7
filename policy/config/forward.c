/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "policy/config/capture.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "policy/config/resolv_conf.h"
#include "policy/config/forward_settings.h"
#include "policy/config/setting.h"
#include "resolver/dns/message.h"
#include "resolver/dns/name.h"
#include "resolver/dns/rr.h"
#include "resolver/idn.h"
#include "resolver/text/host.h"

#define LAST_PRIVILEGED 1023	/* port: ip(7) */
#define NEGATIVE_MAX_S	30		/* TTL of negative answers, at most */

static struct forward_settings *
forward_of(const struct config_load *load)
{
	return &load->config->forward;
}

static struct dns_name
name_of(const struct forward_domain *domain)
{
	struct dns_name name = { .length = 0 };

	(void)!name_read_lower(&name, domain->name, sizeof(domain->name));
	return name;
}

void
config_read_forward_name(const struct config_load *load,
    const struct config_option *option, const config_setting_t *value, void *to)
{
	struct forward_domain *domain = to;
	struct dns_name name = { .length = 0 };
	const size_t errors = load->diag->errors;

	memset(domain->name, 0, sizeof(domain->name));
	if (strcmp(config_setting_get_string(value), ".") == 0)
		return;			/* the root is one octet, zero */
	config_read_name(load, option, value, &name);
	if (load->diag->errors == errors)
		memcpy(domain->name, name.octets, name.length);
}

static bool
is_within(const struct forward_upstream *upstream,
    const struct config_prefix *prefixes, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (prefixes[i].family == (int)upstream->family &&
		    host_same_bits(prefixes[i].address, upstream->address,
		    prefixes[i].length))
			return true;
	return false;
}

/*
 * A nameserver of this machine that asks others: its own questions, of another
 * user than ours, would come back to us.
 */
static bool
leads_back(const struct config *config, const struct forward_upstream *upstream)
{
	const struct config_capture *capture = &config->capture;

	return host_is_loopback((int)upstream->family, upstream->address) &&
	    upstream->port == DNS_PORT &&
	    !is_within(upstream, capture->bypass.destinations,
	    capture->bypass.destination_count) &&
	    (capture->any_nameserver || is_within(upstream,
	    capture->nameservers, capture->nameserver_count));
}

/* The upstream's index in the settings, which it is added to; -1: no room. */
static int
index_of(struct forward_settings *settings,
    const struct forward_upstream *upstream)
{
	for (uint32_t i = 0; i < settings->upstreams; i++)
		if (forward_upstream_same(&settings->upstream[i], upstream))
			return (int)i;
	if (settings->upstreams == FORWARD_UPSTREAMS)
		return -1;
	settings->upstream[settings->upstreams] = *upstream;
	return (int)settings->upstreams++;
}

static void
add_upstream(const struct config_load *load, const config_setting_t *value,
    struct forward_domain *domain, const struct forward_upstream *upstream)
{
	const int index = index_of(forward_of(load), upstream);

	if (index < 0) {
		config_wrong(load, value, "more than %d upstreams in all",
		    FORWARD_UPSTREAMS);
		return;
	}
	for (uint32_t i = 0; i < domain->upstreams; i++)
		if (domain->upstream[i] == (uint32_t)index)
			return;
	if (domain->upstreams == FORWARD_PER_DOMAIN)
		config_wrong(load, value, "more than %d upstreams",
		    FORWARD_PER_DOMAIN);
	else
		domain->upstream[domain->upstreams++] = (uint32_t)index;
}

/* The machine's nameservers, without those that would lead back to us. */
static void
add_machine(const struct config_load *load, const config_setting_t *value,
    struct forward_domain *domain)
{
	const uint32_t before = domain->upstreams;
	struct resolv_conf machine;

	load->config->machine_upstreams = true;
	(void)resolv_conf_read(&machine, RESOLV_CONF_PATH);
	for (size_t i = 0; i < machine.server_count; i++) {
		const struct resolv_server *server = &machine.servers[i];
		struct forward_upstream upstream = {
			.family = (uint32_t)server->family,
			.scope = server->scope_id, .port = DNS_PORT,
		};

		memcpy(upstream.address, server->address,
		    server->family == AF_INET ? 4 : 16);
		if (server->absent)
			config_absent(load, value, "%s names a nameserver at "
			    "an interface that is not on this machine: it is "
			    "not asked until there is one", RESOLV_CONF_PATH);
		if (!leads_back(load->config, &upstream))
			add_upstream(load, value, domain, &upstream);
	}
	if (domain->upstreams == before)
		config_wrong(load, value, "%s names no nameserver outside this "
		    "machine; write their addresses here", RESOLV_CONF_PATH);
}

/*
 * Any user may bind such a port: at a loopback address while the nameserver does not
 * run, and at any of IPv6 (IPV6_FREEBIND, ipv6_can_nonlocal_bind() in
 * include/net/ipv6.h).  IPv4 sends nothing from an address that is not there.
 */
static void
warn_of_forgers(const struct config_load *load, const config_setting_t *value,
    const struct forward_upstream *up)
{
	if (up->port <= LAST_PRIVILEGED || up->transport == FORWARD_TLS)
		return;
	if (!host_is_loopback((int)up->family, up->address) &&
	    (up->family == AF_INET || up->transport == FORWARD_TCP))
		return;
	diag_add(load->diag, DIAG_WARNING, load->file,
	    config_setting_source_line(value), "forward.domains[].upstreams: "
	    "any user of this machine may bind port %u of \"%s\", and guess or "
	    "give its answers; use a port below 1024, or tls://", up->port,
	    config_setting_get_string(value));
}

/* False: it is none, which was said. */
static bool
read_upstream(const struct config_load *load,
    const struct config_option *option, const config_setting_t *value,
    struct forward_upstream *upstream)
{
	const char *text = config_setting_get_string(value), *why;

	if (upstream_from_text(upstream, text, &why)) {
		if (why != NULL)
			config_absent(load, value, "\"%s\": %s", text, why);
		return true;
	}
	if (why != NULL)
		config_wrong(load, value, "\"%s\": %s", text, why);
	else
		config_expected(load, option, value);
	return false;
}

void
config_read_upstreams(const struct config_load *load,
    const struct config_option *option, const config_setting_t *value, void *to)
{
	const char *text = config_setting_get_string(value);
	struct forward_domain *domain = to;
	struct forward_upstream upstream;

	if (strcmp(text, "resolv.conf") == 0)
		add_machine(load, value, domain);
	else if (!read_upstream(load, option, value, &upstream))
		return;
	else if (leads_back(load->config, &upstream))
		config_wrong(load, value, "what %s asks would come back here; "
		    "name the nameservers that it asks, or add its address to "
		    "capture.bypass.destinations", text);
	else {
		warn_of_forgers(load, value, &upstream);
		add_upstream(load, value, domain, &upstream);
	}
}

/* Domains */

static void
check_twice(const struct config_load *load, const config_setting_t *value)
{
	const struct forward_settings *f = forward_of(load);
	const struct dns_name name = name_of(&f->domain[f->domains]);

	for (uint32_t i = 0; i < f->domains; i++) {
		const struct dns_name other = name_of(&f->domain[i]);

		if (name_equal(&name, &other))
			config_wrong(load, value, "this domain is in the list "
			    "already; take one of the two out");
	}
}

void
config_read_forward_domains(const struct config_load *load,
    const struct config_option *option, const config_setting_t *value, void *to)
{
	struct forward_settings *f = to;
	struct forward_domain *domain = &f->domain[f->domains];
	const size_t errors = load->diag->errors;

	(void)option;
	if (f->domains == FORWARD_DOMAINS) {
		config_wrong(load, value, "more than %d domains",
		    FORWARD_DOMAINS);
		return;
	}
	*domain = (struct forward_domain){ .cache = 1,
		.negative_max_s = NEGATIVE_MAX_S,
		.line = config_setting_source_line(value) };
	load->config->forward_files[f->domains] = load->path;
	config_option_read_members(load, "forward.domains[].", value, domain);
	if (load->diag->errors == errors && domain->upstreams == 0)
		config_wrong(load, value, "\"upstreams\" is empty");
	if (load->diag->errors == errors)
		check_twice(load, value);
	if (load->diag->errors == errors)
		f->domains++;
}

#define MARK	"-----BEGIN CERTIFICATE-----"
#define MARK_TRUSTED "-----BEGIN TRUSTED CERTIFICATE-----"

/*
 * The certificates of authorities: Debian, then Fedora and RHEL, then what
 * openssl(1) itself installs.
 */
static const char *const places[] = {
	"/etc/ssl/certs/ca-certificates.crt",
	"/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
	"/etc/pki/tls/certs/ca-bundle.crt",
	"/etc/ssl/cert.pem",
};

static int
read_one(const char *path, struct small_file *file)
{
	int error = small_file_read(path, file);

	if (error == 0 && memmem(file->octets, file->length, MARK,
	    strlen(MARK)) == NULL && memmem(file->octets, file->length,
	    MARK_TRUSTED, strlen(MARK_TRUSTED)) == NULL) {
		small_file_wipe(file);
		error = -ENODATA;
	}
	return error;
}

int
ca_file_read(const char *path, struct small_file *file)
{
	int error = -ENOENT;

	if (path[0] != '\0')
		return read_one(path, file);
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]) &&
	    error == -ENOENT; i++)
		error = read_one(places[i], file);
	return error;
}

const char *
ca_file_error(int error)
{
	return error == -ENODATA ? "there is no certificate (PEM) in it" :
	    small_file_error(error);
}

void
config_read_ca(const struct config_load *load,
    const struct config_option *option, const config_setting_t *value, void *to)
{
	const char *text = config_setting_get_string(value);
	struct small_file file;
	char **path = to;
	int error;

	if (text[0] == '\0') {
		config_store_text(load, to, strdup(text));
		return;
	}
	config_read_path(load, option, value, to);
	if (*path == NULL)
		return;
	error = ca_file_read(*path, &file);
	if (error == -ENOENT)
		config_absent(load, value, "%s: %s: upstreams over TLS are not "
		    "asked until it is there; put the certificates there, or "
		    "name another file", *path, ca_file_error(error));
	else if (error < 0)
		config_wrong(load, value, "%s: %s", *path,
		    ca_file_error(error));
	small_file_wipe(&file);
}

/* The machine's own authorities are read only where something needs them. */
static void
check_roots(const struct config_load *load)
{
	const char *ca = load->config->forward_ca;
	struct small_file file;
	int error;

	if (!config_forwards_tls(load->config) || ca == NULL || ca[0] != '\0')
		return;
	error = ca_file_read(ca, &file);
	load->config->absent += error == -ENOENT;
	if (error < 0)
		diag_add(load->diag, error == -ENOENT ? DIAG_WARNING :
		    DIAG_ERROR, load->file, 0, "forward.tls.ca: this machine's "
		    "certificates of authorities cannot be read: %s: upstreams "
		    "over TLS are not asked until they are there; install "
		    "ca-certificates, or name a file here",
		    ca_file_error(error));
	small_file_wipe(&file);
}

bool
config_forwards_tls(const struct config *config)
{
	for (uint32_t i = 0; i < config->forward.upstreams; i++)
		if (config->forward.upstream[i].transport == FORWARD_TLS)
			return true;
	return false;
}

static bool
has_root(const struct forward_settings *f)
{
	for (uint32_t i = 0; i < f->domains; i++)
		if (f->domain[i].name[0] == 0)
			return true;
	return false;
}

/* A zone with unknown = "nxdomain" answers for all names in it. */
static void
check_shadowed(const struct config_load *load,
    const struct forward_domain *domain)
{
	const struct dns_name name = name_of(domain);
	const struct mesh_zone *zone = mesh_zone_of(&load->config->mesh, &name);
	char text[NAME_TEXT_SIZE], other[NAME_TEXT_SIZE];
	char place[CONFIG_TEXT_SIZE];
	const char *file = load->config->forward_files[domain -
	    forward_of(load)->domain];

	if (zone == NULL || zone->unknown != ZONE_NXDOMAIN)
		return;
	diag_add(load->diag, DIAG_WARNING, file, domain->line,
	    "forward.domains: nothing is ever forwarded for \"%s\": the zone "
	    "\"%s\" of mesh.zones (%s, unknown = \"nxdomain\") answers for all "
	    "names in it; set unknown = \"pass\" there, or take one of the two "
	    "out", name_to_text(name.octets, text),
	    name_to_text(zone->name.octets, other),
	    config_place(zone->file, zone->line, file, place));
}

void
config_complete_forward(const struct config_load *load)
{
	struct forward_settings *f = forward_of(load);

	check_roots(load);
	f->cache.stale = f->cache.stale_s > 0 ? STALE_AFTER_WAIT : STALE_OFF;
	for (uint32_t i = 0; i < f->domains; i++)
		if (f->domain[i].fallback == FALLBACK_DEFAULT && !has_root(f))
			diag_add(load->diag, DIAG_ERROR, load->file, 0,
			    "forward.domains[%u].fallback: \"default\" needs a "
			    "domain \".\"", i);
	for (uint32_t i = 0; i < f->domains; i++)
		check_shadowed(load, &f->domain[i]);
}

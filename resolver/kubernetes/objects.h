/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is kept of Kubernetes objects until names are made.  Objects come in any
 * order: an EndpointSlice may precede its Service.  Everything lies in one
 * arena, and handles refer to it; each string is stored once.
 */
#ifndef NFDNS_RESOLVER_KUBERNETES_OBJECTS_H
#define NFDNS_RESOLVER_KUBERNETES_OBJECTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "resolver/image/builder_state.h"

struct object_string {
	uint32_t namespace;		/* of that name; 0: none */
	uint32_t service;		/* first endpoint of the service that has
					   this hostname in our cluster */
	uint32_t length;
	char text[];			/* with a NUL behind it */
};

struct object_namespace {
	uint32_t next;
	uint32_t name;			/* string */
};

/*
 * Items in the order they were added.  Each begins with "next", a handle that
 * is 0 in the last one.
 */
struct object_list {
	uint32_t first, last;
};

/* An address of a service, in a list that ends with next = 0. */
struct object_address {
	uint32_t next;
	uint8_t length;			/* 4 or 16 */
	uint8_t octets[16];
};

/* The ports of a service, or of an EndpointSlice for all its endpoints. */
struct object_ports {
	uint32_t count;
	struct object_port {
		uint32_t name;		/* string; 0: none */
		uint32_t protocol;	/* string: "tcp" */
		uint32_t number;	/* 0: none is given */
	} port[];
};

/* One address of an endpoint. */
struct object_endpoint {
	uint32_t next;			/* of the same service */
	uint32_t line;
	uint32_t hostname;		/* string; 0: none */
	uint32_t cluster;		/* string: where an import comes from */
	uint32_t ports;
	uint16_t source;		/* index of struct kubernetes_source */
	bool ready;
	bool legacy;			/* from Endpoints, not from a slice */
	uint8_t length;			/* 4 or 16 */
	uint8_t octets[16];
};

enum service_kind {
	SERVICE_ABSENT,			/* only endpoints name it */
	SERVICE_CLUSTER_IP,
	SERVICE_HEADLESS,
	SERVICE_EXTERNAL_NAME,
};

/* A Service, or what endpoints belong to: one NAMESPACE/NAME. */
struct object_service {
	uint32_t next;			/* in the order of their first mention */
	uint32_t line;
	uint32_t namespace;
	uint32_t name;			/* string */
	uint32_t first_address, last_address;
	uint32_t first_endpoint, last_endpoint;
	uint32_t ports;
	uint32_t external_name;		/* string */
	uint16_t source;		/* that defines it */
	uint8_t kind;			/* enum service_kind */
	bool imported;			/* a ServiceImport of a cluster set */
	bool publish_not_ready;
	bool has_slices;		/* so Endpoints are ignored */
};

/* Start from OBJECTS_INIT. */
struct objects {
	uint32_t cluster;		/* string: of the selected source */
	uint16_t source;		/* the selected one */
	struct arena arena;
	struct build_index strings;
	struct build_index services;
	struct build_index seen;
	uint32_t first_namespace, last_namespace;
	uint32_t first_service, last_service;
};

#define OBJECTS_INIT { .arena = ARENA_INIT }

#define OBJECT_AT(objects, type, handle) \
	ARENA_AT(&(objects)->arena, type, handle)

void objects_free(struct objects *objects);

/*
 * All of these return 0 and a handle, or -ENOMEM or -E2BIG.  An item that does
 * not exist is added.  name is a string's handle.
 */
int objects_string(struct objects *objects, const char *text, size_t length,
    uint32_t *string) __attribute__((warn_unused_result));
int objects_namespace(struct objects *objects, uint32_t name,
    uint32_t *namespace) __attribute__((warn_unused_result));
int objects_service(struct objects *objects, uint32_t namespace,
    uint32_t name, bool imported, uint32_t *service)
    __attribute__((warn_unused_result));

/* Adds an item of zeros to the end of a service's list. */
int objects_add_address(struct objects *objects, uint32_t service,
    uint32_t *address) __attribute__((warn_unused_result));
int objects_add_endpoint(struct objects *objects, uint32_t service,
    uint32_t *endpoint) __attribute__((warn_unused_result));
int objects_add_ports(struct objects *objects, uint32_t count,
    uint32_t *ports) __attribute__((warn_unused_result));

/* Appends an item to a list; the list itself must not be in the arena. */
void objects_append(struct objects *objects, struct object_list *list,
    uint32_t item);

/* Where an object stands. */
struct object_origin {
	uint32_t line;
	uint16_t source;		/* index of struct kubernetes_source */
};

/*
 * Registers an object of the selected source.  If there was one of the same
 * cluster, kind, namespace and name before, *first is where that one stands;
 * else first->line is 0.  Returns 0, -ENOMEM or -E2BIG.
 */
int objects_see(struct objects *objects, const char *kind,
    const char *namespace, const char *name, uint32_t line,
    struct object_origin *first) __attribute__((warn_unused_result));

/* The text of a string, "" for 0; good until the arena grows. */
const char *objects_text(const struct objects *objects, uint32_t string);

#endif

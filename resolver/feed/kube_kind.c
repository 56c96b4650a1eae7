/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolver/feed/kube_mirror.h"

#define ALL(name)	{ .key = (name) }
#define END		{ .key = NULL }

static const struct kube_field named[] = {
	ALL("name"), ALL("namespace"), END
};
static const struct kube_field labelled[] = {
	ALL("name"), ALL("namespace"), ALL("labels"), END
};
static const struct kube_field ports[] = {
	ALL("name"), ALL("port"), ALL("protocol"), END
};
static const struct kube_field conditions[] = {
	ALL("type"), ALL("status"), END
};
static const struct kube_field labels_only[] = { ALL("labels"), END };

static const struct kube_field namespace[] = {
	{ "metadata", named }, END
};

static const struct kube_field service_spec[] = {
	ALL("type"), ALL("clusterIP"), ALL("clusterIPs"), ALL("ipFamilies"),
	ALL("externalName"), ALL("publishNotReadyAddresses"),
	{ "ports", ports }, END
};
static const struct kube_field service[] = {
	{ "metadata", named }, { "spec", service_spec }, END
};

static const struct kube_field slice_labels[] = {
	ALL("kubernetes.io/service-name"),
	ALL("multicluster.kubernetes.io/service-name"),
	ALL("multicluster.kubernetes.io/source-cluster"), END
};
static const struct kube_field slice_metadata[] = {
	ALL("name"), ALL("namespace"), { "labels", slice_labels }, END
};
static const struct kube_field slice_conditions[] = { ALL("ready"), END };
static const struct kube_field slice_target[] = {
	ALL("kind"), ALL("name"), END
};
static const struct kube_field slice_endpoints[] = {
	ALL("addresses"), ALL("hostname"), { "conditions", slice_conditions },
	{ "targetRef", slice_target }, END
};
static const struct kube_field slice[] = {
	{ "metadata", slice_metadata }, ALL("addressType"),
	{ "endpoints", slice_endpoints }, { "ports", ports }, END
};

static const struct kube_field pod_metadata[] = {
	ALL("name"), ALL("namespace"), ALL("labels"), ALL("deletionTimestamp"),
	END
};
static const struct kube_field pod_ips[] = { ALL("ip"), END };
static const struct kube_field pod_status[] = {
	ALL("phase"), ALL("podIP"), { "podIPs", pod_ips },
	{ "conditions", conditions }, END
};
static const struct kube_field pod[] = {
	{ "metadata", pod_metadata }, { "status", pod_status }, END
};

static const struct kube_field entry_labels[] = {
	ALL("networking.istio.io/enable-autoallocate-ip"), END
};
static const struct kube_field entry_metadata[] = {
	ALL("name"), ALL("namespace"), ALL("creationTimestamp"),
	{ "labels", entry_labels }, END
};
static const struct kube_field workload[] = {
	ALL("address"), ALL("network"), ALL("labels"), END
};
static const struct kube_field entry_spec[] = {
	ALL("hosts"), ALL("addresses"), ALL("resolution"), ALL("exportTo"),
	{ "endpoints", workload }, { "workloadSelector", labels_only }, END
};
static const struct kube_field entry_address[] = {
	ALL("value"), ALL("host"), END
};
static const struct kube_field entry_status[] = {
	{ "addresses", entry_address }, END
};
static const struct kube_field service_entry[] = {
	{ "metadata", entry_metadata }, { "spec", entry_spec },
	{ "status", entry_status }, END
};

static const struct kube_field workload_status[] = {
	{ "conditions", conditions }, END
};
static const struct kube_field workload_entry[] = {
	{ "metadata", labelled }, { "spec", workload },
	{ "status", workload_status }, END
};

const struct kube_kind kube_kinds[] = {
	{ .kind = "Namespace", .version = "v1", .path = "/api/v1",
	  .plural = "namespaces", .fields = namespace },
	{ .kind = "Service", .version = "v1", .path = "/api/v1",
	  .plural = "services", .fields = service, .in_namespace = true,
	  .needed = true },
	{ .kind = "EndpointSlice", .version = "discovery.k8s.io/v1",
	  .path = "/apis/discovery.k8s.io/v1", .plural = "endpointslices",
	  .fields = slice, .in_namespace = true, .needed = true },
	{ .kind = "ServiceEntry", .version = "networking.istio.io/v1",
	  .path = "/apis/networking.istio.io/v1", .plural = "serviceentries",
	  .fields = service_entry, .in_namespace = true },
	{ .kind = "WorkloadEntry", .version = "networking.istio.io/v1",
	  .path = "/apis/networking.istio.io/v1", .plural = "workloadentries",
	  .fields = workload_entry, .in_namespace = true },
	{ .kind = "Pod", .version = "v1", .path = "/api/v1",
	  .plural = "pods", .fields = pod, .in_namespace = true, .pods = true,
	  .selector = "status.phase%21%3DSucceeded%2Cstatus.phase%21%3DFailed" },
};

const size_t kube_kind_count = sizeof(kube_kinds) / sizeof(kube_kinds[0]);

# SPDX-License-Identifier: GPL-2.0-or-later
"""Kubernetes and Istio objects as an API server has them, with much in them that
no name needs."""


def _metadata(name, namespace, **more):
    return {"name": name, "namespace": namespace, "uid": f"uid of {name}",
            "creationTimestamp": "2026-01-01T00:00:00Z", "generation": 3,
            "annotations": {"note": "} \" { \\ é \u2028 " * 3, "empty": ""},
            "managedFields": [{"manager": "kubectl", "operation": "Apply",
                               "fieldsV1": {"f:spec": {"f:ports": {".": {}}}}}], **more}


def service(name, namespace, addresses, ports=(("http", 80),), **spec):
    families = ["IPv6" if ":" in a else "IPv4" for a in addresses]
    return {"kind": "Service", "metadata": _metadata(name, namespace, labels={"app": name}),
            "spec": {"type": "ClusterIP", "clusterIP": (addresses or ["None"])[0],
                     "clusterIPs": list(addresses) or ["None"], "ipFamilies": families,
                     "selector": {"app": name}, "sessionAffinity": "None",
                     "ports": [{"name": n, "port": p, "protocol": "TCP", "targetPort": 8080}
                               for n, p in ports], **spec},
            "status": {"loadBalancer": {}}}


def slice_(name, namespace, of, addresses, family="IPv4", **endpoint):
    return {"kind": "EndpointSlice",
            "metadata": _metadata(name, namespace, labels={
                "kubernetes.io/service-name": of, "other": "label"}),
            "addressType": family,
            "endpoints": [{"addresses": [a], "conditions": {"ready": True, "serving": True},
                           "nodeName": "node1", "targetRef": {
                               "kind": "Pod", "name": f"{of}-{n}", "namespace": namespace},
                           **endpoint} for n, a in enumerate(addresses)],
            "ports": [{"name": "http", "port": 8080, "protocol": "TCP"}]}


def pod(name, namespace, address, phase="Running", **labels):
    return {"kind": "Pod", "metadata": _metadata(name, namespace, labels=labels),
            "spec": {"containers": [{"name": "c", "image": "i" * 100}]},
            "status": {"phase": phase, "podIP": address, "podIPs": [{"ip": address}],
                       "conditions": [{"type": "Ready", "status": "True",
                                       "lastTransitionTime": "2026-01-01T00:00:00Z"}]}}


def entry(name, namespace, hosts, addresses=(), **spec):
    return {"kind": "ServiceEntry", "metadata": _metadata(name, namespace),
            "spec": {"hosts": list(hosts), "addresses": list(addresses),
                     "ports": [{"number": 443, "name": "tls", "protocol": "TLS"}],
                     "resolution": "STATIC", **spec}}


def workload(name, namespace, address, **labels):
    return {"kind": "WorkloadEntry", "metadata": _metadata(name, namespace),
            "spec": {"address": address, "labels": labels, "ports": {"http": 8080}}}


def namespace(name):
    item = {"kind": "Namespace", "metadata": _metadata(name, ""), "spec": {},
            "status": {"phase": "Active"}}
    del item["metadata"]["namespace"]
    return item


def some_of_everything(api):
    api.put(namespace("shop"))
    api.put(namespace("empty"))
    api.put(service("cart", "shop", ["10.0.0.1", "fd00::1"], (("http", 80), ("grpc", 9000))))
    api.put(service("db", "shop", []))
    api.put(slice_("db-1", "shop", "db", ["10.2.0.1", "10.2.0.2"]))
    api.put(slice_("db-2", "shop", "db", ["fd00::21"], "IPv6", hostname="db-six"))
    api.put(service("away", "shop", ["10.0.0.9"], type="ExternalName",
                    externalName="away.example"))
    api.put(service("late", "shop", [], publishNotReadyAddresses=True))
    api.put(slice_("late-1", "shop", "late", ["10.2.0.3"], conditions={"ready": False}))
    api.put(entry("out", "shop", ["out.example", "*.wild.example"], ["10.9.0.1"]))
    api.put(entry("auto", "shop", ["auto.example"], resolution="DNS"))
    api.put(entry("picked", "shop", ["picked.example"],
                  workloadSelector={"labels": {"app": "vm"}}))
    api.put(entry("hidden", "other", ["hidden.example"], ["10.9.0.2"], exportTo=["."]))
    api.put(workload("vm1", "shop", "10.7.0.1", app="vm"))
    api.put(pod("p1", "shop", "10.2.0.1", app="vm"))

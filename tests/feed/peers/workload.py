# SPDX-License-Identifier: GPL-2.0-or-later
"""The files that "istioctl x workload entry configure" writes, and what else a
machine that joins a mesh has."""
import base64
import json
import time


def token(lifetime=3600, **claims):
    """A token as Kubernetes makes it, with a signature that nobody checks here."""
    def part(value):
        return base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=").decode()
    return ".".join((part({"alg": "RS256", "kid": "x"}),
                     part({"aud": ["istio-ca"], "exp": int(time.time()) + lifetime,
                           "sub": "system:serviceaccount:shop:vm", **claims}), "c2lnbmF0dXJl"))


def quoted(value):
    """As a shell reads it; istioctl quotes every value."""
    return "'" + str(value).replace("'", "'\"'\"'") + "'"


def files(roots, server="istiod.istio-system.svc:15012", addresses=(), namespace="shop",
          account="vm", metadata=None, variables=None):
    """{name: octets} (istioctl/pkg/workload/workload.go, createConfig())."""
    labels = {"app": "vm", "service.istio.io/canonical-name": "vm",
              "service.istio.io/canonical-revision": "latest"}
    proxy = {
        "CANONICAL_REVISION": "latest", "CANONICAL_SERVICE": "vm", "IDENTITY_PATH_PREFIX": "",
        "ISTIO_METAJSON_LABELS": json.dumps(labels, separators=(",", ":")),
        "ISTIO_META_CLUSTER_ID": "Kubernetes", "ISTIO_META_DNS_CAPTURE": "true",
        "ISTIO_META_MESH_ID": "", "ISTIO_META_NETWORK": "", "ISTIO_META_WORKLOAD_NAME": "vm",
        "POD_NAMESPACE": namespace, "SERVICE_ACCOUNT": account, "TRUST_DOMAIN": "",
        **(metadata or {})}
    env = {**proxy, "ISTIO_INBOUND_PORTS": "*", "ISTIO_NAMESPACE": namespace,
           "ISTIO_LOCAL_EXCLUDE_PORTS": "22,15090,15021,15020",
           "ISTIO_SERVICE": f"vm.{namespace}", "ISTIO_SERVICE_CIDR": "*", **(variables or {})}
    discovery = f"  discoveryAddress: {server}\n" if server else ""
    lines = "".join(f"    {key}: {json.dumps(value)}\n" for key, value in sorted(proxy.items()))
    host = (server or "istiod.istio-system.svc:15012").rpartition(":")[0]
    return {
        "cluster.env": "".join(f"{key}={quoted(value)}\n"
                               for key, value in sorted(env.items())).encode(),
        "mesh.yaml": f"defaultConfig:\n{discovery}  proxyMetadata:\n{lines}"
                     "  readinessProbe:\n    httpGet:\n      port: 8080\n".encode(),
        "istio-token": token().encode(),
        "root-cert.pem": roots,
        "hosts": "".join(f"{address} {host}\n" for address in addresses).encode(),
    }


def write(directory, contents):
    directory.mkdir(exist_ok=True)
    for name, octets in contents.items():
        (directory / name).write_bytes(octets)
    return directory

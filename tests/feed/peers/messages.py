# SPDX-License-Identifier: GPL-2.0-or-later
"""The messages of ads.proto, by protoc's own code, and what istiod asks of a
first request (istio pilot/pkg/model/context.go, pkg/xds/server.go)."""
import contextlib
import fcntl
import importlib
import ipaddress
import os
import shutil
import subprocess
import sys

from . import PEERS
from shared import BUILD
from netlab.outcome import Skip

METHOD = "/envoy.service.discovery.v3.AggregatedDiscoveryService/StreamAggregatedResources"
CERTIFY = "/istio.v1.auth.IstioCertificateService/CreateCertificate"
TYPE = "type.googleapis.com/istio.networking.nds.v1.NameTable"
INVALID_ARGUMENT = 3
PROXY_TYPES = ("sidecar", "router", "waypoint", "ztunnel", "agentgateway")
# Metadata that istiod reads as a text (its StringBool and StringList among
# them), and as an object of texts.  Another kind ends the stream.
TEXTS = ("NAMESPACE", "SERVICE_ACCOUNT", "CLUSTER_ID", "NETWORK", "INSTANCE_IPS", "DNS_CAPTURE",
         "DNS_AUTO_ALLOCATE", "ENABLE_HBONE", "ISTIO_VERSION", "NAME", "GENERATOR", "POD_PORTS")
OBJECTS = ("LABELS", "STATIC_LABELS", "ANNOTATIONS")


def _compiled():
    """The module that protoc makes of ads.proto; made once a build directory."""
    if shutil.which("protoc") is None:
        raise Skip("protoc is not installed")
    here = BUILD / "tests/feed"
    here.mkdir(parents=True, exist_ok=True)
    made, source = here / "ads_pb2.py", PEERS / "ads.proto"
    with open(here / "ads.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not made.exists() or made.stat().st_mtime < source.stat().st_mtime:
            subprocess.run(["protoc", f"--proto_path={PEERS}", f"--python_out={here}",
                            str(source)], check=True)
    sys.path.insert(0, str(here))
    try:
        return importlib.import_module("ads_pb2")
    finally:
        sys.path.remove(str(here))


ads = _compiled()


def table(names):
    """A NameTable's octets, of {name: address or addresses}; always the same
    ones for the same names."""
    made = ads.NameTable()
    for name, addresses in names.items():
        info = made.table[name]
        info.ips.extend([addresses] if isinstance(addresses, str) else addresses)
        info.registry = "Kubernetes"
    return made.SerializeToString(deterministic=True)


def names(octets):
    """{name: [address]} of a NameTable's octets."""
    read = ads.NameTable.FromString(octets)
    return {name: list(info.ips) for name, info in read.table.items()}


def response(octets, version="1", nonce=None, type_url=TYPE, inner=TYPE,
             identity="istiod of the test"):
    """A DiscoveryResponse's octets around those of resources (bytes, or a list)."""
    made = ads.DiscoveryResponse(version_info=version, type_url=type_url,
                                 nonce=f"nonce-{version}" if nonce is None else nonce)
    made.control_plane.identifier = identity
    for one in [octets] if isinstance(octets, bytes) else octets:
        made.resources.add(type_url=inner, value=one)
    return made.SerializeToString()


def request(octets):
    return ads.DiscoveryRequest.FromString(octets)


def plain(value):
    """A Struct or Value as Python has it."""
    if isinstance(value, ads.Struct):
        return {key: plain(one) for key, one in value.fields.items()}
    kind = value.WhichOneof("kind")
    if kind == "struct_value":
        return plain(value.struct_value)
    if kind == "list_value":
        return [plain(one) for one in value.list_value.values]
    return getattr(value, kind) if kind not in (None, "null_value") else None


def struct(values):
    """The Struct of a dict of texts, booleans and dicts."""
    made = ads.Struct()
    for key, value in values.items():
        if isinstance(value, dict):
            made.fields[key].struct_value.CopyFrom(struct(value))
        elif isinstance(value, bool):
            made.fields[key].bool_value = value
        else:
            made.fields[key].string_value = value
    return made


def _usable(address):
    with contextlib.suppress(ValueError):
        return not ipaddress.ip_address(address).is_unspecified
    return False


def node_fault(node):
    """Why istiod would end the stream with InvalidArgument; None: it is well."""
    if not node.id:
        return "missing node information"
    parts = node.id.split("~")
    if len(parts) != 4:
        return f"missing parts in the service node {node.id!r}"
    if parts[0] not in PROXY_TYPES:
        return f"invalid node type in {node.id!r}"
    metadata = plain(node.metadata)
    for key in TEXTS:
        if not isinstance(metadata.get(key, ""), str):
            return f"metadata {key} is not a string"
    for key in OBJECTS:
        found = metadata.get(key, {})
        if not isinstance(found, dict) or any(not isinstance(v, str) for v in found.values()):
            return f"metadata {key} is not an object of strings"
    addresses = [a for a in metadata.get("INSTANCE_IPS", "").split(",") if a] or [parts[1]]
    if not any(map(_usable, addresses)):
        return "no valid IP address in the node id or metadata"
    return None


def first_request_fault(octets):
    """The same of the octets of a stream's first request."""
    try:
        read = request(octets)
    except Exception as error:		# noqa: BLE001  whatever protobuf raises
        return f"the request cannot be decoded: {error}"
    return node_fault(read.node)


def environment():
    """For a peer that runs as a program: where it finds this package."""
    return dict(os.environ, PYTHONPATH=str(PEERS.parent), BUILD=str(BUILD),
                PYTHONDONTWRITEBYTECODE="1")

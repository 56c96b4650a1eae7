# SPDX-License-Identifier: GPL-2.0-or-later
"""A stand-in for a Kubernetes API server: list and watch over TLS, by HTTP/2, with
the rules of a real one for resource versions, pages, bookmarks and what parameters may
stand together."""
import base64
import collections
import contextlib
import json
import pathlib
import socket
import socketserver
import ssl
import tempfile
import threading
import time
import urllib.parse

from netlab.outcome import WAIT_S, Failure, expect

from . import h2streams
from .authority import Authority

HOST = "kubernetes.default.svc"

# plural: (path of the API, kind, in namespaces)
KINDS = {
    "namespaces": ("/api/v1", "Namespace", False),
    "services": ("/api/v1", "Service", True),
    "pods": ("/api/v1", "Pod", True),
    "endpointslices": ("/apis/discovery.k8s.io/v1", "EndpointSlice", True),
    "serviceentries": ("/apis/networking.istio.io/v1", "ServiceEntry", True),
    "workloadentries": ("/apis/networking.istio.io/v1", "WorkloadEntry", True),
}
KNOWN = {"limit", "continue", "resourceVersion", "resourceVersionMatch", "watch",
         "allowWatchBookmarks", "timeoutSeconds", "fieldSelector",
         "labelSelector", "pretty"}


def on(options, name):
    """A boolean as Go reads it."""
    return options.get(name) in ("1", "t", "T", "true", "True", "TRUE")


def forbidden(options):
    """What is wrong with the parameters of a list or a watch, as a real server
    says it (apimachinery, meta/internalversion/validation)."""
    match = options.get("resourceVersionMatch", "")
    version = options.get("resourceVersion", "")
    faults = []
    if on(options, "watch"):
        return ["resourceVersionMatch of a watch"] if match else []
    if match and not version:
        faults.append("resourceVersionMatch needs resourceVersion")
    if match and options.get("continue"):
        faults.append("resourceVersionMatch beside continue")
    if match not in ("", "Exact", "NotOlderThan"):
        faults.append("resourceVersionMatch is not known")
    if match == "Exact" and version == "0":
        faults.append("resourceVersionMatch Exact of 0")
    return faults


def unknown(options):
    """What else a careful server would not like: it is our client's fault."""
    faults = [f"parameter {name}" for name in options if name not in KNOWN]
    if options.get("continue") and options.get("resourceVersion"):
        faults.append("resourceVersion beside continue")
    for name in ("limit", "timeoutSeconds"):
        if name in options and not options[name].isdigit():
            faults.append(f"{name} is not a number")
    return faults


def status(code, reason, message, **details):
    return {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
            "message": message, "reason": reason, "details": details, "code": code}


def key_of(item):
    return (item["metadata"].get("namespace", ""), item["metadata"]["name"])


class Refusal(Exception):
    def __init__(self, code, reason, message, headers=(), **details):
        super().__init__(message)
        self.status = status(code, reason, message, **details)
        self.code = code
        self.headers = dict(headers)


class ApiServer:
    """All attributes may be changed while it runs, under no lock: a request sees
    them as they are when it comes."""

    def __init__(self, authority=None, name=HOST):
        self.authority = authority or Authority("cluster")
        self.names = (name, "127.0.0.1")
        self.objects = {plural: {} for plural in KINDS}
        self.version = 100
        self.history = collections.deque()
        self.changed = threading.Condition()
        self.requests = []
        self.violations = []
        self.connections = set()
        self.honours_limit = False	# also of resourceVersion=0
        self.missing = set()
        self.forbidden = set()
        self.tokens = {"secret"}
        self.bookmark_s = 0.2
        self.watch_s = 3600		# a watch ends then, if not before
        self.piece = 0			# octets of a chunk; 0: as it comes
        self.faults = collections.defaultdict(collections.deque)
        self.directory = tempfile.TemporaryDirectory(prefix="nfdns-api-")
        self.path = pathlib.Path(self.directory.name)
        self.stopping = False
        self.host, self.port = "127.0.0.1", 0
        self.protocols = ["h2", "http/1.1"]
        self.use_pair(self.authority.pair(*self.names))

    # ---- what a test does with it

    def use_pair(self, pair):
        pair.write(self.path / "cert.pem", self.path / "key.pem")
        (self.path / "roots.pem").write_bytes(self.authority.pem)
        self.tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.tls.load_cert_chain(self.path / "cert.pem", self.path / "key.pem")
        self.tls.load_verify_locations(self.path / "roots.pem")
        self.tls.verify_mode = ssl.CERT_OPTIONAL
        self.tls.set_alpn_protocols(self.protocols)

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, kind, value, trace):
        self.stop()
        self.directory.cleanup()
        if kind is None:
            expect(not self.violations, "requests that no API server takes:", self.violations)

    def start(self):
        self.stopping = False
        self.http = Listener((self.host, self.port), Handler)
        self.http.api = self
        self.port = self.http.server_address[1]
        self.thread = threading.Thread(target=self.http.serve_forever,
                                       kwargs={"poll_interval": 0.02}, daemon=True)
        self.thread.start()

    def stop(self):
        """Nobody listens any more, and every connection is reset."""
        with self.changed:
            self.stopping = True
            self.changed.notify_all()
        self.http.shutdown()
        self.http.server_close()
        self.thread.join()
        self.drop()

    def drop(self):
        for connection in list(self.connections):
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def _change(self, what, plural, item):
        self.version += 1
        item["metadata"]["resourceVersion"] = str(self.version)
        self.history.append((self.version, plural, what, item))
        self.changed.notify_all()

    def put(self, item):
        """Adds or replaces an object, which has a kind."""
        plural = next(p for p, (_, kind, _) in KINDS.items() if kind == item["kind"])
        item = json.loads(json.dumps(item))
        item["apiVersion"] = KINDS[plural][0].split("/", 2)[2].replace("api/", "")
        with self.changed:
            known = key_of(item) in self.objects[plural]
            self.objects[plural][key_of(item)] = item
            self._change("MODIFIED" if known else "ADDED", plural, item)

    def delete(self, plural, namespace, name):
        with self.changed:
            item = json.loads(json.dumps(self.objects[plural].pop((namespace, name))))
            self._change("DELETED", plural, item)

    def end_watches(self):
        """All of them end as planned, now."""
        with self.changed:
            self.ended = time.monotonic()
            self.changed.notify_all()

    ended = 0

    def kubeconfig(self, path=None, cluster=(), user=None, **more):
        path = path or self.path / "kubeconfig"
        cluster = dict({"server": f"https://127.0.0.1:{self.port}",
                        "certificate-authority": "roots.pem"}, **dict(cluster))
        user = {"token": "secret"} if user is None else user
        path.write_text(json.dumps(dict({
            "apiVersion": "v1", "kind": "Config", "current-context": "here",
            "clusters": [{"name": "c", "cluster": cluster}],
            "users": [{"name": "u", "user": user}],
            "contexts": [{"name": "here", "context": {"cluster": "c", "user": "u"}}],
        }, **more)))
        return path

    def everything(self):
        """All objects as one List, as "kubectl get ... -o json" has it."""
        with self.changed:
            return json.loads(json.dumps({
                "apiVersion": "v1", "kind": "List",
                "items": [item for plural in KINDS for item in self.objects[plural].values()]}))

    def asked(self, plural, **wanted):
        """The requests for a kind that had those parameters; None: not had."""
        return [r for r in self.requests if r["plural"] == plural and all(
            r["options"].get(k) == v for k, v in wanted.items())]

    def wait_asked(self, plural, count=1, **wanted):
        with self.changed:
            if not self.changed.wait_for(
                    lambda: len(self.asked(plural, **wanted)) >= count, WAIT_S):
                raise Failure(f"no {count} requests for {plural} with {wanted} in"
                              f" {[(r['plural'], r['options']) for r in self.requests]}")
            return self.asked(plural, **wanted)

    # ---- what a request is answered with

    def _select(self, plural, namespace, options):
        wanted = options.get("fieldSelector", "")
        expect(wanted in ("", "status.phase!=Succeeded,status.phase!=Failed")
               or plural != "pods", f"fieldSelector {wanted}")
        over = ("Succeeded", "Failed") if wanted else ()
        return lambda item: (
            (namespace is None or item["metadata"].get("namespace") == namespace)
            and item.get("status", {}).get("phase") not in over)

    def list(self, plural, namespace, options):
        path, kind, _ = KINDS[plural]
        with self.changed:
            version, start = options.get("resourceVersion", ""), None
            limit = int(options.get("limit", 0))
            if version == "0" and not self.honours_limit:
                limit = 0
            if options.get("continue"):
                token = json.loads(base64.urlsafe_b64decode(options["continue"]))
                start = tuple(token["start"])
            elif version not in ("", "0"):
                expect(int(version) <= self.version, "a version from the future", version)
            chosen = self._select(plural, namespace, options)
            keys = sorted(k for k, item in self.objects[plural].items()
                          if chosen(item) and (start is None or k > start))
            metadata = {"resourceVersion": str(self.version)}
            if limit and len(keys) > limit:
                keys, left = keys[:limit], len(keys) - limit
                metadata["remainingItemCount"] = left
                metadata["continue"] = base64.urlsafe_b64encode(json.dumps(
                    {"start": keys[-1], "version": self.version}).encode()).decode()
            # The items of a list have no kind of their own.
            items = [{k: v for k, v in self.objects[plural][key].items()
                      if k not in ("kind", "apiVersion")} for key in keys]
            return {"kind": kind + "List", "apiVersion": path.rsplit("/", 1)[-1],
                    "metadata": metadata, "items": items}

    def watch(self, plural, namespace, options, began):
        """Events as they come, until the watch ends."""
        until = began + min(float(options.get("timeoutSeconds", 1800)), self.watch_s)
        bookmarks = on(options, "allowWatchBookmarks")
        chosen = self._select(plural, namespace, options)
        kind = KINDS[plural][1]
        with self.changed:
            version = options.get("resourceVersion", "")
            at = int(version) if version not in ("", "0") else self.version
            first = [] if version not in ("", "0") else [
                i for i in self.objects[plural].values() if chosen(i)]
        yield from ({"type": "ADDED", "object": item} for item in first)
        mark = time.monotonic() + self.bookmark_s
        while True:
            with self.changed:
                now = time.monotonic()
                events = [e for e in self.history if e[0] > at and e[1] == plural
                          and chosen(e[3])]
                if not events and now < min(until, mark) and not self.stopping \
                        and self.ended < began:
                    self.changed.wait(min(until, mark) - now)
                    continue
                at = max(at, self.version)
                over = now >= until or self.stopping or self.ended >= began
            yield from ({"type": e[2], "object": e[3]} for e in events)
            if bookmarks and (now >= mark or over):
                mark = time.monotonic() + self.bookmark_s
                yield self._bookmark(kind, at)
            if over:
                return

    @staticmethod
    def _bookmark(kind, version):
        return {"type": "BOOKMARK", "object": {"kind": kind, "metadata": {"resourceVersion": str(version)}}}

    def check(self, plural, options, headers, identity):
        """Raises what a server refuses before it looks at any object."""
        token = headers.get("Authorization", "").removeprefix("Bearer ")
        if token not in self.tokens and identity is None:
            raise Refusal(401, "Unauthorized", "Unauthorized")
        if plural in self.missing:
            raise Refusal(404, "NotFound", "the server could not find the requested resource")
        if plural in self.forbidden:
            raise Refusal(403, "Forbidden", f'{plural} is forbidden: User "vm" cannot list')
        faults = forbidden(options)
        wrong = [f for f in faults if "WatchList" not in f] + unknown(options)
        if "gzip" in headers.get("Accept-Encoding", ""):
            wrong.append("Accept-Encoding")
        if wrong and headers.get("User-Agent", "").startswith("nfdns"):
            self.violations.append((plural, options, wrong))
        if faults:
            raise Refusal(422, "Invalid", 'ListOptions.meta.k8s.io "" is invalid: '
                          + "; ".join(faults))


class Listener(socketserver.ThreadingTCPServer):
    daemon_threads = True
    allow_reuse_address = True
    request_queue_size = 64

    def handle_error(self, request, client_address):
        """A client that goes away is not worth a word."""


class Answers:
    """What a request is answered with, over whatever it came: "path" and "headers"
    are its, begin(), write() and end() say the answer."""

    def _answer(self, code, body, headers=()):
        octets = body if isinstance(body, bytes) else json.dumps(
            body, separators=(",", ":")).encode()
        self.begin(code, {"Content-Length": str(len(octets)), **dict(headers)})
        self.write(octets)
        self.end()

    def _watch(self, plural, namespace, options, began):
        events = self.api.watch(plural, namespace, options, began)
        first = next(events, None)
        self.begin(200)
        while first is not None:
            octets = json.dumps(first, separators=(",", ":")).encode() + b"\n"
            step = self.api.piece or len(octets)
            for at in range(0, len(octets), step):
                self.write(octets[at:at + step])
            first = next(events, None)
        self.end()

    def _serve(self, plural, namespace, options):
        api, began = self.api, time.monotonic()
        with api.changed:
            api.requests.append({
                "plural": plural, "namespace": namespace, "options": options,
                "token": self.headers.get("Authorization"), "time": began,
                "agent": self.headers.get("User-Agent")})
            api.changed.notify_all()
        fault = api.faults[plural].popleft() if api.faults[plural] else None
        if fault is not None and fault(self):
            return None
        api.check(plural, options, self.headers, self.identity)
        if on(options, "watch"):
            return self._watch(plural, namespace, options, began)
        return self._answer(200, api.list(plural, namespace, options))

    def _route(self, path):
        """(plural, namespace) of a path."""
        for plural, (where, _, _) in KINDS.items():
            if not path.startswith(where + "/"):
                continue
            parts = path[len(where) + 1:].split("/")
            if parts[0] == "namespaces" and len(parts) > 2:
                namespace, parts = parts[1], parts[2:]
            else:
                namespace = None
            if parts == [plural]:
                return plural, namespace
        raise Refusal(404, "NotFound", "the server could not find the requested resource")

    def answer(self):
        url = urllib.parse.urlsplit(self.path)
        options = dict(urllib.parse.parse_qsl(url.query, keep_blank_values=True,
                                              strict_parsing=bool(url.query)))
        try:
            self._serve(*self._route(url.path), options)
        except Refusal as no:
            self._answer(no.code, no.status, no.headers)


class Handler(socketserver.StreamRequestHandler):
    """One connection."""

    def setup(self):
        self.api = self.server.api
        self.request.settimeout(WAIT_S * 3)
        self.request.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.api.connections.add(self.request)
        self.plain = self.request
        self.request = self.api.tls.wrap_socket(self.request, server_side=True)
        self.api.connections.add(self.request)
        self.identity = self.request.getpeercert() or None
        super().setup()

    def handle(self):
        if self.request.selected_alpn_protocol() == "h2":
            h2streams.Connection(self.request, lambda stream, headers: Stream(
                self.api, self.identity, stream, headers).serve()).run()

    def finish(self):
        self.api.connections.discard(self.plain)
        self.api.connections.discard(self.request)
        super().finish()


class Stream(Answers):
    """One request of HTTP/2."""

    def __init__(self, api, identity, stream, headers):
        self.api, self.identity, self.stream = api, identity, stream
        self.path = headers[":path"]
        self.headers = {name.title(): value for name, value in headers.items()}
        self.write, self.end = stream.body, stream.end

    def begin(self, code, headers=()):
        self.stream.head(code, {"Content-Type": "application/json", **dict(headers)}.items())

    def serve(self):
        with contextlib.suppress(BrokenPipeError):
            self.answer()


# ---- faults: the next request for a kind is answered with it

def answer(code, body=b"", headers=()):
    """Any answer, HTML for one."""
    def fault(handler):
        handler._answer(code, body, headers)
        return True
    return fault


def watched(octets, hang_up=False):
    """Those octets as what a list or watch brings, and its end, or the connection's."""
    def fault(handler):
        handler.begin(200)
        handler.write(octets)
        if hang_up:
            handler.stream.hang_up()
        else:
            handler.end()
        return True
    return fault


def no_frames(octets):
    """Octets that are no HTTP/2, and then the end."""
    def fault(handler):
        handler.stream.hang_up(octets)
        return True
    return fault

# SPDX-License-Identifier: GPL-2.0-or-later
"""HTTP/2 under a server that answers each request in a thread of its own.

One thread has the socket and python3-h2's connection, since neither may be used
by two; the others leave what they say in queues and wake it."""
import collections
import contextlib
import os
import select
import ssl
import threading

import h2.config
import h2.connection
import h2.events
import h2.exceptions


class Stream:
    """What a thread writes the answer to one request to."""

    def __init__(self, connection, number):
        self.connection, self.number = connection, number
        self.waiting = collections.deque()	# (what, value)
        self.rest = b""

    def _add(self, what, value=None):
        if self.connection.ended:
            raise BrokenPipeError("the client has gone")
        self.waiting.append((what, value))
        self.connection.wake()

    def head(self, code, headers):
        self._add("head", [(":status", str(code)),
                           *((name.lower(), value) for name, value in headers)])

    def body(self, octets):
        self._add("body", octets)

    def end(self):
        self._add("end")

    def hang_up(self, octets=b""):
        """Octets that are no frame, and the end of the connection."""
        self._add("hang up", octets)


class Connection:
    """Ends with the socket.  "serve" gets a stream and the request's headers."""

    def __init__(self, sock, serve):
        self.sock, self.serve = sock, serve
        self.ended = False
        self.streams = {}
        self.h2 = h2.connection.H2Connection(
            h2.config.H2Configuration(client_side=False, header_encoding="utf-8"))
        self.woken, self.waker = os.pipe()
        os.set_blocking(self.waker, False)
        self.lock = threading.Lock()

    def wake(self):
        with self.lock, contextlib.suppress(BlockingIOError):
            if not self.ended:
                os.write(self.waker, b"x")

    def _flush(self):
        octets = self.h2.data_to_send()
        if octets:
            self.sock.sendall(octets)

    def _take(self, event):
        if isinstance(event, h2.events.RequestReceived):
            stream = self.streams[event.stream_id] = Stream(self, event.stream_id)
            threading.Thread(target=self.serve, args=(stream, dict(event.headers)),
                             daemon=True).start()
        elif isinstance(event, h2.events.StreamReset):
            self.streams.pop(event.stream_id, None)
        elif isinstance(event, h2.events.DataReceived):
            self.h2.acknowledge_received_data(event.flow_controlled_length, event.stream_id)

    def _send(self, stream):
        """As much of what waits as the client's windows take."""
        while stream.rest or stream.waiting:
            if stream.rest:
                room = min(self.h2.local_flow_control_window(stream.number),
                           self.h2.max_outbound_frame_size)
                if room <= 0:
                    return
                self.h2.send_data(stream.number, stream.rest[:room])
                stream.rest = stream.rest[room:]
                continue
            what, value = stream.waiting.popleft()
            if what == "head":
                self.h2.send_headers(stream.number, value)
            elif what == "body":
                stream.rest = value
            elif what == "end":
                self.h2.end_stream(stream.number)
                del self.streams[stream.number]
            else:
                self._flush()
                self.sock.sendall(value)
                raise ConnectionAbortedError

    def _step(self):
        if not self.sock.pending():
            ready = select.select([self.sock, self.woken], [], [])[0]
            if self.woken in ready:
                os.read(self.woken, 4096)
            if self.sock not in ready:
                return True
        octets = self.sock.recv(1 << 16)
        for event in self.h2.receive_data(octets) if octets else ():
            self._take(event)
        return bool(octets)

    def run(self):
        try:
            self.h2.initiate_connection()
            self._flush()
            while self._step():
                for stream in list(self.streams.values()):
                    self._send(stream)
                self._flush()
        except (OSError, ssl.SSLError, ValueError, h2.exceptions.H2Error):
            pass
        finally:
            with self.lock:
                self.ended = True
                os.close(self.woken)
                os.close(self.waker)
            # Threads that still hold a stream would keep it open.
            self.sock.close()

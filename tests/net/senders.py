# SPDX-License-Identifier: GPL-2.0-or-later
"""Ways in which a program may hand a question to the kernel.  Each way is a function
(server, message, other) that gives a socket from which answers can be read, where
"message" is what is denied and "other" a question that is not.  Names of functions are
names of ways; those of UDP and TCP begin with these words."""
import contextlib
import ctypes
import errno
import os
import socket
import struct

UDP_CORK, UDP_SEGMENT, UDP_NO_CHECK6_TX = 1, 103, 101
SO_NO_CHECK, SO_ZEROCOPY, MSG_ZEROCOPY, MSG_FASTOPEN = 11, 60, 0x4000000, 0x20000000
TCP_FASTOPEN_CONNECT, IP_UNICAST_IF = 30, 50
IPV6_RTHDR, SOL_UDP = 57, 17
CLONE_NEWUSER = 0x10000000
HOP = "2001:db8::53"		# of routes to a nameserver
ON_DEVICE = (socket.SOL_SOCKET, socket.SO_BINDTODEVICE, b"vm0")
ZEROCOPY = (socket.SOL_SOCKET, SO_ZEROCOPY, 1)
WAIT_S = 1			# a connection whose first packet is dropped


def family(server):
    return socket.AF_INET6 if ":" in server else socket.AF_INET


def is_ipv6(server):
    return ":" in server


def octets_of(address):
    return socket.inet_pton(family(address), address)


def opened(server, kind, *options, protocol=0):
    """A socket with these options, (level, name, value) each."""
    sock = socket.socket(family(server), kind, protocol)
    sock.settimeout(WAIT_S)
    for option in options:
        sock.setsockopt(*option)
    return sock


def datagrams(server, *options, protocol=0):
    sock = opened(server, socket.SOCK_DGRAM, *options, protocol=protocol)
    sock.connect((server, 53))
    return sock


def sent(server, message, *options, flags=0, protocol=0):
    """By one call on a connected UDP socket."""
    sock = datagrams(server, *options, protocol=protocol)
    sock.send(message, flags)
    return sock


def sent_to(server, message, *options):
    """The same on one that is not connected."""
    sock = opened(server, socket.SOCK_DGRAM, *options)
    sock.sendto(message, (server, 53))
    return sock


def low_port(server, kind):
    """Port 53, which the VM lets users have."""
    sock = opened(server, kind, (socket.SOL_SOCKET, socket.SO_REUSEADDR, 1))
    sock.bind(("::" if is_ipv6(server) else "0.0.0.0", 53))
    return sock


def mapped(server):
    return server if is_ipv6(server) else "::ffff:" + server


def udp_segments(server, message, _):
    """Several questions in one call (UDP_SEGMENT), the last one shorter."""
    sock = datagrams(server)
    sock.sendmsg([message * 20, message[:-1]],
                 [(SOL_UDP, UDP_SEGMENT, struct.pack("H", len(message)))])
    return sock


def udp_segments_other_first(server, message, other):
    """The first segment is a question that is allowed, padded behind its end."""
    return sent(server, other.ljust(len(message), b"\0") + message,
                (SOL_UDP, UDP_SEGMENT, len(message)))


def udp_segments_last(server, message, _):
    """All but the last segment are larger, and no questions."""
    size = 2 * len(message) + 1
    return sent(server, bytes(2 * size) + message, (SOL_UDP, UDP_SEGMENT, size))


def udp_more(server, message, _):
    sock = datagrams(server)
    for octet in message[:-1]:
        sock.send(bytes([octet]), socket.MSG_MORE)
    sock.send(message[-1:])
    return sock


def udp_cork(server, message, _):
    sock = datagrams(server, (SOL_UDP, UDP_CORK, 1))
    sock.send(message[:13])
    sock.send(message[13:])
    sock.setsockopt(SOL_UDP, UDP_CORK, 0)
    return sock


def udp_zerocopy(server, message, _):
    return sent(server, message, ZEROCOPY, flags=MSG_ZEROCOPY)


def sendfile(sock, octets):
    with open(os.memfd_create("question"), "w+b", buffering=0) as file:
        file.write(octets)
        os.sendfile(sock.fileno(), file.fileno(), 0, len(octets))


def udp_sendfile(server, message, _):
    """Its octets are pages of a file."""
    sock = datagrams(server)
    sendfile(sock, message)
    return sock


def udp_no_checksum(server, message, _):
    return sent(server, message, (SOL_UDP, UDP_NO_CHECK6_TX, 1) if is_ipv6(server) else
                (socket.SOL_SOCKET, SO_NO_CHECK, 1))


def udp_lite(server, message, _):
    return sent(server, message, protocol=136)


def udp_reconnected(server, message, other):
    sock = sent(server, other)
    sock.connect((server, 5353))
    sock.connect((server, 53))
    sock.send(message)
    return sock


def udp_not_connected(server, message, _):
    return sent_to(server, message)


def udp_on_device(server, message, _):
    return sent_to(server, message, ON_DEVICE)


def udp_unicast_device(server, message, _):
    index = socket.htonl(socket.if_nametoindex("vm0"))
    return sent_to(server, message, (socket.IPPROTO_IPV6, 76, index) if is_ipv6(server) else
                   (socket.IPPROTO_IP, IP_UNICAST_IF, index))


def udp_odd_header(server, message, _):
    return sent(server, message, *(
        ((socket.IPPROTO_IPV6, socket.IPV6_TCLASS, 0xff),
         (socket.IPPROTO_IPV6, socket.IPV6_UNICAST_HOPS, 2)) if is_ipv6(server) else
        ((socket.IPPROTO_IP, socket.IP_TOS, 0xff), (socket.IPPROTO_IP, socket.IP_TTL, 2))))


def udp_source_53(server, message, _):
    sock = low_port(server, socket.SOCK_DGRAM)
    sock.connect((server, 53))
    sock.send(message)
    return sock


def udp_mapped(server, message, _):
    """An IPv6 socket to an IPv4 nameserver."""
    return sent_to(mapped(server), message)


def udp_cut_by_mtu(server, message, _):
    """Fragments: what a server does not read stands behind the question."""
    return sent(server, message + bytes(2500))


def udp_user_namespace(server, message, _):
    """A socket of somebody who is nobody, or root, in a user namespace."""
    ours, theirs = socket.socketpair()
    child = os.fork()
    if child == 0:
        try:
            if ctypes.CDLL(None).unshare(CLONE_NEWUSER) == 0:
                made = socket.socket(family(server), socket.SOCK_DGRAM)
                socket.send_fds(theirs, [b" "], [made.fileno()])
        finally:
            os._exit(0)
    theirs.close()
    os.waitpid(child, 0)
    with ours:
        files = socket.recv_fds(ours, 1, 1)[1]
    if not files:
        raise OSError(errno.EPERM, "no user namespace")
    sock = socket.socket(fileno=files[0])
    sock.settimeout(WAIT_S)
    sock.connect((server, 53))
    sock.send(message)
    return sock


def only(ipv6, server):
    if is_ipv6(server) != ipv6:
        raise OSError(errno.EPROTONOSUPPORT, "of the other family")


def route_options(kind, server):
    return bytes([kind, 7, 4]) + octets_of(server) + b"\0"


OPTIONS = {
    "loose_route": lambda server: route_options(131, server),
    "strict_route": lambda server: route_options(137, server),
    "record_route": lambda server: bytes([7, 39, 4]) + bytes(36) + b"\0",
    "timestamp": lambda server: bytes([68, 36, 5, 0]) + bytes(32),
    "router_alert": lambda server: bytes([148, 4, 0, 0]),
    "no_operations": lambda server: bytes([1] * 40),
}


def optioned(ipv6, option):
    """Both ways with an option, which is (level, name, value), of the server."""
    def udp(server, message, _):
        only(ipv6, server)
        return sent_to(server, message, option(server))

    def tcp(server, message, _):
        only(ipv6, server)
        return streamed(server, message, option(server))
    return udp, tcp


def routed(*hops):
    """RFC 8754 section 2; the kernel puts "server" in the first place."""
    last = len(hops)
    head = bytes([0, 2 * last + 2, 4, last, last, 0, 0, 0])
    return optioned(True, lambda server: (socket.IPPROTO_IPV6, IPV6_RTHDR, head + b"".join(
        map(octets_of, [server, *hops]))))


def extended(option):
    """Headers that only root may send."""
    return optioned(True, lambda _: (socket.IPPROTO_IPV6, option, bytes([0, 0, 1, 4, 0, 0, 0, 0])))[0]


def framed(message):
    return struct.pack("!H", len(message)) + message


def connected(server, sock=None):
    sock = sock or opened(server, socket.SOCK_STREAM)
    sock.settimeout(WAIT_S)
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    sock.connect((server, 53))
    return sock


def tcp_plain(server, message, _, sock=None):
    sock = connected(server, sock)
    sock.sendall(framed(message))
    return sock


def streamed(server, message, *options, protocol=0):
    return tcp_plain(server, message, None,
                     opened(server, socket.SOCK_STREAM, *options, protocol=protocol))


def tcp_fastopen(server, message, _):
    """Octets in the first packet: the second time, the client has a cookie."""
    sock = opened(server, socket.SOCK_STREAM)
    sock.sendto(framed(message), MSG_FASTOPEN, (server, 53))
    return sock


def tcp_fastopen_connect(server, message, _):
    return streamed(server, message, (socket.IPPROTO_TCP, TCP_FASTOPEN_CONNECT, 1))


def tcp_empty_frames(server, message, _):
    sock = connected(server)
    sock.sendall(bytes(2 * 50) + framed(message))
    return sock


def tcp_largest_frame(server, message, _):
    return tcp_plain(server, message.ljust(65535, b"\0"), _)


def tcp_each_octet(server, message, _):
    sock = connected(server)
    for octet in framed(message):
        sock.send(bytes([octet]))
    return sock


def tcp_half_closed(server, message, other):
    sock = connected(server)
    sock.sendall(framed(other) + framed(message))
    sock.shutdown(socket.SHUT_WR)
    return sock


def with_urgent(server, message, at):
    """An urgent octet, which is not part of the stream."""
    sock = connected(server)
    octets = framed(message)
    sock.send(octets[:at])
    sock.send(b"\xff", socket.MSG_OOB)
    sock.sendall(octets[at:])
    return sock


def tcp_urgent_prefix(server, message, _):
    """In the middle of the length."""
    return with_urgent(server, message, 1)


def tcp_urgent_message(server, message, _):
    return with_urgent(server, message, 20)


def tcp_urgent_start(server, message, _):
    sock = connected(server)
    sock.send(b"\0", socket.MSG_OOB)
    sock.sendall(framed(message))
    return sock


def tcp_multipath(server, message, _):
    return streamed(server, message, protocol=262)


def tcp_again(server, message, other):
    """The same port once more, behind a connection that was reset."""
    first = connected(server)
    first.sendall(framed(other))
    first.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    source = first.getsockname()[:2]
    first.close()
    sock = opened(server, socket.SOCK_STREAM)
    sock.bind(source)
    return tcp_plain(server, message, other, sock)


def tcp_disconnected(server, message, other):
    """The same socket once more."""
    sock = connected(server)
    sock.sendall(framed(other))
    ctypes.CDLL(None).connect(sock.fileno(), struct.pack("H14x", socket.AF_UNSPEC), 16)
    return tcp_plain(server, message, other, sock)


def tcp_transfer_before(server, message, _):
    """A transfer of the zone, and the question while that goes on."""
    transfer = struct.pack("!6H", 7, 0, 1, 0, 0, 0) + b"\7example\0" + struct.pack("!2H", 252, 1)
    sock = connected(server)
    sock.sendall(framed(transfer) + framed(message))
    return sock


def tcp_sendfile(server, message, _):
    sock = connected(server)
    sendfile(sock, framed(message))
    return sock


def tcp_zerocopy(server, message, _):
    sock = connected(server, opened(server, socket.SOCK_STREAM, ZEROCOPY))
    sock.send(framed(message), MSG_ZEROCOPY)
    return sock


def tcp_source_53(server, message, other):
    sock = low_port(server, socket.SOCK_STREAM)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    return tcp_plain(server, message, other, sock)


def tcp_mapped(server, message, other):
    return tcp_plain(mapped(server), message, other)


def tcp_on_device(server, message, _):
    return streamed(server, message, ON_DEVICE)


WAYS = {name: way for name, way in sorted(globals().items()) if name.startswith(("udp_", "tcp_"))}
for _name, _options in OPTIONS.items():
    WAYS["udp_" + _name], WAYS["tcp_" + _name] = optioned(False, lambda server, of=_options: (
        socket.IPPROTO_IP, socket.IP_OPTIONS, of(server)))
WAYS["udp_route_ends"], WAYS["tcp_route_ends"] = routed()
WAYS["udp_route"], WAYS["tcp_route"] = routed(HOP)
WAYS["udp_hop_by_hop"], WAYS["udp_destination_options"] = extended(54), extended(59)


def send(way, *arguments):
    """A socket, or None if the kernel does not let this user do that."""
    with contextlib.suppress(OSError):
        return WAYS[way](*arguments)
    return None

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
WAIT_S = 1			# a connection whose first packet is dropped


def family(server):
    return socket.AF_INET6 if ":" in server else socket.AF_INET


def is_ipv6(server):
    return ":" in server


def octets_of(address):
    return socket.inet_pton(family(address), address)


def datagrams(server, protocol=0, connected=True):
    sock = socket.socket(family(server), socket.SOCK_DGRAM, protocol)
    sock.settimeout(WAIT_S)
    if connected:
        sock.connect((server, 53))
    return sock


def udp_segments(server, message, _):
    """Several questions in one call (UDP_SEGMENT), the last one shorter."""
    sock = datagrams(server)
    sock.sendmsg([message * 20, message[:-1]],
                 [(SOL_UDP, UDP_SEGMENT, struct.pack("H", len(message)))])
    return sock


def udp_segments_other_first(server, message, other):
    """The first segment is a question that is allowed, padded behind its end."""
    sock = datagrams(server)
    sock.setsockopt(SOL_UDP, UDP_SEGMENT, len(message))
    sock.send(other.ljust(len(message), b"\0") + message)
    return sock


def udp_segments_last(server, message, _):
    """All but the last segment are larger, and no questions."""
    sock = datagrams(server)
    sock.setsockopt(SOL_UDP, UDP_SEGMENT, 2 * len(message) + 1)
    sock.send(bytes(2 * (2 * len(message) + 1)) + message)
    return sock


def udp_more(server, message, _):
    sock = datagrams(server)
    for octet in message[:-1]:
        sock.send(bytes([octet]), socket.MSG_MORE)
    sock.send(message[-1:])
    return sock


def udp_cork(server, message, _):
    sock = datagrams(server)
    sock.setsockopt(SOL_UDP, UDP_CORK, 1)
    sock.send(message[:13])
    sock.send(message[13:])
    sock.setsockopt(SOL_UDP, UDP_CORK, 0)
    return sock


def udp_zerocopy(server, message, _):
    sock = datagrams(server)
    sock.setsockopt(socket.SOL_SOCKET, SO_ZEROCOPY, 1)
    sock.send(message, MSG_ZEROCOPY)
    return sock


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
    sock = datagrams(server)
    if is_ipv6(server):
        sock.setsockopt(SOL_UDP, UDP_NO_CHECK6_TX, 1)
    else:
        sock.setsockopt(socket.SOL_SOCKET, SO_NO_CHECK, 1)
    sock.send(message)
    return sock


def udp_lite(server, message, _):
    sock = datagrams(server, 136)
    sock.send(message)
    return sock


def udp_reconnected(server, message, other):
    sock = datagrams(server)
    sock.send(other)
    sock.connect((server, 5353))
    sock.connect((server, 53))
    sock.send(message)
    return sock


def udp_not_connected(server, message, _):
    sock = datagrams(server, connected=False)
    sock.sendto(message, (server, 53))
    return sock


def udp_on_device(server, message, _):
    sock = datagrams(server, connected=False)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, b"vm0")
    sock.sendto(message, (server, 53))
    return sock


def udp_unicast_device(server, message, _):
    sock = datagrams(server, connected=False)
    index = socket.htonl(socket.if_nametoindex("vm0"))
    sock.setsockopt(*((socket.IPPROTO_IPV6, 76) if is_ipv6(server) else
                      (socket.IPPROTO_IP, IP_UNICAST_IF)), index)
    sock.sendto(message, (server, 53))
    return sock


def udp_odd_header(server, message, _):
    sock = datagrams(server)
    for level, option, value in (
            ((socket.IPPROTO_IPV6, socket.IPV6_TCLASS, 0xff),
             (socket.IPPROTO_IPV6, socket.IPV6_UNICAST_HOPS, 2)) if is_ipv6(server) else
            ((socket.IPPROTO_IP, socket.IP_TOS, 0xff), (socket.IPPROTO_IP, socket.IP_TTL, 2))):
        sock.setsockopt(level, option, value)
    sock.send(message)
    return sock


def udp_source_53(server, message, _):
    """The VM lets users have low ports."""
    sock = datagrams(server, connected=False)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    sock.bind(("::" if is_ipv6(server) else "0.0.0.0", 53))
    sock.connect((server, 53))
    sock.send(message)
    return sock


def udp_mapped(server, message, _):
    """An IPv6 socket to an IPv4 nameserver."""
    server = server if is_ipv6(server) else "::ffff:" + server
    return udp_not_connected(server, message, _)


def udp_cut_by_mtu(server, message, _):
    """Fragments: what a server does not read stands behind the question."""
    sock = datagrams(server)
    sock.send(message + bytes(2500))
    return sock


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


def with_options(sock, server, options):
    if is_ipv6(server):
        raise OSError(errno.EPROTONOSUPPORT, "of IPv4")
    sock.setsockopt(socket.IPPROTO_IP, socket.IP_OPTIONS, options)
    return sock


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


def optioned(options):
    def udp(server, message, _):
        sock = with_options(datagrams(server, connected=False), server, options(server))
        sock.sendto(message, (server, 53))
        return sock

    def tcp(server, message, other):
        sock = with_options(socket.socket(family(server), socket.SOCK_STREAM), server,
                            options(server))
        return tcp_plain(server, message, other, sock)
    return udp, tcp


def route_header(server, hops):
    """RFC 8754 section 2; the kernel puts "server" in the first place."""
    if not is_ipv6(server):
        raise OSError(errno.EPROTONOSUPPORT, "of IPv6")
    return (bytes([0, 2 * len(hops), 4, len(hops) - 1, len(hops) - 1, 0, 0, 0]) +
            b"".join(map(octets_of, hops)))


def routed(*hops):
    def udp(server, message, _):
        sock = datagrams(server, connected=False)
        sock.setsockopt(socket.IPPROTO_IPV6, IPV6_RTHDR, route_header(server, [server, *hops]))
        sock.sendto(message, (server, 53))
        return sock

    def tcp(server, message, other):
        sock = socket.socket(family(server), socket.SOCK_STREAM)
        sock.setsockopt(socket.IPPROTO_IPV6, IPV6_RTHDR, route_header(server, [server, *hops]))
        return tcp_plain(server, message, other, sock)
    return udp, tcp


def extended(option):
    """Headers that only root may send."""
    def udp(server, message, _):
        if not is_ipv6(server):
            raise OSError(errno.EPROTONOSUPPORT, "of IPv6")
        sock = datagrams(server, connected=False)
        sock.setsockopt(socket.IPPROTO_IPV6, option, bytes([0, 0, 1, 4, 0, 0, 0, 0]))
        sock.sendto(message, (server, 53))
        return sock
    return udp


def framed(message):
    return struct.pack("!H", len(message)) + message


def connected(server, sock=None, protocol=0):
    sock = sock or socket.socket(family(server), socket.SOCK_STREAM, protocol)
    sock.settimeout(WAIT_S)
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    sock.connect((server, 53))
    return sock


def tcp_plain(server, message, _, sock=None):
    sock = connected(server, sock)
    sock.sendall(framed(message))
    return sock


def tcp_fastopen(server, message, _):
    """Octets in the first packet: the second time, the client has a cookie."""
    sock = socket.socket(family(server), socket.SOCK_STREAM)
    sock.settimeout(WAIT_S)
    sock.sendto(framed(message), MSG_FASTOPEN, (server, 53))
    return sock


def tcp_fastopen_connect(server, message, _):
    sock = socket.socket(family(server), socket.SOCK_STREAM)
    sock.setsockopt(socket.IPPROTO_TCP, TCP_FASTOPEN_CONNECT, 1)
    return tcp_plain(server, message, _, sock)


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


def tcp_urgent_prefix(server, message, _):
    """An urgent octet in the middle of the length: not part of the stream."""
    sock = connected(server)
    octets = framed(message)
    sock.send(octets[:1])
    sock.send(b"\xff", socket.MSG_OOB)
    sock.sendall(octets[1:])
    return sock


def tcp_urgent_message(server, message, _):
    sock = connected(server)
    octets = framed(message)
    sock.send(octets[:20])
    sock.send(b"\xff", socket.MSG_OOB)
    sock.sendall(octets[20:])
    return sock


def tcp_urgent_start(server, message, _):
    sock = connected(server)
    sock.send(b"\0", socket.MSG_OOB)
    sock.sendall(framed(message))
    return sock


def tcp_multipath(server, message, other):
    return tcp_plain(server, message, other,
                     socket.socket(family(server), socket.SOCK_STREAM, 262))


def tcp_again(server, message, other):
    """The same port once more, behind a connection that was reset."""
    first = connected(server)
    first.sendall(framed(other))
    first.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    source = first.getsockname()[:2]
    first.close()
    sock = socket.socket(family(server), socket.SOCK_STREAM)
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
    sock = connected(server)
    sock.setsockopt(socket.SOL_SOCKET, SO_ZEROCOPY, 1)
    sock.send(framed(message), MSG_ZEROCOPY)
    return sock


def tcp_source_53(server, message, other):
    sock = socket.socket(family(server), socket.SOCK_STREAM)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    sock.bind(("::" if is_ipv6(server) else "0.0.0.0", 53))
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    return tcp_plain(server, message, other, sock)


def tcp_mapped(server, message, other):
    return tcp_plain(server if is_ipv6(server) else "::ffff:" + server, message, other)


def tcp_on_device(server, message, other):
    sock = socket.socket(family(server), socket.SOCK_STREAM)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, b"vm0")
    return tcp_plain(server, message, other, sock)


WAYS = {name: way for name, way in sorted(globals().items()) if name.startswith(("udp_", "tcp_"))}
for _name, _options in OPTIONS.items():
    WAYS["udp_" + _name], WAYS["tcp_" + _name] = optioned(_options)
WAYS["udp_route_ends"], WAYS["tcp_route_ends"] = routed()
WAYS["udp_route"], WAYS["tcp_route"] = routed(HOP)
WAYS["udp_hop_by_hop"], WAYS["udp_destination_options"] = extended(54), extended(59)


def send(way, *arguments):
    """A socket, or None if the kernel does not let this user do that."""
    with contextlib.suppress(OSError):
        return WAYS[way](*arguments)
    return None

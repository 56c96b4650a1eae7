# SPDX-License-Identifier: GPL-2.0-or-later
"""Packets as they are on a device."""
import ipaddress
import socket
import struct

from .outcome import Closing


class Capture(Closing):
    """Frames on a device of a namespace, from when this object is made."""

    def __init__(self, space, device, buffer=32 << 20):
        self.socket = space.socket(socket.AF_PACKET, socket.SOCK_DGRAM,
                                   socket.htons(0x0003))
        with space.inside():
            self.socket.bind((device, 0x0003))
        # SO_RCVBUFFORCE: thousands of packets may wait until they are looked at.
        self.socket.setsockopt(socket.SOL_SOCKET, 33, buffer)

    def packets(self, count=None, timeout=1.0, want=lambda packet: True):
        """IP packets that want() likes, until there are count or silence."""
        found = []
        self.socket.settimeout(timeout)
        while count is None or len(found) < count:
            try:
                octets, (_, protocol, _, _, _) = self.socket.recvfrom(65535)
            except TimeoutError:
                break
            if protocol in (0x0800, 0x86dd) and want(octets):
                found.append(octets)
        return found

    def close(self):
        self.socket.close()


def udp_of(packet):
    """(source port, destination port, payload) of a UDP packet without extension
    headers, or None."""
    if packet[0] >> 4 == 4:
        if packet[9] != 17 or struct.unpack_from("!H", packet, 6)[0] & 0x1fff:
            return None
        at = (packet[0] & 15) * 4
    else:
        if packet[6] != 17:
            return None
        at = 40
    source, destination, length = struct.unpack_from("!HHH", packet, at)
    return source, destination, packet[at + 8:at + length]


def to_port_53(packet):
    ports = udp_of(packet)
    return ports is not None and ports[1] == 53


def checksum(octets):
    """Of IP, UDP and TCP (RFC 1071); 0 of octets that hold a right one."""
    octets += b"\0" * (len(octets) % 2)
    total = sum(struct.unpack(f"!{len(octets) // 2}H", octets))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return ~total & 0xffff


def is_sound(packet):
    """Whether lengths and checksums of a UDP packet without extension headers
    are right, those of its IPv4 header too."""
    if packet[0] >> 4 == 4:
        at = (packet[0] & 15) * 4
        addresses, total = packet[12:20], struct.unpack_from("!H", packet, 2)[0]
        if checksum(packet[:at]) != 0:
            return False
    else:
        at = 40
        addresses, total = packet[8:40], 40 + struct.unpack_from("!H", packet, 4)[0]
    pseudo = addresses + struct.pack("!HH", 17, total - at)
    return (len(packet) == total and
            struct.unpack_from("!H", packet, at + 4)[0] == total - at and
            struct.unpack_from("!H", packet, at + 6)[0] != 0 and
            checksum(pseudo + packet[at:]) == 0)


def address_octets(text):
    return ipaddress.ip_address(text).packed

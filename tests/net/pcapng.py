# SPDX-License-Identifier: GPL-2.0-or-later
"""A reader of pcapng that takes nothing from nfdns: the blocks by the draft's
text (draft-ietf-opsawg-pcapng), the packets by the RFCs."""
import collections
import ipaddress
import struct

import dnswire
from netlab import checksum

SECTION, INTERFACE, STATISTICS, PACKET = 0x0a0d0d0a, 1, 5, 6
COMMENT = 1

Packet = collections.namedtuple(
    "Packet", "section time_ns source destination stream message options")


class Broken(Exception):
    """These octets are no pcapng."""


def options_of(octets, order):
    """{code: value}; a list ends with opt_endofopt or its block."""
    found, at = {}, 0
    while at < len(octets):
        code, length = struct.unpack_from(order + "HH", octets, at)
        if code == 0:
            if length or at + 4 != len(octets):
                raise Broken("octets behind the end of options")
            break
        value = octets[at + 4:at + 4 + length]
        if len(value) != length:
            raise Broken(f"option {code} is longer than its block")
        found[code] = value
        at += 4 + (length + 3) // 4 * 4
    return found


def blocks(octets):
    """(type, body, order of octets) of each block; the end must be that of one."""
    at, order = 0, "<"
    while at < len(octets):
        if len(octets) - at < 12:
            raise Broken(f"{len(octets) - at} octets left at {at}")
        if octets[at:at + 4] == b"\n\r\r\n":
            order = {b"\x1a\x2b\x3c\x4d": ">", b"\x4d\x3c\x2b\x1a": "<"}[octets[at + 8:at + 12]]
        kind, length = struct.unpack_from(order + "II", octets, at)
        if length < 12 or length % 4 or at + length > len(octets):
            raise Broken(f"block of {length} octets at {at}")
        if struct.unpack_from(order + "I", octets, at + length - 4)[0] != length:
            raise Broken(f"the lengths of the block at {at} differ")
        yield kind, octets[at + 8:at + length - 4], order
        at += length


def transport(packet):
    """(source, destination, protocol, segment, sum of the pseudo header's octets)"""
    if packet[0] >> 4 == 4:
        if checksum(packet[:20]) or struct.unpack_from("!H", packet, 2)[0] != len(packet):
            raise Broken("header of IPv4")
        source, destination, protocol = packet[12:16], packet[16:20], packet[9]
        rest = packet[20:]
    else:
        if struct.unpack_from("!H", packet, 4)[0] != len(packet) - 40:
            raise Broken("length of IPv6")
        source, destination, protocol = packet[8:24], packet[24:40], packet[6]
        rest = packet[40:]
    pseudo = source + destination + struct.pack("!II", len(rest), protocol)
    if checksum(pseudo + rest):
        raise Broken("checksum over the pseudo header")
    return str(ipaddress.ip_address(source)), str(ipaddress.ip_address(destination)), protocol, rest


def packet_of(section, time_ns, octets, options):
    """One message in one packet, as it is here unless it is over 65000 octets."""
    source, destination, protocol, rest = transport(octets)
    ports = struct.unpack_from("!HH", rest)
    if protocol == 17:
        message = rest[8:]
        if struct.unpack_from("!H", rest, 4)[0] != len(rest):
            raise Broken("length of UDP")
    else:
        message = rest[(rest[12] >> 4) * 4 + 2:]
        if struct.unpack_from("!H", rest, (rest[12] >> 4) * 4)[0] != len(message):
            raise Broken("length before the message")
    return Packet(section, time_ns, (source, ports[0]), (destination, ports[1]), protocol == 6,
                  dnswire.Message(message), options)


def read(octets):
    """(packets, statistics, sections) of a whole file."""
    packets, statistics, sections, linktype = [], [], 0, None
    for kind, body, order in blocks(octets):
        if kind == SECTION:
            sections, linktype = sections + 1, None
            if struct.unpack_from(order + "HHq", body, 4) != (1, 0, -1):
                raise Broken("version or length of a section")
        elif kind == INTERFACE:
            linktype = struct.unpack_from(order + "H", body)[0]
            if linktype != 101 or options_of(body[8:], order)[9] != b"\x09":
                raise Broken(f"link type {linktype}")
        elif linktype is None:
            raise Broken(f"a block of type {kind} before the interface")
        elif kind == STATISTICS:
            statistics.append({code: struct.unpack(order + "Q", value)[0] for code, value
                               in options_of(body[12:], order).items() if code != COMMENT})
        elif kind == PACKET:
            _, high, low, length, whole = struct.unpack_from(order + "IIIII", body)
            if length != whole:
                raise Broken("a packet that was cut")
            packets.append(packet_of(sections, high << 32 | low, body[20:20 + length],
                                     options_of(body[20 + (length + 3) // 4 * 4:], order)))
    return packets, statistics, sections

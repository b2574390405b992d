#!/usr/bin/env python3
"""Writes the example captures beside this file: Ethernet frames of a made-up server's traffic. Deterministic."""
import os
import random
import socket
import struct

HERE = os.path.dirname(os.path.abspath(__file__))
SERVER4, SERVER6 = "192.0.2.250", "2001:db8:1::10"
MAC = bytes.fromhex("020000000001") + bytes.fromhex("020000000002")


def checksum(data):
    if len(data) % 2:
        data += b"\0"
    total = sum(struct.unpack(">%dH" % (len(data) // 2), data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def ipv4(proto, payload, src, dst=SERVER4, ttl=64, tos=0):
    head = struct.pack(">BBHHHBBH4s4s", 0x45, tos, 20 + len(payload), 1, 0, ttl, proto, 0, socket.inet_aton(src),
                       socket.inet_aton(dst))
    head = head[:10] + struct.pack(">H", checksum(head)) + head[12:]
    return MAC + b"\x08\x00" + head + payload


def ipv6(proto, payload, src, dst=SERVER6):
    head = struct.pack(">IHBB", 6 << 28, len(payload), proto, 64)
    return MAC + b"\x86\xdd" + head + socket.inet_pton(socket.AF_INET6, src) + socket.inet_pton(socket.AF_INET6, dst) + payload


def with_checksum(proto, segment, src, dst, at):
    family = socket.AF_INET6 if ":" in src else socket.AF_INET
    pseudo = socket.inet_pton(family, src) + socket.inet_pton(family, dst) + struct.pack(">IBBBB", len(segment), 0, 0, 0, proto)
    return segment[:at] + struct.pack(">H", checksum(pseudo + segment) or 0xFFFF) + segment[at + 2:]


def tcp(src, dst, sport, dport, flags, size):
    segment = struct.pack(">HHIIBBHHH", sport, dport, 1000, 0, 0x50, flags, 64240, 0, 0) + b"x" * size
    return with_checksum(6, segment, src, dst, 16)


def udp(src, dst, sport, dport, size):
    return with_checksum(17, struct.pack(">HHHH", sport, dport, 8 + size, 0) + b"u" * size, src, dst, 6)


def icmp(kind):
    segment = struct.pack(">BBHI", kind, 0, 0, 7)
    return segment[:2] + struct.pack(">H", checksum(segment)) + segment[4:]


def source(rng):
    net = rng.choice(["10.20.%d.%d", "10.20.%d.%d", "172.16.%d.%d", "198.18.%d.%d", "100.64.%d.%d"])
    if rng.random() < 0.15:
        return rng.choice(["192.0.2.%d", "198.51.100.%d", "203.0.113.%d"]) % rng.randrange(1, 255)
    return net % (rng.randrange(0, 12), rng.randrange(1, 255))


def frame(rng):
    v6 = rng.random() < 0.25
    src = rng.choice(["2001:db8:20::%x", "2001:db8:ff::%x"]) % rng.randrange(1, 65535) if v6 else source(rng)
    dst = SERVER6 if v6 else SERVER4
    make = ipv6 if v6 else ipv4
    port = rng.choice([22, 22, 25, 53, 80, 80, 443, 443, 443, 587, 993, 123, 161, 8080, 33440, rng.randrange(1, 65536)])
    sport = rng.randrange(1024, 65536)
    kind = rng.random()
    if kind < 0.55:
        flags = 2 if rng.random() < 0.9 else rng.choice([0x10, 0x11, 0x14])
        return make(6, tcp(src, dst, sport, port, flags, rng.randrange(0, 64)), src)
    if kind < 0.9:
        return make(17, udp(src, dst, sport, port, rng.randrange(0, 256)), src)
    if v6:
        return make(58, with_checksum(58, struct.pack(">BBHI", rng.choice([128, 135, 136, 1]), 0, 0, 7), src, dst, 2), src)
    return make(1, icmp(rng.choice([8, 8, 3, 11, 13])), src)


def arp():
    return b"\xff" * 6 + MAC[6:] + b"\x08\x06" + struct.pack(">HHBBH", 1, 0x800, 6, 4, 1) + MAC[6:] + \
        socket.inet_aton("10.20.0.9") + b"\0" * 6 + socket.inet_aton(SERVER4)


def write(name, frames):
    with open(os.path.join(HERE, name), "wb") as out:
        out.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1))
        for i, data in enumerate(frames):
            out.write(struct.pack("<IIII", 1700000000 + i // 100, i % 100 * 10000, len(data), len(data)) + data)


def main():
    rng = random.Random(7)
    write("server.pcap", [arp()] + [frame(rng) for _ in range(999)])


if __name__ == "__main__":
    main()

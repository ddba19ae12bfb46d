"""A hub that loses chosen messages of the connection manager.

losing_hub.py SOCKET INTERFACE...: what one interface brings leaves by all others. A datagram to the
socket, "from 10.9.0.1 16 1", has it lose the next message with that attribute which the address sends
("to": is sent); 0 stands for all from now on. It answers when that holds.
"""

import select
import socket
import struct
import sys

ANY_PROTOCOL = 3
SOL_PACKET = 263
PACKET_IGNORE_OUTGOING = 23

# Where things are in a frame: Ethernet, IPv4 without options, UDP, BTH, DETH, MAD.
IP = 14
UDP = IP + 20
BTH = UDP + 8
MAD = BTH + 12 + 8
ROCE_PORT = 4791
UD_SEND_ONLY = 0x64
CONNECTION_MANAGEMENT = 7  # IBTA vol 1, 13.4.4


def message_of(frame):
    """Source, destination and attribute of a message of the connection manager; None: it is none."""
    if len(frame) < MAD + 24 or frame[IP - 2:IP + 1] != b"\x08\x00\x45" or frame[IP + 9] != socket.IPPROTO_UDP:
        return None
    if struct.unpack_from("!H", frame, UDP + 2)[0] != ROCE_PORT:
        return None
    if frame[BTH] != UD_SEND_ONLY or frame[MAD + 1] != CONNECTION_MANAGEMENT:
        return None
    source, destination = (socket.inet_ntoa(frame[at:at + 4]) for at in (IP + 12, IP + 16))
    return source, destination, struct.unpack_from("!H", frame, MAD + 16)[0]


class Losses:
    """What is still to be lost."""

    def __init__(self):
        self.left = {}  # by way, address and attribute; None: all

    def ask(self, wish):
        way, address, attribute, count = wish.split()
        self.left[way, address, int(attribute)] = int(count) or None

    def take(self, frame):
        """Whether the frame is lost."""
        message = message_of(frame)
        if message is None:
            return False
        source, destination, attribute = message
        for key in (("from", source, attribute), ("to", destination, attribute)):
            if key in self.left:
                count = self.left[key]
                if count is not None:
                    self.left[key] = count - 1
                if count == 1:
                    del self.left[key]
                return True
        return False


def port_on(interface):
    port = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
    port.setsockopt(SOL_PACKET, PACKET_IGNORE_OUTGOING, 1)
    port.bind((interface, ANY_PROTOCOL))
    return port


def forward(ports, port, losses):
    try:
        frame = port.recv(65536)
    except OSError:  # its interface goes down or comes up
        return
    if losses.take(frame):
        return
    for other in ports:
        if other is not port:
            try:
                other.send(frame)
            except OSError:  # the same
                pass


def main(path, interfaces):
    losses = Losses()
    ports = [port_on(interface) for interface in interfaces]
    wishes = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    wishes.bind(path)
    while True:
        ready, _, _ = select.select([wishes, *ports], [], [])
        for each in ready:
            if each is not wishes:
                forward(ports, each, losses)
                continue
            wish, who = wishes.recvfrom(4096)
            losses.ask(wish.decode())
            wishes.sendto(b"done", who)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])

"""compare.py DECODE FILE.pcap...: what our codecs, and the simulator's trace where FILE.trace lies
beside the capture, say of each packet against what tshark says of it. DECODE is //tests/wire:decode."""

import binascii
import json
import os
import re
import struct
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

import trace_lines

# Fields that have no counterpart in our decoder, and why.
IGNORED = re.compile(
    r"infiniband\.(reserved|bth|deth|reth|aeth|atomiceth|atomicacketh|mad|smplid\.smpdata"
    r"|bth\.reserved7|aeth\.syndrome\.reserved|cm\.rep\.reserved"  # whole headers; reserved bits
    r"|cm\.rej\.(reserved[01]|ari)|cm\.req\.(prim|alt)_reserved\d"
    r"|cm\.req\.ip_cm\.reserved"
    r"|cm\.req\.serviceid\.\w+|cm\.req\.ip_cm(\.majv|\.minv)?"  # parts of a compared field; constants
    r"|mad\.(baseversion|mgmtclass|classversion|method|status|classspecific|data)"
    r"|cm\.req\.(prim|alt)_pktrate)$")  # Wireshark 4.0 takes it from the flow label's first byte


class Packet:
    """tshark's view of one frame: name -> [(number as text, bytes in hex, all bits in hex)]."""

    def __init__(self, element):
        self.fields = {}
        self.complaint = None
        for field in element.iter("field"):
            name = field.get("name", "")
            row = (field.get("show", ""), field.get("value", ""), field.get("unmaskedvalue", ""))
            self.fields.setdefault(name, []).append(row)
            if name == "_ws.expert.severity" and int(field.get("show", "0")) >= 0x600000:
                self.complaint = field.get("showname")
        if any(proto.get("name") == "_ws.malformed" for proto in element.iter("proto")):
            self.complaint = "malformed"

    def number(self, name):
        """tshark counts the padding as data. Of late it says of a bit whether it is set."""
        shown, value, _ = self.fields[name][0]
        if shown in ("False", "True"):
            return int(shown == "True")
        number = int(value, 16) if ":" in shown else int(shown, 0)
        return number - self.padding() if name == "data.len" else number

    def data(self, name):
        """In hexadecimal."""
        value = self.fields[name][0][1]
        return value[:len(value) - 2 * self.padding()] if name == "data.data" else value

    def padding(self):
        return self.number("infiniband.bth.padcnt")

    def find(self, name):
        """Wireshark has another name for a GID that is an IPv4 address."""
        for candidate in (name, name + "_ipv4"):
            if candidate in self.fields:
                return candidate
        return None


# What tshark may take random payload for.
GUESSES = ["smc", "smb_direct", "rpcordma", "nvme-rdma", "lnet", "iser", "infiniband.eoib",
           "infiniband_sdp", "fcoib"]


def tshark(path):
    command = ["tshark", "-n", "-r", path, "-T", "pdml"]
    for guess in GUESSES:
        command += ["--disable-protocol", guess]
    run = subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return [Packet(element) for element in ElementTree.fromstring(run.stdout).iter("packet")]


def frames_of(path):
    """The raw frames of a classic capture, read without anybody's help."""
    with open(path, "rb") as file:
        content = file.read()
    order = "<" if content[:4] in (b"\xd4\xc3\xb2\xa1", b"\x4d\x3c\xb2\xa1") else ">"
    frames, offset = [], 24
    while offset < len(content):
        size = struct.unpack_from(order + "I", content, offset + 8)[0]
        frames.append(content[offset + 16:offset + 16 + size])
        offset += 16 + size
    return frames


def icrc_of(frame):
    """IBTA annex A17.3.3: eight bytes of ones, then IP to payload with what routers change as ones."""
    packet = bytearray(frame[14:])
    if packet[0] >> 4 == 4:
        udp, changing = 20, [1, 8, 10, 11]  # type of service, time to live, checksum
    else:
        packet[0] |= 0x0f  # traffic class and flow label
        udp, changing = 40, [1, 2, 3, 7]  # and hop limit
    for at in changing + [udp + 6, udp + 7, udp + 8 + 4]:  # UDP checksum; BTH's congestion bits
        packet[at] = 0xff
    return struct.pack("<I", binascii.crc32(b"\xff" * 8 + bytes(packet[:-4])))


class Comparison:
    def __init__(self):
        self.packets = self.fields = self.icrcs = self.trace_fields = 0
        self.problems = []

    def expect(self, where, what, ours, theirs):
        if ours != theirs:
            self.problems.append(f"{where}: {what}: ours {ours}, tshark's {theirs}")

    def field(self, where, name, ours, packet):
        self.fields += 1
        theirs = packet.find(name)
        if theirs is None:
            self.problems.append(f"{where}: {name}: ours {ours}, unknown to tshark")
        elif name.endswith("flowlabel"):  # Wireshark 4.0 shifts it too far; its bytes are right
            self.expect(where, name, ours << 4, int(packet.fields[theirs][0][2], 16) & 0xfffff0)
        elif isinstance(ours, int):
            self.expect(where, name, ours, packet.number(theirs))
        else:
            value = packet.data(theirs)
            self.expect(where, name, ours.removeprefix("0" * 20 + "ffff") if theirs != name else ours,
                        value)

    def packet(self, where, ours, packet, frame):
        self.packets += 1
        if packet.complaint:
            self.problems.append(f"{where}: tshark complains: {packet.complaint}")
        for name, value in ours.items():
            self.field(where, name, value, packet)
        known = set(ours) | {name + "_ipv4" for name in ours}
        has_codec = any(name.startswith("infiniband.cm.") for name in ours)
        for name in packet.fields:
            of_message = name.startswith("infiniband.cm.") and not has_codec
            if name.startswith("infiniband.") and name not in known and not of_message:
                if not IGNORED.match(name):
                    self.problems.append(f"{where}: {name} is tshark's only")
        self.icrcs += 1
        self.expect(where, "ICRC as computed here", icrc_of(frame).hex(), frame[-4:].hex())

    def trace(self, path, packets):
        with open(path, encoding="utf-8") as file:
            sent = trace_lines.sent(file)
        self.expect(path, "packets", len(sent), len(packets))
        for line, packet in zip(sent, packets):
            for what, ours, theirs in trace_lines.compare(line, packet):
                self.trace_fields += 1
                self.expect(f"{path}: {line.text}", what, ours, theirs)

    def capture(self, decode, path):
        run = subprocess.run([decode, path], check=True, stdout=subprocess.PIPE, text=True)
        ours = [json.loads(line) for line in run.stdout.splitlines()]
        theirs = tshark(path)
        frames = frames_of(path)
        self.expect(path, "frames", len(ours), len(theirs))
        self.expect(path, "frames read here", len(frames), len(theirs))
        for number, row in enumerate(zip(ours, theirs, frames), 1):
            if row[0]:  # not ARP and the like
                self.packet(f"{path}: frame {number}", *row)
        trace = path.removesuffix(".pcap") + ".trace"
        if os.path.exists(trace):
            self.trace(trace, theirs)


def main():
    decode, least_packets, least_fields, least_trace_fields = sys.argv[1], *map(int, sys.argv[2:5])
    total = Comparison()
    for path in sys.argv[5:]:
        one = Comparison()
        one.capture(decode, path)
        print(f"{os.path.basename(path)}: {one.packets} packets, {one.fields} fields, {one.icrcs} "
              f"ICRCs, {one.trace_fields} fields of the trace; {len(one.problems)} differ")
        total.problems += one.problems
        for name in ("packets", "fields", "trace_fields"):
            setattr(total, name, getattr(total, name) + getattr(one, name))
    for problem in total.problems[:40]:
        print("  " + problem)
    print(f"compared: {total.packets} packets, {total.fields} fields, {total.trace_fields} fields of "
          f"the trace; {len(total.problems)} differ")
    enough = (total.packets >= least_packets and total.fields >= least_fields
              and total.trace_fields >= least_trace_fields)
    if not enough:
        print(f"too few: at least {least_packets}, {least_fields} and {least_trace_fields} were due")
    return 0 if enough and not total.problems else 1


if __name__ == "__main__":
    sys.exit(main())

"""The lines of a trace that say what was sent, against tshark's view of the same packet.

0.000004120 client -> server REQ id=0x52ab0c11 service=TCP:7471 qpn=0x000011 ...
0.001003000 client -> server RC SEND Only qpn=0x000011 psn=0x00b1c2 ack-request length=16
"""

import ipaddress
import re

ADDRESSES = {"client": "10.0.0.2", "server": "10.0.0.1"}  # as examples/scenario.h says

SENT = re.compile(r"(?P<time>\d+\.\d{9}) (?P<source>\w+) -> (?P<target>\w+) (?P<rest>.*)")
PAIR = re.compile(r'([a-z-]+)=("[^"]*"|\S+)')

# Message -> (attribute, {key in the trace: tshark's field}).
MESSAGES = {
    "REQ": (0x10, {"id": "req", "qpn": "req.localqpn", "psn": "req.startpsn",
                   "resources": "req.responderres", "depth": "req.initdepth",
                   "retry": "req.retrcount", "rnr": "req.rnrretrcount"}),
    "MRA": (0x11, {}),
    "REJ": (0x12, {"id": "rej.localcommid", "peer": "rej.remotecommid", "answers": "rej.msgrej",
                   "reason": "rej.reason"}),
    "REP": (0x13, {"id": "rep", "peer": "rep.remotecommid", "qpn": "rep.localqpn",
                   "psn": "rep.startpsn", "resources": "rep.respres", "depth": "rep.initdepth",
                   "rnr": "rep.rnrretrcount"}),
    "RTU": (0x14, {"id": "rtu.localcommid", "peer": "rtu.remotecommid"}),
    "DREQ": (0x15, {"id": "dreq.localcommid", "peer": "dreq.remotecommid",
                    "peer-qpn": "req.remoteqpneecn"}),
    "DREP": (0x16, {"id": "drsp.localcommid", "peer": "drsp.remotecommid"}),
}
PRIVATE = {"REQ": "req.ip_cm.private", "REJ": "rej.private", "REP": "rep.private",
           "RTU": "rtu.private", "DREQ": "dreq.private", "DREP": "drsp.private"}

# Names of opcodes as the IBTA has them (vol 1, table 38).
OPCODES = {"SEND First": 0, "SEND Middle": 1, "SEND Last": 2, "SEND Only": 4,
           "RDMA WRITE First": 6, "RDMA WRITE Middle": 7, "RDMA WRITE Last": 8,
           "RDMA WRITE Only": 10, "RDMA READ Request": 12, "RDMA READ Response First": 13,
           "RDMA READ Response Middle": 14, "RDMA READ Response Last": 15,
           "RDMA READ Response Only": 16, "Acknowledge": 17}
PACKET = {"qpn": "bth.destqp", "psn": "bth.psn", "rkey": "reth.r_key", "dma-length": "reth.dmalen",
          "msn": "aeth.msn"}
ACKNOWLEDGES = {"ack": "credit_count", "rnr-nak": "timer", "nak": "error_code"}


class Line:
    def __init__(self, match):
        self.text = match.group(0)
        self.time = match["time"]
        self.source = match["source"]
        self.target = match["target"]
        self.words = match["rest"]
        self.pairs = dict(PAIR.findall(match["rest"]))


def sent(lines):
    """Those that say that a packet was sent."""
    return [Line(match) for match in map(SENT.match, lines) if match]


def number(text):
    return int(text, 0)


def data_of(line):
    """Private data in hexadecimal; the trace leaves out the zeros at its end."""
    text = line.pairs.get("data", "")
    return text[1:-1].encode().hex() if text.startswith('"') else text


def without_padding(text):
    while text.endswith("00"):
        text = text[:-2]
    return text


def compare_message(line, name, packet):
    attribute, keys = MESSAGES[name]
    yield "attribute", attribute, packet.number("infiniband.mad.attributeid")
    for key, field in keys.items():
        yield key, number(line.pairs[key]), packet.number("infiniband.cm." + field)
    if name in PRIVATE:
        theirs = without_padding(packet.data("infiniband.cm." + PRIVATE[name]))
        yield "data", without_padding(data_of(line)), theirs
    if name == "REQ":
        yield from compare_request(line, packet)


def compare_request(line, packet):
    space, port = line.pairs["service"].split(":")
    yield "service's protocol", space, "TCP" if packet.number(
        "infiniband.cm.req.serviceid.protocol") == 6 else "?"
    yield "service's port", int(port), packet.number("infiniband.cm.req.serviceid.dport")
    address, port = line.pairs["from"].rsplit(":", 1)
    yield "from", address, packet.fields["infiniband.cm.req.ip_cm.sip4"][0][0]
    yield "from's port", int(port), packet.number("infiniband.cm.req.ip_cm.sport")
    address = line.pairs["to"].rsplit(":", 1)[0]
    yield "to", address, packet.fields["infiniband.cm.req.ip_cm.dip4"][0][0]


def compare_packet(line, packet):
    name = re.match(r"RC (.*?) qpn=", line.words)[1]
    yield "opcode", OPCODES[name], packet.number("infiniband.bth.opcode")
    yield "ack-request", int(" ack-request" in line.words), packet.number("infiniband.bth.a")
    for key, field in PACKET.items():
        if key in line.pairs or "infiniband." + field in packet.fields:
            yield key, number(line.pairs[key]), packet.number("infiniband." + field)
    for key, field in ACKNOWLEDGES.items():
        if key in line.pairs:
            yield key, number(line.pairs[key]), packet.number("infiniband.aeth.syndrome." + field)
    length = packet.number("data.len") if "data.len" in packet.fields else 0
    yield "length", number(line.pairs["length"]), length


def compare(line, packet):
    """(what, ours, tshark's) for every field of a line."""
    whole, nanoseconds = packet.fields["timestamp"][0][1].split(".")
    yield "time", line.time, f"{int(whole)}.{nanoseconds}"
    for name, field in ((line.source, "ip.src"), (line.target, "ip.dst")):
        theirs = ipaddress.ip_address(bytes.fromhex(packet.data(field)))
        yield field, ADDRESSES[name], str(theirs)
    message = line.words.split(" ", 1)[0]
    if message in MESSAGES:
        yield from compare_message(line, message, packet)
    else:
        yield from compare_packet(line, packet)

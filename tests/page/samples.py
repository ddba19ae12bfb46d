"""Runs as `anyrdma trace --json` prints them, made by hand: samples.py NAME [SEED] > RUN."""

import json
import sys

MICRO = 1_000
MILLI = 1_000_000
SECOND = 1_000_000_000


class Run:
    """Lines of a run. Records come in any order and are printed in order of time."""

    def __init__(self, seed="8", plan=(), verdict="passed", command="anyrdma sim scenario.txt"):
        self.header = {"anyrdma": 1, "clock": "virtual", "seed": seed, "plan": list(plan),
                       "hash": "6f1d2c09a77be310", "command": command, "program": "anyrdma sim",
                       "build": "0.1.0", "verdict": verdict, "moments": []}
        self.lanes = []
        self.records = []

    def lane(self, of, name, inside=None):
        lane = {"lane": len(self.lanes) + 1, "of": of, "name": name}
        if inside is not None:
            lane["in"] = inside
        self.lanes.append(lane)
        return lane["lane"]

    def add(self, t, lane, kind, name, **members):
        record = {"n": 0, "t": t, "lane": lane, "is": kind, "name": name}
        record.update((key.rstrip("_"), value) for key, value in members.items()
                      if value is not None)
        self.records.append(record)
        return record

    def moment(self, record, why):
        self.header["moments"].append((record, why))

    def write(self, out):
        self.records.sort(key=lambda record: record["t"])
        for n, record in enumerate(self.records):
            record["n"] = n
        for record in self.records:  # those that name others do so by what these became
            if "same" in record:
                record["same"] = record["same"]["n"]
            if "strikes" in record:
                record["strikes"] = [struck["n"] for struck in record["strikes"]]
        self.header["moments"] = [{"t": record["t"], "at": record["n"], "why": why}
                                  for record, why in self.header["moments"]]
        for line in [self.header] + self.lanes + self.records:
            out.write(json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n")


class Side:
    """One host with a program: its lanes, and what it does in a line each."""

    def __init__(self, run, name, program):
        self.run = run
        self.host = run.lane("host", name)
        self.process = run.lane("process", f"{name}/{program}[12]", self.host)
        self.thread = run.lane("thread", "main", self.process)
        self.id = run.lane("id", "id 1", self.process)
        self.qp = run.lane("qp", "qp 0x12", self.process)

    def call(self, t, name, result="0", ends=None, about=None, **fields):
        return self.run.add(t, self.thread, "call", name, ends=t if ends is None else ends,
                            result=result, about=[about or self.id], fields=fields)

    def state(self, t, name, lane=None):
        return self.run.add(t, lane or self.id, "state", name)

    def event(self, t, name, fetched="at once", acknowledged="at once", status=0):
        fetched = t if fetched == "at once" else fetched
        acknowledged = fetched if acknowledged == "at once" else acknowledged
        return self.run.add(t, self.id, "event", "RDMA_CM_EVENT_" + name, queued=t,
                            fetched=fetched, acknowledged=acknowledged, status=status,
                            about=[self.id], fields={"id": "1"})

    def wait(self, t, ends, reason="a CM event"):
        return self.run.add(t, self.thread, "wait", "rdma_get_cm_event", ends=ends, for_=reason)

    def send(self, t, to, name, fate=None, delay=2 * MICRO, same=None, psn=None, bytes_=256):
        record = self.run.add(t, self.host, "message", name, to=to.host, bytes=bytes_,
                              arrives=None if fate else t + delay, fate=fate, psn=psn,
                              about=[self.qp if psn is not None else self.id],
                              fields={"id": "0x1a2b3c4d", "service": "TCP:7174"})
        if same is not None:
            record["same"] = same
        return record

    def completion(self, t, name, status="IBV_WC_SUCCESS", polled=None):
        return self.run.add(t, self.qp, "completion", name, status=status, about=[self.qp],
                            polled=t + MICRO if polled is None else polled,
                            fields={"wr_id": "7", "byte_len": "64"})


def two_sides(**header):
    run = Run(**header)
    return run, Side(run, "client", "rping"), Side(run, "server", "rping")


def resolve(client, server):
    """Up to the connection request: a listener, a resolved address and route."""
    for side in (server, client):
        side.call(0, "rdma_create_event_channel", "0x7f01")
        side.call(0, "rdma_create_id")
        side.state(0, "IDLE")
    server.call(1 * MICRO, "rdma_bind_addr", address="10.0.0.1:7174")
    server.call(1 * MICRO, "rdma_listen", backlog="3")
    server.state(1 * MICRO, "LISTEN")
    server.wait(2 * MICRO, 40 * MICRO)
    client.call(5 * MICRO, "rdma_resolve_addr", address="10.0.0.1:7174", timeout="2000")
    client.event(9 * MICRO, "ADDR_RESOLVED")
    client.state(9 * MICRO, "ADDR_RESOLVED")
    client.call(10 * MICRO, "rdma_resolve_route", timeout="2000")
    client.event(14 * MICRO, "ROUTE_RESOLVED")
    client.state(14 * MICRO, "ROUTE_RESOLVED")
    client.call(20 * MICRO, "rdma_create_qp", "0", about=client.qp, type="RC", qpn="0x12")
    client.state(20 * MICRO, "RESET", client.qp)
    client.state(20 * MICRO, "INIT", client.qp)
    client.call(22 * MICRO, "rdma_connect", retry_count="7", private_data='"may I?"')
    client.state(22 * MICRO, "CONNECT")


def connect(client, server, t):
    """From a request that arrives at t: up on both sides, a message, its answer."""
    server.event(t, "CONNECT_REQUEST")
    server.call(t + 2 * MICRO, "rdma_create_qp", about=server.qp, type="RC", qpn="0x12")
    server.state(t + 2 * MICRO, "INIT", server.qp)
    server.call(t + 4 * MICRO, "rdma_accept")
    server.state(t + 4 * MICRO, "RTS", server.qp)
    server.send(t + 4 * MICRO, client, "REP")
    client.event(t + 6 * MICRO, "ESTABLISHED")
    client.state(t + 6 * MICRO, "CONNECTED")
    client.state(t + 6 * MICRO, "RTS", client.qp)
    client.send(t + 6 * MICRO, server, "RTU")
    server.event(t + 8 * MICRO, "ESTABLISHED")
    server.state(t + 8 * MICRO, "CONNECTED")


def talk(client, server, t, rounds=2):
    for i in range(rounds):
        begin = t + i * 20 * MICRO
        client.call(begin, "ibv_post_send", about=client.qp, wr_id="7", opcode="IBV_WR_SEND")
        client.send(begin, server, "RC SEND only", psn=100 + i, bytes_=64)
        server.completion(begin + 2 * MICRO, "IBV_WC_RECV")
        server.send(begin + 2 * MICRO, client, "ACK", psn=100 + i, bytes_=16)
        client.completion(begin + 4 * MICRO, "IBV_WC_SEND")


def part(client, server, t):
    client.call(t, "rdma_disconnect")
    request = client.send(t, server, "DREQ")
    server.event(t + 2 * MICRO, "DISCONNECTED")
    server.send(t + 3 * MICRO, client, "DREP")
    client.event(t + 5 * MICRO, "DISCONNECTED")
    for side in (client, server):
        side.state(t + 6 * MICRO, "ERR", side.qp)
        side.call(t + 7 * MICRO, "rdma_destroy_id")
    return request


def handshake(seed):
    """All goes well; the client prints what came back."""
    run, client, server = two_sides(seed=seed)
    resolve(client, server)
    client.send(22 * MICRO, server, "REQ", delay=18 * MICRO)
    connect(client, server, 40 * MICRO)
    talk(client, server, 60 * MICRO)
    run.add(110 * MICRO, client.thread, "note", "ping data: rdma-ping-0: ABCDEFGHIJKL",
            stream="out")
    part(client, server, 2 * SECOND)
    return run


def losses(seed):
    """A request is lost twice; the third one comes through, and then a message is lost."""
    plan = ["lose REQ of client twice", "lose RC SEND only of client once"]
    run, client, server = two_sides(seed=seed, plan=plan)
    resolve(client, server)
    first = client.send(22 * MICRO, server, "REQ", fate="lost: lose REQ of client twice")
    second = client.send(4_295 * MILLI, server, "REQ", fate="lost: lose REQ of client twice",
                         same=first)
    client.send(8_590 * MILLI, server, "REQ", same=first)
    run.add(22 * MICRO, client.host, "fault", plan[0], effect="two packets were lost",
            strikes=[first, second])
    t = 8_590 * MILLI + 2 * MICRO
    connect(client, server, t)
    client.call(t + 40 * MICRO, "ibv_post_send", about=client.qp, opcode="IBV_WR_SEND")
    lost = client.send(t + 40 * MICRO, server, "RC SEND only", psn=100, bytes_=64,
                       fate="lost: lose RC SEND only of client once")
    run.add(t + 40 * MICRO, client.host, "fault", plan[1], effect="one packet was lost",
            strikes=[lost])
    client.send(t + 540 * MICRO, server, "RC SEND only", psn=100, bytes_=64, same=lost)
    server.completion(t + 542 * MICRO, "IBV_WC_RECV")
    server.send(t + 542 * MICRO, client, "ACK", psn=100, bytes_=16)
    client.completion(t + 544 * MICRO, "IBV_WC_SEND")
    part(client, server, t + 900 * MICRO)
    return run


def hang(seed):
    """The server's acknowledgement is missing, so that destroying its id waits for ever."""
    run, client, server = two_sides(seed=seed, verdict="hang")
    resolve(client, server)
    client.send(22 * MICRO, server, "REQ", delay=18 * MICRO)
    connect(client, server, 40 * MICRO)
    talk(client, server, 60 * MICRO, 1)
    client.call(1 * SECOND, "rdma_disconnect")
    client.send(1 * SECOND, server, "DREQ")
    t = 1 * SECOND + 2 * MICRO
    server.event(t, "DISCONNECTED", acknowledged=None)
    server.send(t + 1 * MICRO, client, "DREP")
    client.event(t + 3 * MICRO, "DISCONNECTED")
    client.call(t + 5 * MICRO, "rdma_destroy_id")
    server.run.add(t + 6 * MICRO, server.thread, "call", "rdma_destroy_id", about=[server.id],
                   fields={"id": "1"})
    wait = server.run.add(t + 6 * MICRO, server.thread, "wait", "rdma_destroy_id",
                          for_="the program to acknowledge RDMA_CM_EVENT_DISCONNECTED")
    run.add(t + 60 * SECOND, server.thread, "finding", "server/rping[12] hangs: nothing can happen "
            "any more", stack=["rdma_destroy_id", "free_cb at rping.c:260", "main at rping.c:1204"])
    run.moment(wait, "server/rping[12] waits for ever in rdma_destroy_id: it fetched "
               "RDMA_CM_EVENT_DISCONNECTED and never acknowledged it")
    return run


def rejected(seed):
    """As the handshake, until the server rejects: what a comparison should name first."""
    run, client, server = two_sides(seed=seed, verdict="failed")
    resolve(client, server)
    client.send(22 * MICRO, server, "REQ", delay=18 * MICRO)
    server.event(40 * MICRO, "CONNECT_REQUEST")
    server.call(42 * MICRO, "rdma_create_qp", "-1 ENOMEM", about=server.qp, type="RC")
    server.call(43 * MICRO, "rdma_reject")
    server.send(43 * MICRO, client, "REJ")
    event = client.event(45 * MICRO, "REJECTED", status=28)
    run.moment(event, "client/rping[12] is rejected: the server could not make its queue pair")
    return run


def large(seed, count=100_000):
    """Many connections that talk: `count` records."""
    run = Run(seed=seed, verdict="failed")
    sides = [Side(run, name, "perf") for name in ("client", "server")]
    for side in sides:
        side.ids = [run.lane("id", f"id {i + 2}", side.process) for i in range(32)]
        side.qps = [run.lane("qp", f"qp 0x{i + 20:x}", side.process) for i in range(32)]
    client, server = sides
    t = 0
    while len(run.records) < count - 4:
        t += 1700 if len(run.records) % 997 else 40 * MILLI
        i = len(run.records) // 5 % 32
        client.qp, server.qp = client.qps[i], server.qps[i]
        psn = len(run.records)
        client.call(t, "ibv_post_send", about=client.qp, wr_id=str(psn))
        lost = "lost: the link's loss" if psn % 4001 == 0 else None
        client.send(t, server, "RC SEND only", psn=psn, fate=lost)
        if lost:
            continue
        server.completion(t + 2 * MICRO, "IBV_WC_RECV")
        server.send(t + 2 * MICRO, client, "ACK", psn=psn, bytes_=16)
        client.completion(t + 4 * MICRO, "IBV_WC_SEND")
    wait = client.wait(t + 10 * MICRO, None, "a completion of queue pair 0x14")
    run.moment(wait, "client/perf[12] waits for ever for a completion of queue pair 0x14")
    return run


def explained(seed):
    """The hang, with what `anyrdma explain` says about it."""
    def thread(name, call, line, *outer):
        place = f"free_cb+0x1f (rping) rping.c:{line}"
        return {"name": name, "call": call, "place": place, "stack": [call, place, *outer]}

    run = hang(seed)
    packet = {"name": "a packet from client arrives at server: DREQ", "call": "", "place": "", "stack": []}
    none = {"name": "", "call": "", "place": "", "stack": []}
    run.header["explanation"] = {
        "trial": "seed 8; maybe at 1s: cut client eth0", "fails": True, "problem": "server/rping hangs <b>\n",
        "faults": [{"fault": "maybe at 1s: cut client eth0", "needed": True, "passes": "seed 8",
                    "time": 1 * SECOND, "decision": 17, "fails_from": 30 * MICRO, "fails_to": 2 * SECOND,
                    "passes_before": 20 * MICRO, "threads": [thread("server/rping", "rdma_destroy_id", 260)]}],
        "memory": {"profile": "spec", "needed": True, "choice": 80, "fails": "seed 8; memory spec given 80:4",
                   "passes": "seed 8"}, "passes": "seed 8; schedule/2 given 4:1",
        "pair": {"time": 1 * SECOND, "decision": 17, "first": packet, "first_after": none,
                 "second": thread("server/rping", "ibv_poll_cq", 81, "main (rping) rping.c:1204"),
                 "second_after": thread("server/rping", "ibv_req_notify_cq", 82),
                 "fails": "seed 8; schedule/2 given 3:1", "passes": "seed 8; schedule/2 given 4:1"},
        "ends": [{"time": 60 * MICRO, "decision": 9, "first": thread("server/rping", "ibv_post_recv", 77),
                  "first_after": none, "second": packet, "second_after": none,
                  "fails": "seed 8; schedule/2 given 3:1", "passes": "seed 8; schedule/2 given 2:1"}],
        "curve": {"points": [{"decision": 0, "time": 0, "runs": 8, "failures": 1},
                             {"decision": 17, "time": 1 * SECOND, "runs": 8, "failures": 8}], "jump": 0},
        "difference": "the name differs: 3:1 and 4:1", "runs": 142, "out_of_time": False}
    return run


SAMPLES = {"handshake": handshake, "losses": losses, "hang": hang, "rejected": rejected,
           "large": large, "explained": explained}

if __name__ == "__main__":
    SAMPLES[sys.argv[1]](sys.argv[2] if len(sys.argv) > 2 else "8").write(sys.stdout)

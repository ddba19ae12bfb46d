"""The arrows between the rooms: which folder may include which. docs/architecture.md in a table."""

import re

# The longest prefix decides. None: chooses freely.
ROOMS = {
    "base": ["base"],
    "verbs": ["base", "verbs"],
    "verbs/wire": ["verbs/wire"],
    "verbs/testing": ["verbs", "verbs/wire"],
    "verbs/soft": ["base", "verbs", "verbs/wire", "verbs/soft"],
    "verbs/ibv": ["verbs", "verbs/ibv"],
    "verbs/nodes": ["base", "verbs", "verbs/nodes"],
    "verbs/c_api": None,
    "transport": ["verbs", "transport"],
    "transport/ibcm": ["verbs", "verbs/wire", "transport/ibcm"],
    "transport/soft": ["base", "verbs", "verbs/wire", "verbs/soft", "transport", "transport/ibcm",
                       "transport/soft"],
    "transport/realtime": ["base", "verbs", "transport/realtime"],
    "transport/station": ["verbs", "verbs/wire", "verbs/soft", "transport", "transport/soft",
                          "transport/realtime", "transport/station"],
    "transport/fabric": ["verbs", "verbs/wire", "verbs/soft", "transport", "transport/ibcm",
                         "transport/soft", "transport/realtime", "transport/station",
                         "transport/fabric/rendezvous", "transport/fabric/near",
                         "transport/fabric"],
    "transport/fabric/rendezvous": ["verbs", "verbs/wire", "verbs/soft", "transport/ibcm",
                                    "transport/soft", "transport/realtime",
                                    "transport/fabric/rendezvous"],
    "transport/fabric/near": ["verbs", "verbs/wire", "verbs/soft", "transport/realtime",
                              "transport/fabric/rendezvous", "transport/fabric/near"],
    "transport/udp": ["verbs", "verbs/wire", "verbs/soft", "transport", "transport/ibcm",
                      "transport/soft", "transport/realtime", "transport/station",
                      "transport/udp"],
    "transport/fault": ["base", "verbs", "transport", "transport/ibcm", "transport/fault/plan",
                        "transport/fault"],
    "transport/fault/plan": ["base", "verbs", "transport", "transport/ibcm", "transport/fault/plan"],
    "transport/ucma": ["verbs", "verbs/ibv", "transport", "transport/realtime", "transport/ucma"],
    "transport/rxe": ["verbs", "transport/rxe"],
    "transport/open": None,
    "transport/testing": ["verbs", "transport", "transport/testing"],
    "cm": ["verbs", "transport", "cm"],
    "cm/asio": ["verbs", "transport", "cm", "cm/asio"],
    "cm/rsocket": ["base", "verbs", "cm/rsocket"],
    "cm/c_api": None,
    "recording": ["verbs", "recording"],
    "check": ["verbs", "verbs/wire", "transport", "base", "recording", "check"],
    "recording/fuzz": ["verbs", "recording", "recording/view", "recording/fuzz"],
    "recording/packets": ["base", "verbs", "verbs/wire", "verbs/soft", "transport/ibcm",
                          "transport/soft", "recording/packets"],
    "recording/work": ["verbs", "verbs/soft", "transport", "recording/packets", "recording",
                       "recording/work"],
    "recording/view": ["verbs", "verbs/soft", "transport", "recording/packets", "base", "recording",
                       "recording/view"],
    "recording/page": ["page", "recording/view", "recording/page"],
    "sim": ["verbs", "verbs/wire", "verbs/soft", "transport", "transport/ibcm", "transport/soft",
            "transport/fault/plan", "cm", "cm/asio", "recording", "recording/work", "check",
            "recording/packets", "base", "sim"],
    "sim/tracee": ["base", "verbs", "transport/realtime", "transport/soft", "sim/tracee"],
    "sim/stacks": ["sim/stacks"],
    "sim/instructions": ["sim/instructions"],
    "sim/debug/core": ["verbs", "transport/realtime", "sim", "sim/programs/process",
                       "sim/programs/supervisor", "sim/tracee", "sim/debug/core"],
    "sim/debug/protocol": ["sim/debug/protocol"],
    "sim/debug/session": ["verbs", "transport/realtime", "sim/debug/protocol", "sim/debug/session"],
    "sim/debug/cluster": ["verbs", "transport/fault/plan", "transport/soft", "recording",
                          "recording/view", "sim", "sim/programs/kernel", "sim/programs/process",
                          "sim/programs/supervisor", "base", "sim/tracee", "sim/debug/protocol",
                          "sim/debug/session",
                          "sim/debug/cluster"],
    "sim/fuzz": ["verbs", "recording", "check", "sim", "sim/debug/protocol", "sim/debug/session",
                 "sim/debug/cluster", "sim/debug/core", "recording/packets", "sim/points", "sim/fuzz"],
    "sim/points": ["transport/fault/plan", "transport/realtime", "sim/points"],
    "sim/explain": ["verbs", "recording/view", "sim", "sim/programs/process",
                    "sim/programs/supervisor", "sim/stacks", "base",
                    "sim/explain"],
    "sim/tcp": ["verbs", "sim/tcp"],
    "sim/programs/patching": ["verbs", "transport/realtime", "sim/instructions", "sim/tracee",
                              "sim/programs/patching"],
    "sim/programs/shim": ["verbs", "transport/realtime", "recording", "sim", "sim/points",
                          "sim/programs/shim"],
    "sim/programs/process": ["verbs", "transport/realtime", "sim", "sim/tracee",
                             "sim/programs/patching", "sim/programs/shim", "sim/programs/process"],
    "sim/programs/kernel": ["base", "verbs", "transport/realtime", "sim", "sim/tracee",
                            "sim/programs/process", "sim/programs/kernel"],
    "sim/programs/io": ["base", "sim/programs/process", "sim/programs/kernel", "sim/programs/io"],
    "sim/programs/net": ["verbs", "verbs/soft", "transport/realtime", "transport/soft",
                         "recording/packets", "sim", "sim/tcp", "sim/programs/process",
                         "sim/programs/kernel", "sim/programs/io", "sim/programs/net"],
    "sim/programs/syscalls": ["base", "transport/realtime", "transport/fault/plan", "sim",
                              "sim/points", "sim/stacks", "sim/tracee", "sim/programs/process",
                              "sim/programs/kernel", "sim/programs/io", "sim/programs/net",
                              "sim/programs/syscalls"],
    "sim/programs/supervisor": ["base", "verbs", "transport/realtime", "sim", "sim/points",
                                "sim/stacks", "sim/tracee", "sim/programs/patching",
                                "sim/programs/process", "sim/programs/kernel", "sim/programs/net",
                                "sim/programs/syscalls", "sim/programs/supervisor"],
    "sim/gateway": ["verbs", "verbs/wire", "verbs/nodes", "verbs/soft", "transport", "transport/ibcm",
                    "transport/soft", "transport/fabric", "transport/fabric/rendezvous", "sim",
                    "sim/gateway"],
    "sim/machines": ["verbs", "transport/fault/plan", "transport/soft", "sim", "sim/gateway",
                     "sim/programs/kernel", "sim/programs/supervisor", "base", "sim/machines"],
    "page": ["page"],
    "tools": None,
    "tests": None,
    "examples": None,
}

# The floors, from the ground up: no file includes one of a higher floor. The longest prefix decides.
FLOORS = [
    ["base", "page"],
    ["verbs"],
    ["transport"],
    ["cm"],
    ["recording"],
    ["check"],
    ["sim"],
    ["transport/open"],  # chooses a transport
    ["verbs/c_api", "cm/c_api"],  # the drop-in libraries
    ["tools", "examples"],
]

# What a test of a room may include beyond its room; verbs/testing is there for all of them.
TEST_EXTRA = {
    "transport": ["transport/testing"],
    "transport/fault": ["transport/testing"],
    "check": ["transport/fault/plan"],
    "cm": ["transport/testing"],
    "cm/asio": ["transport/testing"],
    "transport/soft": ["cm"],
    "transport/station": ["cm"],
    "transport/fabric": ["cm"],
    "transport/fabric/near": ["transport/fabric"],
    "transport/udp": ["cm"],
    "sim": ["examples", "transport/testing", "recording/page", "recording/view"],
    "sim/stacks": ["sim/tracee"],
    "sim/programs/kernel": ["sim/programs/supervisor"],
    "sim/programs/net": ["verbs/soft"],
    "sim/programs/syscalls": ["sim/programs/supervisor"],
    "sim/gateway": ["cm", "transport/realtime", "transport/station"],
}

# Rooms that never wait, lock, roll dice or read the time: everything comes in as an argument.
SANS_IO = ["verbs", "verbs/nodes", "verbs/soft", "verbs/wire", "transport", "transport/ibcm", "transport/soft",
           "transport/fault", "transport/fault/plan", "cm"]

# Folders whose subfolders are rooms of their own: a new one needs a row above.
SPLIT = ["sim/programs", "transport", "verbs"]


def is_test(path):
    return (path.startswith("tests/") or "/testing/" in path
            or re.search(r"_(test|fixture)\.(cc|h)$", path) is not None)


def is_sans_io(path):
    return room_of(path) in SANS_IO and not is_test(path)


def floor_of(path):
    """The number of a file's floor, from 0; None for files outside of all."""
    folder = path.rsplit("/", 1)[0] if "/" in path else ""
    while folder:
        for number, rooms in enumerate(FLOORS):
            if folder in rooms:
                return number
        folder = folder.rsplit("/", 1)[0] if "/" in folder else ""
    return None


def is_unlisted(path):
    """A file of a split room that is in no folder of the table."""
    for room in SPLIT:
        below = path.removeprefix(room + "/").split("/")
        folder = f"{room}/{below[0]}" if len(below) > 1 else room
        if path.startswith(room + "/") and folder not in ROOMS:
            return True
    return False


def room_of(path):
    """The room of a file: the longest prefix in the table, or None for files outside of all."""
    folder = path.rsplit("/", 1)[0] if "/" in path else ""
    while folder:
        if folder in ROOMS:
            return folder
        folder = folder.rsplit("/", 1)[0] if "/" in folder else ""
    return None

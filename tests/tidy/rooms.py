"""The arrows between the rooms: which folder may include which. docs/architecture.md in a table."""

# The longest prefix decides. None: chooses freely.
ROOMS = {
    "verbs": ["verbs"],
    "verbs/wire": ["verbs/wire"],
    "verbs/testing": ["verbs", "verbs/wire"],
    "verbs/soft": ["verbs", "verbs/wire", "verbs/soft", "verbs/testing"],
    "verbs/c_api": None,
    "transport": ["verbs", "transport"],
    "transport/ibcm": ["verbs", "verbs/wire", "transport/ibcm"],
    "transport/soft": ["verbs", "verbs/wire", "verbs/soft", "verbs/testing", "transport",
                       "transport/ibcm", "transport/soft"],
    "transport/fabric": ["verbs", "verbs/wire", "verbs/soft", "transport", "transport/ibcm",
                         "transport/soft", "transport/fabric"],
    "transport/testing": ["verbs", "verbs/testing", "transport", "transport/testing"],
    "cm": ["verbs", "transport", "cm"],
    "cm/c_api": None,
    "sim": ["verbs", "verbs/wire", "verbs/soft", "transport", "transport/ibcm", "transport/soft",
            "cm", "sim"],
    "tools": None,
    "tests": None,
    "examples": None,
}

# What a test of a room may include beyond its room.
TEST_EXTRA = {
    "cm": ["transport/testing", "verbs/testing"],
    "transport/soft": ["cm"],
    "transport/fabric": ["cm"],
    "sim": ["examples"],
}

# Rooms that never wait, sleep, lock, roll dice or read the time: everything comes in as an argument.
SANS_IO = ["verbs", "verbs/soft", "verbs/wire", "transport", "transport/ibcm", "transport/soft", "cm"]


def room_of(path):
    """The room of a file: the longest prefix in the table, or None for files outside of all."""
    folder = path.rsplit("/", 1)[0] if "/" in path else ""
    while folder:
        if folder in ROOMS:
            return folder
        folder = folder.rsplit("/", 1)[0] if "/" in folder else ""
    return None

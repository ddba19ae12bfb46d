"""What is tested where: writes docs/coverage.md, or says how it differs from the tests.

coverage.py ROOT            fails when the page is out of date, or when something has no test
coverage.py ROOT --write    writes the page
"""

import collections
import pathlib
import re
import sys

FACTS = range(1, 61)  # docs/facts.md
TYPES = range(0, 16)  # rdma_cm_event_type
PAGE = "docs/coverage.md"
SKIPS = "tests/programs/pyverbs_skips.txt"
NAMES_PER_ROW = 2

# Where a function's tests are looked for, the nearest to a program first.
FOLDERS = ["tests/semantics", "cm/c_api", "cm"]

# The C++ methods behind the C names, where they are called otherwise than rdma_x -> x.
METHODS = {
    "bind_addr": "bind",
    "get_cm_event": "get",
    "ack_cm_event": "ack",
    "create_event_channel": "EventChannel::create",
    "destroy_event_channel": "close",
    "create_id": "Id::create",
    "destroy_id": "Id::destroy",
    "migrate_id": "migrate",
    "join_multicast_ex": "join_multicast",
    "create_qp_ex": "create_qp",
    "create_srq_ex": "create_srq",
}

FUNCTION = re.compile(r"^\s+(rdma_\w+);", re.MULTILINE)
MISUSE = re.compile(r"Null")  # a test of what a crash would be says nothing of the function
SCENARIO = re.compile(r"^SCENARIO\((\w+), (\w+)(.*?)\) \{", re.MULTILINE | re.DOTALL)
FACTS_OF = re.compile(r"\.facts = \{([\d, ]+)\}")
RECORD = re.compile(r"^== (\S+) \((\w+)\)$", re.MULTILINE)
KERNELS = ("rxe", "wire")  # whose records are measurements
TEST = re.compile(r"^TEST(?:_F|_P)?\(\s*(\w+),\s*(\w+)\s*\)", re.MULTILINE)


class Test:
    """One test: its name and its code, or the code between a file's tests, which has no name."""

    def __init__(self, name, code):
        self.name = name
        self.code = code


def tests_of(path):
    """The tests of a file, in order; then what they share, named after the file."""
    text = re.sub(r"//[^\n]*", "", path.read_text(encoding="utf-8"))
    shared, at = "", 0
    tests = []
    for match in TEST.finditer(text):
        shared += text[at:match.start()]
        end = re.search(r"^}", text[match.end():], re.MULTILINE)
        at = match.end() + (end.end() if end else 0)
        tests.append(Test(f"{match.group(1)}.{match.group(2)}", text[match.end():at]))
    return tests, Test(path.stem, shared + text[at:])


class Sources:
    """All tests, in the order in which they are looked through."""

    def __init__(self, root):
        self.tests = []
        shared = []
        for folder in FOLDERS:
            for path in sorted((root / folder).glob("*_test.cc")):
                tests, rest = tests_of(path)
                self.tests += tests
                shared.append(rest)
        self.tests += shared

    def callers(self, function):
        """The names of those that call a function: by its C name, else by its C++ method."""
        method = METHODS.get(function[5:], function[5:])
        member = rf"{method}\(" if "::" in method else rf"(?:\.|->){method}\("
        for pattern in (rf"\b{function}\(", member):
            names = [test.name for test in self.tests
                     if re.search(pattern, test.code) and not MISUSE.search(test.name)]
            if names:
                return names
        return []

    def named(self, word, number):
        return [test.name for test in self.tests if f".{word}{number:02}" in test.name]


class Measured:
    """Which facts a kernel has shown: by scenarios of tests/conformance whose record is a kernel's."""

    def __init__(self, root):
        here = root / "tests/conformance"
        origins = {}
        for path in sorted((here / "records").glob("*.txt")):
            origins.update(RECORD.findall(path.read_text(encoding="utf-8")))
        self.scenarios = {}
        for path in sorted((here / "scenarios").glob("*.cc")):
            for group, name, options in SCENARIO.findall(path.read_text(encoding="utf-8")):
                facts = FACTS_OF.search(options)
                if facts and origins.get(f"{group}/{name}") in KERNELS:
                    for fact in facts.group(1).split(","):
                        self.scenarios.setdefault(int(fact), []).append(f"{group}/{name}")

    def showing(self, fact):
        return self.scenarios.get(fact, [])


def listed(names):
    more = " ..." if len(names) > NAMES_PER_ROW else ""
    return " ".join(f"`{name}`" for name in names[:NAMES_PER_ROW]) + more


def rows(keys, find, label, *columns):
    """A table's rows, and the keys that have no test. What further columns find may be nothing."""
    lines, missing = [], []
    for key in keys:
        names = find(key)
        if not names:
            missing.append(label(key))
        cells = [listed(names)] + [listed(column(key)) for column in columns]
        lines.append(f"| {label(key)} | {' | '.join(cells)} |")
    return lines, missing


def reasons(root):
    """A row for each reason why tests of rdma-core are skipped, the most frequent first."""
    lines = [line for line in (root / SKIPS).read_text().splitlines() if not line.startswith("#")]
    counted = collections.Counter(line.split("\t")[1] for line in lines)
    return [f"| {reason if reason.startswith('of ') else 'that needs ' + reason} | {count} |" for reason, count in counted.most_common()]


def page(root):
    """The page's text and what is missing."""
    sources = Sources(root)
    functions = sorted(FUNCTION.findall((root / "cm/c_api/librdmacm.map").read_text()))
    facts, no_fact = rows(FACTS, lambda n: sources.named("Fact", n), str, Measured(root).showing)
    types, no_type = rows(TYPES, lambda n: sources.named("Type", n), str)
    calls, no_call = rows(functions, sources.callers, lambda name: f"`{name}`")
    lines = [
        "# What is tested where",
        "",
        "Which test covers which fact about Linux, which event and which function?",
        "",
        "`python3 tests/semantics/coverage.py . --write` generates this page from the tests and from the",
        "names that `librdmacm.so.1` exports. `//tests/semantics:coverage_test` fails when it is out of date,",
        f"or when a row has no test. A row has at most {NAMES_PER_ROW} tests.",
        "",
        "## Facts about Linux",
        "",
        "The numbers are those of [facts.md](facts.md). Kernel 6.1 has shown the facts that name a scenario",
        "([drift.md](drift.md)).",
        "",
        "| Fact | Tests | Shown by the kernel |",
        "|---|---|---|",
        *facts,
        "",
        "## Types of events",
        "",
        "| rdma_cm_event_type | Tests |",
        "|---|---|",
        *types,
        "",
        "## Functions",
        "",
        "| Function | Tests that call it |",
        "|---|---|",
        *calls,
        "",
        "## Python tests of rdma-core",
        "",
        "rdma-core's own tests run between processes (`tests/programs/pyverbs_test`) and on a simulated host",
        "with two devices and huge pages (`tests/simulated/pyverbs_test`). Of the 273 tests of rdma-core 44,",
        "144 pass and 129 are skipped; none fails. None of them needs two devices. The table also counts",
        f"tests of newer versions; `{SKIPS}` has their names.",
        "",
        "| a skipped test is one | number |",
        "|---|---|",
        *reasons(root),
        "",
        "Two more are skipped on simulated hosts: they import an object that another process has opened.",
        "They count among the 129; between processes they pass.",
        "",
    ]
    missing = ([f"fact {n}" for n in no_fact] + [f"event type {n}" for n in no_type]
               + [name.strip("`") for name in no_call])
    return "\n".join(lines), missing


def main():
    root = pathlib.Path(sys.argv[1])
    text, missing = page(root)
    for name in missing:
        print(f"no test: {name}")
    if "--write" in sys.argv[2:]:
        (root / PAGE).write_text(text, encoding="utf-8")
        return 1 if missing else 0
    stale = not (root / PAGE).exists() or (root / PAGE).read_text(encoding="utf-8") != text
    if stale:
        print(f"{PAGE} is out of date: python3 tests/semantics/coverage.py . --write")
    return 1 if missing or stale else 0


if __name__ == "__main__":
    sys.exit(main())

"""Plants bugs: copies of production sources in which each bug of bugs/*.txt can be switched on.

plant.py --copies OUT BUGS... -- SOURCES...   writes OUT/PATH for every source, and OUT/bug_table.cc
plant.py --page BUGS...                       prints docs/planted.md

A bug:

    == forgets_the_rtu                           its name
    in: transport/ibcm/machine_connect.cc        the file
    within: Machine::on_rep                      the function, if it takes that to be unique
    is: what is wrong; more lines are indented
    like: a bug that others had; may be left out
    facts: 14, 15                                which of docs/facts.md it contradicts, if any
    faults: kill, stale                          the words of plans that bring it out, if any
    found by: hang, Samples.Courier, 3           the checker, its test, within how many runs
    -  send(c.path, make_rtu(c));                what is there: must occur exactly once
    +                                            what is there instead: nothing

Words and signs are compared, however they are laid out. What ends with ';' or '}' is a statement,
all else an expression; but "{...}" in a table, "constexpr Row kRows[] = {...};", is a row of it.
Several bugs may change the same text.
"""

import pathlib
import re
import sys
from dataclasses import dataclass, field

# What a checker's findings say: its word in the data, its name on the page, what its text contains.
CHECKERS = {
    "hang": ("hang detector: who waits for what", " waits for "),
    "events": ("automaton of legal events", " although it is "),
    "order": ("order of events", "fetched, but next in its queue"),
    "answers": ("every call is answered", "without an answer to its"),
    "leaks": ("everything is destroyed", "never destroyed"),
    "crash": ("assertion in the code under test", "broken invariant"),
    "death": ("end of the process", "killed by signal"),
    "announcements": ("checker of announcements", "announcements: "),
    "atomics": ("checker of atomics", "atomics: "),
    "keys": ("checker of keys", "keys: "),
    "application": ("the application's own check", "courier: "),
    "record": ("record of the conformance suite", " showed:"),
    "unit": ("unit test", "Failure"),
}

# What a test does, by its suite.
STRATEGIES = {
    "Once": "one run without faults",
    "Samples": "random faults",
    "Steps": "device removal at every step",
    "Packets": "each packet lost, doubled or late",
    "Records": "scenario",
}


class Wrong(Exception):
    """The data cannot be used: a sentence that names the bug."""


@dataclass
class Bug:
    name: str
    file: str = ""
    within: str = ""
    what: str = ""
    like: str = ""
    facts: list = field(default_factory=list)
    faults: list = field(default_factory=list)
    checker: str = ""
    test: str = ""
    runs: int = 0
    old: list = field(default_factory=list)
    new: list = field(default_factory=list)
    number: int = 0


PARTS = {"-": "old", "+": "new"}
FIELDS = {"in": "file", "within": "within", "is": "what", "like": "like", "facts": "facts",
          "faults": "faults", "found by": "found"}
FACTS = range(1, 61)  # of docs/facts.md


# What plans can have happen to programs, and which test shows what comes of it.
FAULTS = {
    "PKEY_CHANGE": "//sim:fault_surroundings_test",
    "LID_CHANGE": "//sim:fault_surroundings_test",
    "SM_CHANGE": "//sim:fault_surroundings_test",
    "CLIENT_REREGISTER": "//sim:fault_surroundings_test",
    "GID_CHANGE": "//sim:fault_surroundings_test",
    "DEVICE_FATAL": "//sim:fault_surroundings_test",
    "srq-error": "//sim:services_test",
    "unrouted": "//sim:fault_surroundings_test, //tests/programs:faults_test",
    "lose-group": "//sim:fault_surroundings_test",
    "kill": "//cm/c_api:fiber_process_test, //tests/simulated:faults_test",
    "alter": "//sim:altered_message_test, //tests/programs:faults_test",
    "mra": "//sim:fault_surroundings_test, //tests/programs:faults_test",
    "stale": "//sim:fault_action_test",
    "fail-over": "//sim:bond_test",
    "fail-back": "//sim:bond_test",
    "confirm-neighbour": "//sim:bond_test",
    "forget-neighbour": "//sim:bond_test",
    "cut-rail": "//sim:rails_test",
    "lose": "//tests/programs:mishaps_test",
    "duplicate": "//tests/programs:mishaps_test",
    "reorder": "//tests/programs:mishaps_test",
    "delay": "//tests/programs:mishaps_test",
    "corrupt": "//tests/programs:mishaps_test",
}


def set_faults(bug, value):
    bug.faults = [fault.strip() for fault in value.split(",")]
    for fault in bug.faults:
        if fault not in FAULTS:
            raise Wrong(f"{bug.name}: no fault {fault}: {', '.join(FAULTS)}")


def set_facts(bug, value):
    numbers = [number.strip() for number in value.split(",")]
    if not all(number.isdigit() and int(number) in FACTS for number in numbers):
        raise Wrong(f"{bug.name}: 'facts' are numbers of docs/facts.md, not {value}")
    bug.facts = [int(number) for number in numbers]


def set_field(bug, key, value):
    if key == "facts":
        set_facts(bug, value)
        return
    if key == "faults":
        set_faults(bug, value)
        return
    if key != "found":
        setattr(bug, key, value)
        return
    parts = [part.strip() for part in value.split(",")]
    if len(parts) != 3 or not parts[2].isdigit():
        raise Wrong(f"{bug.name}: 'found by' names a checker, a test and a number of runs")
    bug.checker, bug.test, bug.runs = parts[0], parts[1], int(parts[2])


def check(bug):
    for name, value in (("in", bug.file), ("is", bug.what), ("found by", bug.test),
                        ("a line to replace", bug.old)):
        if not value:
            raise Wrong(f"{bug.name}: lacks '{name}'")
    if not bug.file.endswith(".cc"):
        raise Wrong(f"{bug.name}: {bug.file} is no .cc file; headers have no copies")
    if bug.checker not in CHECKERS:
        raise Wrong(f"{bug.name}: no such checker: {bug.checker}")
    if bug.runs < 1:
        raise Wrong(f"{bug.name}: is found in no run at all")


def parse(text):
    bugs = []
    key = None
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip() or line.startswith("#"):
            key = None
        elif line.startswith("== "):
            bugs.append(Bug(line[3:].strip()))
            key = None
        elif not bugs:
            raise Wrong(f"line {number} belongs to no bug: {line}")
        elif line[0] in PARTS:
            getattr(bugs[-1], PARTS[line[0]]).append(line[1:].strip())
        elif line.startswith("  ") and key in ("what", "like"):
            setattr(bugs[-1], key, getattr(bugs[-1], key) + " " + line.strip())
        else:
            name, colon, value = line.partition(":")
            key = FIELDS.get(name)
            if not colon or key is None:
                raise Wrong(f"{bugs[-1].name}: line {number} says nothing known: {line}")
            set_field(bugs[-1], key, value.strip())
    for bug in bugs:
        check(bug)
    return bugs


def read(paths):
    bugs = [bug for path in sorted(paths) for bug in parse(pathlib.Path(path).read_text())]
    names = [bug.name for bug in bugs]
    for number, bug in enumerate(bugs, 1):
        if names.count(bug.name) > 1:
            raise Wrong(f"{bug.name}: there are two of that name")
        bug.number = number
    return bugs


# --- copies --------------------------------------------------------------------------------------


def quotation(text):
    """A pattern for these words and signs, whatever space there is between them."""
    pattern = before = ""
    for token in re.findall(r"\w+|[^\w\s]", text):
        is_word = token[0].isalnum() or token[0] == "_"
        if pattern:
            pattern += r"\s+" if before and is_word else r"\s*"
        pattern += rf"\b{token}\b" if is_word else re.escape(token)
        before = is_word
    return pattern


def bodies(name, text):
    """Where the bodies of the functions of this name are: (begin, end) each."""
    begins = (r"^( *)(?=\w)(?!(?:return|if|for|while|switch)\b)[^\n;{}]*"
              rf"\b{re.escape(name)}\([^;{{}}]*\{{")
    for match in re.finditer(begins, text, re.MULTILINE):
        begin = match.end()
        closing = f"\n{match[1]}}}" if text[begin] == "\n" else "\n"
        yield begin, text.find(closing, begin)


def place_of(bug, text):
    """Where the bug's old text is: (begin, end)."""
    areas = list(bodies(bug.within, text)) if bug.within else [(0, len(text))]
    if not areas:
        raise Wrong(f"{bug.name}: {bug.file} has no function {bug.within}")
    old = re.compile(quotation("\n".join(bug.old)))
    found = {match.span() for area in areas for match in old.finditer(text, *area)}
    if len(found) != 1:
        where = f"{bug.within} of {bug.file}" if bug.within else bug.file
        raise Wrong(f"{bug.name}: its old text occurs {len(found)} times in {where}, not once")
    return found.pop()


@dataclass
class Table:
    """The definition of a constant table."""

    row: str  # its type
    name: str
    begin: int
    rows: int  # where they begin
    end: int


def tables_of(text):
    for match in re.finditer(r"^constexpr (\w+) (\w+)\[\] = \{", text, re.MULTILINE):
        end = text.find("\n};", match.end())
        yield Table(match[1], match[2], match.start(), match.end(), end)


def table_at(tables, begin):
    return next((table for table in tables if table.rows <= begin < table.end), None)


def planted(bug, old, original, table):
    """What is there instead of `old`, which may have bugs in it already, of the `original`."""
    switch = f"::anyrdma::planted::is_on({bug.number})"
    new = "\n".join(bug.new)
    if table and bug.old[0].startswith("{"):
        now = f"{table.row}{old}" if old == original else old
        return f"({switch} ? {table.row}{new} : {now})"
    if bug.old[-1].endswith((";", "}")):
        return f"{{ if ({switch}) {{ {new} }} else {{ {old} }} }}"
    return f"({switch} ? ({new}) : ({old}))"


def evaluated_late(text, table):
    """With the table's rows made when it is first asked for: by then it is known which bug is on."""
    name, row = table.name, table.row
    rows = text[table.rows:table.end]
    rest = re.sub(rf"\b{name}\b", f"{name}()", text[table.end + len("\n};"):])
    return (f"{text[:table.begin]}const auto& {name}() {{ static const {row} rows[] = {{{rows}\n}}; "
            f"return rows; }}{rest}")


def plant(path, text, bugs):
    """The source with all its bugs in it."""
    tables = list(tables_of(text))
    places = {}
    for bug in bugs:
        places.setdefault(place_of(bug, text), []).append(bug)
    order = sorted(places)
    for one, other in zip(order, order[1:]):
        if other[0] < one[1]:
            names = " and ".join(places[place][0].name for place in (one, other))
            raise Wrong(f"{names} change parts of each other's text of {path}")
    for begin, end in reversed(order):
        table = table_at(tables, begin)
        now = original = text[begin:end]
        for bug in places[begin, end]:
            now = planted(bug, now, original, table)
        text = text[:begin] + now + text[end:]
    changed = {table.name for table in tables if any(table_at([table], at) for at, _ in order)}
    for table in reversed(list(tables_of(text))):
        if table.name in changed:
            text = evaluated_late(text, table)
    return f'#include "tests/planted/planted.h"\n#line 1 "{path}"\n' + text


def quoted(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def table(bugs):
    rows = ""
    for bug in bugs:
        says = CHECKERS[bug.checker][1]
        texts = ", ".join(quoted(text) for text in (bug.name, bug.file, bug.what, bug.test, says))
        rows += f"    {{{texts}, {bug.runs}}},\n"
    return ('#include "tests/planted/planted.h"\n\nnamespace anyrdma::planted {\n\n'
            f"std::span<const Bug> bugs() {{\n  static constexpr Bug kBugs[] = {{\n{rows}  }};\n"
            "  return kBugs;\n}\n\n}  // namespace anyrdma::planted\n")


def write_copies(out, bugs, sources):
    for path in {bug.file for bug in bugs} ^ set(sources):
        missing = "has bugs and is not named in BUILD.bazel" if path not in sources else "has no bug"
        raise Wrong(f"{path} {missing}")
    for path in sources:
        text = plant(path, pathlib.Path(path).read_text(), [b for b in bugs if b.file == path])
        copy = pathlib.Path(out) / path
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text(text)
    (pathlib.Path(out) / "bug_table.cc").write_text(table(bugs))


# --- the page ------------------------------------------------------------------------------------

PREAMBLE = """# Mutation tests

Do the tests find bugs? Each row of this page is a bug that was seeded on purpose, and the test that
finds it.

- The bugs are in copies of `cm`, the CM protocol, the transport, the software HCA and a sample
  application. Production sources do not contain them.
- Each bug has a switch, and one program turns on one after the other. Without a bug, every checker
  and test in that program is silent.
- Every rule of the kernel's half (`transport/soft/state.cc`) and every [fact](facts.md) has a bug
  that contradicts it.

`bazel run //tests/planted:page_test -- --write` generates this page from `tests/planted/bugs`. A
test fails when it is out of date. Another one fails when a row's bug is not found by its test
within its number of runs.

"""


def strategy_of(bug):
    suite, _, name = bug.test.partition(".")
    if suite == "Records":
        return STRATEGIES[suite] + f" `{name}`"
    if suite in STRATEGIES:
        return STRATEGIES[suite]
    return f"`{bug.test}`"


def room_of(path):
    return path.rsplit("/", 1)[0]


def text_of(bug):
    text = f"`{bug.name}`: {bug.what}"
    if bug.facts:
        text += f" ([fact](facts.md) {', '.join(str(number) for number in bug.facts)})"
    return text + (f" Like {bug.like}" if bug.like else "")


def table_of_faults(bugs):
    """Each of FAULTS, the test that shows it, and the bugs that exploring finds with it."""
    text = """
## Faults that reveal bugs

The test of a fault shows what programs see of it, and a search with the fault finds the bugs. The
candidate faults are in [tenancy_test.cc](../tests/planted/tenancy_test.cc),
[notices_test.cc](../tests/planted/notices_test.cc) and
[oracles_test.cc](../tests/planted/oracles_test.cc). In the first two, each fault must have fired.

| fault | its test | bugs |
|---|---|---|
"""
    for fault, test in FAULTS.items():
        found = [bug for bug in bugs if fault in bug.faults]
        if not any(bug.test.startswith("Samples.") for bug in found):
            raise Wrong(f"exploring finds no bug with {fault}")
        text += f"| `{fault}` | `{test}` | {', '.join(f'`{bug.name}`' for bug in found)} |\n"
    return text


def page(bugs):
    for number in FACTS:
        if not any(number in bug.facts for bug in bugs):
            raise Wrong(f"no bug contradicts fact {number} of docs/facts.md")
    rooms = {}
    checkers = {}
    for bug in bugs:
        rooms.setdefault(room_of(bug.file), []).append(bug)
        checkers.setdefault(bug.checker, []).append(bug)
    text = PREAMBLE + f"{len(bugs)} bugs, all found:\n\n| found by | bugs |\n|---|---|\n"
    for word, (name, _) in CHECKERS.items():
        if word in checkers:
            text += f"| {name} | {len(checkers[word])} |\n"
    text += table_of_faults(bugs)
    for room, members in rooms.items():
        text += f"\n## {room}\n\n| bug | found by | strategy | within runs |\n|---|---|---|---|\n"
        for bug in members:
            text += (f"| {text_of(bug)} | {CHECKERS[bug.checker][0]} | {strategy_of(bug)} | "
                     f"{bug.runs} |\n")
    return text


def main(arguments):
    try:
        if arguments[:1] == ["--copies"]:
            split = arguments.index("--")
            write_copies(arguments[1], read(arguments[2:split]), arguments[split + 1:])
        elif arguments[:1] == ["--page"]:
            print(page(read(arguments[1:])), end="")
        else:
            print(__doc__)
            return 1
    except Wrong as wrong:
        print(f"planted bugs: {wrong}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

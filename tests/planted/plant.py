"""Plants bugs: copies of production sources in which each bug of bugs/*.txt can be switched on.

plant.py --copies OUT BUGS... -- SOURCES...   writes OUT/PATH for every source, and OUT/bug_table.cc
plant.py --page BUGS...                       prints docs/planted.md

A bug:

    == forgets_the_rtu                           its name
    in: transport/ibcm/machine_connect.cc        the file
    within: Machine::on_rep                      the function, if it takes that to be unique
    is: what is wrong; more lines are indented
    like: a bug that others had; may be left out
    found by: hang, Samples.Courier, 3           the checker, its test, within how many runs
    -  send(c.path, make_rtu(c));                what is there: must occur exactly once
    +                                            what is there instead: nothing

Words and signs are compared, however they are laid out. What ends with ';' or '}' is a statement,
all else an expression.
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
    "answers": ("every call is answered", "nobody answered its"),
    "leaks": ("everything is destroyed", "never destroyed"),
    "crash": ("assertion in the code under test", "broken invariant"),
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
    checker: str = ""
    test: str = ""
    runs: int = 0
    old: list = field(default_factory=list)
    new: list = field(default_factory=list)
    number: int = 0


PARTS = {"-": "old", "+": "new"}
FIELDS = {"in": "file", "within": "within", "is": "what", "like": "like", "found by": "found"}


def set_field(bug, key, value):
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


def planted(bug, old):
    switch = f"::anyrdma::planted::is_on({bug.number})"
    new = "\n".join(bug.new)
    if bug.old[-1].endswith((";", "}")):
        return f"{{ if ({switch}) {{ {new} }} else {{ {old} }} }}"
    return f"({switch} ? ({new}) : ({old}))"


def plant(path, text, bugs):
    """The source with all its bugs in it."""
    places = sorted((*place_of(bug, text), bug) for bug in bugs)
    for (_, end, one), (begin, _, other) in zip(places, places[1:]):
        if begin < end:
            raise Wrong(f"{one.name} and {other.name} change the same text of {path}")
    for begin, end, bug in reversed(places):
        text = text[:begin] + planted(bug, text[begin:end]) + text[end:]
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

PREAMBLE = """# Planted bugs

Written by `bazel run //tests/planted:page_test -- --write` from `tests/planted/bugs`; a test fails when it is out of date, and
another when a bug is not found by what its row says, within the runs that it says.

Who tests the tests? Each row is a bug that was put on purpose into a copy of `cm`, the CM protocol, the transport, the software HCA or
a sample application. Production sources know nothing of it: the copies are made from them, every bug has a switch, and one program turns
on one after the other. Without a bug every checker and test in that program is silent.

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


def page(bugs):
    rooms = {}
    checkers = {}
    for bug in bugs:
        rooms.setdefault(room_of(bug.file), []).append(bug)
        checkers.setdefault(bug.checker, []).append(bug)
    text = PREAMBLE + f"{len(bugs)} bugs, all found:\n\n| by | bugs |\n|---|---|\n"
    for word, (name, _) in CHECKERS.items():
        if word in checkers:
            text += f"| {name} | {len(checkers[word])} |\n"
    for room, members in rooms.items():
        text += f"\n## {room}\n\n| bug | found by | strategy | within runs |\n|---|---|---|---|\n"
        for bug in members:
            what = bug.what + (f" Like {bug.like}" if bug.like else "")
            text += (f"| `{bug.name}`: {what} | {CHECKERS[bug.checker][0]} | {strategy_of(bug)} | "
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

"""The museum's catalogue: writes docs/museum.md from the exhibits, or says how it differs from them.

museum.py ROOT            fails when the page is out of date, or when something is wrong with an exhibit
museum.py ROOT --write    writes the page
"""

import pathlib
import re
import sys

ENTRIES = range(1, 54)  # of the collection; from 49 on its technical traps
EXHIBITS_MIN = 40
PAGE = "docs/museum.md"

SECTION = re.compile(r"^// Section ([A-Z]): (.*)$", re.MULTILINE)
# A comment that begins with the entry's number, up to its last line, and the test that may follow.
ENTRY = re.compile(
    r"^// (Exhibit|Not shown) (\d+): ((?:.*\n)(?://.*\n)*)"
    r"(?:TEST(?:_F|_P)?\(\s*(\w+),\s*(\w+)\s*\))?", re.MULTILINE)
TEST = re.compile(r"^TEST(?:_F|_P)?\(\s*(\w+),\s*(\w+)\s*\)", re.MULTILINE)
ADDRESS = re.compile(r"https://\S+")


def link(address):
    """[rdma-core #28](https://github.com/linux-rdma/rdma-core/pull/28)."""
    parts = address.removeprefix("https://").split("/")
    if "github.com" in parts[0] and len(parts) >= 5:
        if parts[3] == "blob":
            return f"[{parts[2]} {parts[-1]}]({address})"
        number = parts[4][:10] if parts[3] == "commit" else f"#{parts[4]}"
        name = {"pull": number, "issues": number, "blob": parts[-1]}.get(parts[3])
        name = name or f"{parts[3]} {number}"
        return f"[{parts[2]} {name}]({address})"
    return f"[{parts[0]}]({address})"


class Entry:
    """What a comment says: an exhibit with its test, or why there is none."""

    def __init__(self, path, match):
        kind, number, text, suite, name = match.groups()
        words = " ".join(line.removeprefix("//").strip() for line in text.splitlines())
        self.is_shown = kind == "Exhibit"
        self.number = int(number)
        self.links = [link(address) for address in ADDRESS.findall(words)]
        self.story = ADDRESS.sub("", words).strip()
        self.test = f"{suite}.{name}" if suite else ""
        self.path = path

    def problem(self):
        if self.is_shown and not self.test:
            return "no test follows"
        if not self.is_shown and self.test:
            return "a test follows, although nothing is shown"
        if not self.links:
            return "no address of a report"
        return None

    def row(self):
        test = f"`{self.test}`" if self.is_shown else "not shown"
        return f"| {self.number} | {self.story} | {', '.join(self.links)} | {test} |"


class Section:
    """One file of tests."""

    def __init__(self, path):
        text = path.read_text(encoding="utf-8")
        heading = SECTION.search(text)
        self.path = path.name
        self.title = f"{heading.group(1)}. {heading.group(2)}" if heading else ""
        self.entries = [Entry(path.name, match) for match in ENTRY.finditer(text)]
        known = {entry.test for entry in self.entries}
        tests = [".".join(match.groups()) for match in TEST.finditer(text)]
        self.strangers = [test for test in tests if test not in known]

    def problems(self):
        if not self.title:
            yield f"{self.path}: no line `// Section X: ...`"
        for test in self.strangers:
            yield f"{self.path}: {test} names no exhibit"
        for entry in self.entries:
            if entry.problem():
                yield f"{self.path}: entry {entry.number}: {entry.problem()}"


def sections(root):
    found = [Section(path) for path in sorted((root / "tests/museum").glob("*_test.cc"))]
    return sorted(found, key=lambda section: section.title)


def problems(rooms):
    for room in rooms:
        yield from room.problems()
    entries = [entry for room in rooms for entry in room.entries]
    there = {entry.number for entry in entries}
    for number in ENTRIES:
        if number not in there:
            yield f"entry {number} is neither shown nor explained"
    shown = sum(entry.is_shown for entry in entries)
    if shown < EXHIBITS_MIN:
        yield f"{shown} exhibits; at least {EXHIBITS_MIN} are wanted"


def page(rooms):
    shown = sum(entry.is_shown for room in rooms for entry in room.entries)
    lines = [
        "# The museum of bugs",
        "",
        f"What users of RDMA reported in public, as {shown} exhibits: each is a test of a few lines, most of a few milliseconds: an",
        "application with the reported bug runs on simulated hosts, and the bug happens, every time. Often the mended application",
        "stands beside it. `bazel test //tests/museum/...` is the tour; [tests/museum/exhibit.h](../tests/museum/exhibit.h) says how an",
        "exhibit is made. A number stands for an entry of the collection; some have several exhibits.",
        "",
        "Written by `python3 tests/museum/museum.py . --write` from the comments in front of the tests;",
        "`//tests/museum:page_test` fails when it is out of date.",
        "",
    ]
    for room in rooms:
        lines += [f"## {room.title}", "",
                  f"[tests/museum/{room.path}](../tests/museum/{room.path})", "",
                  "| Entry | What happened, and what the exhibit shows | Reported | Test |",
                  "|---|---|---|---|"]
        lines += [entry.row() for entry in sorted(room.entries, key=lambda e: e.number)]
        lines.append("")
    return "\n".join(lines)


def main():
    root = pathlib.Path(sys.argv[1])
    rooms = sections(root)
    wrong = list(problems(rooms))
    text = page(rooms)
    if "--write" in sys.argv[2:]:
        (root / PAGE).write_text(text, encoding="utf-8")
    elif not (root / PAGE).exists() or (root / PAGE).read_text(encoding="utf-8") != text:
        wrong.append(f"{PAGE} is out of date: python3 tests/museum/museum.py . --write")
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

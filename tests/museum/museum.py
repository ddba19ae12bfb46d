"""The known-bug catalogue: writes docs/museum.md from the exhibits, or says how it differs from them.

museum.py ROOT            fails when the page is out of date, or when something is wrong with an exhibit
museum.py ROOT --write    writes the page
"""

import pathlib
import re
import sys
import textwrap

ENTRIES = range(1, 54)  # of the collection; from 49 on its technical traps
EXHIBITS_MIN = 40
PAGE = "docs/museum.md"

SECTION = re.compile(r"^// Section ([A-Z]): (.*)$", re.MULTILINE)
# A comment that begins with the entry's number, up to its last line, and the test that may follow.
ENTRY = re.compile(
    r"^// (Exhibit|Not shown) (\d+): ((?:.*\n)(?://.*\n)*)"
    r"(?:TEST(?:_F|_P)?\(\s*(\w+),\s*(\w+)\s*\))?", re.MULTILINE)
TEST = re.compile(r"^TEST(?:_F|_P)?\(\s*(\w+),\s*(\w+)\s*\)", re.MULTILINE)
NAME = re.compile(r"(?:rxe|rping|lib\w+|\w*_\w*)\b")  # that begins a story in small letters
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

    def item(self):
        """The list item, in lines of at most 100 columns but for addresses."""
        test = f"Test: `{self.test}`." if self.is_shown else "No test."
        story = self.story if NAME.match(self.story) else self.story[0].upper() + self.story[1:]
        lines = textwrap.wrap(f"**{self.number}.** {story} {test}", 98, break_long_words=False, break_on_hyphens=False)
        lines += [each + ("," if each is not self.links[-1] else "") for each in self.links]
        return ["- " + lines[0], *("  " + line for line in lines[1:])]


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


def problems(found):
    for section in found:
        yield from section.problems()
    entries = [entry for section in found for entry in section.entries]
    there = {entry.number for entry in entries}
    for number in ENTRIES:
        if number not in there:
            yield f"entry {number} is neither shown nor explained"
    shown = sum(entry.is_shown for entry in entries)
    if shown < EXHIBITS_MIN:
        yield f"{shown} exhibits; at least {EXHIBITS_MIN} are wanted"


def page(found):
    shown = sum(entry.is_shown for section in found for entry in section.entries)
    lines = [
        "# Known bugs of RDMA programs",
        "",
        "Which bugs have users of RDMA reported in public, and which test of anyrdma reproduces each?",
        "",
        f"This catalogue (`tests/museum`) has {shown} tests of a few lines and a few milliseconds each. In each",
        "test, an application with the reported bug runs on simulated hosts, and the bug happens every",
        "time. Often a second test runs the fixed application. A number is an entry of the collection of",
        "reports; some entries have several tests, and some have a reason why there is none.",
        "",
        "Run them with `bazel test //tests/museum/...`. [tests/museum/exhibit.h](../tests/museum/exhibit.h)",
        "explains how to add one.",
        "",
        "`python3 tests/museum/museum.py . --write` generates this page from the comments before the tests.",
        "`//tests/museum:page_test` fails when it is out of date.",
        "",
    ]
    for section in found:
        lines += [f"## {section.title}", "",
                  f"[tests/museum/{section.path}](../tests/museum/{section.path})", ""]
        lines += [line for entry in sorted(section.entries, key=lambda e: e.number) for line in entry.item()]
        lines.append("")
    return "\n".join(lines)


def main():
    root = pathlib.Path(sys.argv[1])
    found = sections(root)
    wrong = list(problems(found))
    text = page(found)
    if "--write" in sys.argv[2:]:
        (root / PAGE).write_text(text, encoding="utf-8")
    elif not (root / PAGE).exists() or (root / PAGE).read_text(encoding="utf-8") != text:
        wrong.append(f"{PAGE} is out of date: python3 tests/museum/museum.py . --write")
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

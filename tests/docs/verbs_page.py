"""Whether each cell of ours in docs/verbs.md, and each decision in docs/decisions.md, is backed by a test that exists.

verbs_page.py ROOT          fails when a test is named that there is none of, or a feature that we have names none
"""

import pathlib
import re
import subprocess
import sys

PAGE = "docs/verbs.md"
DECISIONS = "docs/decisions.md"
NAME = re.compile(r"`([A-Za-z_]\w*\.\w+)`")
GTEST = re.compile(r"^TEST(?:_F|_P)?\(\s*(\w+),\s*(\w+)\s*\)", re.MULTILINE)
CASE = re.compile(r"^case_(\w+)\(\)", re.MULTILINE)
MATRIX = re.compile(r"^matrix (\w+) .*? -- (.+)$", re.MULTILINE)


def expanded(words):
    """What a shell makes of {a,b}."""
    return subprocess.check_output(["bash", "-c", f"echo {words}"], text=True).split()


def tests_of(root):
    names = set()
    for folder in ("verbs", "cm", "transport", "sim", "tests"):
        for path in (root / folder).rglob("*_test.cc"):
            names.update(".".join(found) for found in GTEST.findall(path.read_text(encoding="utf-8")))
    for path in (root / "tests/programs").glob("*_test.sh"):
        text, suite = path.read_text(encoding="utf-8"), path.name[: -len("_test.sh")]
        cases = CASE.findall(text)
        for suffix, programs in MATRIX.findall(text):
            cases += [f"{program}_{suffix}" for program in expanded(programs)]
        names.update(f"{suite}.{case}" for case in cases)
    return names


def complaints(page, tests):
    rows = 0
    for line in page.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if not line.startswith("|") or cells[0] in ("feature", "---"):
            continue
        rows += 1
        if len(cells) != 4 or not all(cells):
            yield f"not a feature and three answers: {line}"
            continue
        named = NAME.findall(cells[1])
        if not named and cells[1] != "no":
            yield f"names no test: {cells[0]}"
        for name in named:
            if name not in tests:
                yield f"there is no test {name}: {cells[0]}"
    if rows < 50:
        yield f"only {rows} features"


def complaints_of_decisions(page, tests):
    sections = page.split("\n## ")[1:]
    for section in sections:
        question, _, text = section.partition("\n")
        named = [name for line in re.findall(r"^\*\*Tests?:\*\* (.*(?:\n.+)*)", text, re.MULTILINE) for name in NAME.findall(line)]
        if not re.search(r"^- ", text, re.MULTILINE) or "\n**Here:** " not in text or not named:
            yield f"no question, sources, decision and test: {question}"
        yield from (f"there is no test {name}: {question}" for name in named if name not in tests)
    if len(sections) < 5:
        yield f"only {len(sections)} decisions"


def main(root):
    tests = tests_of(root)
    status = 0
    for page, judge in ((PAGE, complaints), (DECISIONS, complaints_of_decisions)):
        for complaint in judge((root / page).read_text(encoding="utf-8"), tests):
            print(f"{page}: {complaint}")
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1])))

"""What our pages ask their readers to type: the commands of fenced blocks, with what is shown below each."""

import re
from typing import NamedTuple

LISTINGS = {"cpp", "python", "yaml", "mermaid"}  # languages of blocks in which nobody types


class Command(NamedTuple):
    text: str  # one line, without its comment
    place: str  # page:line
    shown: str  # what the page shows as its output, after commands that stand behind `$ `


def blocks(page, text):
    """(first line's number, language, lines) of each fenced block."""
    language, begun, lines = None, 0, []
    for number, line in enumerate(text.splitlines(), 1):
        fence = re.match(r"\s*```(\w*)", line)
        if fence and language is None:
            language, begun, lines = fence[1], number + 1, []
        elif fence:
            yield begun, language, lines
            language = None
        elif language is not None:
            lines.append(line)
    assert language is None, f"{page}: a block has no end"


def joined(lines, begun):
    """(number, line) with `\\` at the end of a line undone, and what is between words made one blank there."""
    waiting, first = "", begun
    for number, line in enumerate(lines, begun):
        first = first if waiting else number
        waiting = f"{waiting} {line.strip()}" if waiting else line
        if waiting.endswith("\\"):
            waiting = waiting[:-1].rstrip()
            continue
        yield first, waiting
        waiting = ""


def without_comment(line):
    return re.sub(r"""('[^']*'|"[^"]*")|(?:^|\s)#.*$""", lambda found: found[1] or "", line).strip()


def first_words(lines):
    """The line by which the table knows a block: its first one that is no comment."""
    return next((line for line in map(without_comment, lines) if line), "")


def commands(page, text, is_text):
    """Each Command of the page. is_text says of a block's first line whether nobody types what the block has."""
    for begun, language, lines in blocks(page, text):
        if language in LISTINGS:
            continue
        if is_text(first_words(lines)):  # what programs say, but for the command that they say
            for number, line in enumerate(lines, begun):
                if line.startswith("again: "):
                    yield Command(line[len("again: ") :], f"{page}:{number}", "")
            continue
        typed = [(number, line[2:]) for number, line in joined(lines, begun) if line.startswith("$ ")]
        if not typed:
            for number, line in joined(lines, begun):
                if without_comment(line):
                    yield Command(without_comment(line), f"{page}:{number}", "")
            continue
        for (number, line), (end, _) in zip(typed, typed[1:] + [(begun + len(lines), "")]):
            shown = "".join(each + "\n" for each in lines[number + 1 - begun : end - begun])
            yield Command(without_comment(line), f"{page}:{number}", shown)


def table(text):
    """{command: [(key, value)...]} of commands.txt: a command, and indented below it what becomes of it."""
    rows, lines = {}, []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.rstrip() == "#" or line.startswith("# "):
            continue
        if line.startswith("  "):
            key, _, value = line.strip().partition(" ")
            lines.append((key, value))
            continue
        assert line not in rows, f"line {number}: a second row of {line}"
        lines = rows[line] = []
    return rows

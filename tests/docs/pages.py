"""What our pages ask their readers to type: the commands of fenced blocks, with what is shown below each, and files."""

import re
from typing import NamedTuple

LISTINGS = {"c", "cpp", "python", "text", "yaml", "mermaid"}  # languages of blocks in which nobody types


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


def file_name(lines):
    """The name of the file that the block is, if a comment with nothing but a name comes first; else nothing."""
    comment = re.fullmatch(r"(?:#|//|/\*) ([\w-]+(?:\.\w+)+)(?: \*/)?", lines[0]) if lines else None
    return comment[1] if comment else ""


def typed(page, begun, lines):
    """Each Command behind `$ ` in a block, with what stands below it."""
    found, number = [], begun
    while number < begun + len(lines):
        first = number
        if lines[number - begun].startswith("$ "):
            while lines[number - begun].endswith("\\"):
                number += 1
            line = next(joined(lines[first - begun : number + 1 - begun], first))[1]
            found.append((first, number, line[2:]))
        number += 1
    for (first, last, line), (end, _, _) in zip(found, found[1:] + [(begun + len(lines), 0, "")]):
        shown = "".join(each + "\n" for each in lines[last + 1 - begun : end - begun])
        yield Command(without_comment(line), f"{page}:{first}", shown)


def commands(page, text, is_text):
    """Each Command of the page. is_text says of a block's first line whether nobody types what the block has."""
    for begun, language, lines in blocks(page, text):
        if language in LISTINGS or file_name(lines):
            continue
        if is_text(first_words(lines)):  # what programs say, but for the command that they say
            for number, line in enumerate(lines, begun):
                if line.startswith("again: "):
                    yield Command(line[len("again: ") :], f"{page}:{number}", "")
            continue
        conversation = list(typed(page, begun, lines))
        yield from conversation
        if not conversation:
            for number, line in joined(lines, begun):
                if without_comment(line):
                    yield Command(without_comment(line), f"{page}:{number}", "")


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

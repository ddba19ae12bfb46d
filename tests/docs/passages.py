"""passages.py ROOT HEADERS SEED [COUNT]: draws passages of all pages and installed headers, to be judged by a reader who knows RDMA and
has not seen the project: "what does this say, and what would I do next?" At least 28 of 30 should be understood at once. A
passage is a paragraph, an item of a list, a row of a table, or a comment of a header, of 12 words or more. The same tree and
seed give the same passages. HEADERS is the folder of the installed headers, bazel-bin/tools/kit/include after
`bazel build //tools:headers`."""

import pathlib
import random
import re
import sys

import prose

WORDS = 12  # a heading or a cell says too little to be judged


def rows(text):
    """(line number, row of a table as it is), without the names of the columns."""
    lines = prose.without_blocks(text).splitlines()
    for number, (line, next_line) in enumerate(zip(lines, [*lines[1:], ""]), 1):
        is_head = next_line.lstrip().startswith("|-")
        if line.lstrip().startswith("|") and re.search(r"\w", line) and not is_head:
            yield number, line.strip()


def passages(root, names):
    """(file, line, text) of each, in order."""
    for name in sorted(names):
        text = (root / name).read_text(encoding="utf-8")
        found = prose.paragraphs_of(name, text)
        if name.endswith(".md"):
            table = dict(rows(text))
            found = [each for each in found if each[0] not in table] + list(table.items())
        for number, said in sorted(found):
            if len(prose.words_in(prose.plain(said))) >= WORDS:
                yield name, number, said


def pages(root):
    generated = ("altered.md", "coverage.md", "ibcm-states.md", "drift.md", "planted.md")
    found = [*root.glob("*.md"), *(root / "docs").rglob("*.md")]
    return [str(path.relative_to(root)) for path in found if path.name not in generated and path.name != "CHANGELOG.md"]


def declaration(root, name, line):
    """What a comment of a header is about: the code beside it, or the next one."""
    if name.endswith(".md"):
        return ""
    for each in (root / name).read_text(encoding="utf-8").splitlines()[line - 1 :]:
        code = re.sub(r"\s*//.*", "", each).strip()
        if code:
            return f"    {code}\n"
    return ""


def draw(root, names, seed, count):
    everything = list(passages(root, names))
    return random.Random(seed).sample(everything, min(count, len(everything)))


def main():
    root, headers, seed = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), int(sys.argv[3])
    count = int(sys.argv[4]) if len(sys.argv) > 4 else 30
    public = [str(path.relative_to(headers)) for path in headers.rglob("*.h")]
    names = pages(root) + [name for name in public if (root / name).exists()]
    for index, (name, line, text) in enumerate(draw(root, names, seed, count), 1):
        print(f"{index}. {name}:{line}: {text}\n{declaration(root, name, line)}")


if __name__ == "__main__":
    main()

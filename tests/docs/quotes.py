"""quotes.py PAGE SOURCE...: every ```c and ```cpp block of the page occurs in a source, line by line. One whose first line is the
name of a file (pages.py) is all the rest of that source; where no source is called so, it is the page's own."""

import pathlib
import re
import sys

import pages


def untrue(block, sources):
    name = pages.file_name(block.splitlines())
    if not name:
        return not any(block in text for text in sources.values())
    return name in sources and not sources[name].endswith(block.split("\n", 1)[1])


def main():
    page, *sources = map(pathlib.Path, sys.argv[1:])
    texts = {source.name: source.read_text(encoding="utf-8") for source in sources}
    blocks = re.findall(r"^```c(?:pp)?\n(.*?)^```$", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    missing = [block for block in blocks if untrue(block, texts)]
    for block in missing:
        print(f"in none of {sys.argv[2:]}:\n{block}")
    print(f"{len(blocks)} quotations, {len(missing)} of them not true")
    return 0 if blocks and not missing else 1


if __name__ == "__main__":
    sys.exit(main())

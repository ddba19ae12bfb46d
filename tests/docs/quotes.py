"""quotes.py PAGE SOURCE...: every ```cpp block of the page occurs in a source, line by line."""

import re
import sys


def main():
    page, *sources = (open(path, encoding="utf-8").read() for path in sys.argv[1:])
    blocks = re.findall(r"^```cpp\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    missing = [block for block in blocks if not any(block in source for source in sources)]
    for block in missing:
        print(f"in none of {sys.argv[2:]}:\n{block}")
    print(f"{len(blocks)} quotations, {len(missing)} of them not true")
    return 0 if blocks and not missing else 1


if __name__ == "__main__":
    sys.exit(main())

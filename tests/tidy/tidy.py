"""Holds the tree against the house's rules: tidy.py ROOT. Findings as file:line: rule; remedy."""

import pathlib
import sys

import rules
import tree


def main():
    root = pathlib.Path(sys.argv[1])
    paths = list(tree.files(root))
    sources = [path for path in paths if path.endswith(tree.SOURCE + tree.SCRIPT)]
    findings = [*tree.orphans(root, paths), *tree.dead_links(root, paths),
                *tree.circles(root, paths), *tree.untold_threads(root, paths)]
    for path in sources:
        found = rules.check(path, (root / path).read_text())
        findings += [(path, line, text) for line, text in found]
    for path, line, text in sorted(findings):
        print(f"{path}:{line}: {text}")
    print(f"{len(sources)} sources, {len(findings)} findings")
    sys.exit(1 if findings or not sources else 0)


if __name__ == "__main__":
    main()

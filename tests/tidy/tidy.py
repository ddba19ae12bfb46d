"""Holds the tree against the house's rules: tidy.py ROOT. Findings as file:line: rule; remedy."""

import pathlib
import re
import subprocess
import sys

import rules


def tracked(root):
    listed = subprocess.run(["git", "-C", str(root), "ls-files", "-co", "--exclude-standard"],
                            check=True, stdout=subprocess.PIPE, text=True).stdout
    return [path for path in listed.splitlines() if (root / path).is_file()]


def orphans(root, paths):
    """Sources that no BUILD file names: they are built by nobody."""
    for path in paths:
        if not path.endswith((".cc", ".h", ".c")):
            continue
        folder, name = (root / path).parent, pathlib.Path(path).name
        relative = name
        while not (folder / "BUILD.bazel").is_file() and folder != root:
            relative = f"{folder.name}/{relative}"
            folder = folder.parent
        build = folder / "BUILD.bazel"
        text = build.read_text() if build.is_file() else ""
        stem = relative.rsplit(".", 1)[0]
        named = relative in text or f'"{stem}"' in text or "glob(" in text
        # A list of names may stand for files: [name + ".cc" for name in ...].
        base = re.sub(r"_test$", "", stem)
        if not named and f'"{base}"' not in text:
            yield path, 1, f"no target in {build.relative_to(root)} names this file"


def dead_links(root, paths):
    for path in paths:
        if not path.endswith(".md"):
            continue
        for number, line in enumerate((root / path).read_text().split("\n"), 1):
            for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", line):
                if "://" not in target and not ((root / path).parent / target).exists():
                    yield path, number, f"dead link: {target}"


def main():
    root = pathlib.Path(sys.argv[1])
    paths = tracked(root)
    findings = list(orphans(root, paths)) + list(dead_links(root, paths))
    sources = [path for path in paths if path.endswith((".cc", ".h", ".c"))]
    for path in sources:
        findings += [(path, line, text) for line, text in rules.check(path, (root / path).read_text())]
    for path, line, text in sorted(findings):
        print(f"{path}:{line}: {text}")
    print(f"{len(sources)} sources, {len(findings)} findings")
    sys.exit(1 if findings or not sources else 0)


if __name__ == "__main__":
    main()

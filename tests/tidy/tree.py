"""The rules that need more than one file: sources nobody builds, links that lead nowhere."""

import os
import pathlib
import re

import cxx
import rooms

SOURCE = (".cc", ".h", ".c")
SCRIPT = (".js", ".css")
SKIPPED = re.compile(r"^(\..*|bazel-.*|bin|__pycache__)$")


def files(root):
    """Every file of the tree, relative and in order, without what is generated."""
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if not SKIPPED.match(name))
        for name in sorted(names):
            yield (pathlib.Path(folder) / name).relative_to(root).as_posix()


def names_file(build, name):
    """Whether a BUILD file names a file: literally, as in `[x + "_test.cc" for x in ...]`, or as a suite of a room_test."""
    suffix = name.rsplit(".", 1)[1]
    if f'"{name}"' in build or re.search(rf'glob\(\s*\[[^\]]*\*\.{suffix}"', build):
        return True
    suites = re.findall(r"^ +suites = \[[^\]]*\]", build, re.MULTILINE)
    if any(f'"{name.removesuffix("_test.cc")}"' in text for text in suites):
        return True
    suffixes = re.findall(r'\+ "([\w.]*\.\w+)"', build)
    return any(name.endswith(suffix) and f'"{name.removesuffix(suffix)}"' in build
               for suffix in suffixes)


def orphans(root, paths):
    for path in paths:
        if not path.endswith(SOURCE + SCRIPT):
            continue
        folder = (root / path).parent
        while not (folder / "BUILD.bazel").is_file() and folder != root:
            folder = folder.parent
        build = folder / "BUILD.bazel"
        text = "\n".join(part.read_text() for part in [build, *sorted(folder.glob("*.bzl"))] if part.is_file())
        if not names_file(text, (root / path).relative_to(folder).as_posix()):
            yield path, 1, f"nobody builds it; name it in {build.relative_to(root)}"


INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"]+)/[^"/]+"', re.M)


def folder_includes(root, paths):
    """Which folder includes which other one, and the first file that does: {from: {to: path}}."""
    includes = {}
    for path in paths:
        if path.endswith(SOURCE) and "/" in path and not rooms.is_test(path):
            folder = path.rsplit("/", 1)[0]
            for target in INCLUDE.findall((root / path).read_text()):
                if target != folder:
                    includes.setdefault(folder, {}).setdefault(target, path)
    return includes


def way(includes, start, end):
    """The shortest way between two folders along includes, as a list of folders; None: no way."""
    before = {start: None}
    waiting = [start]
    for folder in waiting:
        if folder == end:
            steps = [folder]
            while before[steps[0]] is not None:
                steps.insert(0, before[steps[0]])
            return steps
        for target in sorted(includes.get(folder, {})):
            if target not in before:
                before[target] = folder
                waiting.append(target)
    return None


def circles(root, paths):
    """Folders that include each other, also through others: each circle is found once."""
    includes = folder_includes(root, paths)
    seen = set()
    for folder in sorted(includes):
        for target in sorted(includes[folder]):
            back = way(includes, target, folder)
            if back is None or frozenset(back) in seen:
                continue
            seen.add(frozenset(back))
            files = [includes[a][b] for a, b in zip(back, back[1:])]
            yield includes[folder][target], 1, (
                f"circle: {folder} includes {' includes '.join(back)} "
                f"({', '.join(files)}); move what both need down")


THREAD = re.compile(r"\bstd::j?thread\b\s*(?!::)[\w({]")
SEEN = {"threads", "no-tsan", "no-sanitizer", "programs", "vm"}


def untold_threads(root, paths):
    """ThreadSanitizer runs the tests that are tagged so."""
    for path in paths:
        if not path.endswith("_test.cc") or not THREAD.search(cxx.strip((root / path).read_text())):
            continue
        folder, name = path.rsplit("/", 1)
        build = root / folder / "BUILD.bazel"
        for rule in re.findall(r"^cc_test\(\n.*?^\)", build.read_text(), re.M | re.S):
            tags = re.search(r"tags = \[(.*?)\]", rule, re.S)
            told = set(re.findall(r'"([\w-]+)"', tags.group(1) if tags else ""))
            if f'"{name}"' in rule and not told & SEEN:
                yield path, 1, (f'starts threads; tag it "threads" in {folder}/BUILD.bazel, '
                                'or "no-tsan" with a reason')


def dead_links(root, paths):
    for path in paths:
        if not path.endswith(".md"):
            continue
        quoted = False  # code between fences, where a lambda looks like a link
        for number, line in enumerate((root / path).read_text().split("\n"), 1):
            quoted ^= line.startswith("```")
            for target in [] if quoted else re.findall(r"\]\(([^)#\s]+)[^)]*\)", line):
                if "://" not in target and not ((root / path).parent / target).exists():
                    yield path, number, f"dead link: {target}"

"""promises.py ROOT: what pages name is there: subcommands and options of anyrdma, verbs of ./dev, Bazel's targets,
variables of the environment, headings that links lead to, pages that sources name, and the tests that commands.txt names; and
the start page leads to every page. The command is $BIN/anyrdma."""

import functools
import os
import pathlib
import re
import shlex
import subprocess
import sys

import pages

SOURCES = {".cc", ".h", ".c", ".py", ".sh", ".bazel", ".yml", ""}


def quiet(*command):
    ran = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    return ran.stdout.decode()


@functools.lru_cache(None)
def offered(*subcommands):
    """(subcommands, options) of what the help of `anyrdma SUBCOMMAND...` lists."""
    said = quiet(f"{os.environ['BIN']}/anyrdma", *subcommands, "--help")
    listed = re.search(r"^Subcommands:\n((?:  .*\n)*)", said, re.M)
    names = re.findall(r"^  (\w+) ", listed[1], re.M) if listed else []
    return set(names), set(re.findall(r"^  (?:-\w,)?(--[\w-]+)", said, re.M))


def of_the_command(text):
    """What is no part of `anyrdma ...`, up to what belongs to the program that it starts."""
    words = shlex.split(re.split(r" -- | --$", text)[0].replace("\n", " "))
    while words and re.match(r"\w+=", words[0]):
        words.pop(0)
    if not words or words.pop(0) not in ("anyrdma", "bin/anyrdma"):
        return
    known, path = offered()[0], []
    if words and re.fullmatch(r"[a-z]+", words[0]) and words[0] not in known:
        yield f"anyrdma has no {words[0]}"
        return
    while words and words[0] in known:
        path.append(words.pop(0))
        known = offered(*path)[0]
    options = offered(*path)[1]
    for word in words:
        if re.match(r"--[a-z]", word) and word.split("=")[0] not in options:
            yield f"anyrdma {' '.join(path)} has no {word}"


def has_target(root, label):
    folder, _, name = label[2:].partition(":")
    if folder.endswith("..."):
        return (root / folder[:-3]).is_dir()
    build = root / folder / "BUILD.bazel"
    if not build.exists():
        return False
    text, name = build.read_text(encoding="utf-8"), name or pathlib.Path(folder).name
    if f'"{name}"' in text:
        return True
    suite = re.fullmatch(r"(\w+)_test", name)  # a list of suites makes them
    return bool(suite) and f'"{suite[1]}"' in text and '+ "_test"' in text


def of_others(root, text, verbs):
    for verb in re.findall(r"(?<![\w/])\./dev ([a-z]\w*)", text):
        if verb not in verbs:
            yield f"./dev has no {verb}"
    if re.match(r"bazel |\S*bazel ", text):
        for label in re.findall(r"(?<=\s)//[\w/.:-]+", text):
            if not has_target(root, label):
                yield f"no target {label}"


def prose(text):
    """The page without its blocks, with as many lines."""
    return re.sub(r"^```.*?^```", lambda block: "\n" * block[0].count("\n"), text, flags=re.M | re.S)


def quoted(page, text):
    """(place, text) of what stands between backticks, and of the commands of blocks."""
    plain = prose(text)
    for found in re.finditer(r"`([^`\n]+(?:\n[^`\n]+)?)`", plain):
        yield f"{page}:{plain.count(chr(10), 0, found.start()) + 1}", found[1].replace("\\|", "|")
    for each in pages.commands(page, text, lambda _: False):
        yield each.place, each.text


def anchors(text):
    """Those that a forge gives the page's headings."""
    for heading in re.findall(r"^#+ (.*)$", prose(text), re.M):
        shown = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading)
        yield re.sub(r"[^\w\- ]", "", shown.lower()).replace(" ", "-")


def dead_links(root, page, text):
    for number, line in enumerate(prose(text).splitlines(), 1):
        for target, anchor in re.findall(r"\]\(([^)#\s:]*)(?:#([^)\s]+))?\)", line):
            to = (root / page).parent / target if target else root / page
            if not to.exists():
                yield f"{page}:{number}: no file {target}"
            elif anchor and to.suffix == ".md" and anchor not in anchors(to.read_text(encoding="utf-8")):
                yield f"{page}:{number}: {target} has no heading #{anchor}"


def unlisted(root):
    """Pages of docs that the start page has no link to."""
    start = root / "docs/README.md"
    linked = {os.path.normpath(start.parent / to) for to in re.findall(r"\]\(([^)#\s:]+)", prose(start.read_text(encoding="utf-8")))}
    for page in sorted((root / "docs").rglob("*.md")):
        if page != start and os.path.normpath(page) not in linked:
            yield f"docs/README.md: does not lead to {page.relative_to(root)}"


def unnamed(root, verbs):
    """Subcommands that README has no line for, and verbs of ./dev that CONTRIBUTING.md does not name."""
    readme, contributing = ((root / name).read_text(encoding="utf-8") for name in ("README.md", "CONTRIBUTING.md"))
    for name in sorted(offered()[0]):
        if not re.search(rf"`anyrdma {name}\b", readme):
            yield f"README.md: no `anyrdma {name}`"
    for verb in sorted(verbs):
        if not re.search(rf"\./dev {verb}\b", contributing):
            yield f"CONTRIBUTING.md: no ./dev {verb}"


def sources(root):
    for folder, folders, names in os.walk(root, followlinks=True):
        folders[:] = [each for each in folders if not re.match(r"\.|bazel-|bin$|docs$|records$", each)]
        for name in names:
            path = pathlib.Path(folder, name)
            if path.suffix in SOURCES and path.is_file():
                yield path.read_text(encoding="utf-8", errors="replace")


def missing_pages(root):
    """Pages that sources name, in comments and messages, and that are not there. Tests name others on purpose."""
    for folder in ("cm", "verbs", "transport", "sim", "recording", "page", "tools", "examples", "packaging"):
        for path in sorted((root / folder).rglob("*")):
            if path.suffix not in SOURCES or not path.is_file():
                continue
            for page in re.findall(r"(?<![\w/.(])docs/[\w/-]+\.md", path.read_text(encoding="utf-8", errors="replace")):
                if not (root / page).exists():
                    yield f"{path.relative_to(root)}: no page {page}"


def of_the_table(root):
    table = pages.table((root / "tests/docs/commands.txt").read_text(encoding="utf-8"))
    for command, lines in table.items():
        key, value = lines[0] if lines else ("", "")
        for label in re.findall(r"//[\w/]+(?::[\w.]+)?", value) if key in ("by", "text") else []:
            if not has_target(root, label):
                yield f"commands.txt: no target {label}"
        if key != "by":
            continue
        parts = re.fullmatch(r"//([\w/]+):(\w+) ([\w/.]+): (.*)", value)
        if not parts:
            yield f"commands.txt: by whom, in which file, by what text? {command}"
            continue
        file = root / parts[3]
        if not file.exists() or parts[4] not in file.read_text(encoding="utf-8"):
            yield f"commands.txt: {parts[3]} has no '{parts[4]}'"
        elif file.name not in (f"{parts[2]}.sh", "BUILD.bazel") and f'"{file.name}"' not in (root / parts[1] / "BUILD.bazel").read_text():
            yield f"commands.txt: {parts[3]} is no file of {parts[2]}"


def complaints(root):
    verbs = set(re.findall(r"^  ([a-z]+) ", quiet("bash", str(root / "dev"), "help"), re.M))
    all_pages = [root / "README.md", root / "CONTRIBUTING.md", *sorted((root / "docs").rglob("*.md"))]
    asked, named = 0, {}
    for path in all_pages:
        page, text = str(path.relative_to(root)), path.read_text(encoding="utf-8")
        for place, each in quoted(page, text):
            asked += bool(re.search(r"anyrdma \w|\./dev|bazel ", each))
            if each.count("'") % 2 == 0 and each.count('"') % 2 == 0:
                yield from (f"{place}: {what}" for what in of_the_command(each))
            yield from (f"{place}: {what}" for what in of_others(root, each, verbs))
        for variable in re.findall(r"\bANYRDMA_[A-Z_]*[A-Z]\b(?!-)", text):
            named.setdefault(variable, page)
        yield from dead_links(root, page, text)
    code = "\n".join(sources(root))
    for variable, page in named.items():
        if not re.search(rf"\b{variable}\b", code):
            yield f"{page}: nothing reads {variable}"
    yield from missing_pages(root)
    yield from of_the_table(root)
    yield from unlisted(root)
    yield from unnamed(root, verbs)
    if asked < 50 or not verbs or not named:
        yield f"only {asked} commands, {len(verbs)} verbs, {len(named)} variables"


def main():
    said = list(complaints(pathlib.Path(sys.argv[1])))
    print("\n".join(said))
    print(f"{len(said)} promises that are not kept")
    return 1 if said else 0


if __name__ == "__main__":
    sys.exit(main())

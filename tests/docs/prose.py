"""prose.py ROOT HEADERS LIST: pages and public headers are plain English: lines of at most 100 columns, sentences of at most 30
words, none of the words below, no reference to a page that does not exist. Messages (messages.py) follow the same rules, except that
their lines may have any length. LIST names files that are not rewritten yet; a file
in it that is clean is a complaint, so the list only gets shorter. HEADERS is the folder of the installed headers.
`prose.py ROOT --of FILE...` prints what is wrong with these files, listed or not, and the average length of their sentences.
`prose.py ROOT HEADERS LIST --shorten` takes off the list what is clean or gone."""

import pathlib
import re
import sys

import messages

COLUMNS = 100
ROW_COLUMNS = 240  # of a table row, which cannot be broken
WORDS = 30  # in a sentence

# What not to write, and what to write instead. CONTRIBUTING.md explains.
INSTEAD = [
    (r"nobody", "name the subject, or 'no process', 'no thread'"),
    (r"whoever|whomever|whosoever", "name the subject: the caller, the process, the reader"),
    (r"(?:ha(?:s|ve|d)|having) (?:it|them|that|what [\w ]+) again|ha[sd] again|had again", "'reproduce' or 'replay'"),
    (r"so much as", "'even', or leave it out"),
    (r"stands?(?! for\b)|stood", "'is', 'is written', 'supports'"),
    (r"befall(?:s|en)?|befell", "'happens to'"),
    (r"in vain", "'without result'"),
    (r"amid", "'during'"),
    (r"(?<!by )(?<!a )chance", "'randomness', 'random numbers'"),
    (r"tells? of", "'reports'"),
    (r"planted", "'seeded bug': the field says mutation test"),
    (r"rooms|(?:a|the|each|which) room(?! for\b)", "'module'"),
]
# A clause without a noun as the subject: "Who polls waits." A question may begin so.
HEADLESS = re.compile(r"(?:Who|What|Whatever|Which) [a-z].*\.$")


def without_blocks(text):
    """The page without fenced and commented blocks, with as many lines."""
    blank = lambda block: "\n" * block[0].count("\n")
    text = re.sub(r"^[ \t]*```.*?^[ \t]*```[^\n]*", blank, text, flags=re.M | re.S)
    return re.sub(r"<!--.*?-->", blank, text, flags=re.S)


def plain(text):
    """Text as it is read: a link is its words, a row of code is one word, of markup nothing is left."""
    text = re.sub(r"!?\[([^]]*)\]\([^)]*\)", r"\1", text)
    text = re.sub(r"[\w/.-]+\.(?:md|h|cc|txt|py)\b", "File", text)
    text = re.sub(r"(?:(?:``[^`]+``|`[^`]+`),? ?)+", "Code ", text)
    text = re.sub(r"https?://\S+", "Address", text)
    return re.sub(r"[*_]{1,2}(\S(?:.*?\S)?)[*_]{1,2}", r"\1", text)


def page_paragraphs(text):
    """(line number, text) of each paragraph, list item, heading and table cell of a page."""
    found, begun, lines = [], 0, []

    def end():
        if lines:
            found.append((begun, " ".join(lines)))
        lines.clear()

    for number, line in enumerate(without_blocks(text).splitlines(), 1):
        stripped = line.strip()
        if stripped.startswith("|"):
            end()
            cells = re.split(r"(?<!\\)\|", stripped.strip("|"))
            found += [(number, cell.strip()) for cell in cells if re.search(r"\w", cell)]
        elif not stripped or stripped.startswith("#") or (line.startswith("    ") and not lines):
            end()
        else:
            item = re.match(r"(?:[-*]|\d+\.) +", stripped)
            if item:
                end()
            if not lines:
                begun = number
            lines.append(stripped[item.end() :] if item else stripped)
    end()
    return found


def header_paragraphs(text):
    """(line number, text) of each paragraph of the comments. A banner (`// --- faults`) and a comment
    of another kind (`//`, `///`, `///<`) or in another column begin a paragraph."""
    found, begun, lines, last = [], 0, [], None
    for number, line in enumerate([*text.splitlines(), ""], 1):
        comment = re.match(r"\s*(?:///?<?|/\*+|\*(?!/))(?: |$)(.*)", line) or re.search(r" ///?<? (.*)", line)
        said = comment[1].replace("*/", "").strip() if comment else ""
        own = bool(re.match(r"\s*(?:/|\*)", line))
        mark = re.search(r"///?<?|/?\*", line) if comment else None
        kind = mark and ("*" if "*" in mark[0] else (mark[0], mark.start()))
        banner = said.startswith("---")
        indented = bool(comment) and comment[1].startswith("  ")  # a table, say: each line by itself
        item = indented or re.match(r"(?:[-*]|\d+\.|@\w+) +", said)
        if lines and (not said or item or not own or banner or kind != last):
            found.append((begun, " ".join(lines)))
            lines = []
        last = None if banner else kind
        if said and not said.startswith("NOLINT"):
            begun = begun if lines else number
            lines.append(said)
    return found


def sentences(text):
    """Each sentence of a paragraph. A full stop, a question mark or a colon at the end of a word ends one."""
    text = re.sub(r"\b(e\.g|i\.e|vs|cf|vol|no|et al)\.", r"\1", plain(text))
    return [part for part in re.split(r"(?<=[.!?:])[\")]*\s+(?=\S)", text) if re.search(r"\w", part)]


def words_in(sentence):
    return re.findall(r"[\w'./+-]*\w[\w'./+-]*", sentence)


def long_lines(name, text):
    is_page = name.endswith(".md")
    for number, line in enumerate((without_blocks(text) if is_page else text).splitlines(), 1):
        row = is_page and line.lstrip().startswith("|")
        limit = ROW_COLUMNS if row else COLUMNS
        shown = re.sub(r"\]\([^)]*\)" if row else r"\]\(https?://[^)]*\)", "]", line) if is_page else line
        unbroken = re.match(r"\s*(?:///? )?(?:[-*] )?\S+$", line)  # a URL, say
        if len(shown) > limit and not unbroken:
            yield number, f"{len(shown)} columns, more than {limit}"


def wrong_words(paragraphs):
    for number, text in paragraphs:
        said = plain(text)
        for pattern, instead in INSTEAD:
            for found in re.finditer(rf"\b(?:{pattern})\b", said, re.I):
                yield number, f"'{found[0]}': {instead}"
        for each in sentences(text):
            if HEADLESS.match(each):
                yield number, f"a clause as the subject; name the noun: {each[:60]}"


def long_sentences(paragraphs):
    for number, text in paragraphs:
        for each in sentences(text):
            count = len(words_in(each))
            if count > WORDS:
                yield number, f"a sentence of {count} words, more than {WORDS}: {each[:60]}"


def missing_pages(root, name, text):
    """References to pages: links of a page, and of either `docs/...md`."""
    for number, line in enumerate((without_blocks(text) if name.endswith(".md") else text).splitlines(), 1):
        targets = [pathlib.Path(name).parent / to for to in re.findall(r"\]\(([^)#\s:]+)[)#]", line)]
        targets += [pathlib.Path(to) for to in re.findall(r"(?<![\w/(.])docs/[\w/-]+\.md", line)]
        for to in targets:
            if not (root / to).exists():
                yield number, f"no page {to}"


def paragraphs_of(name, text):
    return page_paragraphs(text) if name.endswith(".md") else header_paragraphs(text)


def complaints(root, name):
    text = (root / name).read_text(encoding="utf-8")
    found = paragraphs_of(name, text)
    said = [*long_lines(name, text), *wrong_words(found), *long_sentences(found), *missing_pages(root, name, text)]
    return [f"{name}:{number}: {what}" for number, what in sorted(said)]


def complaints_about_messages(root):
    """What is wrong with the texts that the command, the libraries and ./dev give to people."""
    for name, number, text in messages.messages(root):
        # Lines of a help that are indented, or follow an empty one, are no continuation.
        parts = [(number, part) for part in re.split(r"\n(?=\n|\s\s)", text)]
        for line, what in [*wrong_words(parts), *long_sentences(parts)]:
            yield f"{name}:{line}: in a message, {what}"


def average(root, names):
    """(sentences, words a sentence)"""
    texts = [(name, (root / name).read_text(encoding="utf-8")) for name in names]
    lengths = [len(words_in(each)) for name, text in texts for _, part in paragraphs_of(name, text) for each in sentences(part)]
    return len(lengths), sum(lengths) / max(1, len(lengths))


def guarded(root, headers):
    """The pages of the tree, and the sources of the installed headers."""
    pages = [*root.glob("*.md"), *(root / "docs").rglob("*.md")]
    names = [each.relative_to(root) for each in pages] + [each.relative_to(headers) for each in headers.rglob("*.h")]
    return sorted(str(name) for name in names if (root / name).exists())


def judge(root, names, unclean):
    """Complaints about the files and about the list of those that are not clean yet."""
    for name in sorted(unclean - set(names)):
        yield f"{name} is on the list of files to be rewritten, and is no page or public header: take it off"
    for name in names:
        said = complaints(root, name)
        if name not in unclean:
            yield from said
        elif not said:
            yield f"{name} is clean: take it off the list of files to be rewritten"


def shorten(listed, root, names):
    """Takes off the list the files that are clean or gone."""
    keeps = lambda line: not line or line.startswith("#") or (line in names and complaints(root, line))
    lines = listed.read_text(encoding="utf-8").splitlines()
    listed.write_text("".join(line + "\n" for line in lines if keeps(line)), encoding="utf-8")


def main():
    root = pathlib.Path(sys.argv[1])
    if sys.argv[2] == "--of":
        names = sys.argv[3:]
        said = [each for name in names for each in complaints(root, name)]
    else:
        headers, listed = map(pathlib.Path, sys.argv[2:4])
        if sys.argv[4:] == ["--shorten"]:
            shorten(listed, root, guarded(root, headers))
        lines = listed.read_text(encoding="utf-8").splitlines()
        unclean = {line for line in lines if line and not line.startswith("#")}
        names = guarded(root, headers)
        said = [*judge(root, names, unclean), *complaints_about_messages(root)]
        if len(list(messages.messages(root))) < 500:
            said.append("few messages are found: see messages.py")
        if len(names) < 100:
            said.append(f"only {len(names)} files")
    print("\n".join(said))
    count, words = average(root, names)
    print(f"{len(names)} files, {count} sentences of {words:.1f} words on average, {len(said)} complaints")
    return 1 if said else 0


if __name__ == "__main__":
    sys.exit(main())

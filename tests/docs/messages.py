"""messages.py ROOT [FOLDER...]: lists every text that the command, the libraries and ./dev give to people, with file and line:
errors, findings, refusals, helps. A text is a row of C++ literals; an expression between two of them is shown as `...`. Tests,
and code that only tests use, are left out. prose.py applies the rules for words to the same list."""

import pathlib
import re
import sys

FOLDERS = ("tools", "cm", "verbs", "transport", "sim", "recording", "page")
NO_MESSAGES = re.compile(r"(^|/)(testing|fuzz|testdata)/|_(test|fuzz)\.|_test_")

TOKEN = re.compile(
    r'(?P<comment>//[^\n]*|/\*.*?\*/)|(?:u8|L)?R"(?P<mark>[^\s()\\]*)\((?P<raw>.*?)\)(?P=mark)"'
    r'|(?P<include>#\s*include[^\n]*)|"(?P<text>(?:[^"\\\n]|\\.)*)"|(?P<char>\'(?:[^\'\\\n]|\\.)+\'(?!\w))|(?P<code>[^"\'/#RLu]+|.)',
    re.S,
)
ESCAPES = {r"\n": "\n", r"\t": " ", r"\"": '"', r"\\": "\\", r"\'": "'"}


def said_by(literal):
    return re.sub(r"\\(?:x[0-9a-fA-F]+|[0-7]+|.)", lambda found: ESCAPES.get(found[0], " "), literal, flags=re.S)


def literals(source):
    """(offset, text of a literal) and (offset, None: code) in turn, without comments."""
    for found in TOKEN.finditer(source):
        if found["raw"] is not None:
            yield found.start(), "text", found["raw"]
        elif found["text"] is not None:
            yield found.start(), "text", said_by(found["text"])
        elif not found["comment"] and not found["include"]:
            yield found.start(), "code", found[0]


def joins(code):
    """What code between two literals puts between their texts; None: they are two texts."""
    if not code.strip():
        return ""
    if re.search(r"[;{}?]|\breturn\b|(?<!:):(?!:)|&&|\|\||==", code):
        return None
    plain = re.sub(r"\s+", " ", code).strip()
    if re.fullmatch(r"(?:\)|\+|std::string\(|\()[ )+(]*", plain) and "+" in plain:
        return ""
    inner = re.fullmatch(r"\)? ?(?:\+|\.append\(|<<)(.*)(?:\+|\)\.append\(|<<)(?: ?(?:std::)?string\()?", plain)
    return "..." if inner and inner[1].count("(") == inner[1].count(")") else None


def texts(source):
    """(line, text) of each row of literals."""
    found, between = [], ""
    for offset, kind, text in literals(source):
        if kind == "code":
            between += text
            continue
        glue = joins(between) if found else None
        if glue is None:
            found.append([source.count("\n", 0, offset) + 1, text])
        else:
            found[-1][1] += glue + text
        between = ""
    return [tuple(each) for each in found]


def is_prose(text):
    """Two words beside each other at least, and no code or XML."""
    if re.match(r"\s*<\w+ \w+=", text):
        return False
    plain = re.sub(r"%[-+ #0-9.*]*(?:hh?|ll?|z|j|PRI\w+)?[a-zA-Z]|\.\.\.", " x ", text)
    return bool(re.search(r"[A-Za-z]{2,}[,:;]? [a-z]{2,}|[a-z]{3,} [A-Z]?[a-z]{3,}", plain))


def of_source(source):
    return [(line, text) for line, text in texts(source) if is_prose(text)]


def of_script(source):
    """(line, text) of what a shell script says: quoted words of commands that print, and the comment of each verb of ./dev."""
    for number, line in enumerate(source.splitlines(), 1):
        verb = re.match(r"\w+\(\) \{ # (.*)", line)
        if verb:
            yield number, verb[1]
        elif re.search(r"\b(?:die|say|echo|printf)\b", line) and not line.lstrip().startswith("#"):
            for found in re.finditer(r"\"((?:[^\"\\]|\\.)*)\"|'([^']*)'", line):
                text = found[1] if found[1] is not None else found[2]
                if is_prose(text):
                    yield number, re.sub(r"\$\{?\w+[^ .,;:]*", "...", text)


def sources(root, folders=FOLDERS):
    for folder in folders:
        for path in sorted((root / folder).rglob("*")):
            name = str(path.relative_to(root))
            if path.suffix in (".cc", ".h", ".c", ".js") and path.is_file() and not NO_MESSAGES.search(name):
                yield name


def messages(root, folders=FOLDERS):
    """(file, line, text) of all."""
    for name in sources(root, folders):
        for line, text in of_source((root / name).read_text(encoding="utf-8")):
            yield name, line, text
    script = root / "dev"
    if folders == FOLDERS and script.exists():
        yield from (("dev", line, text) for line, text in of_script(script.read_text(encoding="utf-8")))


def main():
    root = pathlib.Path(sys.argv[1])
    listed = list(messages(root, sys.argv[2:] or FOLDERS))
    for name, line, text in listed:
        print(f"{name}:{line}: {' / '.join(text.strip().splitlines())}")
    print(f"{len(listed)} messages")


if __name__ == "__main__":
    main()

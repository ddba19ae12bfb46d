"""Just enough C++ to judge style: text without comments and literals, where functions stand, and what classes offer."""

import re

TOKEN = re.compile(
    r'R"(?P<tag>[^()\s\\]{0,16})\(.*?\)(?P=tag)"'  # raw string
    r'|"(?:\\.|[^"\\\n])*"'  # string
    r"|(?<![0-9A-Fa-f])'(?:\\.|[^'\\\n])+'"  # character, not a digit separator
    r"|//[^\n]*|/\*.*?\*/"
    r"|^[ \t]*#(?:\\\n|[^\n])*",  # preprocessor: its braces need not pair
    re.DOTALL | re.MULTILINE)


def strip(text):
    """The text with comments, literals and directives blanked; every line keeps its number."""

    def blank(match):
        literal = '""' if match.group()[0] in "R\"'" else ""
        return literal + "\n" * match.group().count("\n")

    return TOKEN.sub(blank, text)


def _without_groups(head):
    """The head without what stands in parentheses: default arguments must not look like `= {`."""
    while True:
        shorter = re.sub(r"\([^()]*\)", " @ ", head)
        if shorter == head:
            return head
        head = shorter


def _kind(head):
    flat = re.sub(r"operator\s*\S+", "operator", _without_groups(head))
    if re.search(r"\bnamespace\b|\bextern\b", flat) and "@" not in flat:
        return "scope"
    untemplated = re.sub(r"^\s*template\s*<.*?>(?=\s*[\w\[])", "", flat, flags=re.DOTALL)
    if re.match(r"\s*(typedef\s+)?(class|struct|union)\b", untemplated) \
            and not re.search(r"@\s*\w*\s*$", flat):
        return "scope"
    if "@" not in flat or re.search(r"(?<![=!<>])=(?!=)", flat):
        return "other"
    # `Type::Type(int x) : x_` opens a member's initializer, not yet the body.
    if re.search(r"@[^:]*(?<!:):(?!:)", flat) and not re.search(r"@\s*$", flat):
        return "member"
    return "function"


def functions(text):
    """(first line, last line) of every function that is not nested in another."""
    code = strip(text)
    stack, head, head_start, resumed = [], "", 0, None
    for match in re.finditer(r"[{};]|\b(?:public|private|protected)\s*:", code):
        mark = match.group()
        head += code[head_start:match.start()]
        head_start = match.end()
        if mark == "{":
            inside = all(kind == "scope" for kind, _, _ in stack)
            kind = _kind(head) if inside else "other"
            first = match.start() - len(head.lstrip()) if resumed is None else resumed
            stack.append((kind, head if kind == "member" else "", first))
            head, resumed = "", None
        elif mark == "}" and stack:
            kind, outer, first = stack.pop()
            # After a member's initializer the constructor's head goes on.
            head, resumed = (outer + "()", first) if kind == "member" else ("", None)
            if kind == "function":
                yield code.count("\n", 0, first) + 1, code.count("\n", 0, match.start()) + 1
        else:
            head, resumed = "", None


CLASS = re.compile(r"\b(class|struct)\s+([\w:]+)\s*(?:final\s*)?(?::(?!:)[^;{}]*)?\{")


def _is_function(head):
    """Whether the head of a member declares a function that its class offers itself."""
    if re.match(r"(friend|using|typedef|enum|class|struct|static_assert)\b", head) or "~" in head:
        return False
    flat = _without_groups(re.sub(r"\[\[\w+\]\]", "", head))
    declared, _, given = flat.partition("=")
    return "@" in declared and given.strip() not in ("default", "delete")


def classes(text):
    """(line, name, public functions) of every class. Functions that override count, destructors do not."""
    code = strip(text)
    for match in CLASS.finditer(code):
        access = "public" if match.group(1) == "struct" else "private"
        depth, head, count = 0, "", 0
        for mark in re.finditer(r"[{};]|\b(public|private|protected)\s*:(?!:)|[^{};]+?(?=[{};]|\b(?:public|private|"
                                r"protected)\s*:(?!:))", code[match.end():]):
            token = mark.group()
            if depth == 0 and mark.group(1):
                access, head = mark.group(1), ""
            elif token == "{":
                depth += 1
            elif token in "};":
                depth -= token == "}"
                if depth < 0:
                    break
                if depth == 0:
                    count += access == "public" and _is_function(head.strip())
                    head = ""
            elif depth == 0:
                head += token
        yield code.count("\n", 0, match.start()) + 1, match.group(2), count

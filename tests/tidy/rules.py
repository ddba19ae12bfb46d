"""The house's rules that a machine can see. Each rule: a function from (path, text) to findings."""

import re

from rooms import ROOMS, SANS_IO, TEST_EXTRA, room_of

FUNCTION_LINES_MAX = 70
FILE_LINES_MAX = 600
TEST_LINES_MAX = 800
LINE_MAX = 100

IMPURE_INCLUDES = {
    "<thread>", "<mutex>", "<shared_mutex>", "<condition_variable>", "<future>", "<atomic>",
    "<random>", "<iostream>", "<fstream>", "<ctime>", "<time.h>", "<unistd.h>", "<poll.h>",
    "<sys/epoll.h>", "<sys/time.h>", "<fcntl.h>",
}
IMPURE_CALLS = re.compile(
    r"(_clock::now|\bclock_gettime\b|\bgettimeofday\b|\brandom_device\b|\brand\(|\bgetenv\b|"
    r"\bsleep_for\b|\busleep\b|std::thread\b|std::mutex\b)")


def is_test(path):
    return path.endswith("_test.cc") or "/testing/" in path or path.startswith("tests/")


def is_sans_io(path):
    return room_of(path) in SANS_IO and not is_test(path)


def code_lines(text):
    """Line numbers and lines without comments and string contents; rough, but enough for rules."""
    for number, line in enumerate(text.split("\n"), 1):
        line = re.sub(r'"(\\.|[^"\\])*"', '""', line)
        yield number, line.split("//")[0]


def arrows(path, text):
    room = room_of(path)
    if room is None or ROOMS[room] is None:
        return
    allowed = ROOMS[room] + (TEST_EXTRA.get(room, []) if is_test(path) else [])
    for number, line in enumerate(text.split("\n"), 1):
        match = re.match(r'\s*#include "([^"]+)"', line)
        if not match:
            continue
        target = room_of(match.group(1))
        if target is not None and target not in allowed and not (target == "verbs/testing" and is_test(path)):
            yield number, f"arrow: {room} must not know {target}; see docs/architecture.md"


def pure_core(path, text):
    if not is_sans_io(path):
        return
    for number, line in enumerate(text.split("\n"), 1):
        match = re.match(r"\s*#include (<[^>]+>)", line)
        if match and (match.group(1) in IMPURE_INCLUDES or match.group(1).startswith("<boost/asio")):
            yield number, f"pure core: {match.group(1)}; time, randomness and I/O are handed in"
    for number, line in code_lines(text):
        match = IMPURE_CALLS.search(line)
        if match:
            yield number, f"pure core: {match.group(1)}; time, randomness and I/O are handed in"


def no_default(path, text):
    if not is_sans_io(path):
        return
    for number, line in enumerate(text.split("\n"), 1):
        if re.match(r"\s*default:", line) and "// foreign enum" not in line:
            yield number, "default: in a switch; name every case (or say `// foreign enum`)"


def file_size(path, text):
    lines = text.count("\n")
    limit = TEST_LINES_MAX if is_test(path) else FILE_LINES_MAX
    if lines > limit:
        yield 1, f"file of {lines} lines; more than {limit} is two subjects"


def line_length(_path, text):
    for number, line in enumerate(text.split("\n"), 1):
        if len(line) > LINE_MAX and "http" not in line and not line.startswith('#include'):
            yield number, f"line of {len(line)} columns; {LINE_MAX} is the limit"


def function_size(_path, text):
    """A body opens with a line ending in `{` at an indentation and ends with `}` at the same."""
    start = None
    for number, line in enumerate(text.split("\n"), 1):
        if start is None:
            match = re.match(r"^( {0,2})(?!namespace|class |struct |enum |union |extern|inline constexpr|"
                             r"constexpr|static constexpr|const |template|public|private)\S.*\{$", line)
            if match and "(" in line + text.split("\n")[max(0, number - 3)] and "= {" not in line:
                start = (number, match.group(1))
        elif re.match(rf"^{start[1]}\}}", line):
            if number - start[0] > FUNCTION_LINES_MAX:
                yield start[0], (f"function of {number - start[0]} lines; "
                                 f"more than {FUNCTION_LINES_MAX} hides a part with a name")
            start = None


def unfinished(_path, text):
    for number, line in enumerate(text.split("\n"), 1):
        if re.search(r"\b(TODO|FIXME|XXX|HACK)\b", line):
            yield number, "unfinished: finish it, or make it an issue"


def no_sleep_in_tests(path, text):
    if not is_test(path):
        return
    for number, line in code_lines(text):
        if re.search(r"\b(sleep_for|usleep|nanosleep)\b|(?<![\w.>])sleep\(", line):
            yield number, "sleep in a test; wait for a condition with a deadline"


def nodiscard(path, text):
    if not path.endswith(".h"):
        return
    lines = text.split("\n")
    for number, line in code_lines(text):
        declares = re.match(r"\s*(static |virtual |inline |explicit )*(verbs::)?Result<.*>\s+\w+\(", line)
        if declares and "[[nodiscard]]" not in line and "[[nodiscard]]" not in lines[number - 2] \
                and "override" not in line:
            yield number, "a function returning Result says [[nodiscard]]"


RULES = [arrows, pure_core, no_default, file_size, line_length, function_size, unfinished,
         no_sleep_in_tests, nodiscard]


def check(path, text):
    """All findings of one source file, as (line, message)."""
    return sorted(finding for rule in RULES for finding in rule(path, text) or [])

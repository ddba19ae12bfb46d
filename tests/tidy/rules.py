"""The house's rules that a machine can see. Each rule: a function from (path, text) to findings."""

import re

import cxx
from rooms import FLOORS, ROOMS, TEST_EXTRA, floor_of, is_sans_io, is_test, is_unlisted, room_of

FUNCTION_LINES_MAX = 70
FILE_LINES_MAX = 600
TEST_LINES_MAX = 800
LINE_MAX = 100
PUBLIC_FUNCTIONS_MAX = {"sim/programs/": 30, "sim/": 40}  # of a class; the first prefix decides

IMPURE_INCLUDE = re.compile(
    r"<(thread|mutex|shared_mutex|condition_variable|future|semaphore|latch|barrier|stop_token|"
    r"atomic|random|iostream|fstream|ctime|time\.h|unistd\.h|poll\.h|fcntl\.h|"
    r"sys/(epoll|eventfd|time|timerfd|random)\.h|boost/(asio|thread|random|fiber)[/.].*|"
    r"spdlog/.*)>")
IMPURE_CALL = re.compile(
    r"_clock::now|\b(?:clock_gettime|gettimeofday|nanosleep|usleep|sleep_for|sleep_until|getrandom|"
    r"random_device|mt19937\w*|getenv|secure_getenv|this_thread)\b|\bs?rand\(|"
    # rdma-core's structs hold mutexes that we set up for it; locking them is another matter.
    r"\bpthread_(?!(?:mutex|cond)_(?:init|destroy)\b)\w+|"
    r"(?:std::|(?<![\w:.>]))time\((?:0|NULL|nullptr)\)|"
    r"std::(?:j?thread|mutex|recursive_mutex|cout|cerr|clog)\b")
SLEEP = re.compile(r"\b(sleep_for|sleep_until|usleep|nanosleep)\b|(?<![\w.>])sleep\(")
RESULT = re.compile(r"(?:^|[;{}:>\])\s])((?:verbs::)?Result<[^;{}()]*>\s+\w+\()")


def numbered(text):
    return enumerate(text.split("\n"), 1)


def searched(pattern, text):
    """(line, match) of a pattern in the code: comments, literals and directives do not count."""
    for number, line in numbered(cxx.strip(text)):
        match = pattern.search(line)
        if match:
            yield number, match.group()


def includes(text):
    for number, line in numbered(text):
        match = re.match(r'\s*#\s*include\s*("[^"]+"|<[^>]+>)', line)
        if match:
            yield number, match.group(1)


def arrows(path, text):
    if is_unlisted(path):
        yield 1, "arrow: a new room; give it a row in tests/tidy/rooms.py and docs/architecture.md"
    room = room_of(path)
    if room is None or ROOMS[room] is None:
        return
    allowed = list(ROOMS[room])
    if is_test(path):
        allowed += ["verbs/testing"] + TEST_EXTRA.get(room, [])
    for number, name in includes(text):
        target = room_of(name.strip('"'))
        if target is not None and target not in allowed:
            yield number, f"arrow: {room} must not know {target}; see docs/architecture.md"


def arrows_up(path, text):
    floor = floor_of(path)
    if floor is None or is_test(path):
        return
    for number, name in includes(text):
        target = floor_of(name.strip('"'))
        if target is not None and target > floor:
            yield number, (f"arrow up: {FLOORS[floor][0]} is below {FLOORS[target][0]} "
                           "(FLOORS in tests/tidy/rooms.py); move what both need down")


def pure_core(path, text):
    if not is_sans_io(path):
        return
    found = [(number, name) for number, name in includes(text) if IMPURE_INCLUDE.match(name)]
    for number, what in found + list(searched(IMPURE_CALL, text)):
        yield number, f"pure core: {what}; time, randomness and I/O are handed in"


def no_default(path, text):
    if not is_sans_io(path):
        return
    lines = text.split("\n")
    for number, _ in searched(re.compile(r"^\s*default\s*:"), text):
        if "// foreign enum" not in lines[number - 1]:
            yield number, "default: in a switch; name every case (or say `// foreign enum`)"


def file_size(path, text):
    lines = text.count("\n")
    limit = TEST_LINES_MAX if is_test(path) else FILE_LINES_MAX
    if lines > limit:
        yield 1, f"file of {lines} lines; more than {limit} is two subjects"


def line_length(_path, text):
    for number, line in numbered(text):
        if len(line) > LINE_MAX and "://" not in line and not line.startswith("#include"):
            yield number, f"line of {len(line)} columns; {LINE_MAX} is the limit"


def function_size(_path, text):
    for first, last in cxx.functions(text):
        lines = last - first + 1
        if lines > FUNCTION_LINES_MAX:
            yield first, (f"function of {lines} lines; more than {FUNCTION_LINES_MAX} hides a part "
                          "that deserves a name")


def class_size(path, text):
    limits = [limit for prefix, limit in PUBLIC_FUNCTIONS_MAX.items() if path.startswith(prefix)]
    if not limits or is_test(path):
        return
    for line, name, count in cxx.classes(text):
        if count > limits[0]:
            yield line, (f"class {name} with {count} public functions; more than {limits[0]} are "
                         "several subjects")


def unfinished(_path, text):
    for number, line in numbered(text):
        if re.search(r"\b(TODO|FIXME|XXX|HACK)\b", line):
            yield number, "unfinished: finish it, or make it an issue"


def no_sleep_in_tests(path, text):
    if is_test(path):
        for number, _ in searched(SLEEP, text):
            yield number, "sleep in a test; wait for a condition with a deadline"


def nodiscard(path, text):
    """Boost's result is not nodiscard itself, so each declaration says it."""
    if not path.endswith(".h"):
        return
    code = cxx.strip(text)
    for match in RESULT.finditer(code):
        before = re.split(r"[;{}]|\b(?:public|protected|private)\s*:", code[:match.start(1)])[-1]
        after = re.split(r"[;{]", code[match.end(1):], maxsplit=1)[0]
        if "nodiscard" not in before and not re.search(r"\b(override|final)\b", after):
            line = code.count("\n", 0, match.start(1)) + 1
            yield line, "a function returning Result says [[nodiscard]]"


def pragma_once(path, text):
    if path.endswith(".h") and "#pragma once" not in text:
        yield 1, "a header without #pragma once"


RULES = [arrows, arrows_up, pure_core, no_default, file_size, line_length, function_size, class_size,
         unfinished,
         no_sleep_in_tests, nodiscard, pragma_once]

# What is not C++, but written here as carefully.
SCRIPT_RULES = [file_size, line_length, unfinished]


def check(path, text):
    """All findings of one source file, as (line, message)."""
    rules = SCRIPT_RULES if path.endswith((".js", ".css")) else RULES
    return sorted(finding for rule in rules for finding in rule(path, text))

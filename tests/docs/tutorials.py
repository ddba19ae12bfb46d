"""tutorials.py PAGE...: does what a tutorial says, to the letter, in an empty directory: each block is a file, whose first line
is a comment with its name, or commands behind `$ ` with all that they say below them, where `...` stands for what differs from run
to run. A status other than 0 is an answer to `echo $?`, which comes next. Whoever reads takes their time behind a command
in the background: $AWAIT ends when it listens. $PREFIX is where anyrdma is installed."""

import os
import pathlib
import re
import secrets
import shlex
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

import pages

DEADLINE = 900  # seconds for a page; it needs a few


def steps(page, text):
    """(file name, content) and Commands, in the page's order."""
    for begun, _, lines in pages.blocks(page, text):
        name = pages.file_name(lines)
        found = [(name, "\n".join(lines) + "\n")] if name else list(pages.typed(page, begun, lines))
        assert found, f"{page}:{begun}: neither a file nor commands"
        yield from found


def port_of(command):
    given = re.search(r"(?:-p|--port) (\d+)", command)
    return given[1] if given else "7174"


def script_of(steps_found, place):
    """What bash is given: one shell for the whole page, since it may export, and asks for the last status. Files wait in
    `place` until the page comes to them; what commands say is kept there."""
    parts = ["status=0 jobs=()"]
    for number, each in enumerate(steps_found):
        kept = shlex.quote(f"{place}/{number}")
        if not isinstance(each, pages.Command):
            parts.append(f"cp {kept} {shlex.quote(each[0])}")
            continue
        parts.append(f"(exit $status); {{ {each.text}\n}} >{kept} 2>&1; status=$?; echo $status >{kept}.status")
        if each.text.endswith("&"):
            parts.append(f'jobs+=($!); "$AWAIT" "$ANYRDMA_FABRIC" tcp 127.0.0.1 {port_of(each.text)} $! || cat {kept}')
    parts.append('for job in "${jobs[@]}"; do wait "$job" || { echo "a command in the background ends with $?"; failed=1; }; done')
    return "\n".join([*parts, "exit ${failed:-0}"])


def pattern(shown):
    """A regular expression of what the page shows."""
    lines = shown.splitlines()
    exactly = lambda line: ".*".join(re.escape(part) for part in line.split("..."))
    return "".join(r"(?:.*\n)*?" if line.strip() == "..." else exactly(line) + r"\n" for line in lines)


def judged(steps_found, place):
    """What is wrong, of the first command with which something is."""
    commands = [(number, each) for number, each in enumerate(steps_found) if isinstance(each, pages.Command)]
    following = [each.text for _, each in commands[1:]] + [""]
    for (number, each), after in zip(commands, following):
        kept, ended = pathlib.Path(place, str(number)), pathlib.Path(place, f"{number}.status")
        said = kept.read_text(encoding="utf-8", errors="replace") if kept.exists() else ""
        if not ended.exists():
            return f"{each.place}: did not end: {each.text}\n{said[-3000:]}"
        status = int(ended.read_text(encoding="utf-8"))
        if (status != 0) != (after == "echo $?"):
            return f"{each.place}: exit status {status}: {each.text}\n{said[-3000:]}"
        if not re.fullmatch(pattern(each.shown), said):
            return f"{each.place}: {each.text}\nthe page shows\n{each.shown}but it says\n{said[-6000:]}"
    return "" if commands else "tells nobody to do anything"


def follow(page, text):
    """What is wrong with the page, or nothing."""
    try:
        found = list(steps(page, text))
    except AssertionError as mistake:
        return str(mistake)
    with tempfile.TemporaryDirectory() as place:
        here, kept, other = (pathlib.Path(place, name) for name in ("here", "kept", "tmp"))
        for folder in (here, kept, other):
            folder.mkdir()
        for number, each in enumerate(found):
            if not isinstance(each, pages.Command):
                (kept / str(number)).write_text(each[1], encoding="utf-8")
        prefix = os.environ["PREFIX"]
        environment = {
            "PATH": f"{prefix}/bin:/usr/bin:/bin", "PREFIX": prefix, "LC_ALL": "C.UTF-8", "HOME": place, "TMPDIR": str(other),
            "AWAIT": os.environ["AWAIT"], "ANYRDMA_FABRIC": f"tutorial-{secrets.token_hex(8)}",
        }
        ran = subprocess.run(
            ["timeout", "-k", "1", str(DEADLINE), "bash", "-c", script_of(found, kept)], cwd=here, env=environment,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        log = ran.stdout.decode(errors="replace")[-3000:]
        wrong = judged(found, kept) or (log if ran.returncode != 0 else "")
    return f"{page}: {wrong}" if wrong else ""


def main():
    names = sys.argv[1:]
    texts = [pathlib.Path(name).read_text(encoding="utf-8") for name in names]
    with ThreadPoolExecutor(2) as pool:
        said = [each for each in pool.map(follow, names, texts) if each]
    print("\n".join(said))
    print(f"{len(names)} tutorials, {len(said)} of them mislead")
    return 1 if said or not names else 0


if __name__ == "__main__":
    sys.exit(main())

"""commands.py TABLE PAGE...: every command of the pages' blocks has a row in the table, every row a command; the rows
that say `run` are executed, each in a directory of its own. With $ONLY, a text, only rows that contain it are."""

import os
import pathlib
import re
import secrets
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

import pages

FATES = ("run", "by", "cannot", "text")
KEYS = {"given", "instead", "beside", "status", "then", "says"}
DEADLINE = 600  # seconds for a row; it needs one or two


def wrong_rows(rows):
    for command, lines in rows.items():
        fate, value = lines[0] if lines else ("", "")
        if fate not in FATES:
            yield f"no word of what becomes of: {command}"
        elif (fate == "run") == bool(value):
            yield f"'{fate}' {'with' if value else 'without'} an explanation: {command}"
        for key, _ in lines[1:]:
            if fate != "run" or key not in KEYS:
                yield f"'{key}' says nothing here: {command}"


def differences(rows, found):
    """Commands that are not in the table, and rows that no page has any more."""
    for each in found:
        if each.text not in rows:
            yield f"{each.place}: not in the table: {each.text}"
    texts = {each.text for each in found}
    for command, lines in rows.items():
        if lines and lines[0][0] != "text" and command not in texts:
            yield f"on no page any more: {command}"


def stale_texts(rows, contents):
    blocks = [block for page, text in contents.items() for block in pages.blocks(page, text)]
    firsts = {pages.first_words(lines) for _, _, lines in blocks}
    for command, lines in rows.items():
        if lines and lines[0][0] == "text" and command not in firsts:
            yield f"no block begins so any more: {command}"


def script_of(command, lines):
    """What bash is given for a row. `listening ADDRESS` waits until the newest job listens there, `ended` until all
    jobs have ended, none of which may fail: their ids are kept, since bash forgets who has ended."""
    of = lambda key: [value for each, value in lines if each == key]
    steps = lambda key: [part for value in of(key) for part in (value, "note")]
    for exchange in of("instead"):
        old, _, new = exchange.partition(" = ")
        assert old in command, f"{command} has no {old}"
        command = command.replace(old, new)
    parts = [
        'listening() { "$AWAIT" "$ANYRDMA_FABRIC" tcp "$1" 7174 $!; }',
        'note() { if [ "${!:-}" != "$newest" ]; then newest=$!; jobs+=("$newest"); fi; }',
        'ended() { note; local job; for job in "${jobs[@]}"; do wait "$job"; done; jobs=(); }',
        "newest= jobs=(); set -e",
        *steps("given"),
    ]
    expected = (of("status") or ["0"])[0]
    if of("beside"):
        parts += [f"{{ {command.rstrip(' &')}; }} >said 2>&1 &", "tried=$! newest=$!", *steps("beside")]
        parts += ["status=0; wait $tried || status=$?"]
    else:
        parts += ["status=0", f"{{ {command}\n}} >said 2>&1 || status=$?"]
    parts += [
        f'[ "$status" = {expected} ] ||',
        f'  {{ cat said; echo "exit status $status, not {expected}"; exit 1; }}',
        *steps("then"),
        "ended",
    ]
    return "\n".join(parts)


def execute(command, lines, shown):
    """What is wrong with the row, or nothing."""
    with tempfile.TemporaryDirectory() as place:
        os.mkdir(f"{place}/here")
        os.symlink(os.environ["BIN"], f"{place}/here/bin")
        if shown:
            with open(f"{place}/shown", "w", encoding="utf-8") as file:
                file.write(shown)
        environment = {
            "PATH": f"{os.environ['BIN']}:/usr/bin:/bin", "LC_ALL": "C.UTF-8",
            "HOME": place, "TMPDIR": place,
            "AWAIT": os.environ["AWAIT"], "ANYRDMA_FABRIC": f"docs-{secrets.token_hex(8)}",
        }
        try:
            ran = subprocess.run(
                ["timeout", "-k", "1", str(DEADLINE), "bash", "-c", script_of(command, lines)],
                cwd=f"{place}/here", env=environment, stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
            log = ran.stdout.decode(errors="replace")
            file = pathlib.Path(place, "here", "said")
            said = file.read_text(encoding="utf-8", errors="replace") if file.exists() else ""
        except AssertionError as mistake:
            return str(mistake)
    if ran.returncode != 0:
        return f"status {ran.returncode}: {log[-1500:]}{said[-500:]}"
    for key, value in lines:
        if key == "says" and not re.search(value, said, re.MULTILINE):
            return f"does not say '{value}': {said[-1500:]}"
    if shown and said != shown:
        return f"the page shows\n{shown}but it says\n{said}"
    return ""


def judge(rows, contents):
    """(complaints, commands found)"""
    is_text = lambda first: rows.get(first, [("", "")])[0][0] == "text"
    found = [each for name in contents for each in pages.commands(name, contents[name], is_text)]
    return [*wrong_rows(rows), *differences(rows, found), *stale_texts(rows, contents)], found


def main():
    table, *names = sys.argv[1:]
    read = lambda name: pathlib.Path(name).read_text(encoding="utf-8")
    rows = pages.table(read(table))
    complaints, found = judge(rows, {name: read(name) for name in names})
    shown = {each.text: each.shown for each in found}
    only = os.environ.get("ONLY", "")
    wanted = [row for row in rows if rows[row] and rows[row][0][0] == "run" and only in row]
    with ThreadPoolExecutor(2) as pool:
        jobs = [
            pool.submit(execute, row, rows[row], shown.get(row, ""))
            for row in wanted
        ]
        results = [job.result() for job in jobs]
        complaints += [f"{row}: {result}" for row, result in zip(wanted, results) if result]
    print("\n".join(complaints))
    print(f"{len(found)} commands, {len(wanted)} rows executed, {len(complaints)} complaints")
    return 1 if complaints or not found or not wanted else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Runs `anyrdma` on the programs of tests/finds: README.md beside this file says what they are."""

import argparse
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

HANGS_AFTER = 120  # seconds of real time that a run may take, which takes a fraction of one
FIRST_SEEDS_APART = 1_000_000  # so that no two explorations have a run in common
FOUND = re.compile(r"^found by (.*) in run (\d+) after ([\d.]+) s$", re.M)
TAGS = ("kind", "source", "needs", "buggy", "fixed", "fails")


class Program:
    """SUBJECT/NAME, and what the first comment says of it: of a program of one file, or of a scenario
    file of one of the larger ones."""

    def __init__(self, source, folder):
        self.name = f"{source.parent.name}/{source.stem}"
        self.folder = folder / source.parent.name
        self.tags = read_tags(source.read_text(), self.name)

    def scenario(self, mode):
        return f"{self.name.split('/')[1]}.{mode}.txt"


def read_tags(text, name):
    comment = re.match(r"(?://[^\n]*\n)+|(?:#[^\n]*\n)+", text)
    if comment is None:
        sys.exit(f"bench.py: {name} has no first comment.")
    tags, tag = {"title": ""}, "title"
    for line in comment.group().splitlines():
        line = line[2:].strip()
        begins = re.match(r"(\w+): ?(.*)", line)
        if begins and begins.group(1) in TAGS:
            tag, line = begins.group(1), begins.group(2)
            tags[tag] = ""
        tags[tag] = f"{tags[tag]} {line}".strip()
    missing = [tag for tag in TAGS if tag not in tags and tag != "fails"]
    if missing:
        sys.exit(f"bench.py: the first comment of {name} lacks `{missing[0]}:`.")
    return tags


def run(words, folder, seconds):
    """(status, what it said on stdout, on stderr); the status is None if it did not end in time."""
    try:
        done = subprocess.run(words, cwd=folder, capture_output=True, text=True, errors="replace",
                              stdin=subprocess.DEVNULL, timeout=seconds, check=False)
        return done.returncode, done.stdout, done.stderr
    except subprocess.TimeoutExpired as late:
        return None, *[(part or b"").decode(errors="replace") for part in (late.stdout, late.stderr)]


def seconds_of(budget):
    match = re.fullmatch(r"(\d+)(s|min)", budget)
    if not match:
        sys.exit(f"bench.py: a budget is a time such as 60s, not '{budget}'.")
    return int(match.group(1)) * (60 if match.group(2) == "min" else 1)


def run_to_failure(words, folder):
    """The same of an exploration that is told to end when it has found something."""
    with tempfile.TemporaryFile("w+", errors="replace") as out, \
         subprocess.Popen(words, cwd=folder, stdout=out, stderr=subprocess.PIPE, text=True,
                          errors="replace", stdin=subprocess.DEVNULL) as process:
        said = ""
        for line in process.stderr:
            said += line
            if FOUND.search(line):
                process.terminate()
        process.wait()
        out.seek(0)
        return process.returncode, out.read(), said


class Exploration:
    """What `anyrdma explore` printed of one program."""

    def __init__(self, status, out, err):
        total = re.search(r": (\d+) runs.* in ([\d.]+) s", out)
        again = re.search(r"^again: anyrdma replay .*? '(.*)'$", out, re.M | re.S)
        by = FOUND.search(err)
        self.found = by is not None
        self.odd = "" if status in (0, 1) or self.found else f"status {status}: {(err or out).strip()[-300:]}"
        self.strategy = by.group(1) if by else ""
        self.runs = int(by.group(2) if by else total.group(1) if total else 0)
        self.seconds = float(by.group(3) if by else total.group(2) if total else 0)
        self.trial = again.group(1) if again else ""
        problem = re.search(r"^\d+ went wrong like this:\n(.*?)^again:", out, re.M | re.S)
        self.problem = problem.group(1) if problem else ""


def explore(options, program, mode, first_seed, runs):
    with tempfile.TemporaryDirectory() as records:
        words = [options.anyrdma, "explore", program.scenario(mode), "--first-seed", str(first_seed),
                 "--seeds", str(runs), "--jobs", str(options.jobs), "--record", records]
        limit = None
        if mode == "buggy":
            words += ["--budget", options.budget]
            limit = 5 * seconds_of(options.budget)
            if options.first:
                return Exploration(*run_to_failure(words + options.rest, program.folder))
        return Exploration(*run(words + options.rest, program.folder, limit))


HEAD = "| program | kind | reported | found | by | median runs | median s | shrunk to |"


def cell(text):
    return text.replace("|", "\\|").replace("\n", " ")


def table(options, programs):
    print(HEAD)
    print("|---|---|---|---|---|---|---|---|")
    found_often = 0
    for program in programs:
        results = [explore(options, program, "buggy", 1 + n * FIRST_SEEDS_APART, 10**9)
                   for n in range(options.seeds)]
        for result in results:
            if result.odd:
                print(f"bench.py: {program.name}: {result.odd}", file=sys.stderr)
        good = [result for result in results if result.found]
        found_often += 5 * len(good) >= 4 * options.seeds
        best = min(good, key=lambda result: len(result.trial), default=None)
        print("|", " | ".join(cell(text) for text in (
            program.name, program.tags["kind"], program.tags["source"],
            f"{len(good)} of {len(results)}",
            "; ".join(sorted({result.strategy for result in good})),
            f"{statistics.median(r.runs for r in good):.0f}" if good else "",
            f"{statistics.median(r.seconds for r in good):.1f}" if good else "",
            f"`{best.trial}`" if best else "")), "|", flush=True)
    print(f"\n{found_often} of {len(programs)} programs: found from at least four of five first seeds.")
    return found_often == len(programs)


def merged(options, programs):
    """The table of docs/finds.md from the outputs of parts; of a program's rows the last one counts."""
    rows = {}
    for file in options.merge:
        for line in pathlib.Path(file).read_text().splitlines():
            cells = [part.strip() for part in re.split(r"(?<!\\)\|", line)[1:-1]]
            if len(cells) == HEAD.count("|") - 1 and re.fullmatch(r"\d+ of \d+", cells[3]):
                rows[cells[0]] = cells
    print("| program | its bug | searches that found the bug | median runs until then | "
          "median time until then |\n|---|---|---|---|---|")
    wanted = [program.name for program in programs]
    found_often = 0
    for name in filter(rows.get, wanted):
        _, kind, _, found, _, runs, seconds, _ = rows[name]
        good, of = map(int, found.split(" of "))
        found_often += 5 * good >= 4 * of
        print(f"| {name} | bug: {kind} | found by {good} of {of} searches |",
              f"after {runs} runs | {seconds} s |" if good else "| |")
    missing = [name for name in wanted if name not in rows]
    print(f"\n{found_often} of {len(wanted)} programs: found from at least four of five first seeds.")
    if missing:
        print("No row of", ", ".join(missing) + ".")
    return found_often == len(wanted)


def twins(options, programs):
    failed = runs = 0
    for program in programs:
        result = explore(options, program, "fixed", options.first_seed, options.twins)
        bad = result.found or result.odd
        failed += bool(bad)
        runs += result.runs
        verdict = f"FAILED\n{result.odd}{result.problem}{result.trial}" if bad else "clean"
        print(f"{program.name}: {result.runs} runs in {result.seconds} s: {verdict}", flush=True)
    print(f"{failed} of {len(programs)} twins failed, in {runs} runs.")
    return failed == 0


def once(options, programs):
    failed = 0
    for program in programs:
        for mode in ("fixed", "buggy"):
            status, out, err = run([options.anyrdma, "sim", "--seed", "1", program.scenario(mode)],
                                   program.folder, HANGS_AFTER)
            may_fail = mode == "buggy" and program.tags.get("fails") == "always"
            good = status == (1 if may_fail else 0)
            failed += not good
            print(f"{program.name} {mode}: {'as expected' if good else f'FAILED, status {status}'}",
                  flush=True)
            if not good:
                print(out[-1500:], err[-1500:])
    print(f"{failed} of {2 * len(programs)} runs failed.")
    return failed == 0


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, epilog="Options behind -- are explore's.")
    parser.add_argument("anyrdma", help="the command", type=os.path.abspath)
    parser.add_argument("finds", help="the folder of the programs as they are built")
    parser.add_argument("sources", help="the folder of their sources, tests/finds")
    parser.add_argument("--only", default="", help="a regular expression of names")
    parser.add_argument("--needs", default="", help="the same, of what the programs need")
    parser.add_argument("--seeds", type=int, default=5, help="how many explorations of each (5)")
    parser.add_argument("--budget", default="60s", help="of each exploration (60s)")
    parser.add_argument("--jobs", type=int, default=1, help="of each exploration (1)")
    parser.add_argument("--twins", type=int, default=0, help="explore the twins in so many runs")
    parser.add_argument("--first", action="store_true", help="without shrinking, which takes time")
    parser.add_argument("--first-seed", type=int, default=1, help="of twins, for another part (1)")
    parser.add_argument("--merge", nargs="+", metavar="FILE", help="tables of parts, as one table")
    parser.add_argument("--once", action="store_true", help="each once, in default order")
    parser.add_argument("--list", action="store_true", help="what there is, as a table")
    parser.add_argument("--shard", default="0/1", help="I/N: every Nth program, from I on")
    own = sys.argv[1:sys.argv.index("--")] if "--" in sys.argv else sys.argv[1:]
    options = parser.parse_args(own)
    options.rest = sys.argv[len(own) + 2:]
    return options


def listed(programs):
    print("| program | kind | reported | needs |\n|---|---|---|---|")
    for program in programs:
        tags = program.tags
        print(f"| {program.name} | {tags['kind']} | {tags['source']} | {tags['needs']} |")
    return True


def main():
    options = arguments()
    shard, shards = map(int, options.shard.split("/"))
    folder = pathlib.Path(options.sources)
    # In runfiles what the build makes of scenario files, NAME.buggy.txt, is beside the sources.
    alone = [each for each in folder.glob("*/*.txt")
             if "." not in each.stem and not each.with_suffix(".c").exists()]
    sources = sorted([*folder.glob("*/*.c"), *alone])
    programs = [Program(source, pathlib.Path(options.finds)) for source in sources][shard::shards]
    programs = [each for each in programs if re.search(options.only, each.name)
                and re.search(options.needs, each.tags["needs"])]
    if not programs:
        sys.exit("bench.py: there is no such program.")
    if options.list:
        good = listed(programs)
    elif options.merge:
        good = merged(options, programs)
    elif options.once:
        good = once(options, programs)
    else:
        good = twins(options, programs) if options.twins else table(options, programs)
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()

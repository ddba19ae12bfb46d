#!/usr/bin/env python3
"""Whether `anyrdma explain` names the bugs of tests/finds: searches each program of explained.txt for a
failure, explains it, and compares the report with what that file says. Prints a table, in Markdown."""

import argparse
import json
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time


class Case:
    """A program, how to search it, and what the report must name."""

    def __init__(self, line):
        self.name, *self.options = line.split()
        self.pair, self.faults = [], []

    def add(self, line):
        kind, text = line.split(None, 1)
        if kind in ("first", "second"):
            self.pair.append(text)
        elif kind == "fault":
            self.faults.append(text)
        else:
            sys.exit(f"explain.py: explained.txt: '{line}' is neither first, second nor fault.")


def cases_of(path):
    cases = []
    for line in path.read_text().splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        if line.startswith(" "):
            cases[-1].add(line.strip())
        else:
            cases.append(Case(line))
    return cases


def lines_of(source, text):
    """Where a program has this text, as a stack shows it: "two_takers.c:25"."""
    found = [f"{source.name}:{number}" for number, line in enumerate(source.read_text().splitlines(), 1)
             if text in line]
    if not found:
        sys.exit(f"explain.py: {source} has no line '{text}'.")
    return found


def shows(step, text, source):
    """Whether a step of the pair, its two sights, is at one of these lines, or is the device's."""
    if " or " in text:
        return any(shows(step, each.strip(), source) for each in text.split(" or "))
    if text == "device":
        return step[0]["name"] != "" and not any(sight["place"] for sight in step)
    frames = [frame for sight in step for frame in sight["stack"]]
    return any(frame.endswith(" " + place) for frame in frames for place in lines_of(source, text))


def steps_of(pair):
    return [(pair["first"], pair["first_after"]), (pair["second"], pair["second_after"])]


def problem_of(case, report, source):
    """Why the report is not what it should be; empty: it is."""
    if not report["fails"]:
        return "the trial does not fail"
    for text in case.faults:
        if not any(text in fault["fault"] and fault["needed"] and "time" in fault for fault in report["faults"]):
            return f"the fault '{text}' is not named with its instant"
    if not case.pair:
        return ""
    pair = report.get("pair")
    if pair is None:
        return "there is no critical pair: " + report.get("no_pair", "the time was over")
    for each in [pair, *report["ends"]]:
        steps = steps_of(each)
        for one, other in ((0, 1), (1, 0)):
            if shows(steps[one], case.pair[0], source) and shows(steps[other], case.pair[1], source):
                return ""
    steps = steps_of(pair)
    return "the pair is at other lines: " + " / ".join(sight["place"] or sight["name"] for step in steps for sight in step)


def call(words, folder, seconds):
    try:
        return subprocess.run(words, cwd=folder, capture_output=True, text=True, errors="replace",
                              stdin=subprocess.DEVNULL, timeout=seconds, check=False)
    except subprocess.TimeoutExpired:
        sys.exit(f"explain.py: {' '.join(words)} does not end.")


def failing_trial(options, case, scenario, folder):
    """The first one that is found, which does not depend on the time that the search takes."""
    with tempfile.TemporaryDirectory() as records:
        words = [options.anyrdma, "explore", scenario, "--record", records, "--jobs", str(options.jobs),
                 "--budget", options.search, *case.options]
        search = subprocess.Popen(words, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                  stderr=subprocess.PIPE, text=True, errors="replace")
        trial = None
        for line in search.stderr:
            again = re.match(r"again: anyrdma replay .*? '(.*)'$", line)
            if again and trial is None:
                trial = again.group(1)
                search.send_signal(signal.SIGINT)  # It need not be made smaller.
        search.wait()
        return trial


def shown(case, report):
    """In a cell: the two steps, or the fault with its instant."""
    words = [f"{fault['fault']}, at {fault['time'] / 1e9:.9f} s" for fault in report["faults"]
             if fault["needed"] and "time" in fault] if case.faults else []
    if case.pair and "pair" in report:
        for pair in [report["pair"], *report["ends"]]:
            for which in ("first", "second"):
                sight = pair[which]
                place = sight["place"].split(") ")[-1]
                words.append(f"`{sight['call']}` at {place}" if place else sight["name"])
    return "; ".join(words)


def explain(options, case):
    folder = options.finds / case.name.split("/")[0]
    scenario = case.name.split("/")[1] + ".buggy.txt"
    trial = failing_trial(options, case, scenario, folder)
    if trial is None:
        return "no failing trial was found", "", 0, 0
    begin = time.monotonic()
    words = [options.anyrdma, "explain", scenario, trial, "--json", "--jobs", str(options.jobs),
             "--budget", options.budget]
    done = call(words, folder, 600)
    took = time.monotonic() - begin
    try:
        report = json.loads(done.stdout)
    except ValueError:
        return f"no JSON: {done.stdout[-200:]}{done.stderr[-200:]}", "", 0, took
    source = options.sources / (case.name + ".c")
    return problem_of(case, report, source), shown(case, report), report["runs"], took


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("anyrdma", help="the command", type=pathlib.Path)
    parser.add_argument("finds", help="the folder of the programs as they are built", type=pathlib.Path)
    parser.add_argument("sources", help="the folder of their sources, tests/finds", type=pathlib.Path)
    parser.add_argument("--only", default="", help="a regular expression of names")
    parser.add_argument("--shard", default="0/1", help="I/N: every Nth program, from the Ith on")
    parser.add_argument("--jobs", type=int, default=2, help="of each search (2)")
    parser.add_argument("--search", default="60s", help="the budget of explore (60s)")
    parser.add_argument("--budget", default="60s", help="the budget of explain (60s)")
    options = parser.parse_args()
    options.anyrdma = str(options.anyrdma.resolve())
    shard, shards = (int(each) for each in options.shard.split("/"))
    cases = [case for case in cases_of(options.sources / "explained.txt") if re.search(options.only, case.name)]
    cases = cases[shard::shards]
    if not cases:
        sys.exit("explain.py: there is no such program.")
    print("| program | what the report names | runs | time | |\n|---|---|---|---|---|")
    failed = 0
    for case in cases:
        problem, names, runs, took = explain(options, case)
        failed += bool(problem)
        names = names.replace("|", "\\|")
        print(f"| {case.name} | {names} | {runs} runs | {took:.1f} s | {problem or 'right'} |", flush=True)
    print(f"\n{len(cases) - failed} of {len(cases)} failures are explained.")
    sys.exit(failed != 0)


if __name__ == "__main__":
    main()

"""Runs the litmus tests between simulated processes and compares what is seen with what is allowed.

    processes.py ANYRDMA LITMUS PROFILE SEEDS ROUNDS [TEST...]

Each seed is a run, which makes each test ROUNDS times. Under spec each outcome that is allowed must be seen, and no other; so
it is of the named tests under a weaker profile. Under strict only what a device in order does may be seen. Where each outcome
has been seen after LEAST seeds, there are no more runs.
"""

import os
import re
import subprocess
import sys
import tempfile
from collections import defaultdict


def table(program):
    """Of each test, by name: the outcomes that spec, strict and a weaker profile allow."""
    lines = subprocess.run([program, "table"], capture_output=True, text=True, check=True).stdout.splitlines()
    return {name: [set(each.split()) for each in allowed] for name, *allowed in (line.split(";") for line in lines)}


def scenario(program, rounds):
    """The text of a scenario file: three nodes, which change sources of WRITEs on purpose."""
    lines = ['allow source "the tests ask which bytes a device reads from a source that changes"']
    for node in range(3):
        lines += [f"host n{node} 10.0.0.{node + 1}", f"on n{node} {os.path.abspath(program)} {node} {rounds}"]
    return "\n".join(lines) + "\n"


LEAST = 4


def run(anyrdma, program, profile, seed, rounds):
    """What one run prints: tests and outcomes."""
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
        file.write(scenario(program, rounds))
        file.flush()
        command = [anyrdma, "sim", "--quiet", "--memory", profile, "--seed", str(seed), file.name]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=1200, check=False)
    if done.returncode:
        sys.exit(f"seed {seed} ends with {done.returncode}:\n{done.stdout}{done.stderr}")
    return re.findall(r"([VL]\d+) ([\d,]+)$", done.stdout, re.M)


def main():
    """Exits with a sentence for each test that shows too little or too much."""
    anyrdma, program, profile, seeds, rounds, *names = sys.argv[1:]
    tests = {}
    for name, (spec, strict, weaker) in table(program).items():
        if not names or name in names:
            tests[name] = strict if profile == "strict" else weaker if names and weaker else spec
    seen = defaultdict(set)
    for seed in range(1, int(seeds) + 1):
        for name, outcome in run(anyrdma, program, profile, seed, rounds):
            seen[name].add(outcome)
        if seed >= LEAST and all(seen[name] >= allowed for name, allowed in tests.items()):
            break
    wrong = []
    for name, allowed in tests.items():
        found = seen[name]
        if not found or found - allowed or (profile != "strict" and allowed - found):
            wrong.append(f"{name}: seen {sorted(found)}, allowed {sorted(allowed)}")
    sys.exit("\n".join(wrong) or None)


main()

"""What long work says of itself, on a terminal and in a log: progress_test.py ANYRDMA SOAK."""

import os
import pathlib
import pty
import re
import select
import signal
import subprocess
import sys
import tempfile
import time
import unittest

ANYRDMA = pathlib.Path(sys.argv.pop(1)).resolve()
SOAK = pathlib.Path(sys.argv.pop(1)).resolve()
DEADLINE = 300  # of one thing to come, on a machine that has other work

# Whoever is told of another queue pair than that which sends fails.
PLAN = "on client->server REQ 1: alter local_qpn 7\n"

BUSY = "import time\nwhile True: time.sleep(0.001)"


class Terminal:
    """A command whose input, output and errors are a terminal."""

    def __init__(self, *command, environment=None):
        self.said = ""
        self.process, self.terminal = pty.fork()
        if self.process == 0:
            os.execve(command[0], [str(word) for word in command],
                      {**os.environ, "TERM": "xterm", **(environment or {})})

    def until(self, pattern):
        """Reads on until it has said that."""
        end = time.monotonic() + DEADLINE
        while not re.search(pattern, self.said):
            assert self._read(end), f"no '{pattern}' in: {self.said[-2000:]}"
        return re.search(pattern, self.said)

    def _read(self, end):
        if not select.select([self.terminal], [], [], max(end - time.monotonic(), 0))[0]:
            return False
        try:
            data = os.read(self.terminal, 1 << 16)
        except OSError:  # nobody has it open any more
            return False
        self.said += data.decode(errors="replace")
        return bool(data)

    def interrupt(self):
        """Ctrl-C."""
        os.write(self.terminal, b"\x03")

    def status(self):
        """How it has ended, after all that it says."""
        end = time.monotonic() + DEADLINE
        while self._read(end):
            pass
        status = os.waitpid(self.process, 0)[1]
        os.close(self.terminal)
        return status


class Folder(unittest.TestCase):
    """A place for what is written."""

    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory(prefix="progress")
        self.addCleanup(self.temporary.cleanup)
        self.folder = pathlib.Path(self.temporary.name)

    def file(self, name, text):
        path = self.folder / name
        path.write_text(text, encoding="utf-8")
        return path


class Explore(Folder):
    """`anyrdma explore`."""

    def test_a_terminal_shows_how_far_it_is_and_an_interruption_ends_with_the_sum(self):
        run = Terminal(ANYRDMA, "explore", "connect", "--seeds", "1000000000")

        run.until(r"\d+ of 1000000000 runs, [\d.]+/s, \d+ (h|min|s) left, 0 failures, "
                  r"\d+ of \d+ rare situations seen")
        run.interrupt()

        self.assertEqual(os.WTERMSIG(run.status()), signal.SIGINT)
        self.assertRegex(run.said, r"connect: \d+ runs")
        self.assertIn("interrupted", run.said)

    def test_the_first_failure_is_said_at_once_and_the_count_goes_on(self):
        run = Terminal(ANYRDMA, "explore", "connect", "--seeds", "1000000000", "--keep-going",
                       "--record", self.folder, "--faults", self.file("plan", PLAN))

        first = run.until(r"anyrdma: run \d+ fails: [^\r\n]+ \(seed \d+; ")
        run.until(r"runs, [\d.]+/s, \d+ (h|min|s) left, [1-9]\d* failures? of [1-9]\d* kinds?")
        self.assertNotIn("again:", run.said[:first.start()])
        run.interrupt()

        self.assertEqual(os.WTERMSIG(run.status()), signal.SIGINT)
        self.assertIn("again: anyrdma replay connect", run.said)

    def test_a_log_has_the_failure_and_no_signs_of_a_terminal(self):
        run = subprocess.run([ANYRDMA, "explore", "connect", "--seeds", "400", "--record",
                              self.folder, "--faults", self.file("plan", PLAN)],
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                             timeout=DEADLINE, check=False)

        self.assertEqual(run.returncode, 1)
        self.assertRegex(run.stderr, r"(?m)^anyrdma: run \d+ fails: .+ \(seed \d+; ")
        self.assertNotIn("\033", run.stderr)


class Sim(Folder):
    """`anyrdma sim`."""

    def test_a_terminal_shows_how_far_it_is_and_an_interruption_ends_with_the_sum(self):
        run = Terminal(ANYRDMA, "sim", "--host", "here=10.0.0.1", "--on", "here",
                       f"python3 -c '{BUSY}'")

        seen = run.until(r"s of virtual time after \d+ s, 1 program runs; it ends at \d+ s at the "
                         r"latest|may not be traced|--cap-add")
        if "virtual" not in seen.group():
            run.status()
            self.skipTest("processes may not be traced here")
        run.interrupt()

        self.assertEqual(os.WTERMSIG(run.status()), signal.SIGINT)
        self.assertRegex(run.said, r"seed \d+, [\d.]+ s of virtual time, trace hash")
        self.assertIn("interrupted at ", run.said)


class Soak(Folder):
    """`./dev soak`, with a program that has soon ended."""

    def soak(self, *options):
        """The command, and variables for it."""
        program = self.file("rping", "#!/bin/sh\necho 'WRONG: data'\nexit 1\n")
        program.chmod(0o755)
        variables = {"PATH": f"{self.folder}:{os.environ['PATH']}", "SOAK_LOG_SECONDS": "0"}
        return ["/bin/bash", SOAK, "--leg", "rping", "--seed", "7", "--busy", "0", "--logs",
                self.folder, *options], variables

    def test_a_terminal_shows_how_far_it_is_and_an_interruption_ends_with_the_sum(self):
        command, variables = self.soak("--minutes", "60")
        run = Terminal(*command, environment=variables)

        run.until(r"00:\d\d passed, (59|60):\d\d left, rping \(seed \d+\), [1-9]\d* turns, "
                  r"[1-9]\d* findings")
        run.interrupt()
        run.status()

        self.assertIn("FINDING in rping: status 1", run.said)
        self.assertRegex(run.said, r"soak: \d+ turns in 0 min .*: [1-9]\d* findings")

    def test_a_log_has_a_line_now_and_then(self):
        command, variables = self.soak("--minutes", "5", "--turns", "2")
        run = subprocess.run(command, env={**os.environ, **variables}, stdout=subprocess.PIPE,
                             text=True, timeout=DEADLINE, check=False)

        self.assertRegex(run.stdout, r"(?m)^soak: 00:\d\d passed, 0[45]:\d\d left, rping "
                                     r"\(seed 8\), 1 turns, 1 findings$")
        self.assertNotIn("\033", run.stdout)


if __name__ == "__main__":
    unittest.main(verbosity=2)

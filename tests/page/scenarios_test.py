"""Pages of what the demo shows and of five exhibits of the museum: scenarios_test.py ANYRDMA DIR.

DIR has their recordings."""

import json
import pathlib
import subprocess
import sys
import unittest

from reader import Reader

ANYRDMA = pathlib.Path(sys.argv.pop(1)).resolve()
RECORDINGS = pathlib.Path(sys.argv.pop(1)).resolve()

# Of each run of the demo and each exhibit: how it ended, and an event to look at.
DEMO = {
    "rping": ("passed", "RDMA_CM_EVENT_DISCONNECTED"),
    "cut": ("failed", "RDMA_CM_EVENT_UNREACHABLE"),
    "pingpong": ("failed", None),
    "replay": ("failed", None),
    "clean": ("passed", "RDMA_CM_EVENT_DISCONNECTED"),
    "reject": ("passed", "RDMA_CM_EVENT_REJECTED"),
    "lost-REQ": ("passed", "RDMA_CM_EVENT_UNREACHABLE"),
    "device-removal": ("passed", "RDMA_CM_EVENT_DEVICE_REMOVAL"),
    "address-change": ("passed", "RDMA_CM_EVENT_ADDR_CHANGE"),
}
EXHIBITS = {
    "Teardown.AnErrorEventThatNobodyAcknowledgesBlocksTheDestruction":
        ("hang", "RDMA_CM_EVENT_REJECTED"),
    "Teardown.AConnectionThatItsOwnEventReleasesHangs": ("hang", "RDMA_CM_EVENT_DISCONNECTED"),
    "Ordering.DisconnectedComesWithoutEstablished": ("hang", "RDMA_CM_EVENT_DISCONNECTED"),
    "Ordering.UnreachableComesAfterEstablished": ("passed", "RDMA_CM_EVENT_UNREACHABLE"),
    "Ordering.EventsLeaveTheChannelTogetherWithTheirId": ("hang", "RDMA_CM_EVENT_ESTABLISHED"),
}


class Scenario(Reader):
    """What anybody does with any of these pages."""

    def lines(self, *words):
        """What `anyrdma trace` prints of a run, by the kind of line."""
        out = subprocess.run([ANYRDMA, "trace", *words], stdout=subprocess.PIPE, check=True)
        return [json.loads(line) for line in out.stdout.splitlines()]

    def recording(self, name):
        """The recording of a run; explore puts a seed into its names."""
        found = sorted(RECORDINGS.glob(f"{name}.recording")) or \
            sorted(RECORDINGS.glob(f"{name}.*.recording"))
        self.assertTrue(found, f"{name} has left no recording")
        return found[0]

    def page(self, *names):
        """Opens the page of a run, or of two beside each other."""
        html = self.folder / ("-".join(names) + ".html")
        files = [self.recording(name) for name in names]
        command = ["trace", "diff"] if len(files) == 2 else ["trace"]
        subprocess.run([ANYRDMA, *command, *files, "--html", html], stdout=subprocess.DEVNULL,
                       check=len(files) == 1)
        self.browser.open(html)
        return self.browser

    def look_at(self, name, verdict, event):
        """Opens, clicks, searches, folds."""
        page = self.page(name)
        header, *rest = self.lines(self.recording(name), "--json")
        self.assertEqual(header["verdict"], verdict)
        self.assertIn(verdict, page.text("#head"))
        self.assertEqual(page.run("document.getElementById('moment').hidden"),
                         verdict == "passed")

        records = [one for one in rest if "n" in one]
        wanted = [one for one in records if one["is"] == "event" and one["name"] == event] \
            or [one for one in records if one["is"] == "message"]  # no program of the CM
        self.click_on(wanted[0]["n"])
        self.assertIn(wanted[0]["name"], self.panel())
        self.assertIn(f"record #{wanted[0]['n']} ", self.panel())

        self.search(wanted[0]["name"])
        self.assertRegex(page.text("#search-count"), r"^1 of \d+$")
        self.assertIn(wanted[0]["name"], self.panel())

        before = self.lanes()
        page.click("[aria-label^='Fold ']")
        self.assertNotEqual(self.lanes(), before)
        page.click("[aria-label^='Fold ']")
        self.assertEqual(self.lanes(), before)


class Demo(Scenario):
    """Each run that examples/demo.sh shows in virtual time."""

    def test_each_run_is_seen_clicked_searched_and_folded(self):
        for name, (verdict, event) in DEMO.items():
            with self.subTest(name):
                self.look_at(name, verdict, event)

    def test_nothing_is_recorded_that_no_test_looks_at(self):
        names = {path.name.split(".")[0] for path in RECORDINGS.glob("*.recording")}

        self.assertEqual(names - {name.split(".")[0] for name in EXHIBITS}, set(DEMO))

    def test_the_cut_connection_beside_the_whole_one(self):
        page = self.page("rping", "cut")

        self.assertIn("First difference: what happens.", self.moment())
        self.assertRegex(page.text("#head"), r"(?s)✓ passed.*✖ failed")
        self.press("Show it")
        self.assertRegex(self.panel(), r"record #\d+")

    def test_the_lost_request_beside_the_clean_run(self):
        page = self.page("clean", "lost-REQ")

        self.assertIn("First difference: what happens.", self.moment())
        self.assertIn("Fault of the plan: on client->server REQ all: lose; lose: REQ from client "
                      "to server.", self.moment())
        self.assertEqual(len(page.run("[...document.querySelectorAll('.run-head')].map(() => 1)")),
                         2)


class Museum(Scenario):
    """Exhibits, as their tests leave them."""

    def test_each_exhibit_is_seen_clicked_searched_and_folded(self):
        for name, (verdict, event) in EXHIBITS.items():
            with self.subTest(name):
                self.look_at(name, verdict, event)

    def test_what_hangs_names_the_event_that_nobody_acknowledged(self):
        self.page("Teardown.AnErrorEventThatNobodyAcknowledgesBlocksTheDestruction")
        self.assertIn("RDMA_CM_EVENT_REJECTED of client#1, fetched at", self.moment())

        self.press("Show the cause")

        self.assertIn("Event RDMA_CM_EVENT_REJECTED", self.panel())
        self.assertIn("never acknowledged", self.panel())


if __name__ == "__main__":
    unittest.main(verbosity=2)

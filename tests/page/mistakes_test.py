"""A planted bug of each kind, found by the page alone: mistakes_test.py DIR.

DIR has the pages that failing tests have left. Each test starts with what the page shows first, and
counts what it clicks; docs/page.md quotes how many clicks that takes."""

import pathlib
import re
import sys
import unittest

from reader import Reader

PAGES = pathlib.Path(sys.argv.pop(1)).resolve()


class Found(Reader):
    """The way from what the page shows first to the cause, click by click."""

    def open(self, name):
        """The page of a test that has failed."""
        self.browser.open(PAGES / f"Planted.{name}.html")

    def time(self):
        """When the chosen record was, in nanoseconds."""
        number, unit = re.search(r" time ([\d.]+) (ns|µs|ms|s) ", self.panel()).groups()
        return float(number) * {"ns": 1, "µs": 1e3, "ms": 1e6, "s": 1e9}[unit]

    def test_hang_in_one_click(self):
        self.open("Hang")
        self.assertIn("✖ hang", self.browser.text("#head"))
        self.assertIn("server/serve waits for the acknowledgement of the events of an id that it "
                      "destroys", self.moment())
        self.assertIn("RDMA_CM_EVENT_DISCONNECTED of server#2, fetched", self.moment())

        self.press("Show the cause")

        self.assertIn("Event RDMA_CM_EVENT_DISCONNECTED", self.panel())
        self.assertIn("never acknowledged", self.panel())

    def test_lost_message_in_two_clicks(self):
        self.open("LostMessage")
        self.assertIn("server/serve waits for an event", self.moment())
        self.assertIn("client's DREQ to server was lost", self.moment())

        self.press("Show the cause")
        self.assertIn("client sends DREQ to server; lost: lost by a fault", self.panel())
        self.assertIn("struck by “on client->server DREQ all: lose”", self.panel())
        self.browser.click("#panel .links li:last-child button")

        self.assertIn("Fault of the plan on client->server DREQ all: lose", self.panel())

    def test_lost_event_in_two_clicks(self):
        self.open("LostEvent")
        self.assertIn("server/serve waits for an event on an event channel", self.moment())
        self.assertIn("of server#2, queued", self.moment())
        self.assertIn("was never fetched", self.moment())

        self.press("Show the cause")
        self.assertIn("it is never fetched", self.panel())
        late = self.time()
        self.press("← before")  # in the id's own lane

        self.assertIn("State", self.panel())
        self.assertLessEqual(self.time(), late)

    def test_wrong_data_in_two_clicks(self):
        self.open("WrongData")
        self.assertIn("✖ failed", self.browser.text("#head"))
        self.assertIn("Expected equality of these values:", self.moment())
        self.assertIn('"384400 km"', self.moment())

        self.press("← before")
        self.assertIn("IBV_WC_RDMA_READ", self.panel())
        read = self.time()
        self.search("the answer is in place")

        self.assertIn("server: the answer is in place", self.panel())
        self.assertGreater(self.time(), read)

    def test_illegal_order_in_two_clicks(self):
        self.open("IllegalOrder")
        self.assertIn("client/ask at tests/recording/mistakes.cc", self.moment())
        self.assertIn("pipe.wait_sent().status", self.moment())

        self.press("← before")
        self.assertIn("IBV_WC_RNR_RETRY_EXC_ERR", self.panel())
        failed = self.time()
        self.search("server ibv_post_recv")

        self.assertIn("server/serve calls ibv_post_recv", self.panel())
        self.assertGreater(self.time(), failed)


if __name__ == "__main__":
    unittest.main(verbosity=2)

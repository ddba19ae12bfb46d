"""Somebody who reads pages: one browser for all tests of a class, and what is seen and done there."""

import json
import pathlib
import tempfile
import unittest

from browser import Browser


class Reader(unittest.TestCase):
    """Each test opens what it needs, and nothing may complain."""

    @classmethod
    def setUpClass(cls):
        # Those of the browser's processes that are being killed may still write there.
        cls.temporary = tempfile.TemporaryDirectory(prefix="page", ignore_cleanup_errors=True)
        cls.folder = pathlib.Path(cls.temporary.name)
        cls.browser = Browser(cls.temporary.name)

    @classmethod
    def tearDownClass(cls):
        cls.browser.close()
        cls.temporary.cleanup()

    def tearDown(self):
        self.assertEqual(self.browser.complaints, [])

    def panel(self):
        """What the page says of the chosen record, in one line."""
        return " ".join(self.browser.text("#panel").split())

    def moment(self):
        """What the page says went wrong, in one line."""
        return " ".join(self.browser.text("#moment").split())

    def place(self, number, run=1):
        """Where a record is on the screen; None: nowhere."""
        return self.browser.run(f"anyrdma.where({number}, {run})")

    def lanes(self):
        """The names over the columns."""
        return self.browser.run("[...document.querySelectorAll('.tier-lane .lane-name')]"
                                ".map(one => one.textContent)")

    def click_on(self, number, run=1):
        """A click on a record, wherever it is in the run."""
        self.browser.run(f"location.hash = '#run={run}&n={number}'")
        self.browser.settle()
        self.browser.key("Escape")
        self.browser.run("location.hash = ''")
        place = self.place(number, run)
        self.assertIsNotNone(place, f"#{number} is not to be seen")
        self.browser.click_at(place["x"], place["y"])

    def press(self, words):
        """A click on the button that says so."""
        selector = f"[...document.querySelectorAll('button')].find(one => one.checkVisibility() " \
                   f"&& one.textContent.includes({json.dumps(words)}))"
        self.browser.run(f"(window.wanted = {selector}) && wanted.scrollIntoView({{block: 'nearest'}})")
        box = self.browser.run("""window.wanted && (() => {
            const box = wanted.getBoundingClientRect();
            return [box.x + box.width / 2, box.y + box.height / 2]; })()""")
        self.assertTrue(box, f"there is no button '{words}'")
        self.browser.click_at(*box)

    def search(self, words):
        """Looks for words, and goes to the first record that has them."""
        self.browser.key("/")
        self.browser.run("document.getElementById('search').value = ''")
        self.browser.type(words)
        self.browser.key("Enter")

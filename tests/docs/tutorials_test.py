"""That a mistake in a tutorial is noticed, whatever it is in."""

import os
import unittest

import tutorials

PAGE = """
Write it down:

```
# note.txt
one
two
```

```
$ cat note.txt \\
    | tail -n 2                # its end
one
two
$ grep -c o note.txt; date
...
$ export WORD=three
```

```
$ echo $WORD, $RANDOM now
three, ... now
$ false
$ echo $?
1
$ cat note.txt &
# note.txt
one
two
```
"""


class Following(unittest.TestCase):
    def setUp(self):
        os.environ.update(PREFIX="/usr", AWAIT="/bin/true")

    def said(self, old="", new=""):
        self.assertIn(old, PAGE)
        return tutorials.follow("page.md", PAGE.replace(old, new, 1) if old else PAGE)

    def test_a_page_that_is_right_leads_to_its_result(self):
        self.assertEqual(self.said(), "")

    def test_a_line_that_is_not_said_is_noticed(self):
        self.assertIn("page.md:11: cat note.txt | tail -n 2\nthe page shows\none\n2\n", self.said("\none\ntwo\n$", "\none\n2\n$"))
        self.assertIn("the page shows", self.said("\none\ntwo\n$", "\none\ntwo\nthree\n$"))

    def test_a_line_that_is_not_shown_is_noticed(self):
        self.assertIn("but it says\none\ntwo\n", self.said("\none\ntwo\n$", "\none\n$"))
        self.assertIn("the page shows", self.said("...\n", ""))

    def test_what_is_around_an_elision_is_held(self):
        self.assertIn("the page shows", self.said("three, ... now", "three, ... then"))

    def test_a_command_that_fails_is_noticed(self):
        self.assertIn("page.md:15: exit status 2: grep", self.said("$ grep -c o note.txt; date", "$ grep -c o no.txt"))
        self.assertIn("exit status 1: false", self.said("$ echo $?\n1\n", ""))
        self.assertIn("exit status 0: true", self.said("$ false", "$ true"))
        self.assertIn("the page shows\n2", self.said("\n1\n", "\n2\n"))

    def test_a_file_that_is_missing_or_another_is_noticed(self):
        self.assertIn("No such file", self.said("# note.txt\none\ntwo\n", "# other.txt\none\ntwo\n"))
        self.assertIn("the page shows", self.said("# note.txt\none\ntwo\n", "# note.txt\none\n2\n"))

    def test_a_command_in_the_background_that_fails_is_noticed(self):
        self.assertIn("in the background ends with 1", self.said("cat note.txt &", "{ cat note.txt; false; } &"))

    def test_a_file_that_comes_too_late_is_noticed(self):
        block = "```\n# note.txt\none\ntwo\n```\n\n"
        self.assertIn("No such file", tutorials.follow("page.md", PAGE.replace(block, "") + block))

    def test_a_block_that_is_nothing_is_noticed(self):
        self.assertIn("page.md:5: neither a file nor commands", self.said("# note.txt\n", ""))

    def test_a_page_without_commands_is_noticed(self):
        self.assertIn("tells nobody", tutorials.follow("page.md", "Nothing to do."))


if __name__ == "__main__":
    unittest.main()

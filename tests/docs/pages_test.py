"""What is taken for a command, and that commands.py notices what it is there for."""

import os
import tempfile
import unittest

import commands
import pages

PAGE = """
```
one --a \\
    --b 'c # d'        # why
# two
three
```

```cpp
int no;
```

```
$ cat plan
lines of it
$ four
```

```
what a program says
again: five
```
"""
TABLE = """
# what becomes of them
one --a --b 'c # d'
  run
three
  cannot it is far away
cat plan
  by //x:y FILE: TEXT
four
  run
  status 1
five
  cannot it is made up
what a program says
  text what it says
"""


def complaints(page=PAGE, table=TABLE):
    return commands.judge(pages.table(table), {"page.md": page})[0]


class Judging(unittest.TestCase):
    def test_a_command_is_one_line_without_its_comment(self):
        found = list(pages.commands("page.md", PAGE, lambda first: first.startswith("what")))
        self.assertEqual([each.text for each in found], ["one --a --b 'c # d'", "three", "cat plan", "four", "five"])
        self.assertEqual([each.shown for each in found], ["", "", "lines of it\n", "", ""])
        self.assertEqual(found[2].place, "page.md:14")

    def test_all_that_is_in_the_table_is_in_order(self):
        self.assertEqual(complaints(), [])

    def test_a_command_without_a_row_is_noticed(self):
        self.assertIn("page.md:6: not in the table: drei", complaints(page=PAGE.replace("three", "drei")))

    def test_a_row_without_a_command_is_noticed(self):
        self.assertIn("on no page any more: three", complaints(page=PAGE.replace("three\n", "")))

    def test_a_text_that_no_block_has_is_noticed(self):
        self.assertIn("no block begins so any more: gone", complaints(table=TABLE + "gone\n  text of yesterday\n"))

    def test_a_row_that_says_nothing_sensible_is_noticed(self):
        for spoilt in ("  cannot\n", "  perhaps it works\n", "", "  run fast\n", "  cannot it is far\n  status 1\n"):
            self.assertTrue(complaints(table=TABLE.replace("  cannot it is far away\n", spoilt)), spoilt)


class Executing(unittest.TestCase):
    def setUp(self):
        self.bin = tempfile.TemporaryDirectory()
        os.environ.update(BIN=self.bin.name, AWAIT="/bin/true")

    def tearDown(self):
        self.bin.cleanup()

    def executed(self, command, *lines, shown=""):
        return commands.execute(command, [("run", ""), *lines], shown)

    def test_what_holds_is_content(self):
        self.assertEqual(self.executed("cat FILE", ("given", "echo x >FILE"), ("then", "test -e FILE"), shown="x\n"), "")
        self.assertEqual(self.executed("cat A", ("instead", "A = B"), ("given", "echo x >B"), ("says", "^x$")), "")
        self.assertEqual(self.executed("read x <pipe &", ("given", "mkfifo pipe"), ("beside", "echo x >pipe")), "")
        self.assertEqual(self.executed("false", ("status", "1")), "")

    def test_another_status_is_noticed(self):
        self.assertIn("exit status 1, not 0", self.executed("false"))
        self.assertIn("exit status 0, not 1", self.executed("true", ("status", "1")))
        self.assertIn("exit status 1, not 0", self.executed("false &", ("beside", "true")))

    def test_another_output_is_noticed(self):
        self.assertIn("does not say 'y'", self.executed("echo x", ("says", "y")))
        self.assertIn("the page shows", self.executed("echo x", shown="y\n"))

    def test_what_surrounds_it_may_not_fail_either(self):
        for key in ("given", "then"):
            self.assertTrue(self.executed("true", (key, "false")))
        self.assertTrue(self.executed("true &", ("beside", "false")))
        self.assertTrue(self.executed("true", ("given", "false &")))

    def test_what_is_to_be_replaced_is_there(self):
        self.assertIn("has no B", self.executed("echo A", ("instead", "B = C")))


if __name__ == "__main__":
    unittest.main()

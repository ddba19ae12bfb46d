"""That each rule of prose.py catches what it is for, and lets pass what is plain English."""

import pathlib
import tempfile
import unittest

import prose


class Rules(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.root = pathlib.Path(self.folder.name)

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def of(self, text, name="docs/a.md"):
        self.write(name, text)
        return prose.complaints(self.root, name)

    def refused(self, text, what, name="docs/a.md"):
        said = self.of(text, name)
        self.assertEqual(len(said), 1, said)
        self.assertIn(what, said[0])

    def test_plain_text_is_accepted(self):
        self.assertEqual(self.of("# Title\n\nThe client connects. The server accepts.\n"), [])

    def test_a_long_line_is_refused(self):
        self.refused("one two " * 13 + "\n", "104 columns, more than 100")

    def test_a_table_row_may_be_longer_but_not_endless(self):
        self.assertEqual(self.of("| " + "one two. " * 15 + "|\n"), [])
        self.refused("| " + "one two. " * 30 + "|\n", "more than 240")

    def test_the_target_of_a_link_does_not_count_in_a_row(self):
        self.assertEqual(self.of(f"| [a](https://example.org/{'a' * 200}) |\n"), [])

    def test_an_address_and_a_block_of_output_may_be_longer(self):
        self.assertEqual(self.of(f"https://example.org/{'a' * 100}\n\n```\n{'one ' * 40}\n```\n"), [])

    def test_each_word_of_the_table_is_refused(self):
        for said in ("Nobody waits.", "It wakes whoever waits.", "Have it again.", "The run had that again.", "It has no so much as a byte.",
                     "It stands in a file.", "This befalls a host.", "It polls in vain.", "It is lost amid work.",
                     "It asks for chance.", "It tells of ids.", "A planted bug.", "The rooms of the code."):
            self.refused(said + "\n", "'")

    def test_words_that_only_look_alike_are_accepted(self):
        self.assertEqual(self.of("Its standard stands for a group. Understand: there is room for it, by chance.\n"), [])

    def test_code_is_no_prose(self):
        self.assertEqual(self.of("The option is `nobody`.\n\n```\nnobody\n```\n"), [])

    def test_the_name_of_a_file_is_no_prose(self):
        self.write("docs/planted.md", "a\n")
        self.assertEqual(self.of("See [planted.md](planted.md) and room_test.h.\n"), [])

    def test_a_clause_as_the_subject_is_refused(self):
        self.refused("Who polls waits.\n", "name the noun")
        self.refused("It ends. What is left is freed.\n", "name the noun")

    def test_a_question_may_begin_so(self):
        self.assertEqual(self.of("Who waits? What is a trial?\n"), [])

    def test_a_long_sentence_is_refused_wherever_it_is(self):
        words = "one " * 30 + "two."
        lines = "\n".join(["one " * 15 + "", "one " * 15 + "two."])
        self.refused(lines + "\n", "31 words")
        self.refused("- " + lines + "\n", "31 words")
        self.refused(f"| a | {words} |\n", "31 words")
        self.refused("/// " + lines.replace("\n", "\n/// ") + "\nint a;\n", "31 words", "cm/a.h")

    def test_thirty_words_are_accepted(self):
        self.assertEqual(self.of("one " * 15 + "\n" + "one " * 14 + "two.\n"), [])

    def test_a_row_of_names_is_one_word(self):
        self.assertEqual(self.of("It has\n" + "`ibv_x`, `ibv_y` `ibv_z`\n" * 20), [])

    def test_items_of_a_list_are_sentences_of_their_own(self):
        self.assertEqual(self.of("- one two\n" * 20), [])

    def test_a_link_to_no_page_is_refused(self):
        self.refused("[b](b.md)\n", "no page docs/b.md")
        self.write("docs/b.md", "b\n")
        self.assertEqual(self.of("[b](b.md), [c](b.md#c), [d](https://example.org/d)\n"), [])

    def test_a_header_that_names_no_page_is_refused(self):
        self.refused("/// See docs/b.md.\nint a;\n", "no page docs/b.md", "cm/a.h")

    def test_comments_of_headers_are_read_and_code_is_not(self):
        self.refused("int nobody;  // Nobody sees it.\n", "'Nobody'", "cm/a.h")
        self.refused("/* One line.\n * Nobody sees it. */\n", "'Nobody'", "cm/a.h")

    def test_a_banner_another_kind_and_another_column_begin_a_paragraph(self):
        text = "// --- faults\n/// One.\n/// Two.\nint a;  ///< three\n        ///< four\n// five\nint b;  // six\n// seven\n"
        paragraphs = [said for _, said in prose.header_paragraphs(text)]
        self.assertEqual(paragraphs, ["--- faults", "One. Two.", "three four", "five", "six", "seven"])

    def test_indented_lines_of_a_comment_are_sentences_of_their_own(self):
        self.assertEqual(self.of("// A table:\n" + "//   one two three\n" * 20, "cm/a.h"), [])

    def test_only_files_of_the_list_may_be_unclean(self):
        self.write("a.md", "Nobody.\n")
        self.write("b.md", "All is well.\n")
        self.assertEqual(list(prose.judge(self.root, ["a.md", "b.md"], {"a.md"})), [])
        self.assertEqual(len(list(prose.judge(self.root, ["a.md", "b.md"], set()))), 1)
        self.assertIn("b.md is clean", " ".join(prose.judge(self.root, ["a.md", "b.md"], {"a.md", "b.md"})))
        self.assertIn("c.md is on the list", " ".join(prose.judge(self.root, ["b.md"], {"c.md"})))

    def test_shortening_keeps_what_is_unclean(self):
        self.write("a.md", "Nobody.\n")
        self.write("b.md", "All is well.\n")
        self.write("list", "# To be rewritten.\na.md\nb.md\nc.md\n")
        prose.shorten(self.root / "list", self.root, ["a.md", "b.md"])
        self.assertEqual((self.root / "list").read_text(), "# To be rewritten.\na.md\n")

    def test_pages_and_installed_headers_are_guarded(self):
        for name in ("README.md", "docs/a.md", "docs/inside/b.md", "cm/id.h", "cm/inner.h", "include/cm/id.h"):
            self.write(name, "a\n")
        self.assertEqual(
            prose.guarded(self.root, self.root / "include"), ["README.md", "cm/id.h", "docs/a.md", "docs/inside/b.md"])

    def message(self, code, name="tools/a.cc"):
        self.write(name, code)
        return list(prose.complaints_about_messages(self.root))

    def test_a_plain_message_is_accepted(self):
        self.assertEqual(self.message('say("the file \'" + name + "\' cannot be read. Check the path.");'), [])

    def test_each_word_of_the_table_is_refused_in_a_message(self):
        for said in ("nobody waits", "it wakes whoever waits", "have it again", "it is read again and had again", "not so much as a byte",
                     "'x' should stand here", "this befalls a host", "it polls in vain", "it is lost amid work",
                     "it asks for chance", "it tells of ids", "a planted bug", "the rooms of the code"):
            said_of_it = self.message(f'fail("{said}");')
            self.assertEqual(len(said_of_it), 1, said)
            self.assertIn("tools/a.cc:1: in a message, '", said_of_it[0])

    def test_a_word_of_the_table_is_found_across_literals(self):
        self.assertIn("'had again'", self.message('fail("the run may be had "\n  "again");')[0])

    def test_a_clause_as_the_subject_of_a_message_is_refused(self):
        self.assertIn("name the noun", self.message('fail("What is left is freed.");')[0])

    def test_a_long_sentence_of_a_message_is_refused(self):
        self.assertIn("31 words", self.message('fail("' + "one " * 30 + 'two.");')[0])

    def test_comments_and_tests_are_no_messages(self):
        self.assertEqual(self.message('f();  // nobody "waits for it" here'), [])
        self.assertEqual(self.message('EXPECT_EQ(said, "nobody waits");', "tools/a_test.cc"), [])
        self.assertEqual(self.message('fail("nobody waits");', "cm/testing/a.cc"), [])

    def test_messages_of_the_script_are_held_to_the_rules(self):
        self.assertEqual(self.message('build() { # leaves the command in bin\n  die "no compiler is here"\n', "dev"), [])
        self.assertEqual(len(self.message('build() { # nobody calls it\n  die "there is nobody"\n', "dev")), 2)

    def test_the_average_counts_words(self):
        self.write("a.md", "One two. One two three four.\n")
        self.assertEqual(prose.average(self.root, ["a.md"]), (2, 3.0))


if __name__ == "__main__":
    unittest.main()

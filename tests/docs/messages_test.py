"""That messages.py finds the texts of code as they are printed, and nothing else."""

import unittest

import messages


class Texts(unittest.TestCase):
    def texts(self, source):
        return messages.of_source(source)

    def test_a_literal_is_a_text_with_its_line(self):
        self.assertEqual(self.texts('\nf("the file is empty");'), [(2, "the file is empty")])

    def test_literals_beside_each_other_are_one_text(self):
        self.assertEqual(self.texts('f("the file "\n  "is empty");'), [(1, "the file is empty")])

    def test_an_expression_between_literals_is_shown_as_dots(self):
        self.assertEqual(self.texts('f("the file " + name(1) + " is empty");'), [(1, "the file ... is empty")])
        self.assertEqual(self.texts('f(std::string("the file ") + "is empty");'), [(1, "the file is empty")])

    def test_statements_end_a_text(self):
        self.assertEqual(
            self.texts('f("the file is empty"); f("the file is full");'), [(1, "the file is empty"), (1, "the file is full")])
        self.assertEqual(
            self.texts('f(a ? "the file is empty" : "the file is full");'), [(1, "the file is empty"), (1, "the file is full")])

    def test_escapes_and_raw_strings_are_read(self):
        self.assertEqual(self.texts(r'f("say the \"word\" here\n");'), [(1, 'say the "word" here\n')])
        self.assertEqual(self.texts('f(R"x(the whole "quoted" word)x");'), [(1, 'the whole "quoted" word')])

    def test_comments_characters_and_includes_are_no_texts(self):
        self.assertEqual(self.texts('// a "comment that ends"\n/* "and another one" */ x = \'"\'; #include "a long/file.h"\n'), [])

    def test_a_single_word_and_a_format_are_no_prose(self):
        self.assertEqual(self.texts('f("word"); g("%s %d\\n"); h("a_b c_d");'), [])

    def test_a_script_says_what_its_commands_print(self):
        said = messages.of_script('make() { # makes a page\n  x="no message at all"\n  die "there is no $name here"\n# echo "a comment here"\n')
        self.assertEqual(list(said), [(1, "makes a page"), (3, "there is no ... here")])


if __name__ == "__main__":
    unittest.main()

"""What plant.py makes of bugs, and what it refuses."""

import sys
import unittest

sys.path.insert(0, "tests/planted")
import plant  # noqa: E402

SOURCE = """void A::f() {
  g(1);
  if (x > 3) return;
  if (x > 30) return;
  h(one,
    two);
}

struct B {
  bool t() { g(1); }
  int u() {
    if (t()) {
      g(1);
    }
    return 0;
  }
};
"""

BUG = """== b
in: a.cc
is: something
  is wrong
found by: unit, Suite.Name, 7
"""


TABLE = """constexpr Row kRows[] = {
  {kOne, {kA}},
  {kTwo, {kB}},
};
int f() {
  for (auto& row : kRows) {}
  return 0;
}
"""


def planted(*changes, source=SOURCE):
    bugs = [plant.parse(BUG + change)[0] for change in changes]
    for number, bug in enumerate(bugs, 1):
        bug.name, bug.number = f"b{number}", number
    return plant.plant("a.cc", source, bugs)


def planted_rows(*changes):
    return planted(*changes, source=TABLE)


class Planting(unittest.TestCase):
    def refused(self, data, says):
        with self.assertRaises(plant.Wrong) as caught:
            plant.parse(data)
        self.assertIn(says, str(caught.exception))

    def test_a_statement_becomes_two(self):
        text = planted("-  return 0;\n+  return 1;\n")
        self.assertIn("{ if (::anyrdma::planted::is_on(1)) { return 1; } else { return 0; } }", text)

    def test_an_expression_becomes_a_choice(self):
        text = planted("-x > 3\n+true\n")
        self.assertIn("if ((::anyrdma::planted::is_on(1) ? (true) : (x > 3))) return;", text)

    def test_how_the_old_text_is_laid_out_does_not_matter(self):
        for old in ("h(one, two);", "h( one,two ) ;", "h(\n-one,\n-two);"):
            self.assertIn("else { h(one,\n    two); } }", planted(f"-{old}\n+\n"))

    def test_words_are_whole(self):
        for old in ("h(one, tw", "(on", "e, two"):
            with self.assertRaisesRegex(plant.Wrong, "occurs 0 times"):
                planted(f"-{old}\n+true\n")

    def test_the_function_tells_places_apart(self):
        choice = "{ if (::anyrdma::planted::is_on(1)) {  } else { g(1); } }"
        for function, begins in (("A::f", "void A::f() {\n  "), ("t", "bool t() { "),
                                 ("u", "if (t()) {\n      ")):
            self.assertIn(begins + choice, planted(f"within: {function}\n-g(1);\n+\n"))

    def test_a_function_that_is_not_there_is_refused(self):
        with self.assertRaisesRegex(plant.Wrong, "b1: a.cc has no function A::h"):
            planted("within: A::h\n-g(1);\n+\n")

    def test_the_copy_includes_the_switch_and_keeps_its_lines(self):
        self.assertTrue(planted("-return 0;\n+\n").startswith(
            '#include "tests/planted/planted.h"\n#line 1 "a.cc"\nvoid A::f() {'))

    def test_old_text_that_is_there_twice_or_never_is_refused_by_name(self):
        for change, says in (("-g(1)", "3 times in a.cc"), ("-k();", "0 times in a.cc"),
                             ("within: t\n-h", "0 times in t of a.cc")):
            with self.assertRaisesRegex(plant.Wrong, f"b1: its old text occurs {says}"):
                planted(f"{change}\n+\n")

    def test_two_bugs_in_one_place_are_refused(self):
        with self.assertRaisesRegex(plant.Wrong, "b1 and b2 change parts of each other's text"):
            planted("-  if (x > 3) return;\n+\n", "-x > 3\n+true\n")

    def test_two_bugs_of_the_same_text_are_had_by_turns(self):
        text = planted("-x > 3\n+true\n", "-x > 3\n+false\n")
        self.assertIn("if ((::anyrdma::planted::is_on(2) ? (false) : "
                      "((::anyrdma::planted::is_on(1) ? (true) : (x > 3))))) return;", text)

    def test_a_row_of_a_table_is_chosen_when_the_table_is_asked_for(self):
        text = planted_rows("-{kOne, {kA}}\n+{kOne, {}}\n", "-{kOne, {kA}}\n+{kOne, {kB}}\n")
        self.assertIn("const auto& kRows() { static const Row rows[] = {\n"
                      "  (::anyrdma::planted::is_on(2) ? Row{kOne, {kB}} : "
                      "(::anyrdma::planted::is_on(1) ? Row{kOne, {}} : Row{kOne, {kA}})),", text)
        self.assertIn("  {kTwo, {kB}},\n}; return rows; }\n", text)
        self.assertIn("for (auto& row : kRows()) {}", text)

    def test_a_table_without_bugs_stays_constant(self):
        self.assertIn("constexpr Row kRows[] = {", planted_rows("-return 0;\n+\n"))

    def test_what_is_said_about_a_bug(self):
        bug = plant.parse(BUG + "-a;\n-b;\n+c;\n")[0]
        self.assertEqual((bug.what, bug.checker, bug.test, bug.runs),
                         ("something is wrong", "unit", "Suite.Name", 7))
        self.assertEqual((bug.old, bug.new), (["a;", "b;"], ["c;"]))

    def test_what_cannot_be_used_is_refused(self):
        change = "-a;\n+b;\n"
        self.refused(BUG, "b: lacks 'a line to replace'")
        self.refused(BUG.replace("is: something", "was: something") + change, "says nothing known")
        self.refused(BUG.replace("a.cc", "a.h") + change, "headers have no copies")
        self.refused(BUG.replace("unit,", "luck,") + change, "no such checker: luck")
        self.refused(BUG.replace(" 7", " 0") + change, "in no run at all")
        self.refused(BUG.replace(", 7", "") + change, "a checker, a test and a number")
        self.refused(BUG + "facts: 61\n" + change, "numbers of docs/facts.md, not 61")
        self.refused(BUG + "faults: thunder\n" + change, "no fault thunder")
        self.refused("in: a.cc\n", "belongs to no bug")

    @staticmethod
    def bug_with_all():
        facts = "facts: " + ", ".join(str(number) for number in plant.FACTS)
        faults = "faults: " + ", ".join(plant.FAULTS)
        return plant.parse(BUG.replace("Suite.", "Samples.") + facts + "\n" + faults + "\n-a;\n+b;\n")

    def test_every_fault_brings_a_bug_out(self):
        bugs = self.bug_with_all()
        self.assertIn("| `stale` | `//sim:fault_action_test` | `b` |", plant.page(bugs))
        bugs[0].faults.remove("stale")
        with self.assertRaisesRegex(plant.Wrong, "exploring finds no bug with stale"):
            plant.page(bugs)

    def test_every_fact_is_contradicted_by_a_bug(self):
        bugs = self.bug_with_all()
        self.assertIn("`b`: something is wrong ([fact](facts.md) 1, 2, 3,", plant.page(bugs))
        bugs[0].facts.remove(51)
        with self.assertRaisesRegex(plant.Wrong, "no bug contradicts fact 51"):
            plant.page(bugs)


if __name__ == "__main__":
    unittest.main()

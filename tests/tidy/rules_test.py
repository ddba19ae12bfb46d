"""Each rule of the house catches a snippet that breaks it and lets a clean one pass."""

import unittest

import rules


def findings(path, text):
    return [message for _, message in rules.check(path, text)]


class Rules(unittest.TestCase):
    def caught(self, path, text, word):
        self.assertTrue(any(word in message for message in findings(path, text)), findings(path, text))

    def clean(self, path, text):
        self.assertEqual(findings(path, text), [])

    def test_an_include_against_the_arrows_is_caught(self):
        self.caught("cm/id.cc", '#include "transport/soft/transport.h"\n', "arrow")
        self.caught("verbs/soft/hca.cc", '#include "cm/id.h"\n', "arrow")
        self.caught("transport/ibcm/agent.cc", '#include "verbs/soft/hca.h"\n', "arrow")
        self.clean("cm/id.cc", '#include "transport/transport.h"\n')
        self.clean("tools/run.cc", '#include "transport/fabric/fabric.h"\n')

    def test_a_clock_a_thread_and_asio_are_caught_in_a_core(self):
        self.caught("cm/id.cc", "auto t = std::chrono::steady_clock::now();\n", "pure core")
        self.caught("verbs/soft/a.cc", "#include <thread>\n", "pure core")
        self.caught("transport/ibcm/a.cc", "#include <boost/asio/io_context.hpp>\n", "pure core")
        self.caught("transport/soft/a.cc", 'auto e = std::getenv("X");\n', "pure core")
        self.clean("transport/fabric/a.cc", "#include <thread>\n")
        self.clean("cm/id.cc", "// steady_clock::now() is not for us\n")

    def test_a_default_label_is_caught_unless_the_enum_is_foreign(self):
        self.caught("cm/id.cc", "  default:\n", "default:")
        self.clean("cm/id.cc", "  default:  // foreign enum\n")

    def test_long_files_lines_and_functions_are_caught(self):
        self.caught("cm/id.cc", "int x;\n" * 601, "file of")
        self.clean("cm/id_test.cc", "int x;\n" * 601)
        self.caught("cm/id.cc", "x" * 101 + "\n", "columns")
        body = "void f() {\n" + "  g();\n" * 71 + "}\n"
        self.caught("cm/id.cc", body, "function of")
        self.clean("cm/id.cc", "void f() {\n" + "  g();\n" * 60 + "}\n")

    def test_unfinished_work_is_caught(self):
        self.caught("cm/id.cc", "// TO" + "DO: more\n", "unfinished")

    def test_a_sleep_in_a_test_is_caught(self):
        self.caught("cm/id_test.cc", "std::this_thread::sleep_for(1s);\n", "sleep")
        self.clean("sim/world_test.cc", "host.sleep(1s);\n")

    def test_a_result_that_may_be_dropped_is_caught(self):
        self.caught("cm/id.h", "  Result<void> bind(int);\n", "nodiscard")
        self.clean("cm/id.h", "  [[nodiscard]] Result<void> bind(int);\n")


if __name__ == "__main__":
    unittest.main()

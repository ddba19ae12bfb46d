"""Each rule of the house catches a snippet that breaks it and lets a clean one pass."""

import pathlib
import tempfile
import unittest

import cxx
import rooms
import rules
import tree


def findings(path, text):
    return [message for _, message in rules.check(path, text)]


class Rules(unittest.TestCase):
    def caught(self, path, text, word):
        found = findings(path, text)
        self.assertTrue(any(word in message for message in found), found)

    def clean(self, path, text):
        self.assertEqual(findings(path, text), [])

    def test_an_include_against_the_arrows_is_caught(self):
        self.caught("cm/id.cc", '#include "transport/soft/transport.h"\n', "arrow")
        self.caught("cm/id.cc", '#include "verbs/testing/fake_runtime.h"\n', "arrow")
        self.caught("verbs/soft/hca.cc", '#include "cm/id.h"\n', "arrow")
        self.caught("transport/ibcm/agent.cc", '#include "verbs/soft/hca.h"\n', "arrow")
        self.caught("transport/udp/udp.cc", '#include "transport/fabric/fabric.h"\n', "arrow")
        self.caught("transport/fabric/near/a.cc", '#include "transport/fabric/mesh.h"\n', "arrow")
        self.clean("cm/id.cc", '#include "transport/transport.h"\n')
        self.clean("cm/id_test.cc", '#include "transport/testing/mock_transport.h"\n')
        self.clean("tools/run.cc", '#include "transport/fabric/fabric.h"\n')

    def test_the_rooms_of_programs_have_arrows_in_one_direction(self):
        include = '#include "sim/programs/{}.h"\n'.format
        self.caught("sim/programs/process/thread.cc", include("supervisor/sandbox"), "arrow")
        self.caught("sim/programs/io/descriptors.cc", include("net/sockets"), "arrow")
        self.caught("sim/programs/net/sockets.cc", include("syscalls/system_calls"), "arrow")
        self.clean("sim/programs/supervisor/turns.cc", include("process/thread"))

    def test_an_include_of_a_higher_floor_is_caught(self):
        self.caught("transport/realtime/fork.cc", '#include "sim/world.h"\n', "arrow up")
        self.caught("recording/writer.cc", '#include "check/ledger.h"\n', "arrow up")
        self.caught("sim/world.cc", '#include "tools/simulation.h"\n', "arrow up")
        self.caught("transport/open/real.cc", '#include "cm/c_api/doors.h"\n', "arrow up")
        self.clean("transport/open/real.cc", '#include "sim/world.h"\n')
        self.clean("cm/c_api/simulated.cc", '#include "sim/host.h"\n')
        self.clean("verbs/soft/hca_test.cc", '#include "verbs/testing/fake_runtime.h"\n')

    def test_every_room_has_a_floor(self):
        placeless = [room for room in rooms.ROOMS if rooms.floor_of(room + "/a.h") is None]
        self.assertEqual(placeless, ["tests"])

    def test_a_room_that_the_table_does_not_know_is_caught(self):
        self.caught("transport/pigeon/pigeon.cc", "\n", "new room")
        self.clean("transport/fault/fault.cc", "\n")
        self.caught("sim/programs/odds/odd.cc", "\n", "new room")
        self.caught("sim/programs/odd.h", "#pragma once\n", "new room")
        self.clean("sim/programs/net/sockets.cc", "\n")

    def test_a_clock_a_thread_and_asio_are_caught_in_a_core(self):
        self.caught("cm/id.cc", "auto t = std::chrono::steady_clock::now();\n", "pure core")
        self.caught("verbs/soft/a.cc", "#include <thread>\n", "pure core")
        self.caught("verbs/soft/a.cc", "std::mt19937_64 dice;\n", "pure core")
        self.caught("transport/ibcm/a.cc", "#include <boost/asio/io_context.hpp>\n", "pure core")
        self.caught("transport/ibcm/a.cc", "#include <boost/asio.hpp>\n", "pure core")
        self.caught("transport/soft/a.cc", 'auto e = std::getenv("X");\n', "pure core")
        self.caught("transport/soft/a.cc", "auto t = time(nullptr);\n", "pure core")
        self.caught("verbs/soft/a.cc", "pthread_mutex_lock(&mutex);\n", "pure core")
        self.clean("verbs/soft/a.cc", "pthread_mutex_init(&cq.mutex, nullptr);\n")
        self.clean("transport/fabric/a.cc", "#include <thread>\n")
        self.clean("cm/c_api/a.cc", "#include <mutex>\n")
        self.clean("cm/id.cc", "// steady_clock::now() is not for us\n/* std::mutex\n neither */\n")
        self.clean("cm/id.cc", "auto t = runtime.time(0);\n")

    def test_a_default_label_is_caught_unless_the_enum_is_foreign(self):
        self.caught("cm/id.cc", "  default:\n", "default:")
        self.clean("cm/id.cc", "  default:  // foreign enum\n")
        self.clean("cm/id.cc", "  Id() = default;\n")

    def test_long_files_and_lines_are_caught(self):
        self.caught("cm/id.cc", "int x;\n" * 601, "file of")
        self.clean("cm/id_test.cc", "int x;\n" * 601)
        self.caught("cm/id_test.cc", "int x;\n" * 801, "file of")
        self.caught("cm/id.cc", "x" * 101 + "\n", "columns")

    def test_a_script_in_a_page_is_held_to_the_same_sizes(self):
        self.caught("page/script/a.js", "x\n" * 601, "file of 601 lines")
        self.caught("page/style.css", "/* " + "x" * 100 + " */\n", "columns")
        self.caught("page/script/a.js", "// TO" + "DO later\n", "unfinished")
        self.clean("page/script/a.js", "switch (x) { default: sleep(1); }\n")

    def test_a_long_function_is_caught_however_its_head_is_wrapped(self):
        for head in ("void f() {", "constexpr int f() {",
                     "Id::Id(int a,\n       int b)\n    : a_{a} {",
                     "class Id {\n  const T& f(int x = 3) const {", 'extern "C" {\nint f(void) {'):
            self.caught("cm/id.cc", head + "\n" + "  g();\n" * 70 + "}\n}\n", "function of")
            self.clean("cm/id.cc", head + "\n" + "  g();\n" * 60 + "}\n}\n")
        self.clean("cm/id.cc", "constexpr Row kRows[] = {\n" + "  {1},\n" * 90 + "};\n")
        self.clean("cm/id.cc", "class Id {\n" + "  int x() { return '{'; }\n" * 90 + "};\n")

    def test_a_class_of_the_simulator_with_many_public_functions_is_caught(self):
        head = "#pragma once\nclass Host final : public Base {\n public:\n  Host(const Host&) = delete;\n"
        functions = "  [[nodiscard]] int f(int x = 3) const { return {x}; }\n" * 20 + "  void g();\n" * 20
        tail = " private:\n  int h();\n  int i_ = 0;\n};\n"
        self.clean("sim/host.h", head + functions + "  int j{};\n" + tail)
        self.caught("sim/host.h", head + functions + "  int k(int);\n" + tail, "41 public")
        self.caught("sim/programs/net/sockets.h", head + functions + tail, "more than 30")
        self.clean("cm/id.h", head + functions + "  int k(int);\n" + tail)

    def test_unfinished_work_is_caught(self):
        self.caught("cm/id.cc", "// TO" + "DO: more\n", "unfinished")

    def test_a_sleep_in_a_test_is_caught(self):
        self.caught("cm/id_test.cc", "std::this_thread::sleep_for(1s);\n", "sleep")
        self.caught("tests/programs/a.cc", "sleep(1);\n", "sleep")
        self.clean("sim/world_test.cc", "host.sleep(1s);\n")

    def test_a_result_that_may_be_dropped_is_caught(self):
        self.caught("cm/id.h", "#pragma once\n  Result<void> bind(int);\n", "nodiscard")
        wrapped = "#pragma once\n public:\n  static verbs::Result<T<U>> make(A,\n B);\n"
        self.caught("cm/id.h", wrapped, "nodiscard")
        self.clean("cm/id.h", "#pragma once\n  [[nodiscard]] virtual\n  Result<void> bind(int);\n")
        self.clean("cm/id.h", "#pragma once\n  Result<int> bind(int a,\n    int b) override;\n")

    def test_a_header_without_a_guard_is_caught(self):
        self.caught("cm/id.h", "int x;\n", "#pragma once")


class Functions(unittest.TestCase):
    def test_nested_scopes_and_literals_do_not_confuse_the_count(self):
        text = ('namespace a {\nint f() {\n  return u(R"({{)", "{", \'{\');  // {\n}\n'
                'enum class E { a };\n}\n')
        self.assertEqual(list(cxx.functions(text)), [(2, 4)])


class Tree(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)

    def write(self, path, text):
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(text)

    def found(self, rule):
        return [path for path, _, _ in rule(self.root, list(tree.files(self.root)))]

    def test_a_source_that_nobody_builds_is_caught(self):
        self.write("cm/BUILD.bazel", 'srcs = ["grid.cc", "sub/a.h"], name = "id"')
        self.write("cm/id.cc", "")
        self.write("cm/grid.cc", "")
        self.write("cm/sub/a.h", "")
        self.assertEqual(self.found(tree.orphans), ["cm/id.cc"])

    def test_a_list_of_names_counts_as_naming(self):
        self.write("cm/BUILD.bazel", '[cc_test(srcs = [x + "_test.cc"]) for x in ["a"]]')
        self.write("cm/a_test.cc", "")
        self.write("cm/b_test.cc", "")
        self.assertEqual(self.found(tree.orphans), ["cm/b_test.cc"])

    def test_a_list_of_another_file_counts_as_well(self):
        self.write("cm/BUILD.bazel", '[cc_test(srcs = [x + "_test.cc"]) for x in NAMES]')
        self.write("cm/names.bzl", 'NAMES = ["a"]')
        self.write("cm/a_test.cc", "")
        self.write("cm/b_test.cc", "")
        self.assertEqual(self.found(tree.orphans), ["cm/b_test.cc"])

    def test_a_test_that_is_a_suite_of_its_room_is_no_orphan(self):
        self.write("cm/BUILD.bazel", 'cc_library(name = "b")\nroom_test(\n    name = "cm_test",\n    suites = [\n        "a",\n    ],\n)\n')
        self.write("cm/a_test.cc", "")
        self.write("cm/b_test.cc", "")
        self.assertEqual(self.found(tree.orphans), ["cm/b_test.cc"])

    def test_folders_that_include_each_other_are_caught(self):
        self.write("sim/a/a.h", '#include "sim/b/b.h"\n')
        self.write("sim/b/b.h", '#include "sim/c/c.h"\n')
        self.write("sim/c/c.h", "int c;\n")
        self.assertEqual(self.found(tree.circles), [])
        self.write("sim/c/c.cc", '#include "sim/a/a.h"\n')
        self.assertEqual(self.found(tree.circles), ["sim/a/a.h"])
        self.assertIn("sim/a includes sim/b includes sim/c includes sim/a",
                      list(tree.circles(self.root, list(tree.files(self.root))))[0][2])

    def test_a_folder_and_its_own_part_are_a_circle_too_but_tests_are_not(self):
        self.write("sim/world.h", '#include "sim/trace/trace.h"\n')
        self.write("sim/trace/trace_test.cc", '#include "sim/world.h"\n')
        self.assertEqual(self.found(tree.circles), [])
        self.write("sim/trace/trace.h", '#include "sim/world.h"\n')
        self.assertEqual(self.found(tree.circles), ["sim/world.h"])

    def test_a_link_that_leads_nowhere_is_caught(self):
        self.write("docs/a.md", "[b](b.md) [c](../c.md#part) [web](https://example.org/x)\n")
        self.write("c.md", "[a](docs/a.md) [d](docs/d.md)\n")
        self.assertEqual(self.found(tree.dead_links), ["c.md", "docs/a.md"])

    def test_a_lambda_in_quoted_code_is_no_link(self):
        self.write("a.md", "```cpp\n[this](int x) {}\n```\n[b](gone.md)\n")
        self.assertEqual([line for _, line, _ in tree.dead_links(self.root, ["a.md"])], [4])

    def test_threads_that_nobody_watches_are_caught(self):
        rule = 'cc_test(\n    name = "%s_test",\n    srcs = ["%s_test.cc"],\n%s)\n'
        self.write("cm/BUILD.bazel", rule % ("a", "a", "") +
                   rule % ("b", "b", '    tags = ["threads"],\n') + rule % ("c", "c", ""))
        self.write("cm/a_test.cc", "std::jthread racer([] {});\n")
        self.write("cm/b_test.cc", "std::thread racer([] {});\n")
        self.write("cm/c_test.cc", "// std::thread is not for us\nauto me = std::thread::id();\n")
        self.assertEqual(self.found(tree.untold_threads), ["cm/a_test.cc"])

    def test_generated_folders_are_left_out(self):
        self.write("bazel-bin/a.cc", "")
        self.write("bin/lib/a.h", "")
        self.assertEqual(list(tree.files(self.root)), [])


if __name__ == "__main__":
    unittest.main()

"""Programs with a bug each, beside the same without it."""

def finds_programs(name, programs, coverage = [], kit = ["kit.c", "kit_cm.c", "kit.h"]):
    """What tests/finds/bench.py runs: of each program the binary and two scenario files.

    A program is SUBJECT/NAME.c, with SUBJECT/NAME.txt, a scenario file that starts it with the argument `buggy`. By the
    compiler alone, as somebody builds it who has rdma-core: Bazel's way of linking leaves lines out of stacks.

    Args:
      name: of a filegroup of all of it: SUBJECT/NAME, SUBJECT/NAME.buggy.txt and SUBJECT/NAME.fixed.txt.
      programs: the sources.
      coverage: those of them, as SUBJECT/NAME, whose bug is a race between plain loads and stores or atomics of
        two threads: the compiler puts a call of the simulator's before each basic block.
      kit: what each program is compiled with.
    """
    outs = []
    for source in programs:
        program = source[:-len(".c")]
        flags = "-fsanitize-coverage=trace-pc " if program in coverage else ""
        native.genrule(
            name = program + ".program",
            testonly = True,
            srcs = [source] + kit,
            outs = [program],
            cmd = ("gcc -g -O1 -std=gnu11 -Wall -Wextra -pthread -I. " + flags +
                   " ".join(["$(location %s)" % each for each in [source] + kit if each.endswith(".c")]) +
                   " -lrdmacm -libverbs -o $@"),
            toolchains = ["@bazel_tools//tools/cpp:current_cc_toolchain"],
        )
        native.genrule(
            name = program + ".scenarios",
            testonly = True,
            srcs = [program + ".txt"],
            outs = [
                program + ".buggy.txt",
                program + ".fixed.txt",
            ],
            cmd = "cp $< $(location {0}.buggy.txt) && sed 's/\\bbuggy\\b/fixed/g' $< >$(location {0}.fixed.txt)".format(program),
        )
        outs += [program, program + ".buggy.txt", program + ".fixed.txt"]
    native.filegroup(
        name = name,
        testonly = True,
        srcs = outs,
    )

def finds_large(name, program, sources, scenarios, kit = ["cm.c", "cm.h"]):
    """A program of several files with a bug for each of its scenario files, which name the bug.

    Args:
      name: of a filegroup of all of it: the binary, FOLDER/BUG.buggy.txt and FOLDER/BUG.fixed.txt.
      program: FOLDER/NAME, the binary.
      sources: its files, in C++.
      scenarios: FOLDER/BUG.txt, which start it with `buggy BUG`. What their first lines say is for bench.py.
      kit: what it is compiled with, in C.
    """
    in_c = " ".join(["$(location %s)" % each for each in kit if each.endswith(".c")])
    in_cc = " ".join(["$(location %s)" % each for each in sources if each.endswith(".cc")])
    native.genrule(
        name = program + ".program",
        testonly = True,
        srcs = sources + kit,
        outs = [program],
        cmd = ("gcc -g -O1 -std=gnu11 -Wall -Wextra -I. -c {} -o $@.kit.o && " +
               "g++ -g -O1 -std=c++20 -Wall -Wextra -pthread -I. {} $@.kit.o -lrdmacm -libverbs -o $@ && " +
               "rm $@.kit.o").format(in_c, in_cc),
        toolchains = ["@bazel_tools//tools/cpp:current_cc_toolchain"],
    )
    outs = [program]
    for scenario in scenarios:
        bug = scenario[:-len(".txt")]
        native.genrule(
            name = bug + ".scenarios",
            testonly = True,
            srcs = [scenario],
            outs = [bug + ".buggy.txt", bug + ".fixed.txt"],
            cmd = "cp $< $(location {0}.buggy.txt) && sed 's/\\bbuggy\\b/fixed/g' $< >$(location {0}.fixed.txt)".format(bug),
        )
        outs += [bug + ".buggy.txt", bug + ".fixed.txt"]
    native.filegroup(
        name = name,
        testonly = True,
        srcs = outs,
    )

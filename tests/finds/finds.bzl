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

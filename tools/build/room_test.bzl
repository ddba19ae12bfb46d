"""The tests of a room as one program."""

load("@rules_cc//cc:defs.bzl", "cc_test")
load(":unity.bzl", "unity")

def room_test(name, suites, apart = [], **kwargs):
    """One test of many suites, each of them in a source of its own, SUITE_test.cc.

    The libraries of a room are in each of its tests, and so are its headers: 250 tests under sanitizers were 4.7 GB of mostly
    the same. Each suite is a target as well, SUITE_test, for whoever works on it; these are "manual", so //... has each once.

    Args:
      name: the test's name.
      suites: names.
      apart: those of the suites that are always compiled by themselves, as they give other things the same names.
      **kwargs: what else a cc_test has.
    """
    cc_test(
        name = name,
        size = "small",
        srcs = unity(name, [suite + "_test.cc" for suite in suites], [suite + "_test.cc" for suite in apart]),
        **kwargs
    )
    for suite in suites:
        cc_test(
            name = suite + "_test",
            size = "small",
            srcs = [suite + "_test.cc"],
            tags = ["manual"],
            **kwargs
        )

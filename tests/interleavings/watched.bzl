"""Libraries and tests whose accesses to memory the explorer sees."""

load("@rules_cc//cc:defs.bzl", "cc_library", "cc_test")

# The hooks, at a level where what is inline is inlined: its other copies are not watched. Calls of
# memcpy stay calls, so that the linker can lead them to the hooks. There is no runtime to be linked.
COPTS = [
    "-fsanitize=thread",
    "-O2",
    "-fno-builtin",
    "-Wno-tsan",
    "-Wno-unknown-warning-option",
]

TAGS = ["no-sanitizer"]

def watched_library(name, **kwargs):
    cc_library(name = name, testonly = True, copts = COPTS, tags = TAGS, **kwargs)

def watched_test(name, deps, wraps = [], **kwargs):
    """Calls of what `wraps` names go to the test's own __wrap_NAME, everywhere in the test."""
    cc_test(
        name = name,
        copts = COPTS,
        linkopts = ["-Wl,--wrap=" + each for each in ["memcpy", "memmove", "memset"] + wraps],
        tags = TAGS,
        deps = deps + [
            "//tests/interleavings:explorer",
            "//third_party:gtest_main",
        ],
        **kwargs
    )

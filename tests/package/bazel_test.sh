#!/usr/bin/env bash
# The workspace that docs/shipping.md tells others to write, word for word, with this tree beside it. It is analysed as a whole;
# what is built and run is a smaller test, since compiling the simulator anew takes minutes.
set -uo pipefail
tree=$(dirname "$(readlink -f WORKSPACE)")
page=$(readlink -f docs/shipping.md)
test=$(readlink -f tests/consumer/handshake_test.cc)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0
fail() { echo "FAILED: $*"; failures=$((failures + 1)); tail -n 20 "$work/log"; }
unset TEST_TARGET TEST_TMPDIR TESTBRIDGE_TEST_ONLY XML_OUTPUT_FILE RUNFILES_DIR JAVA_RUNFILES

mkdir "$work/consumer"
ln -s "$tree" "$work/anyrdma"
for file in WORKSPACE .bazelrc BUILD.bazel; do # the block whose first line names it
  awk -v head="# $file" '/^```/ { on = 0 } $0 == head { on = 1 } on' "$page" >"$work/consumer/$file"
  [ -s "$work/consumer/$file" ] || fail "docs/shipping.md has no $file"
done
cp "$test" "$work/consumer"
cat >>"$work/consumer/BUILD.bazel" <<'END'

cc_test(
    name = "time_test",
    srcs = ["time_test.cc"],
    copts = ["-Iexternal/anyrdma"],
    deps = [
        "@anyrdma//third_party:gtest_main",
        "@anyrdma//verbs:version",
    ],
)
END
cat >"$work/consumer/time_test.cc" <<'END'
#include <gtest/gtest.h>

#include "verbs/version.h"

TEST(Consumer, HasAVersion) { EXPECT_STRNE(anyrdma::verbs::kVersion, ""); }
END

consumer() { # COMMAND...
  (cd "$work/consumer" && HOME=$work USER=${USER:-root} bazel --batch --host_jvm_args=-Xmx512m --output_user_root="$work/out" "$@") >"$work/log" 2>&1
}
consumer build --nobuild //:handshake_test || fail "the workspace of docs/shipping.md is not understood"
consumer test //:time_test || fail "a test of the workspace does not build or run"
chmod -R u+w "$work/out" 2>/dev/null

[ "$failures" = 0 ] && echo PASSED
exit "$((failures > 0))"

#!/usr/bin/env bash
# The MODULE.bazel that docs/shipping.md tells others to write, word for word, under the Bazel 7.7 of Debian unstable, beside
# this tree: its modules are resolved and the test of tests/consumer is analysed; what is built and run is a smaller one. The
# registry of Bazel's modules is not asked: those that Debian has take their place, and empty ones of what only Bazel's own
# tools name. It installs packages:
#
#     ./dev fresh sid tests/package/bazel_module.sh
set -euo pipefail
tree=$(readlink -f "$(dirname "$0")/../..")
work=$(mktemp -d)
trap 'chmod -R u+w "$work" && rm -rf "$work"' EXIT
mkdir "$work/consumer" "$work/modules"
ln -s "$tree" "$work/anyrdma"

echo 'Installing Bazel and what anyrdma is made of'
apt=(apt-get -o Acquire::Check-Valid-Until=false) # a mirror may be late
{ "${apt[@]}" update -q && DEBIAN_FRONTEND=noninteractive "${apt[@]}" install -qy --no-install-recommends \
  bazel-bootstrap g++ gawk libboost-dev libboost-container-dev libboost-context-dev libboost-json-dev libcli11-dev \
  libspdlog-dev libibverbs-dev librdmacm-dev libdw-dev libnl-3-dev libnl-route-3-dev libgtest-dev libgmock-dev; } \
  >"$work/log" 2>&1 || { tail -n 20 "$work/log" && exit 1; }

for file in MODULE.bazel BUILD.bazel; do # the block whose first line names it
  awk -v head="# $file" '/^```/ { on = 0 } $0 == head { on = 1 } on' "$tree/docs/shipping.md" >"$work/consumer/$file"
  [ -s "$work/consumer/$file" ] || { echo "FAILED: docs/shipping.md has no $file" && exit 1; }
done
# Whose headers are in angles is said by a path in WORKSPACE's days alone.
sed -i '/^    copts = /d' "$work/consumer/BUILD.bazel"
sed 's|<sim/testing/kit.h>|"sim/testing/kit.h"|' "$tree/tests/consumer/handshake_test.cc" >"$work/consumer/handshake_test.cc"
cat >>"$work/consumer/BUILD.bazel" <<'END'

cc_test(
    name = "time_test",
    srcs = ["time_test.cc"],
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

# Only its own word for the version of a module is missing in Debian's.
platforms=$work/modules/platforms
cp -rL /usr/share/bazel/platforms/platforms "$platforms"
cat >"$platforms/MODULE.bazel" <<'END'
module(name = "platforms")
host_platform = use_extension("//host:extension.bzl", "host_platform")
use_repo(host_platform, "host_platform")
END
for name in apple_support buildozer protobuf zlib; do
  mkdir "$work/modules/$name"
  echo "module(name = '$name')" >"$work/modules/$name/MODULE.bazel"
  touch "$work/modules/$name/BUILD.bazel"
done
cat >"$work/modules/buildozer/buildozer_binary.bzl" <<'END'
def _nothing_impl(ctx):
    ctx.file("BUILD.bazel", "")

_nothing = repository_rule(implementation = _nothing_impl)

def _binary_impl(_):
    _nothing(name = "buildozer_binary")

buildozer_binary = module_extension(implementation = _binary_impl)
END
here=()
for folder in /usr/share/bazel/rules/{cc,java,license,proto,python}; do here+=("--override_module=rules_${folder##*/}=$folder"); done
for folder in /usr/share/bazel/tools/{features,skylib}; do here+=("--override_module=bazel_${folder##*/}=$folder"); done
for folder in "$work"/modules/*; do here+=("--override_module=${folder##*/}=$folder"); done

consumer() { # COMMAND ARGUMENT...
  bazel --batch --output_user_root="$work/out" "$1" --enable_bzlmod --noenable_workspace --noshow_progress \
    --nosandbox_debug --cxxopt=-std=c++20 "${here[@]}" "${@:2}"
}
cd "$work/consumer"
bazel --version
consumer build --nobuild //:handshake_test
consumer test --test_output=errors //:time_test
echo PASSED

#!/usr/bin/env bash
# What `./dev package` makes: a Debian package without mistakes that lintian knows; a tarball that runs where it is unpacked;
# and from a prefix that was moved, projects that find it by pkg-config and by CMake, shared and static.
set -uo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0
fail() { echo "FAILED: $*"; failures=$((failures + 1)); }
shown() { fail "$1"; tail -n 25 "$work/$2.log"; } # WHAT LOG
unset TEST_TARGET ANYRDMA_SEED ANYRDMA_RUNS TESTBRIDGE_TEST_ONLY XML_OUTPUT_FILE GTEST_OUTPUT

packaging/package tools/bin tools/kit "$work/out" >"$work/package.log" 2>&1 || { shown "no package" package; exit 1; }
deb=$(echo "$work"/out/*.deb) tarball=$(echo "$work"/out/*.tar.gz)

# The version stands once, and the list of changes begins with it.
version=$(tools/bin/anyrdma --version | sed -nE 's/^anyrdma ([0-9.]+).*/\1/p')
[ "$(sed -n 's/^## //p' CHANGELOG.md | head -n 1)" = "$version" ] || fail "CHANGELOG.md does not begin with $version"
grep -q "version = \"$version\"" MODULE.bazel || fail "MODULE.bazel says another version than the command, $version"
[ "$(dpkg-deb -f "$deb" Version)" = "$version" ] || fail "the package says another version than the command, $version"

if command -v lintian >/dev/null; then
  if ! lintian --allow-root --tag-display-limit 0 "$deb" >"$work/lintian.log" 2>&1 || grep -q '^E:' "$work/lintian.log"; then
    shown "lintian finds mistakes" lintian
  fi
else
  echo "SKIPPED: lintian is not installed, so it has not looked."
fi

# --- the tarball, in a folder with a blank, without anything of this machine in its environment ---------------------------

mkdir "$work/some where"
tar -xzf "$tarball" -C "$work/some where"
unpacked=$(echo "$work/some where"/*)
env -i "$unpacked/bin/anyrdma" --version >"$work/version.log" 2>&1 || shown "the command of the tarball does not start" version
foreign=$(ldd "$unpacked/lib/anyrdma/anyrdma" | awk '$3 ~ /^\/(usr|lib)/ { sub(/\.so.*/, "", $1); print $1 }' | sort | xargs)
[ "$foreign" = "libc libgcc_s libm libstdc++" ] || fail "the command of the tarball takes from the system: $foreign"
if command -v rping >/dev/null; then
  env -i PATH=/usr/bin:/bin "$unpacked/bin/anyrdma" sim --quiet --host server=10.0.0.1 --host client=10.0.0.2 \
    --on server 'rping -s -a 10.0.0.1 -C 2' --on client 'rping -c -a server -C 2' >"$work/sim.log" 2>&1 || shown "rping fails on the tarball's" sim
else
  echo "SKIPPED: rping is not installed, so it has not run on the tarball's libraries."
fi

# --- projects of others, from the package's files in a place of their own ---------------------------------------------------

dpkg-deb -x "$deb" "$work/prefix" || exit
prefix=$work/prefix/usr
export PKG_CONFIG_PATH=$prefix/lib/pkgconfig

# --- man pages and pages: one of each subcommand and of each topic of `anyrdma help` -------------------------------------------

listed() { sed -nE "/^$1:/,/^\$/s/^  ([a-z]+) .*/\1/p"; } # HEADING: the words below it in a help
subcommands=$(tools/bin/anyrdma --help | listed Subcommands) topics=$(tools/bin/anyrdma help | listed Topics)
[ "$(wc -w <<<"$subcommands")" -ge 9 ] || fail "few subcommands: $subcommands"
[ "$(wc -w <<<"$topics")" -ge 2 ] || fail "few topics: $topics"
pages="man1/anyrdma.1 $(printf 'man1/anyrdma-%s.1 ' $subcommands)$(printf 'man5/anyrdma-%s.5 ' $topics)"
for page in $pages; do
  name=${page##*/} summary=$(zcat "$prefix/share/man/$page.gz" | sed -n 3p)
  [[ $summary == "${name%.*}"* || $summary == "${name%-*}\\-"* ]] || fail "no man page $page: '$summary'"
  grep -qE "^\.SH (SYNOPSIS|DESCRIPTION)" < <(zcat "$prefix/share/man/$page.gz") || fail "the man page $page is empty"
done
zcat "$prefix/share/man/man1/anyrdma.1.gz" | grep -q '^\.BR anyrdma\\-scenario (5)' || fail "anyrdma(1) does not name anyrdma-scenario(5)"
zcat "$prefix/share/man/man5/anyrdma-faults.5.gz" | grep -q '^\.SH HOW LONG' || fail "anyrdma-faults(5) lacks a section of its page"
for page in README.md fault-language.md cm/events.md tutorials/binary.md; do
  [ -s "$prefix/share/doc/anyrdma/docs/$page" ] || fail "the package lacks docs/$page, which messages name"
done

check_consumer() { # FOLDER: what was built there runs
  local kind
  for kind in handshake_test handshake_static; do
    (cd "$1" && "./$kind" --gtest_filter='Handshake.*') >"$work/$kind.log" 2>&1 || shown "$1: $kind fails" "$kind"
    grep -q 'PASSED  \] 3 tests' "$work/$kind.log" || fail "$1: $kind does not run 3 tests"
  done
  grep -q "libanyrdma_sim.so.0 => $prefix" <<<"$(ldd "$1/handshake_test")" || fail "$1: handshake_test is not linked with the shared library"
  ! grep -q libanyrdma <<<"$(ldd "$1/handshake_static")" || fail "$1: handshake_static is not static"
  "$1/quickstart" >"$work/quickstart.log" 2>&1 || shown "$1: quickstart fails" quickstart
  "$1/devices" >"$work/devices.log" 2>&1 || shown "$1: devices fails" devices
  grep -q '^device anyrdma' "$work/devices.log" || fail "$1: devices is not on the drop-in libraries"
}

mkdir "$work/make"
cp tests/package/consumer/{Makefile,devices.c} examples/quickstart.cc tests/consumer/handshake_test.cc "$work/make"
if make -C "$work/make" all >"$work/make.log" 2>&1; then check_consumer "$work/make"; else shown "the Makefile's project does not build" make; fi

if command -v cmake >/dev/null; then
  mkdir "$work/cmake"
  cp tests/package/consumer/{CMakeLists.txt,devices.c} examples/quickstart.cc tests/consumer/handshake_test.cc "$work/cmake"
  if (cd "$work/cmake" && cmake -S . -B out -DCMAKE_PREFIX_PATH="$prefix" && cmake --build out) >"$work/cmake.log" 2>&1; then
    check_consumer "$work/cmake/out"
  else
    shown "the project of CMake does not build" cmake
  fi
else
  echo "SKIPPED: cmake is not installed, so find_package(anyrdma) was not tried."
fi

[ "$failures" = 0 ] && echo PASSED
exit "$((failures > 0))"

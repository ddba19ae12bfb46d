#!/usr/bin/env bash
# A project that knows only what `./dev install` has installed: it compiles, links and runs a test of its
# own, and reads in the failures of others what it takes to repeat them.
set -uo pipefail
work=$(mktemp -d) here=$PWD
trap 'rm -rf "$work"' EXIT
failures=0
fail() { echo "FAILED: $*"; failures=$((failures + 1)); }
expect() { grep -qE -- "$2" "$work/$1.log" || { fail "$1 does not say '$2':"; cat "$work/$1.log"; }; }

tools/dev/install tools/bin tools/kit "$work/prefix" || exit
export PKG_CONFIG_PATH=$work/prefix/lib/pkgconfig
# What is to be included and linked is what docs/testing.md says.
command=$(sed -n 's/^\(g++ .*handshake_test\.cc.*\)$/\1/p' docs/testing.md)
[ -n "$command" ] || { fail "docs/testing.md has no command"; exit 1; }
cp tests/consumer/{handshake_test.cc,process_test.cc,my_server.c} "$work"
(cd "$work" && PREFIX=$work/prefix bash -c "$command") || { fail "does not compile: $command"; exit 1; }
cd "$work" || exit
unset TEST_TARGET ANYRDMA_SEED ANYRDMA_RUNS TESTBRIDGE_TEST_ONLY XML_OUTPUT_FILE GTEST_OUTPUT

./handshake_test --gtest_filter='Handshake.*' >good.log 2>&1 || { fail "fails"; cat good.log; }
expect good 'PASSED  \] 3 tests'

./handshake_test --gtest_filter='Broken.*' --anyrdma_seed=7 >broken.log 2>&1 && fail "does not fail"
expect broken 'which says REJECTED, status 28'
expect broken '^seed 7, trace hash [0-9a-f]{16}'
expect broken 'fired 1, observed 1: on server request 1: reject 28'
expect broken "repeat it with: ./handshake_test --gtest_filter='Broken.ExpectsAConnectionThatIsRefused' --anyrdma_seed=7"
expect broken 'planned faults did not happen'
expect broken 'its recording, for `anyrdma trace`: .*/Broken\.ExpectsAConnectionThatIsRefused\.recording$'
expect broken 'its page, for a browser: .*/Broken\.ExpectsAConnectionThatIsRefused\.html$'

# The command that a failure prints gives the same run again.
hash=$(grep -m1 -o 'trace hash .*' broken.log)
again=$(sed -n 's/^repeat it with: \(.*Refused.*\)$/\1/p' broken.log)
bash -c "$again" >again.log 2>&1 && fail "does not fail again"
expect again "$hash"

# Every run has a seed of its own.
./handshake_test --gtest_filter='Broken.Expects*' --anyrdma_runs=3 >runs.log 2>&1 && fail "does not fail"
expect runs '^seed 1, '
expect runs '^seed 3, '
ANYRDMA_SEED=x ./handshake_test --gtest_filter='Handshake.*' >wrong.log 2>&1 && fail "takes any seed"
expect wrong 'ANYRDMA_SEED is x: it should be a number'

# A program of the project's own in a process: what docs/testing.md says finds the drop-in libraries.
gcc my_server.c -lrdmacm -libverbs -o my_server || fail "the server does not compile"
(PREFIX=$work/prefix bash -c "${command//handshake_test/process_test}") || fail "the test with a process does not compile"
ANYRDMA_PREFIX=$work/prefix ./process_test >process.log 2>&1 || { fail "fails"; cat process.log; }
expect process 'PASSED  \] 1 test'
PATH=$work/prefix/bin:$PATH ./process_test >path.log 2>&1 || { fail "does not find the command in PATH"; cat path.log; }
ANYRDMA_PREFIX=/nowhere ./process_test >nowhere.log 2>&1 && fail "finds libraries that are not there"
expect nowhere 'say ANYRDMA_PREFIX=PREFIX'

# What a shell proposes is what the command says of itself.
proposes() { # EXPECTED WORD...
  local found
  found=$(PATH=$work/prefix/bin:$PATH bash -c '
    . "$0" && COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) && _anyrdma && echo "${COMPREPLY[*]}"' \
    "$work/prefix/share/bash-completion/completions/anyrdma" "${@:2}")
  [[ " $found " == *" $1 "* ]] || fail "after '${*:2}' the shell proposes '$found', not '$1'"
}
proposes 'run sim trace check devinfo' anyrdma ''
proposes '--seeds --steps --schedule --set' anyrdma explore --s
proposes 'connect clients' anyrdma explore ''
proposes 'fifo random pct' anyrdma explore connect --schedule ''
proposes 'add del' anyrdma rxe ''
proposes 'true' anyrdma run -- tru

zsh_proposes() { # LINE PATTERN: where ./dev install has put what a zsh looks for
  PATH=$work/prefix/bin:$PATH timeout 300 zsh -f "$here/tests/consumer/zsh_proposes.zsh" \
    "$work/prefix/share/zsh/site-functions" "$@" >zsh.log 2>&1 || fail "after '$1' zsh does not propose '$2'"
}
if command -v zsh >/dev/null; then
  zsh_proposes 'anyrdma ' 'check*trace' # in columns: what is between has no order
  zsh_proposes 'anyrdma explore --s' '--schedule*--seeds'
  zsh_proposes 'anyrdma explore ' 'clients*connect'
  zsh_proposes 'anyrdma explore connect --schedule ' 'fifo*mixed*pct*random'
else
  echo "zsh is not installed: what it proposes is not tested"
fi

[ "$failures" = 0 ] && echo PASSED
exit "$((failures > 0))"

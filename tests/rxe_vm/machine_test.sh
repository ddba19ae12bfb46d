#!/usr/bin/env bash
# tools/vm/rxe itself: whatever happens in the machine, the caller learns of it.
set -uo pipefail
. tests/rxe_vm/lib.sh
failures=0

expect() { # WHAT EXPECTED ACTUAL
  [ "$2" = "$3" ] || { echo "FAILED: $1: '$3', expected '$2'"; failures=$((failures + 1)); }
}

said=$(tools/vm/rxe --deadline 850 -- sh -c 'echo out; echo error >&2; touch /usr/made; exit 7')
expect "the command's exit status" 7 $?
expect "its output" "$(printf 'out\nerror')" "$said"
expect "what it wrote" "" "$(ls /usr/made 2>/dev/null)"

said=$(tools/vm/rxe --deadline 0.5 -- true 2>&1)
expect "exit status when the deadline passed" 124 $?
expect "explanation" "rxe: the command did not end within 0.5 s" "$said"

# As the kernel says it, which is waiting for one id all the time, and for another that ended.
said=$(tools/vm/rxe --deadline 850 -- sh -c '
  for at in 100.1 110.2 340.9; do echo "[  $at] cm_destroy_id_wait_timeout: cm_id=00000000d3ff8ce2 timed out. state 0 -> 0, refcnt=1"; done >/dev/ttyS0
  sleep 10; echo alive
  echo "[  351.0] cm_destroy_id_wait_timeout: cm_id=0000000009b00aa4 timed out. state 0 -> 0, refcnt=1
[  361.0] cm_destroy_id_wait_timeout: cm_id=00000000d3ff8ce2 timed out. state 0 -> 0, refcnt=1" >/dev/ttyS0
  sleep 600' 2>&1)
expect "exit status when the kernel has lost an id" 123 $?
expect "what is said" "$(printf 'alive\nrxe: the kernel waits for ever for the end of a connection%ss id, cm_destroy_id_wait_timeout: a flaw of Linux' "'")" "$said"

# Only Python in the path.
mkdir "$TEST_TMPDIR/bin" && ln -s "$(command -v python3)" "$(command -v env)" "$TEST_TMPDIR/bin"
said=$(PATH=$TEST_TMPDIR/bin tools/vm/rxe -- true 2>&1)
expect "exit status without QEMU" 125 $?
expect "explanation" "rxe: qemu-system-x86_64 is not installed" "$said"

[ "$failures" = 0 ] && echo PASSED
exit "$((failures > 0))"

#!/usr/bin/env bash
# What a program on a simulated host finds out (tests/simulated/probe.c) is the same on another kernel, apart from the
# features of the processor, which QEMU has others of, and the pages that this kernel gives each process.
set -uo pipefail
. tests/rxe_vm/lib.sh
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

sim=("$(realpath tools/bin/anyrdma)" sim --host here=10.0.0.1 --on here "$(realpath tests/simulated/probe)")
shown() { # FILE
  grep 'here/probe: ' "$1" | grep -vE ' (rdpid|/proc/self/(maps|limits|status):|file of a disk:|it, changed:|/etc/passwd:|/dev/null:)'
}

(cd / && timeout 120 "${sim[@]}") >"$work/here.log" 2>&1 || { cat "$work/here.log" && exit 1; }
in_machine "${sim[@]}" >"$work/there.log" 2>&1 || { tail -n 20 "$work/there.log" && exit 1; }
shown "$work/here.log" >"$work/here"
shown "$work/there.log" >"$work/there"
[ "$(wc -l <"$work/here")" -gt 60 ] || { echo "FAILED: the probe says little: $(cat "$work/here.log")" && exit 1; }
if ! diff "$work/here" "$work/there" >"$work/difference"; then
  echo "FAILED: another kernel (>) shows something else:"
  cut -c1-200 "$work/difference"
  exit 1
fi
echo PASSED

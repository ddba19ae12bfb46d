#!/usr/bin/env bash
# What a program on a simulated host finds out (tests/simulated/probe.c) is the same on another kernel, apart from the
# features of the processor, which QEMU has others of, and what docs/limits.md says that kernels and limits decide: the
# nice value, the size of a process, lines of /proc that newer kernels have, interfaces that kernels can make, numbers of
# objects after files on file systems without a disk.
set -uo pipefail
. tests/rxe_vm/lib.sh
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

sim=("$(realpath tools/bin/anyrdma)" sim --host here=10.0.0.1 --on here "$(realpath tests/simulated/probe)")
decided_by_kernel='/sys/class/net lists|/proc/self/(fdinfo/[0-9]+|stat|statm|smaps_rollup|maps|limits|status):'
decided_by_disk='file of a disk:|it, changed:|/etc/passwd:|/dev/null:'
shown() { # FILE
  grep 'here/probe: ' "$1" | grep -vE " (rdpid|$decided_by_kernel|$decided_by_disk)" |
    sed -E 's/device 0:[0-9]+, inode [0-9]+/an object/'
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

#!/usr/bin/env bash
# What a program on a simulated host finds out (tests/simulated/probe.c) is the same on another kernel, apart from the
# features of the processor, which QEMU has others of, and what docs/limits.md says that kernels and machines decide: the
# size of a process and the addresses in it, hard limits, interfaces that kernels can make, which files and devices there
# are below /proc, /sys and /dev, numbers of objects after files on file systems without a disk.
set -uo pipefail
. tests/rxe_vm/lib.sh
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The environment and the directory to work in are the same. Times are compared in seconds: where an interface is
# missing, the probe makes fewer calls, and each takes 200 ns.
sim=(env -i -C / PATH=/usr/bin:/bin "$(realpath tools/bin/anyrdma)" sim --host here=10.0.0.1 --on here "$(realpath tests/simulated/probe)")
of_processor='rdpid:|rdtscp:|xgetbv|cpuid |auxv of the processor:|/proc/cpuinfo:'
of_sizes='addresses:|thread |/proc/self/(task/2/)?stat:|/proc/self/(statm|status|maps|smaps|smaps_rollup|auxv|limits|fd lists)'
of_interfaces='/sys/class/net|/proc/net/|/proc/self lists|/proc/self/fd'
of_machine='/dev lists|/sys lists|/sys/devices/system/cpu/cpu0|/proc/(schedstat|modules|softirqs|interrupts|timer_list|keys|partitions|swaps|zoneinfo|buddyinfo|diskstats|pressure)|limit 7:|/proc/self/coredump_filter:'
decided_by_disk='file of a disk:|it, changed:|/etc/passwd:|/dev/null:'
shown() { # FILE
  grep 'here/probe: ' "$1" | grep -vE " ($of_processor|$of_sizes|$of_interfaces|$of_machine|$decided_by_disk)" |
    sed -E 's/^[0-9.]+ //; s/\.00[0-9]{7}//g; s/device 0:[0-9]+, inode [0-9]+/an object/; s/ino:[0-9a-f]+ sdev:[0-9a-f]+/an object/'
}

timeout 300 "${sim[@]}" >"$work/here.log" 2>&1 || { cat "$work/here.log" && exit 1; }
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

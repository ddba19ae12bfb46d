#!/usr/bin/env bash
# The processors, the memory and the kernel of simulated hosts, as a scenario file describes them (described.c).
. tests/simulated/lib.sh

described=$PWD/tests/simulated/described

scenario_of() { # LINE...: in $work/scenario.txt
  printf '%s\n' 'host one 10.0.0.1' 'host two 10.0.0.2' "$@" >"$work/scenario.txt"
}

says_lines() { # LINE...: of the first run
  local line
  for line in "$@"; do
    grep -qE -- " $line\$" "$work/first.log" || fail "nobody says '$line': $(head -c 3000 "$work/first.log")"
  done
}

has_mounts() {
  unshare -m true 2>/dev/null || unshare -Urm true 2>/dev/null || { printf '    skipped: no mount namespace can be had here\n' && return 1; }
}

case_are_those_of_the_file() {
  has_mounts || return
  scenario_of 'processors 36' 'ram 1GiB' 'kernel 5.10.0' "on one $described"
  same_runs "$work/scenario.txt"
  says_lines 'getconf: 36 36, 1024 MiB' 'sysinfo: 1024 MiB' 'uname: 5\.10\.0' 'Linux version 5\.10\.0 \(anyrdma\) #1 SMP' '5\.10\.0' \
    'MemTotal: +1048576 kB' 'Cpus_allowed:.f,ffffffff' '0-35' 'stat: 36' 'cpuinfo: 36' 'directories: 36' 'CPUID: 36' \
    'a file made there: Read-only file system'
  grep 'group: ' "$work/first.log" | grep -qv 'group: 0-35$' && fail "the machine's control group is seen: $(grep 'group: ' "$work/first.log")"
  return 0
}

case_are_the_same_on_each_machine_without_a_line() {
  has_mounts || return
  scenario_of "on one $described"
  same_runs "$work/scenario.txt"
  says_lines 'getconf: 2 2, 8192 MiB' 'sysinfo: 8192 MiB' 'uname: 6\.1\.0-anyrdma' 'Linux version 6\.1\.0-anyrdma .*' \
    'MemTotal: +8388608 kB' 'Cpus_allowed:.3' '0-1' 'stat: 2' 'cpuinfo: 2' 'directories: 2' 'CPUID: 2'
}

case_are_each_hosts_own() {
  has_mounts || return
  scenario_of 'processors 4' 'processors two 1' 'ram two 64MiB' 'kernel one 6.12.0-amd64' "on one $described" "on two $described"
  one_run first "$work/scenario.txt"
  says_lines 'getconf: 4 4, 8192 MiB' 'directories: 4' 'uname: 6\.12\.0-amd64' 'getconf: 1 1, 64 MiB' 'directories: 1' 'CPUID: 1' \
    'uname: 6\.1\.0-anyrdma'
}

case_threads_may_run_where_programs_say() {
  scenario_of 'processors 1024' "on one $described"
  one_run first "$work/scenario.txt"
  says_lines 'at first: 1024 processors from 0' 'set of no thread: No such process' 'set nothing: -1' 'get into 1 byte: -1' \
    'set 1023: done' 'then: 1 processors from 1023' 'Cpus_allowed_list:.1023' 'on 1023, by RDTSCP 1023, by CPUID 255, by its stat 1023' \
    'its thread: 1 processors from 1023' \
    'its thread then: 1 processors from 0' 'after its thread: 1 processors from 1023' 'its child: 1 processors from 1023' \
    'after its child: 1 processors from 0'
  scenario_of 'processors 36' "on one $described"
  one_run first "$work/scenario.txt"
  says_lines 'set 36: Invalid argument' 'set 35: done' 'then: 1 processors from 35' 'on 35, by RDTSCP 35, by CPUID 35, by its stat 35'
}

case_are_what_usual_programs_print() {
  has_mounts || return
  scenario_of 'processors 12' 'ram 3GiB' 'kernel 5.4.0-1-amd64' 'on one nproc' 'on one nproc --all' 'on one taskset -c 3-5 nproc' \
    'on one getconf _NPROCESSORS_ONLN' 'on one uname -r' 'on one free -m' \
    'on one python3 -c "import os; print(\"python:\", os.cpu_count(), len(os.sched_getaffinity(0)))"'
  same_runs "$work/scenario.txt"
  says_lines 'one/nproc: 12' 'one/nproc: 12' 'one/taskset: 3' 'one/getconf: 12' 'one/uname: 5\.4\.0-1-amd64' \
    'one/free: Mem: +3072 .*' 'python: 12 12'
}

case_are_those_of_the_options() {
  has_mounts || return
  scenario_of 'processors 4' 'processors two 3' "on one $described" "on two $described"
  one_run first --processors 6 --ram one=2GiB --kernel 5.15 "$work/scenario.txt"
  says_lines 'getconf: 6 6, 2048 MiB' 'uname: 5\.15' 'getconf: 3 3, 8192 MiB'
}

case_are_refused_with_the_line() {
  local line
  expected=2
  while IFS='|' read -r line problem; do
    scenario_of "$line" 'on one true'
    one_run first "$work/scenario.txt"
    grep -qF -- "scenario.txt:3: $problem" "$work/first.log" || fail "'$line' gives $(cat "$work/first.log")"
  done <<'LINES'
processors 0|a host has from 1 to 1024 processors, not 0.
processors one 1025|a host has from 1 to 1024 processors, not 1025.
processors three 2|there is no host 'three'.
ram 1MiB|a host has from 64MiB to 64TiB of memory.
kernel linux|'linux' is no release of a kernel.
kernel 2.6.32|the kernel '2.6.32' is older than 3.2
LINES
  one_run first --processors 0 --host one=10.0.0.1 --on one true
  grep -qF -- '--processors 0 is invalid: a host has from 1 to 1024 processors, not 0.' "$work/first.log" || fail "$(cat "$work/first.log")"
  expected=0
}

# A search, its shrinking, the replay of what it finds and a bundle have the hosts of the file.
case_are_those_of_a_search_and_of_its_replay() {
  printf '%s\n' 'host one 10.0.0.1' 'processors 5' "on one sh -c '[ \$(nproc) != 5 ]'" >"$work/scenario.txt"
  timeout -k 5 "$deadline" tools/bin/anyrdma explore "$work/scenario.txt" --seeds 3 >"$work/said" 2>"$work/progress"
  grep -q '^one/sh ended with status 1' "$work/said" || fail "$(cat "$work/said")"
  local trial
  trial=$(sed -n "s/^again: anyrdma replay [^ ]* '\(.*\)'$/\1/p" "$work/said")
  tools/bin/anyrdma replay "$work/scenario.txt" "$trial" --bundle "$work/run.tar" >"$work/said" 2>&1
  grep -q 'one/sh ended with status 1' "$work/said" || fail "$(cat "$work/said")"
  tools/bin/anyrdma replay "$work/run.tar" >"$work/said" 2>&1
  grep -q 'one/sh ended with status 1' "$work/said" || fail "$(cat "$work/said")"
}

run_cases

#!/usr/bin/env bash
# With --strict a program is named that asks for what differs between machines (docs/limits.md), and the run is the
# same as without.
. tests/simulated/lib.sh

asking=$PWD/tests/simulated/asking

# names WHAT HOW WORD...: `asking WORD...` asks for WHAT by HOW; the run says so with --strict, and nothing else changes.
names() {
  local what=$1 how=$2 said
  shift 2
  one_run usual --host here=10.0.0.1 --on here "$asking $*" || fail "$*: $(tail -n 3 "$work/usual.log")"
  one_run strict --strict --host here=10.0.0.1 --on here "$asking $*" || fail "$*: $(tail -n 3 "$work/strict.log")"
  said="here/asking asks for what differs between machines: $what ($how). See docs/limits.md."
  [ "$(grep -cF "$said" "$work/strict.log")" = 1 ] || fail "$* says: $(grep differs "$work/strict.log")"
  ! grep -q 'differs between machines' "$work/usual.log" || fail "$* is named without --strict"
  cmp -s "$work/usual.log" <(grep -v 'asks for what differs' "$work/strict.log") ||
    fail "$*: the run is another one: $(diff "$work/usual.log" "$work/strict.log")"
}

case_the_processor() {
  names 'model and features of the CPU' CPUID cpuid
  names 'model and features of the CPU' /proc/cpuinfo read /proc/cpuinfo
}

case_files() {
  local times='times of files that are older than the run'
  local numbers='inode numbers of files outside of `/tmp`, `/dev/shm` and `/run`, also of new ones; device numbers of disks'
  names "$times" newfstatat stat /usr/bin/env
  names "$times" newfstatat fstat /usr/bin/env
  names "$times" statx statx /usr/bin/env
  names "$times" newfstatat stat /etc/passwd
  [ "$(stat -c %d /usr/bin/env)" -lt 256 ] || names "$numbers" newfstatat stat /usr/bin/env
}

case_directories() {
  local line='inode numbers of entries'
  one_run strict --strict --host here=10.0.0.1 --on here "$asking getdents /usr"
  grep -qF "asks for what differs between machines: $line" "$work/strict.log" || fail "$(tail -n 4 "$work/strict.log")"
}

case_file_systems() {
  local file
  for file in /proc/mounts /proc/self/mounts /proc/self/mountinfo /proc/self/mountstats; do
    one_run strict --strict --host here=10.0.0.1 --on here "$asking read $file"
    grep -qF "here/asking asks for what differs between machines: number and sizes of the machine's file systems (/proc/" \
      "$work/strict.log" || fail "$file: $(tail -n 4 "$work/strict.log")"
  done
}

case_the_user() {
  for how in getuid getegid getresuid getgroups capget; do names 'the user and the capabilities of the command' "$how" "$how"; done
}

case_limits() {
  names 'the limits of the command, except those of processes, pending signals, POSIX queues and open files; the latter if it is below 524288' \
    prlimit64 getrlimit
}

# The loader asks about the libraries that it loads, and for nothing else that only a program asks for.
case_a_program_that_asks_for_nothing() {
  one_run strict --strict --host here=10.0.0.1 --on here "$asking"
  ! grep -E 'differs.*: (times|inode|the user|model)' "$work/strict.log" || fail 'a program is named that asks for nothing'
}

case_each_program_is_named() {
  one_run strict --strict --host a=10.0.0.1 --host b=10.0.0.2 --on a 'sh -c "id -u; id -u"' --on b 'id -u'
  for each in a/sh b/id; do
    [ "$(grep -c "^stderr: .*$each asks for what differs between machines: the user" "$work/strict.log")" = 1 ] ||
      fail "$each: $(grep differs "$work/strict.log")"
  done
}

# What is named does not make a run fail.
case_a_search_goes_on() {
  printf 'host a 10.0.0.1\non a id -u\nstrict\n' >"$work/scenario"
  timeout -k 5 "$deadline" tools/bin/anyrdma explore "$work/scenario" --seeds 3 >"$work/found" 2>&1 ||
    fail "$(tail -n 5 "$work/found")"
  grep -q ': 3 runs in ' "$work/found" || fail "$(tail -n 5 "$work/found")"
}

run_cases

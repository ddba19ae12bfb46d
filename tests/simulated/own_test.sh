#!/usr/bin/env bash
# What a host has for itself: System V and POSIX objects, /tmp, /dev/shm and /run, and its name. Nothing of it is
# another host's, another run's or the machine's.
. tests/simulated/lib.sh

objects=$PWD/tests/simulated/objects
own=${work##*.} # the name of the objects; another test, or a shard of this one beside it, has others

sim_of() { # OPTION...: a run; what it says is in $work/sim.log
  one_run sim "$@" || tail -n 15 "$work/sim.log" | cut -c1-200 | sed 's/^/      /'
}

says_line() { # PATTERN
  grep -qE -- "$1" "$work/sim.log" || fail "nobody says '$1': $(head -c 1500 "$work/sim.log")"
}

never_says() { # PATTERN
  ! grep -E -- "$1" "$work/sim.log" >/dev/null || fail "somebody says '$1'"
}

case_each_host_makes_all_objects() {
  sim_of --host a=10.0.0.1 --host b=10.0.0.2 --on a "$objects make $own" --on b "$objects make $own"
  says_line 'a/objects: 9 of 9'
  says_line 'b/objects: 9 of 9'
}

case_programs_of_one_host_have_objects_in_common() {
  sim_of --host a=10.0.0.1 --on a "$objects make $own" --on a "$objects find $own"
  [ "$(grep -c 'a/objects: 9 of 9' "$work/sim.log")" = 2 ] || fail "$(cat "$work/sim.log")"
}

case_another_host_finds_none() {
  sim_of --host a=10.0.0.1 --host b=10.0.0.2 --on a "$objects make $own" --on b "$objects find $own"
  says_line 'b/objects: 0 of 9'
}

case_a_run_leaves_none_to_the_next_or_to_the_machine() {
  sim_of --host a=10.0.0.1 --on a "$objects make $own"
  says_line 'a/objects: 9 of 9'
  sim_of --host a=10.0.0.1 --on a "$objects find $own"
  says_line 'a/objects: 0 of 9'
  [ "$("$objects" find "$own" | tail -n 1)" = '0 of 9' ] || fail "the machine has: $("$objects" find "$own")"
}

case_a_run_finds_none_of_the_machine() {
  "$objects" make "$own" >/dev/null
  sim_of --host a=10.0.0.1 --on a "$objects find $own"
  "$objects" remove "$own"
  says_line 'file in /tmp: yes' # of the machine's own /tmp a host has a copy
  says_line 'a/objects: 1 of 9'
}

case_a_search_finds_none_of_another_job() {
  printf 'host a 10.0.0.1\non a %s make %s\nexpect a/objects output 9 of 9\n' "$objects" "$own" >"$work/scenario.txt"
  timeout -k 5 "$deadline" tools/bin/anyrdma explore "$work/scenario.txt" --seeds 40 --jobs 2 >"$work/sim.log" 2>&1 ||
    fail "$(tail -n 5 "$work/sim.log")"
}

case_numbers_of_objects_are_the_same_in_each_run() {
  same_runs --host here=10.0.0.1 --on here "$objects make $own"
  grep -q 'System V queue is number 0' "$work/first.log" || fail "$(cat "$work/first.log")"
}

# The kernel counts what a user has in queues, whichever host they are on.
case_queues_that_others_have_do_not_count() {
  (ulimit -Hq 0 && ulimit -Hq 1) 2>/dev/null || { printf '    skipped: CAP_SYS_RESOURCE is missing\n' && return; }
  (
    ulimit -q 0 # as if others had all
    ! "$objects" make "$own" | grep -q 'POSIX queue: yes' || fail "the machine has no such limit"
    "$objects" remove "$own"
    sim_of --host a=10.0.0.1 --on a "$objects make $own" --on a 'grep msgqueue /proc/self/limits'
    says_line 'a/objects: 9 of 9'
    says_line 'Max msgqueue size +819200 +819200 +bytes'
    exit "$case_failed"
  ) || case_failed=1
}

case_changes_of_tmp_stay_in_the_host() {
  local data
  data=$(mktemp -d /tmp/anyrdma-own.XXXXXX) # wherever TMPDIR is: what a command names in /dev/shm is the machine's
  echo before >"$data/file"
  sim_of --host a=10.0.0.1 --host b=10.0.0.2 --on a "sh -c 'echo after >$data/file; cat $data/file'" --on b "cat $data/file"
  says_line 'a/sh: after'
  says_line 'b/cat: before'
  [ "$(cat "$data/file")" = before ] || fail "the machine's file has changed"
  rm -r "$data"
}

# Its entries and what stat(2) says of them.
case_tmp_looks_the_same_in_each_run() {
  same_runs --host here=10.0.0.1 --on here \
    "sh -c 'stat -c \"%h %Y\" /tmp /dev/shm /run; mkdir /tmp/own /dev/shm/own;
      for i in 9 2 5 1; do : >/tmp/own/\$i; : >/dev/shm/own/\$i; done;
      ls -Ui /tmp/own /dev/shm/own; df --output=avail /tmp /dev/shm'"
}

case_the_working_directory_is_the_machines() {
  mkdir "$work/here"
  ln -s "$PWD/tools" "$work/here/tools"
  (cd "$work/here" && timeout -k 5 "$deadline" tools/bin/anyrdma sim --host a=10.0.0.1 --on a 'sh -c "echo x >left"') \
    >"$work/sim.log" 2>&1 || fail "$(cat "$work/sim.log")"
  [ "$(cat "$work/here/left" 2>/dev/null)" = x ] || fail "the file is not there"
}

case_a_shared_directory_is_common_to_the_hosts_of_a_run() {
  cat >"$work/scenario.txt" <<END
host a 10.0.0.1
host b 10.0.0.2
share /tmp/anyrdma-common
on a sh -c "ls /tmp/anyrdma-common; echo from a >/tmp/anyrdma-common/file"
on b cat /tmp/anyrdma-common/file
END
  for _ in 1 2; do
    sim_of "$work/scenario.txt"
    says_line 'b/cat: from a'
    never_says 'a/sh: file'
  done
  [ ! -e /tmp/anyrdma-common ] || fail 'it is on the machine'
}

case_a_kept_directory_is_the_machines() {
  mkdir "$work/kept"
  cat >"$work/scenario.txt" <<END
host a 10.0.0.1
keep $work/kept
on a sh -c "echo kept >$work/kept/file"
END
  sim_of "$work/scenario.txt"
  [ "$(cat "$work/kept/file" 2>/dev/null)" = kept ] || fail 'the file is not there'
}

case_the_command_line_shares_and_keeps_too() {
  mkdir "$work/kept"
  sim_of --host a=10.0.0.1 --host b=10.0.0.2 --share /tmp/anyrdma-common --keep "$work/kept" \
    --on a "sh -c 'echo from a >/tmp/anyrdma-common/file; echo kept >$work/kept/file'" --on b 'cat /tmp/anyrdma-common/file'
  says_line 'b/cat: from a'
  [ ! -e /tmp/anyrdma-common ] || fail 'it is on the machine'
  [ "$(cat "$work/kept/file" 2>/dev/null)" = kept ] || fail 'the file is not there'
}

case_each_host_has_its_name() {
  sim_of --host alpha=10.0.0.1 --host beta=10.0.0.2 --on alpha 'cat /proc/sys/kernel/hostname' \
    --on beta 'cat /proc/sys/kernel/hostname'
  says_line 'alpha/cat: alpha'
  says_line 'beta/cat: beta'
}

# Another user has a namespace of users of their own.
case_another_user_has_the_same() {
  [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null || { printf '    skipped: only root becomes another user\n' && return; }
  local place
  place=$(mktemp -d /var/tmp/anyrdma-own.XXXXXX)
  cp -rL tools/bin "$place/bin" && cp "$objects" "$place" && chmod -R a+rX "$place"
  if (cd "$place" && setpriv --reuid 65534 --regid 65534 --clear-groups bin/anyrdma sim --host a=10.0.0.1 \
    --host b=10.0.0.2 --on a "./objects make $own" --on b './objects make $own') >"$work/sim.log" 2>&1; then
    says_line 'a/objects: 9 of 9'
    says_line 'b/objects: 9 of 9'
  else
    grep -q 'PID namespace' "$work/sim.log" || fail "$(cat "$work/sim.log")"
  fi
  rm -rf "$place"
}

run_cases

#!/usr/bin/env bash
# What a program can find out about the machine (probe.c): it is the same in each run.
. tests/simulated/lib.sh

probe=$PWD/tests/simulated/probe

probe_of() { # LOG COMMAND...: what probe finds out when a run is started so
  local log=$work/$1
  shift
  # The shell puts the path of what it starts into the environment, whose size decides where the stack is.
  env -u _ "$@" timeout -k 5 "$deadline" tools/bin/anyrdma sim --host here=10.0.0.1 --on here "$probe" >"$log" 2>&1 ||
    fail "$(tail -n 3 "$log")"
}

alike_in() { # LOG LOG
  cmp -s "$work/$1" "$work/$2" || fail "$1 and $2 differ: $(diff "$work/$1" "$work/$2" | head -n 12 | cut -c1-200)"
}

case_each_run_tells_the_same() {
  says='x2APIC id 0'
  same_runs --host here=10.0.0.1 --host there=10.0.0.2 --on here "$probe" --on there "$probe"
  says=
}

case_twenty_runs_tell_the_same() {
  local run
  for run in $(seq 20); do
    probe_of "run $run"
    alike_in 'run 1' "run $run"
  done
}

# From 2026-01-01 on, whatever the machine's clock shows.
case_files_have_times_of_the_virtual_clock() {
  probe_of first
  for file in memory 'file of a disk' 'file in /tmp'; do
    grep -qE " $file: .*modification 176722560[246]\..*change 176722560[246]\." "$work/first" || fail "$(grep " $file:" "$work/first")"
  done
  [ "$(grep -cE ' it, changed: .*modification 176722560[2468]\.' "$work/first")" = 3 ] || fail "$(grep changed "$work/first")"
  grep -q ' in memory: 4:01010101$' "$work/first" || fail "$(grep 'in memory' "$work/first")"
}

case_what_the_machine_does_does_not_show() {
  local queue
  probe_of before
  queue=$(ipcmk -Q | grep -oE '[0-9]+$')
  mkfifo "$work/fifo"
  exec {descriptor}<>"$work/fifo"
  probe_of after {descriptor}>&- # which programs would inherit
  exec {descriptor}>&-
  ipcrm -q "$queue"
  alike_in before after
}

# At the same priority as the run.
case_a_busy_machine_tells_the_same() {
  local processor run
  probe_of idle
  for processor in $(seq "$(nproc)"); do
    bash -c 'while :; do :; done' &
    disown $!
    loops+=("$!")
  done
  for run in 1 2 3; do
    probe_of "busy $run"
    alike_in idle "busy $run"
  done
  end_loops
}

case_how_the_command_was_started_does_not_show() {
  probe_of usual
  probe_of nice nice -n 7
  alike_in usual nice
  probe_of limits prlimit --nofile=1500: --nproc=5000: --sigpending=4000:
  alike_in usual limits
}

# Files that come and go, positions, and two descriptors.
case_directories_are_read_in_order() {
  local place
  for place in "$work/new" /tmp/new /dev/shm/new; do
    timeout -k 5 "$deadline" tools/bin/anyrdma sim --host here=10.0.0.1 --on here "$PWD/tests/simulated/listing $place" >"$work/listing" 2>&1 || true
    grep -q 'all in order' "$work/listing" || fail "$place: $(tail -n 3 "$work/listing")"
  done
}

case_objects_have_times_of_the_virtual_clock() {
  probe_of first
  grep -qE ' segment made 17672256[0-9]{2} by [0-9]+, attached 17672256[0-9]{2}, detached 17672256' "$work/first" || fail "$(grep segment "$work/first")"
  [ "$(grep -cE ' (queue|semaphores) made 17672256[0-9]{2}, ' "$work/first")" = 6 ] || fail "$(grep ' made ' "$work/first")"
}

case_each_processor_tells_the_same() {
  local first last
  first=$(taskset -cp $$ | grep -oE '[0-9]+' | sed -n 2p)
  last=$(taskset -cp $$ | grep -oE '[0-9]+$')
  probe_of "processor $first" taskset -c "$first"
  probe_of "processor $last" taskset -c "$last"
  alike_in "processor $first" "processor $last"
}

case_each_run_has_the_seeds_random_numbers() {
  probe_of first
  timeout -k 5 "$deadline" tools/bin/anyrdma sim --seed 2 --host here=10.0.0.1 --on here "$probe" >"$work/other" 2>&1
  for what in read pread; do
    [ "$(grep " $what: 8" "$work/first")" != "$(grep " $what: 8" "$work/other")" ] || fail "$what is the same with another seed"
  done
  grep -q ' splice: -1' "$work/first" || fail 'bytes of the machine can be moved'
}

case_a_program_is_on_the_first_processor() {
  probe_of first
  for line in 'APIC id 0' 'x2APIC id 0' 'getcpu 0 0, sched_getcpu 0' '2 processors of 2' 'adjtimex -1' 'kcmp -1'; do
    grep -q "$line" "$work/first" || fail "nobody says '$line'"
  done
  ! grep -E 'rdpid [1-9]' "$work/first" >/dev/null || fail 'rdpid tells of the processor'
}

case_nobody_sees_that_programs_are_traced() {
  probe_of first
  grep -qE 'TracerPid:.0\|' "$work/first" || fail 'there is a tracer'
  grep -q 'State:.R (running)' "$work/first" || fail 'the program does not run'
}

case_sockets_have_names_in_the_order_in_which_they_ask() {
  probe_of first
  grep -q 'bind 0 to 00000 of 8 bytes' "$work/first" && grep -q 'bind 0 to 00001 of 8 bytes' "$work/first" ||
    fail "$(grep 'bind' "$work/first")"
}

case_interfaces_are_listed_in_order() {
  probe_of first
  grep -q '/sys/class/net lists . .. eth0 lo$' "$work/first" || fail "$(grep '/sys/class/net' "$work/first")"
}

# A directory that everybody can read, with a copy of anyrdma and of the probe.
own_place() {
  local place
  place=$(mktemp -d /var/tmp/anyrdma-probe.XXXXXX)
  cp -rL tools/bin "$place/bin" && cp "$probe" "$place" && chmod -R a+rX "$place" && chmod 1777 "$place" && echo "$place"
}

# As in a container: a root directory of its own in memory, with a few directories of the machine. What is told of
# files on disks is apart.
case_another_root_directory_tells_the_same() {
  unshare -m true 2>/dev/null || { printf '    skipped: no mount namespace can be had here\n' && return; }
  local place log
  place=$(own_place)
  for log in machine container; do
    (
      cd "$place" || exit 1
      if [ "$log" = machine ]; then exec env -i PATH="$PATH" PWD="$place" HOME=/ bin/anyrdma sim --host a=10.0.0.1 --on a ./probe; fi
      exec unshare -m bash -ec '
        mkdir root && mount -t tmpfs none root && cd root
        mkdir -p usr etc dev sys proc tmp run var/tmp '"'.$place'"'
        ln -s usr/bin bin; ln -s usr/lib lib; ln -s usr/lib64 lib64; ln -s usr/sbin sbin
        for each in usr etc dev sys proc; do mount --rbind "/$each" "$each"; done
        mount --bind '"'$place' '.$place'"' && mount -t tmpfs none tmp
        exec /usr/sbin/chroot . sh -c "cd '"'$place'"' && exec env -i PATH=\"\$PATH\" PWD='"'$place'"' HOME=/ bin/anyrdma sim --host a=10.0.0.1 --on a ./probe"'
    ) 2>&1 | grep -vE 'a/probe: (file of a disk|it, changed|/etc/passwd|/dev/null):|trace hash' |
      sed -E 's/device 0:[0-9]+, inode [0-9]+/an object/; s/sdev:[0-9a-f]+/an object/' >"$work/$log"
  done
  alike_in machine container
  grep -q 'x2APIC id 0' "$work/container" || fail "$(tail -n 5 "$work/container")"
  rm -rf --one-file-system "$place"
}

# Apart from the user and the capabilities.
case_another_user_finds_the_same() {
  [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null || { printf '    skipped: only root becomes another user\n' && return; }
  local place who log
  place=$(own_place)
  for log in root user; do
    [ "$log" = user ] || who=()
    [ "$log" = root ] || who=(setpriv --reuid 65534 --regid 65534 --clear-groups)
    (cd "$place" && env -u _ "${who[@]}" bin/anyrdma sim --host a=10.0.0.1 --on a ./probe) 2>&1 |
      grep -vE 'a/probe: user |proc/self/(status|auxv):|trace hash' >"$work/$log"
  done
  grep -q 'PID namespace' "$work/user" || alike_in root user
  rm -rf "$place"
}

run_cases

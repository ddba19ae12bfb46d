# For tests that run programs on the drop-in: sourced, not run. A test defines functions named case_*
# and calls run_cases "$@". No step waits for time to pass, only for a condition, and each has a deadline.
#
# With ON_KERNEL set to an address (by tests/rxe_vm) the same cases run on Linux's own connection manager:
# what we ask of the drop-in must be true there; with ANYRDMA_TRANSPORT=ucma as well, on the drop-in over it.
# shellcheck shell=bash

set -uo pipefail
. tests/programs/skip.sh

deadline=300 # seconds; on an idle machine every step takes a fraction of one
work=$(mktemp -d "${TMPDIR:-/tmp}/anyrdma-programs.XXXXXX")
as_user=() # prefix that changes the user, if a case wants it
fault_options=() # of `anyrdma run`, if a case wants any
started=() # process ids to end with the test
declare -A logs=() # of each of them, what it has said
host=${ON_KERNEL:-127.0.0.1} # the address of the RDMA device
anyrdma=$work/bin/anyrdma
together=1 # cases that run at once; each that runs beside others has a folder of logs of its own

on_fabric() { [ -z "${ON_KERNEL:-}" ]; }
on_dropin() { on_fabric || [ -n "${ANYRDMA_TRANSPORT:-}" ]; }

if on_dropin; then
  # Copied, because another user must be able to read it.
  mkdir -p "$work/bin/lib"
  install -m 755 tools/bin/anyrdma tests/programs/await_listener "$work/bin"
  install -m 755 tools/bin/lib/* "$work/bin/lib"
fi
chmod 755 "$work"
export HOME="${HOME:-$work}" # Open MPI 5 does not begin without one

end_started() {
  local pid
  for pid in ${started[@]+"${started[@]}"}; do kill -9 "$pid"; done 2>/dev/null
}

cleanup() {
  end_started
  rm -rf "$work"
}
trap cleanup EXIT

need() {
  local program
  for program in "$@"; do
    command -v "$program" >/dev/null || skip_all "$program is not installed"
  done
}

fail() {
  printf '    FAILED: %s\n' "$*"
  case_failed=1
}

skip() { printf '    skipped: %s\n' "$*"; }

# start NAME PROGRAM ARGUMENT...: in the background on this case's fabric, with its output in the log
# NAME. Sets $pid, which is the program's own: everything in front of it execs.
start() {
  local log=$work/$1.log on=()
  shift
  ! on_dropin || on=("$anyrdma" run --fabric "$fabric" ${fault_options[@]+"${fault_options[@]}"} --)
  ${as_user[@]+"${as_user[@]}"} ${on[@]+"${on[@]}"} stdbuf -oL -eL "$@" >"$log" 2>&1 </dev/null &
  pid=$!
  started+=("$pid")
  logs[$pid]=$log
}

# finish PID: its exit status, once it has ended; a failure when it does not, or when it crashes. An rping that
# met its own race has done its work: 0.
finish() {
  local status
  if ! timeout "$deadline" tail --pid="$1" -s 0.05 -f /dev/null; then
    fail "process $1 did not end within $deadline s"
    kill -9 "$1"
  fi
  wait "$1" 2>/dev/null
  status=$?
  case $status in
    132 | 134 | 135 | 136 | 139) fail "process $1 crashed (SIG$(kill -l "$((status - 128))"))" ;;
  esac
  ! rping_met_its_own_race "${logs[$1]:-/dev/null}" "$status" || status=0
  return "$status"
}

# stop PID: ends what would run for ever.
stop() {
  kill -0 "$1" 2>/dev/null || fail "the server is gone"
  kill "$1" 2>/dev/null
  finish "$1"
}

# run NAME PROGRAM ARGUMENT...: start and finish.
run() {
  start "$@"
  finish "$pid"
}

# start_server NAME [udp:|ib:]ADDRESS:PORT PROGRAM ARGUMENT...: start, and wait until it listens there.
start_server() {
  local space=tcp at=$2
  case "$at" in udp:* | ib:*) space=${at%%:*} at=${at#*:} ;; esac
  start "$1" "${@:3}"
  await_listener "$space" "${at%:*}" "${at##*:}" "$pid" || fail "$1 does not listen on $2"
}

await_listener() { # SPACE ADDRESS PORT PID
  if on_fabric; then
    ${as_user[@]+"${as_user[@]}"} "$work/bin/await_listener" "$fabric" "$@"
  else # the rdma tool gives two port spaces one name
    timeout "$deadline" bash -c "until rdma resource show cm_id | grep -qE \
      'state LISTEN .*src-addr ($2|0.0.0.0|\[?::\]?):$3( |\$)'; do kill -0 $4 && sleep 0.1 || exit; done"
  fi
}

# wait_for PID NAME PATTERN: until the log NAME has a line like that; a failure when PID ends first.
wait_for() {
  timeout "$deadline" grep -q -m1 -E "$3" \
    < <(exec tail --pid="$1" -s 0.05 -n +1 -F "$work/$2.log" 2>/dev/null) ||
    fail "$2 did not say '$3'"
}

expect_status() { # WHAT EXPECTED ACTUAL
  [ "$2" = "$3" ] || fail "$1: exit status $3, expected $2"
}

expect_line() { # NAME PATTERN
  grep -qE -- "$2" "$work/$1.log" || fail "$1 did not say '$2'"
}

# until the TCP socket of PID listens on $port; for programs that tell each other of their queue pairs there
await_socket() { # PID
  timeout "$deadline" bash -c "until grep -qi ': [0-9A-F]*:$(printf %04X "$port") 0*:0000 0A' \
    /proc/net/tcp /proc/net/tcp6; do kill -0 $1 && sleep 0.05 || exit; done" || fail "the server does not listen"
}

# Sets $port to a TCP port that no other test has, for as long as this shell or what it has started runs.
take_port() {
  mkdir -p -m 1777 /tmp/anyrdma-ports
  for ((port = 10000 + RANDOM % 20000;; port++)); do
    exec {taken}>>"/tmp/anyrdma-ports/$port" || continue
    flock -n "$taken" && ! grep -qi ": [0-9A-F]*:$(printf %04X "$port") " /proc/net/tcp /proc/net/tcp6 && return
    exec {taken}>&-
  done
}

run_case() { # NAME: in a shell and, if several run at once, a folder of its own
  trap cleanup EXIT
  case_failed=0
  as_user=()
  started=()
  fabric=test-$$-$RANDOM$RANDOM
  if [ "$together" = 1 ]; then
    trap end_started EXIT
    rm -f "$work"/*.log
  else
    mkdir "$work/$1"
    ln -s ../bin "$work/$1/bin"
    work=$work/$1
  fi
  "case_$1"
  [ "$case_failed" = 0 ] || tail -n 40 "$work"/*.log | cut -c1-200 | sed 's/^/      /'
  exit "$case_failed"
}

run_cases() { # [NAME...]: these, or all
  local name names running=() failures=0
  names=$(declare -F | awk '/ case_/ { sub("case_", "", $3); print $3 }')
  [ $# = 0 ] || names=$*
  for name in $names; do
    if [ "$together" = 1 ]; then
      printf '  %s\n' "$name"
      (run_case "$name") || failures=$((failures + 1))
      continue
    fi
    while [ "$(jobs -pr | wc -l)" -ge "$together" ]; do wait -n; done
    (run_case "$name") >"$work/$name.out" 2>&1 &
    running+=("$name=$!")
  done
  for name in ${running[@]+"${running[@]}"}; do
    wait "${name#*=}" || failures=$((failures + 1))
    printf '  %s\n' "${name%=*}"
    cat "$work/${name%=*}.out"
  done
  [ "$failures" = 0 ] && echo PASSED
  exit "$((failures > 0))"
}

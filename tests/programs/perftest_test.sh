#!/usr/bin/env bash
# Debian's perftest: bandwidth and latency of SEND, WRITE, READ and atomics. What it has measured is not looked at, for
# on a busy machine it cannot tell the processor's clock and gives infinity. (It tries, twice and for 0.4 s each time.)
. tests/programs/lib.sh
need ib_send_bw ib_send_lat ib_write_bw ib_write_lat ib_read_bw ib_read_lat ib_atomic_bw ib_atomic_lat stdbuf flock
[ -n "${EMULATED:-}" ] || together=4 # an emulated machine has no processor to spare

# measure PROGRAM ARGUMENT...: both sides with ARGUMENT..., and the client shows a result.
measure() {
  local server program=$1
  shift
  take_port
  case " $* " in
    *" -R "*) start_server server "$host:$port" "$program" -F -p "$port" "$@" ;;
    *) start server "$program" -F -p "$port" "$@" && await_socket "$pid" ;;
  esac
  server=$pid
  run client "$program" -F -p "$port" "$@" "$host"
  expect_status "client of $program $*" 0 $?
  finish "$server"
  expect_status "server of $program $*" 0 $?
  expect_line client '^ [0-9]+ +[0-9]+ +[^ ]+ +[^ ]+'
  ! grep -qiE "couldn't|unable|fail|error" "$work/client.log" "$work/server.log" || fail "$program met with trouble"
}

# matrix PREFIX ARGUMENT... -- PROGRAM...: a case for each program, so that they run beside each other.
matrix() {
  local prefix=$1 arguments=()
  while shift && [ "$1" != -- ]; do arguments+=("$1"); done
  while shift && [ $# != 0 ]; do eval "case_$1_$prefix() { measure $1 ${arguments[*]}; }"; done
}

matrix over_sockets -n 20 -s 64 -- ib_{send,write,read}_{bw,lat}
matrix over_sockets -n 20 -- ib_atomic_{bw,lat}
matrix over_the_connection_manager -n 20 -s 64 -R -- ib_{send,write,read}_{bw,lat}
matrix over_the_connection_manager -n 20 -R -- ib_atomic_{bw,lat}
matrix with_four_queue_pairs_in_both_directions -n 20 -q 4 -b -- ib_{send,write,read,atomic}_bw
matrix with_events -n 20 -e -- ib_send_bw ib_read_lat ib_atomic_bw
matrix with_events_over_the_connection_manager -n 20 -e -R -- ib_send_lat
matrix with_unreliable_connections -n 20 -c UC -- ib_{send,write}_{bw,lat}
matrix with_a_shared_receive_queue -n 20 -q 2 --use-srq -- ib_send_bw
matrix with_datagrams -n 20 -c UD -s 1024 -- ib_send_lat ib_send_bw
matrix with_datagrams_over_the_connection_manager -n 20 -c UD -s 1024 -R -- ib_send_bw

case_ib_atomic_lat_of_compare_and_swap() { measure ib_atomic_lat -n 20 -A CMP_AND_SWAP; }

every_size() {
  measure "$1" -a -n 5
  expect_line client '^ 2 +5 '
  expect_line client '^ 8388608 +5 '
}

case_ib_write_bw_with_every_size() { every_size ib_write_bw; }

# The other side ends as if its peer had vanished from a network, after its retries.
case_a_writer_whose_target_is_killed_ends_with_an_error() {
  local target
  take_port
  start server ib_write_bw -F -p "$port" -D 30
  target=$pid
  await_socket "$target"
  start client ib_write_bw -F -p "$port" -D 30 "$host"
  wait_for "$pid" client '^ #bytes'
  kill -9 "$target"
  finish "$pid"
  [ $? != 0 ] || fail "the writer exits with 0"
  expect_line client 'Completion with error|transport retry counter exceeded|Failed status 12'
}

run_cases "$@"

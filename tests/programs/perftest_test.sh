#!/usr/bin/env bash
# Debian's perftest: bandwidth and latency of SEND, WRITE and READ. What it has measured is not looked at, for
# on a busy machine it cannot tell the processor's clock and gives infinity. (It tries, twice and for 0.4 s each time.)
. tests/programs/lib.sh
need ib_send_bw ib_send_lat ib_write_bw ib_write_lat ib_read_bw ib_read_lat stdbuf flock
[ -n "${ON_KERNEL:-}" ] || together=4

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
matrix over_the_connection_manager -n 20 -s 64 -R -- ib_{send,write,read}_{bw,lat}
matrix with_four_queue_pairs_in_both_directions -n 20 -q 4 -b -- ib_send_bw ib_write_bw ib_read_bw
matrix with_events -n 20 -e -- ib_send_bw ib_read_lat
matrix with_events_over_the_connection_manager -n 20 -e -R -- ib_send_lat
matrix with_a_shared_receive_queue -n 20 -q 2 --use-srq -- ib_send_bw
matrix with_datagrams -n 20 -c UD -s 1024 -- ib_send_lat ib_send_bw
matrix with_datagrams_over_the_connection_manager -n 20 -c UD -s 1024 -R -- ib_send_bw

every_size() {
  measure "$1" -a -n 5
  expect_line client '^ 2 +5 '
  expect_line client '^ 8388608 +5 '
}

case_ib_write_bw_with_every_size() { every_size ib_write_bw; }

run_cases "$@"

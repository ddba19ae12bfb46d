#!/usr/bin/env bash
# Debian's perftest: bandwidth and latency of SEND, WRITE and READ. What it has measured is not looked at, for
# on a busy machine it cannot tell the processor's clock and gives infinity.
. tests/programs/lib.sh
need ib_send_bw ib_send_lat ib_write_bw ib_write_lat ib_read_bw ib_read_lat stdbuf

port=$((20000 + $$ % 10000)) # a real TCP port where both sides tell each other of their queue pairs

# until the server's socket listens; without -R it is an ordinary one
await_socket() { # PID
  timeout "$deadline" bash -c "until grep -qi ': [0-9A-F]*:$(printf %04X "$port") 0*:0000 0A' \
    /proc/net/tcp /proc/net/tcp6; do kill -0 $1 && sleep 0.05 || exit; done" || fail "the server does not listen"
}

# measure PROGRAM ARGUMENT...: both sides with ARGUMENT..., and the client shows a result.
measure() {
  local server program=$1
  shift
  port=$((port + 1))
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

each() { # ARGUMENT...
  local program
  for program in ib_{send,write,read}_{bw,lat}; do measure "$program" -n 100 "$@"; done
}

case_sockets_tell_of_the_queue_pairs() { each -s 64; }

case_the_connection_manager_connects() { each -s 64 -R; }

case_every_size_of_message() {
  measure ib_write_bw -a -n 5
  expect_line client '^ 8388608 +5 '
}

case_four_queue_pairs_in_both_directions() { measure ib_send_bw -n 100 -q 4 -b; }

case_completions_are_announced() {
  measure ib_send_bw -n 100 -e
  measure ib_send_lat -n 100 -e -R
}

case_shared_receive_queue() { measure ib_send_bw -n 100 -q 2 --use-srq; }

case_datagrams() { measure ib_send_lat -n 100 -c UD; }

case_datagrams_of_the_connection_manager() { measure ib_send_bw -n 100 -c UD -s 1024 -R; }

run_cases "$@"

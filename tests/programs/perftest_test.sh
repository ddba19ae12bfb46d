#!/usr/bin/env bash
# Debian's perftest: bandwidth and latency of SEND, WRITE, READ and atomics. What it has measured is not looked at, for
# on a busy machine it cannot tell the processor's clock and gives infinity. It tries for 0.2 s with every line of
# results, and once less for latency in cycles (-C).
. tests/programs/lib.sh
need ib_send_bw ib_send_lat ib_write_bw ib_write_lat ib_read_bw ib_read_lat ib_atomic_bw ib_atomic_lat stdbuf flock
[ -n "${EMULATED:-}" ] || together=4 # an emulated machine has no processor to spare

quickly=(sh -c 'LD_PRELOAD=$LD_PRELOAD:$0 exec "$@"' "$PWD/tests/programs/quick_clock.so")

# measure PROGRAM ARGUMENT...: both sides with ARGUMENT..., and the client shows a result.
measure() {
  local server program=$1
  shift
  take_port
  case " $* " in
    *" -R "* | *" -z "*) start_server server "$host:$port" "${quickly[@]}" "$program" -F -p "$port" "$@" ;;
    *) start server "${quickly[@]}" "$program" -F -p "$port" "$@" && await_socket "$pid" ;;
  esac
  server=$pid
  run client "${quickly[@]}" "$program" -F -p "$port" "$@" "$host"
  expect_status "client of $program $*" 0 $?
  finish "$server"
  expect_status "server of $program $*" 0 $?
  expect_line client '^ [0-9]+ +[0-9]+ +[^ ]+ +[^ ]+'
  ! grep -qiE "couldn't|unable|fail|error" "$work/client.log" "$work/server.log" || fail "$program met with trouble"
}

# measure_all PROGRAM ARGUMENT...: with every size from 2 bytes to the largest that the transport carries.
measure_all() {
  measure "$@" -a -n 5
  expect_line client '^ 2 +5 '
  case " $* " in
    *" UD "*) expect_line client '^ 4096 +5 ' ;;
    *) expect_line client '^ 8388608 +5 ' ;;
  esac
}

# matrix SUFFIX FUNCTION ARGUMENT... -- PROGRAM...: a case for each program, so that they run beside each other.
matrix() {
  local suffix=$1 call=() program
  while shift && [ "$1" != -- ]; do call+=("$1"); done
  for program in "${@:2}"; do eval "case_${program}_$suffix() { ${call[0]} $program ${call[*]:1}; }"; done
}

brief=(measure -n 20)
matrix over_sockets "${brief[@]}" -s 64 -- ib_{send,write,read}_{bw,lat}
matrix over_sockets "${brief[@]}" -- ib_atomic_{bw,lat}
matrix over_the_connection_manager "${brief[@]}" -s 64 -R -- ib_{send,write,read}_{bw,lat}
matrix over_the_connection_manager "${brief[@]}" -R -- ib_atomic_{bw,lat}
matrix with_the_largest_size_over_the_connection_manager measure -n 5 -s 8388608 -R -- ib_{send,write}_{bw,lat}
matrix of_compare_and_swap "${brief[@]}" -A CMP_AND_SWAP -- ib_atomic_lat
matrix met_over_the_connection_manager "${brief[@]}" -C -z -- ib_{send,write,read,atomic}_lat

matrix with_every_size measure_all -- ib_{send,write,read}_bw
matrix with_every_size measure_all -C -- ib_write_lat
matrix with_datagrams_and_every_size measure_all -C -c UD -- ib_send_lat
matrix with_unreliable_connections_and_every_size measure_all -c UC -- ib_write_bw
matrix with_unreliable_connections_and_every_size measure_all -C -c UC -- ib_{send,write}_lat

# Nobody slows an unreliable sender down: five messages of 8 MB at once (-a) are more than a fabric keeps for a process
# that is not in time, and ib_send_bw waits for each. Five of 4 MB are not.
matrix with_unreliable_connections_and_long_messages measure -n 5 -c UC -s 4194304 -- ib_send_bw

matrix with_four_queue_pairs_in_both_directions "${brief[@]}" -q 4 -b -- ib_{send,write,read,atomic}_bw
matrix with_four_queue_pairs_over_the_connection_manager "${brief[@]}" -q 4 -b -R -- ib_{send,write,read,atomic}_bw
matrix with_a_shared_receive_queue "${brief[@]}" -q 2 --use-srq -- ib_send_bw

matrix with_events "${brief[@]}" -e -- ib_{send,read,atomic}_bw
matrix with_events "${brief[@]}" -C -e -- ib_{send,read,atomic}_lat
matrix with_events_over_the_connection_manager "${brief[@]}" -e -R -- ib_{send,read,atomic}_bw
matrix with_events_over_the_connection_manager "${brief[@]}" -C -e -R -- ib_{send,read,atomic}_lat

matrix with_unreliable_connections "${brief[@]}" -c UC -- ib_{send,write}_{bw,lat}
matrix with_unreliable_connections_and_events "${brief[@]}" -C -c UC -e -- ib_send_lat
matrix with_extended_connections "${brief[@]}" -c XRC -- ib_{send,write,read,atomic}_bw
matrix with_extended_connections "${brief[@]}" -C -c XRC -- ib_{send,write,read,atomic}_lat
matrix with_datagrams "${brief[@]}" -c UD -s 1024 -- ib_send_{bw,lat}
matrix with_datagrams_and_events "${brief[@]}" -C -c UD -e -s 1024 -- ib_send_lat
matrix with_datagrams_over_the_connection_manager "${brief[@]}" -c UD -s 1024 -R -- ib_send_{bw,lat}
matrix with_multicast "${brief[@]}" -c UD -g --ipv6 -s 1024 -- ib_send_{bw,lat}

# By default perftest posts with ibv_wr_*.
matrix with_work_request_lists "${brief[@]}" -C --use_old_post_send -- ib_{send,write,read,atomic}_lat
matrix with_on_demand_paging "${brief[@]}" -C --odp -- ib_{send,write,read}_lat

# absent WHY ARGUMENT... -- PROGRAM...: what the programs themselves, on any device, do not offer. One that looks for its
# server offers it by now.
absent() {
  local why=$1 arguments=() program
  while shift && [ "$1" != -- ]; do arguments+=("$1"); done
  for program in "${@:2}"; do
    run client "$program" "${arguments[@]}" "$host"
    expect_status "$program ${arguments[*]}" 1 $?
    grep -q "Couldn't connect" "$work/client.log" && continue
    expect_line client "$why"
    skip "$program ${arguments[*]}: $why"
  done
}

case_what_perftest_does_not_offer() {
  absent 'Events feature not available on WRITE verb' -e -- ib_write_{bw,lat}
  absent 'Message size cannot be changed for Atomic tests' -a -- ib_atomic_{bw,lat}
  absent 'Multiple QPs only available on bw tests' -q 4 -- ib_{send,write,read,atomic}_lat
  absent 'Bidirectional is only available in BW test' -b -- ib_{send,write,read,atomic}_lat
  absent 'UC connection not possible in READ/ATOMIC verbs' -c UC -- ib_{read,atomic}_{bw,lat}
  absent 'UD connection only possible in SEND verb' -c UD -- ib_{write,read,atomic}_{bw,lat}
  absent 'UC is not supported in librdmacm' -c UC -R -- ib_{send,write}_{bw,lat}
  absent 'XRC does not support RDMA_CM' -c XRC -R -- ib_{send,write,read,atomic}_{bw,lat}
  absent 'ODP does not support ATOMICS for now' --odp -- ib_atomic_{bw,lat}
}

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

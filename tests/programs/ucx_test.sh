#!/usr/bin/env bash
# UCX, on which MPI and others stand: its verbs transports, connected by its own messages over TCP or UD, or by the
# connection manager.
. tests/programs/lib.sh
need ucx_perftest ucx_info io_demo stdbuf flock
together=3
export UCX_NET_DEVICES=anyrdma0:1 # not shared memory, nor TCP

read -ra ucx_perftest < <(ucx_perftest_by_itself)

# tests TEST[ OPTION...]...: a server and a client for each, one after the other
tests() {
  local server test name device
  for test in "$@"; do
    name=${test// /_}
    take_port
    device=$(grep -oE -- '-d [^ ]+ -x [^ ]+' <<<"$test") # a newer server wants to be told, too
    # shellcheck disable=SC2086
    start "server_$name" "${ucx_perftest[@]}" -p "$port" $device
    server=$pid
    await_socket "$server"
    # shellcheck disable=SC2086
    run "$name" "${ucx_perftest[@]}" -p "$port" -n 1000 -w 100 "$host" -t $test
    expect_status "client of $test" 0 $?
    expect_line "$name" '^Final: +1000 '
    finish "$server"
    expect_status "server of $test" 0 $?
  done
}

case_it_finds_the_device() {
  run info ucx_info -d
  expect_status ucx_info 0 $?
  expect_line info '^#  +Transport: rc_verbs'
  expect_line info '^#  +Transport: ud_verbs'
  expect_line info '^#  +Device: anyrdma0:1'
}

# Large messages go by rendezvous, which reads from the sender's memory.
case_messages_over_reliable_connections() {
  UCX_TLS=rc tests tag_lat 'tag_bw -s 65536' tag_sync_lat 'stream_bw -s 4096' ucp_am_lat 'ucp_am_bw -s 1000000'
}

case_remote_memory() { UCX_TLS=rc tests ucp_put_lat 'ucp_put_bw -s 65536' ucp_get 'ucp_get -s 65536'; }

case_atomics() { UCX_TLS=rc tests ucp_add ucp_fadd ucp_swap ucp_cswap; }

# Which UCX uses where the device says IBV_ATOMIC_HCA, and nothing else.
case_atomics_of_the_device() {
  run info ucx_info -d -t rc_verbs
  expect_line info 'atomic_fadd: 64 bit'
  expect_line info 'atomic_cswap: 64 bit'
  tests 'fadd -d anyrdma0:1 -x rc_verbs' 'cswap -d anyrdma0:1 -x rc_verbs'
}

case_messages_over_datagrams() { UCX_TLS=ud tests tag_lat 'tag_bw -s 65536' 'ucp_put_lat -s 64'; }

case_two_threads() { UCX_TLS=rc tests 'tag_lat -T 2 -M multi'; }

# Without its atomics, which it makes of messages (above) unless the device is Mellanox's.
case_its_lower_layer() {
  local on='-d anyrdma0:1 -x rc_verbs'
  tests "am_lat $on" "am_bw -D zcopy -s 4096 $on" "put_lat -D bcopy $on" "get -D zcopy -s 65536 $on" \
    'am_lat -d anyrdma0:1 -x ud_verbs'
}

# The client checks what it reads, the server what it is sent.
case_the_connection_manager() {
  export UCX_TLS=rc UCX_SOCKADDR_TLS_PRIORITY=rdmacm
  take_port
  start_server server "$host:$port" io_demo -p "$port" -q -d 64:65536
  local server=$pid
  run client io_demo -p "$port" -q -c 1 -i 500 -d 64:65536 -o read,write "$host"
  expect_status client 0 $?
  expect_line client "Client exit with status 'OK'"
  stop "$server"
}

run_cases "$@"

#!/usr/bin/env bash
# rsockets between processes in real time: rdma-core's programs, which verify their data, over the fabric and over UDP.
. tests/programs/lib.sh
need rstream riostream udpong rcopy stdbuf flock

# pair PROGRAM...: the server, and a client that is given its address.
pair() {
  local server
  start_server server "$host:7471" "$@" -b "$host" -p 7471
  server=$pid
  run client "$@" -s "$host" -p 7471
  expect_status client 0 $?
  finish "$server"
  expect_status server 0 $?
}

# Not with -T a: rstream takes POLLHUP for an error, also where the last data have come with it.
case_blocking_streams() { pair rstream -T v -T b -S 100000 -I 20 -C 3; }
case_nonblocking_streams() { pair rstream -T v -T n -S 100000 -I 20 -C 3; }
case_small_buffers() { pair rstream -T v -B 5000 -S 30000 -I 10 -C 5; }
case_all_sizes() { pair rstream -T v -S all -I 3; }
case_mapped_buffers() { pair riostream -T v -S 100000 -I 20 -C 3; }

# With keepalive messages between those of the stream.
case_keepalive() { pair rstream -T v -k 1 -S 1000 -I 500 -C 1; }

# An rsocket for datagrams has a UDP socket of the kernel.
case_datagrams() {
  local server
  take_port
  start server udpong -b "$host" -p "$port"
  server=$pid
  timeout "$deadline" bash -c "until grep -q ': [0-9A-F]*:$(printf %04X "$port") ' /proc/net/udp; do sleep 0.05; done" ||
    fail 'the server has no UDP socket'
  run client udpong -s "$host" -p "$port" -S 1000 -C 50
  expect_status client 0 $?
  stop "$server"
}

case_files() {
  local server
  head -c 3000000 /dev/urandom >"$work/sent"
  start_server server "$host:7427" rcopy
  server=$pid
  run client rcopy "$work/sent" "$host:$work/received"
  expect_status client 0 $?
  stop "$server"
  cmp "$work/sent" "$work/received" || fail 'the copy differs'
}

# over_udp LOSS PROGRAM...: two hosts of loopback addresses; of the packets to the client and from it, LOSS per cent are
# lost. The server is there a moment before it listens: a client that comes too early comes again.
over_udp() {
  local server tries status loss=$1 own=127.$((20 + RANDOM % 200)).$((1 + RANDOM % 250)).$((1 + RANDOM % 120))
  shift
  printf 'on client->* packet %s%%: lose\non *->client packet %s%%: lose\n' "$loss" "$loss" >"$work/loss.plan"
  ANYRDMA_TRANSPORT=udp ANYRDMA_UDP_ADDRESS=$own start server "$@" -b "$own"
  server=$pid
  for ((tries = 1; tries <= 50; tries++)); do
    fault_options=(--faults "$work/loss.plan" --host client --seed "${SEED:-1}")
    ANYRDMA_TRANSPORT=udp ANYRDMA_UDP_ADDRESS=${own%.*}.$((${own##*.} + 120)) start client "$@" -s "$own"
    fault_options=()
    finish "$pid"
    status=$?
    [ "$status" != 0 ] || break
    grep -qE 'refused|timed out|No route|^rpoll: ' "$work/client.log" || break
  done
  expect_status client 0 "$status"
  finish "$server"
  expect_status server 0 $?
}

case_streams_over_udp_lose_nothing() {
  over_udp 1 rstream -T v -S 100000 -I 10 -C 3
  expect_line client 'fired [1-9][0-9]*, observed [0-9]+: on client->[*] packet 1%: lose'
}
case_mapped_buffers_over_udp() { over_udp 1 riostream -T v -S 100000 -I 10 -C 3; }

# For ./dev soak, which gives a SEED: streams of sizes of their own, of which each byte is looked at.
turns_of_streams() {
  local seed=${SEED:-1} size count
  size=$((1 + (seed * 7919) % 200000)) count=$((1 + seed % 7))
  pair rstream -T v -T "$1" -B $((4000 + (seed * 101) % 100000)) -S "$size" -I $((1 + 2000000 / size)) -C "$count"
}
case_streams_of_a_seed() { for how in b n; do turns_of_streams "$how"; done; }
# Each lost packet costs half a second or more, until the sender repeats it.
case_lossy_streams_of_a_seed() {
  local seed=${SEED:-1} size turns
  size=$((1 + (seed * 7919) % 100000)) turns=$((1 + 500000 / size))
  over_udp 1 rstream -T v -S "$size" -I $((turns < 300 ? turns : 300)) -C 2
}

run_cases "$@"

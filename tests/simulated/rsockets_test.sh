#!/usr/bin/env bash
# Sockets over RDMA (rsocket(7)): rdma-core's programs, and rsockets.c, which makes wrong calls in each state.
. tests/simulated/lib.sh

rsockets=$PWD/tests/simulated/rsockets
idle=$PWD/tests/simulated/rsockets_idle

apart wrong_calls "$rsockets alone" true true # no program listens at 10.0.0.3

says='client1/rsockets: 0 wrong'
apart each_call "$rsockets serve" "$rsockets talk 10.0.0.1"

# What goes on while the program sleeps: connections are accepted, and made, and keepalive messages find a peer that is gone.
says='client1/rsockets_idle: 0 wrong'
apart goes_on_while_the_program_sleeps "$idle serve" "$idle talk 10.0.0.1"
says='server/rsockets_idle: end after 60 s'
apart keepalive_leaves_a_good_peer_alone "$idle keepalive" "$idle idle 10.0.0.1"
printf 'at 5s: cut-rail client1 eth0\n' >"$work/cut"
settings=(--faults "$work/cut")
says='server/rsockets_idle: Connection timed out after (1[0-9]|2[0-9]) s'
apart keepalive_finds_a_peer_that_is_gone "$idle keepalive" "$idle idle 10.0.0.1"
expected=1
says='server/rsockets_idle waits for '
apart without_keepalive_the_peer_is_missed "$idle watch" "$idle idle 10.0.0.1"
expected=0
settings=()

says='client1/rstream: custom +64 +1 +500 '
apart rstream 'rstream -S 64 -C 1 -I 500' 'rstream -s 10.0.0.1 -S 64 -C 1 -I 500'

says='client1/rstream: custom +976k +3 +4 '
for how in a b n; do
  apart "rstream_verifies_$how" "rstream -T v -T $how -S 1000000 -I 4 -C 3" \
    "rstream -s 10.0.0.1 -T v -T $how -S 1000000 -I 4 -C 3"
done

says='client1/rstream: custom +97k +20 +2 '
apart rstream_with_small_buffers "rstream -T v -B 5000 -S 100000 -I 2 -C 20" \
  "rstream -s 10.0.0.1 -T v -B 5000 -S 100000 -I 2 -C 20"

says='client1/riostream: custom +97k +3 +4 '
for how in a b n; do
  apart "riostream_verifies_$how" "riostream -T v -T $how -S 100000 -I 4 -C 3" \
    "riostream -s 10.0.0.1 -T v -T $how -S 100000 -I 4 -C 3"
done

says='client1/udpong: custom +1000 '
settings=(--background server 'udpong -b 10.0.0.1')
apart datagrams true 'udpong -s 10.0.0.1 -S 1000 -C 50'
apart datagrams_are_echoed true 'udpong -s 10.0.0.1 -S 1000 -C 50 -T e'
printf 'on client1->server packet 1%%: lose\non server->client1 packet 1%%: lose\n' >"$work/loss"
settings=(--faults "$work/loss" --background server 'udpong -b 10.0.0.1')
apart datagrams_are_lost true 'udpong -s 10.0.0.1 -S 1000 -C 300 -T e'
settings=(--faults "$work/loss")
says='client1/rstream: custom +97k +3 +4 '
apart streams_lose_nothing 'rstream -T v -S 100000 -I 4 -C 3' 'rstream -s 10.0.0.1 -T v -S 100000 -I 4 -C 3'
settings=()

says='client1/rcopy: [0-9]+ bytes in '
settings=(--background server rcopy)
apart rcopy true "rcopy $rsockets 10.0.0.1:$work/copy"
settings=()

# Programs for TCP, with the library that makes their sockets rsockets.
librspreload=/usr/lib/x86_64-linux-gnu/rsocket/librspreload.so
preloaded() { # NAME PROGRAM SERVER CLIENT: as apart
  if [ -e "$librspreload" ] && command -v "$2" >/dev/null; then
    apart "$1" "$3" "$4"
  else
    not_yet "$1" "$2 or librspreload.so is not installed"
  fi
}
tcp="env LD_PRELOAD=$librspreload"
head -c 200000 /dev/zero >"$work/zeros"
{ printf 'HTTP/1.0 200 OK\r\nContent-Length: 200000\r\n\r\n' && cat "$work/zeros"; } >"$work/answer"

says='client1/env: iperf Done\.'
preloaded iperf3 iperf3 "$tcp iperf3 -s -1" "$tcp iperf3 -c 10.0.0.1 -n 5M"

# From files: with a pipe, librspreload's select(2) does not report the end of standard input.
says='server/sh: 200000'
preloaded netcat nc.traditional "sh -c '$tcp nc.traditional -l -p 7000 -s 10.0.0.1 </dev/null | wc -c'" \
  "sh -c '$tcp nc.traditional -q 1 10.0.0.1 7000 <$work/zeros'"

says='client1/sh: 200000'
command -v nc.traditional >/dev/null && preloaded curl curl \
  "sh -c '$tcp nc.traditional -q 1 -l -p 8080 -s 10.0.0.1 <$work/answer'" \
  "sh -c '$tcp curl -s http://10.0.0.1:8080/ | wc -c'"

# A server that forks: the child makes the connection its own (RDMAV_FORK_SAFE, rsocket(7)).
says='client1/env: custom +64 +1 +500 '
preloaded forking_server rstream "$tcp RDMAV_FORK_SAFE=1 rstream -T f -S 64 -C 1 -I 500" \
  "$tcp RDMAV_FORK_SAFE=1 rstream -T f -s 10.0.0.1 -S 64 -C 1 -I 500"

# These use flags of socket(2), with which librspreload leaves them on TCP.
says='client1/env: tcp'
preloaded flags python3 "$tcp /usr/bin/python3 -c 'import socket
l = socket.create_server((\"\", 7000)); c, who = l.accept(); c.sendall(b\"tcp\")'" "$tcp /usr/bin/python3 -c 'import socket
print(socket.create_connection((\"server\", 7000)).recv(9).decode())'"

# Two threads of each program use one socket; no schedule and no memory order may lose a wake-up.
if is_mine; then
  printf '  schedules\n'
  printf '%s\n' 'host server 10.0.0.1' 'host client 10.0.0.2' "on server $rsockets serve" \
    "on client $rsockets talk 10.0.0.1" 'limit 300s' >"$work/schedules.txt"
  case_failed=0
  (cd "$work" && timeout 900 "$OLDPWD/tools/bin/anyrdma" explore schedules.txt --seeds 100) >"$work/schedules.log" 2>&1 ||
    fail "a run went wrong: $(tail -n 12 "$work/schedules.log")"
  failures=$((failures + case_failed))
fi

finish

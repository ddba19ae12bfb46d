#!/usr/bin/env bash
# Sockets over RDMA (rsocket(7)): rdma-core's programs, and rsockets.c, which makes wrong calls in each state.
. tests/simulated/lib.sh

rsockets=$PWD/tests/simulated/rsockets

apart wrong_calls "$rsockets alone" true true # no program listens at 10.0.0.3

says='client1/rsockets: 0 wrong'
apart each_call "$rsockets serve" "$rsockets talk 10.0.0.1"

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

finish

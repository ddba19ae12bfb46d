#!/usr/bin/env bash
# Programs on several hosts: their packets go through the world, over its links.
. tests/simulated/lib.sh
seeds_matter=1

s=10.0.0.1 # of the host "server"

says='client1/rping ended with status 0'
apart rping "rping -s -a $s -C 3 -v" "rping -c -a server -C 3 -v"

says='client2/rping ended with status 0'
settings=(--background server "rping -s -P -a $s")
apart rping_with_two_clients true "rping -c -a $s -C 3" "rping -c -a $s -C 3"
settings=()

says='server/ucmatose: return status 0'
apart ucmatose 'ucmatose' 'ucmatose -s server'

says='server/udaddy: return status 0'
apart udaddy 'udaddy' "udaddy -s $s"

says='client1/rdma_client: rdma_client: end 0'
apart rdma_client 'rdma_server' "rdma_client -s $s"

says='client1/cmtime ended with status 0'
settings=(--background server 'cmtime -c 1000')
apart cmtime_with_1000_connections true "cmtime -s $s -c 1000"
settings=()

says='client1/ibv_rc_pingpong: 20 iters'
apart ibv_rc_pingpong 'ibv_rc_pingpong -g 1 -n 20' 'ibv_rc_pingpong -g 1 -n 20 server'

says='client1/ib_send_lat ended with status 0'
apart ib_send_lat 'ib_send_lat -n 20 -F' 'ib_send_lat -n 20 -F server'

says='client1/ib_write_bw ended with status 0'
apart ib_write_bw 'ib_write_bw -n 100 -F' 'ib_write_bw -n 100 -F server'

# A connection request that nothing answers any more: the CM gives up after 102.2 s.
echo 'on client1->server REQ 1: cut client1<->server' >"$work/cut"
settings=(--faults "$work/cut")
expected=1
says='^stderr: 102\.2[0-9]+ client1/rping: cma event RDMA_CM_EVENT_UNREACHABLE, error -110'
apart rping_that_is_cut_off "rping -s -a $s" "rping -c -a $s"

finish

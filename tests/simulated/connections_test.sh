#!/usr/bin/env bash
# Programs of the connection manager: rdmacm-utils, as they are, in virtual time.
. tests/simulated/lib.sh

s='127.0.0.1' # of the host that all are on

says='here/rping: server DISCONNECT EVENT'
alike rping "rping -s -a $s -C 3 -v" "rping -c -a $s -C 3 -v"

says='here/rping ended with status 0'
alike rping_with_all_sizes "rping -s -a $s -C 4 -S 60000 -V" "rping -c -a $s -C 4 -S 60000 -V"

says='here/ucmatose: return status 0'
alike ucmatose 'ucmatose' "ucmatose -s $s"

alike ucmatose_with_many 'ucmatose -c 20 -C 5 -S 4096' "ucmatose -c 20 -C 5 -S 4096 -s $s"

says='here/udaddy: return status 0'
alike udaddy 'udaddy' "udaddy -s $s"

alike udaddy_with_many 'udaddy -c 10 -C 5' "udaddy -c 10 -C 5 -s $s"

# mckey's sender waits for none of its sends before it destroys the queue pair; its receiver then waits for ever.
wrong_under='spec relaxed unordered'
settings=(--limit 10s)
says='here/mckey: return status 0'
alike mckey "mckey -m 239.1.1.1 -b $s -C 3" "mckey -m 239.1.1.1 -s -b $s -C 3"

alike mckey_with_receivers "mckey -m 239.1.1.1 -b $s -C 3" "mckey -m 239.1.1.1 -b $s -C 3" \
  "mckey -m 239.1.1.1 -s -b $s -C 3"
wrong_under=
settings=()

says='rdma_client: end 0'
alike rdma_client 'rdma_server' "rdma_client -s $s"

says='rdma_xclient: end 0'
alike rdma_xclient 'rdma_xserver' "rdma_xclient $s"

# The same from host to host, where the world carries packets: its chance is another with another seed.
seeds_matter=1
s=10.0.0.1

says='client1/rping ended with status 0'
apart rping_with_all_sizes_apart "rping -s -a $s -C 4 -S 60000 -V" "rping -c -a $s -C 4 -S 60000 -V"

says='server/ucmatose: return status 0'
apart ucmatose_with_many_apart 'ucmatose -c 20 -C 5 -S 4096' "ucmatose -c 20 -C 5 -S 4096 -s $s"

says='server/udaddy: return status 0'
apart udaddy_with_many_apart 'udaddy -c 10 -C 5' "udaddy -c 10 -C 5 -s $s"

# Nothing that datagrams of a group carry is chance: what happens to them is.
echo 'on client3->* packet 50%: delay 3us' >"$work/late"
wrong_under='spec relaxed unordered'
settings=(--limit 10s --faults "$work/late")
says='client3/mckey: return status 0'
apart mckey_with_three_receivers_apart "mckey -m 239.1.1.1 -b $s -C 3" 'mckey -m 239.1.1.1 -b 10.0.0.2 -C 3' \
  'mckey -m 239.1.1.1 -b 10.0.0.3 -C 3' 'mckey -m 239.1.1.1 -s -b 10.0.0.4 -C 3'
wrong_under=
settings=()

says='rdma_xclient: end 0'
apart rdma_xclient_apart 'rdma_xserver' "rdma_xclient -s $s"

finish

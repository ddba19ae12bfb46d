#!/usr/bin/env bash
# rsockets_in_machine.sh FOLDER, in the machine: rdma-core's rsockets on Linux's Soft-RoCE at 10.9.0.1, and the
# drop-in's over UDP at 10.9.0.2, beyond a pair of veth. Leaves FOLDER/wire.pcap.
set -uo pipefail
folder=$1
work=$(mktemp -d)
deadline=300

fail() { echo "FAILED: $*" && touch "$work/failed"; }
on_kernel() { exec stdbuf -oL "$@"; }
over_udp() { ANYRDMA_TRANSPORT=udp ANYRDMA_UDP_ADDRESS=10.9.0.2 exec ip netns exec peer tools/bin/anyrdma run -- stdbuf -oL "$@"; }

# Both programs must exit with 0. A client that came before the server listened is refused, and comes again.
conversation() { # NAME 'SERVER...' 'CLIENT...'
  local log=$work/$1 status tries=0
  $2 >"$log.server" 2>&1 & local server=$!
  until timeout "$deadline" bash -c "$(declare -f on_kernel over_udp); $3" >"$log.client" 2>&1; do
    status=$?
    ((++tries < 20)) && grep -qE 'refused|rpoll|rconnect' "$log.client" && continue
    fail "the client of $1: exit status $status: $(tail -3 "$log.client")"
    break
  done
  timeout 300 tail --pid=$server -s 0.05 -f /dev/null || kill $server
  wait $server || fail "the server of $1: exit status $?: $(tail -3 "$log.server")"
  echo "$SECONDS s: $1: $(tail -n 1 "$log.client")"
}

both_ways() { # NAME 'SERVER' 'CLIENT...': with the server's address after the client
  conversation "$1_to_kernel" "on_kernel $2" "over_udp $3 10.9.0.1 $4"
  conversation "$1_to_us" "over_udp $2" "on_kernel $3 10.9.0.2 $4"
}

ip netns add peer
ip link set veth1 netns peer
ip -n peer link set lo up
ip -n peer link set veth1 up
ip -n peer address add 10.9.0.2/24 dev veth1
dumpcap -q -P -i veth0 -f 'udp port 4791' -w "$folder/wire.pcap" 2>"$work/dumpcap" & capture=$!
timeout 300 bash -c "until grep -q '^File: ' '$work/dumpcap'; do sleep 0.05; done" || fail "no capture"

# Not with rpoll (-T a): the programs take the end of the peer, which comes with the last data, for an error.
for how in b n; do
  options="-T v -T $how -S 100000 -I 3 -C 20"
  both_ways "rstream_$how" "rstream $options" "rstream -s" "$options"
done
options='-S 64 -I 200 -C 1'
both_ways "rstream_small" "rstream $options" 'rstream -s' "$options"
options='-T v -S 50000 -I 1 -C 5 -B 5000'
both_ways "rstream_narrow" "rstream $options" 'rstream -s' "$options"
options='-T v -S 100000 -I 3 -C 10'
both_ways riostream "riostream $options" 'riostream -s' "$options"

kill $capture
wait $capture
[ ! -e "$work/failed" ]

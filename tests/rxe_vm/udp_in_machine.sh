#!/usr/bin/env bash
# udp_in_machine.sh FOLDER ROUNDS LOSSY-ROUNDS, in the machine: Linux's Soft-RoCE at 10.9.0.1 and the
# drop-in over UDP at 10.9.0.2 and 10.9.0.3, beyond a pair of veth. Leaves FOLDER/wire.pcap.
set -uo pipefail
. tests/programs/skip.sh
folder=$1 rounds=$2 lossy_rounds=$3
work=$(mktemp -d)
deadline=600

fail() { echo "FAILED: $*" && touch "$work/failed"; } # also from a subshell
on_kernel() { exec stdbuf -oL "$@"; }
over_udp() { # ADDRESS COMMAND...
  ANYRDMA_TRANSPORT=udp ANYRDMA_UDP_ADDRESS=$1 exec ip netns exec peer tools/bin/anyrdma run -- stdbuf -oL "${@:2}"
}

# Until the log has a line like that.
wait_for() { # LOG PATTERN PID
  timeout "$deadline" bash -c "until grep -qE '$2' '$1'; do kill -0 $3 && sleep 0.05 || exit; done" ||
    fail "$1 did not say '$2': $(tail -3 "$1")"
}

# Both programs must exit with 0, or be an rping that met its own race. A client that came before the server
# listened is refused, and comes again.
conversation() { # NAME READY 'SERVER...' 'CLIENT...'
  local log=$work/$1
  $3 >"$log.server" 2>&1 & local server=$!
  wait_for "$log.server" "$2" "$server"
  local status tries=0
  until timeout "$deadline" bash -c "$(declare -f on_kernel over_udp); $4" >"$log.client" 2>&1; do
    status=$?
    ! rping_met_its_own_race "$log.client" "$status" || break
    ((++tries < 3)) && grep -qE 'REJECTED|UNREACHABLE, error: 1$' "$log.client" && continue
    fail "the client of $1: exit status $status: $(tail -3 "$log.client")"
    break
  done
  if ! timeout 300 tail --pid=$server -s 0.05 -f /dev/null; then kill $server; fi
  wait $server
  status=$?
  [ "$status" = 0 ] || rping_met_its_own_race "$log.server" "$status" ||
    fail "the server of $1: exit status $status: $(tail -3 "$log.server")"
}

# Side by side, for what takes long is waiting for timers.
rping_both_ways() { # COUNT
  conversation to_kernel '^rdma_listen' "on_kernel rping -d -s -a 10.9.0.1 -C $1 -V" \
    "over_udp 10.9.0.2 rping -c -a 10.9.0.1 -C $1 -V" & local one=$!
  conversation to_us '^rdma_listen' "over_udp 10.9.0.3 rping -d -s -a 10.9.0.3 -C $1 -V" \
    "on_kernel rping -c -a 10.9.0.3 -C $1 -V" & local other=$!
  wait $one $other
}

datagrams_both_ways() {
  conversation udaddy_to_kernel '^udaddy: starting server' 'on_kernel udaddy -b 10.9.0.1' \
    'over_udp 10.9.0.2 udaddy -s 10.9.0.1'
  conversation udaddy_to_us '^udaddy: starting server' 'over_udp 10.9.0.3 udaddy -b 10.9.0.3' \
    'on_kernel udaddy -s 10.9.0.3'
}

groups_both_ways() {
  conversation group_to_kernel '^mckey: joined dgid' 'on_kernel mckey -b 10.9.0.1 -m 239.1.1.1' \
    'over_udp 10.9.0.2 mckey -b 10.9.0.2 -m 239.1.1.1 -s'
  local why
  if why=$(mckey_loses_sends); then echo "group_to_us is skipped: $why" && return; fi
  conversation group_to_us '^mckey: joined dgid' 'over_udp 10.9.0.3 mckey -b 10.9.0.3 -m 239.1.1.1' \
    'on_kernel mckey -b 10.9.0.1 -m 239.1.1.1 -s'
}

nobody_answers() {
  over_udp 10.9.0.2 rping -c -a 10.9.0.99 >"$work/nobody" 2>&1 &
  wait $!
  grep -q 'RDMA_CM_EVENT_ADDR_ERROR, error -110' "$work/nobody" || fail "nobody: $(cat "$work/nobody")"
}

ip netns add peer
ip link set veth1 netns peer
ip -n peer link set lo up
ip -n peer link set veth1 up
ip -n peer address add 10.9.0.2/24 dev veth1
ip -n peer address add 10.9.0.3/24 dev veth1
dumpcap -q -P -i veth0 -f 'udp port 4791' -w "$folder/wire.pcap" 2>"$work/dumpcap" & capture=$!
wait_for "$work/dumpcap" '^File: ' $capture

# One packet of a hundred that it sends is lost, but no DREQ (attribute 0x15 of its MAD, 64 bytes from IP's
# header): rping destroys its id right after rdma_disconnect, which ends the retries, and its peer would wait on.
lose_some() { # DEVICE [PREFIX...]
  "${@:2}" tc qdisc add dev "$1" root handle 1: prio bands 2 priomap 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
  "${@:2}" tc qdisc add dev "$1" parent 1:1 netem loss 1%
  "${@:2}" tc filter add dev "$1" parent 1: protocol ip u32 match ip dport 4791 0xffff match u16 0x0015 0xffff at 64 flowid 1:2
}

step() {
  echo "$SECONDS s: $*"
  "$@"
}

step rping_both_ways "$rounds"
step datagrams_both_ways
step groups_both_ways
step nobody_answers
lose_some veth0
lose_some veth1 ip netns exec peer
step rping_both_ways "$lossy_rounds"

tc -s qdisc show dev veth0 | grep netem -A1 | grep -o 'dropped [1-9][0-9]*' || fail "no packet was lost"
kill $capture
wait $capture
[ ! -e "$work/failed" ]

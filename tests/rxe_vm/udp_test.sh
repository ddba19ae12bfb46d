#!/usr/bin/env bash
# RoCEv2 over UDP and the kernel's Soft-RoCE as peers: connections, datagrams, groups and loss. What both
# put on the wire is read by tshark, and its ICRCs are computed again.
set -uo pipefail
. tests/rxe_vm/lib.sh
for program in dumpcap tshark; do
  command -v "$program" >/dev/null || skip_all "$program is not installed"
done
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failures=0

in_machine --deadline 1700 --share "$folder" -- tests/rxe_vm/udp_in_machine.sh /mnt/share 100 1000 ||
  failures=$((failures + 1))
capture=$folder/wire.pcap
tests/wire/decode --check "$capture" || failures=$((failures + 1))
malformed=$(tshark -r "$capture" -Y _ws.malformed 2>/dev/null)
[ -z "$malformed" ] || { printf 'FAILED: malformed packets, as tshark sees it:\n%s\n' "$malformed"; failures=$((failures + 1)); }
packets=$(tshark -r "$capture" -Y infiniband 2>/dev/null | wc -l)
[ "$packets" -gt 10000 ] || { echo "FAILED: only $packets packets"; failures=$((failures + 1)); }

[ "$failures" = 0 ] && echo PASSED
exit "$((failures > 0))"

#!/usr/bin/env bash
# rsockets of the drop-in and of rdma-core as peers, over UDP and Linux's Soft-RoCE. All data is verified by the
# programs. What both put on the wire is read by tshark.
set -uo pipefail
. tests/rxe_vm/lib.sh
for program in dumpcap tshark rstream riostream; do
  command -v "$program" >/dev/null || skip_all "$program is not installed"
done
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failures=0

in_machine --deadline 1700 --share "$folder" -- tests/rxe_vm/rsockets_in_machine.sh /mnt/share ||
  failures=$((failures + 1))
malformed=$(tshark -r "$folder/wire.pcap" -Y _ws.malformed 2>/dev/null)
[ -z "$malformed" ] || { printf 'FAILED: malformed packets, as tshark sees it:\n%s\n' "$malformed"; failures=$((failures + 1)); }
# The private data of either side: version, flags, 384 credits.
for host in 10.9.0.1 10.9.0.2; do
  tshark -r "$folder/wire.pcap" -Y "ip.src == $host && frame contains 01:02:01:80:00:00:00" 2>/dev/null | grep -q . ||
    { echo "FAILED: no private data of $host"; failures=$((failures + 1)); }
done

[ "$failures" = 0 ] && echo PASSED
exit "$((failures > 0))"

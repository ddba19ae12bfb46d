#!/usr/bin/env bash
# What others read in a recording: tshark in the capture, Google's protobuf library in the trace for Perfetto.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export PYTHONDONTWRITEBYTECODE=1
tests/recording/formats "$work"
failed=0
fail() {
  echo "FAILED: $*"
  failed=1
}
count() { sed -n "s/^$1 //p" "$work/counts"; }

if command -v tshark >/dev/null; then
  file=$work/run.pcapng
  show() { tshark -n -r "$file" "$@" 2>>"$work/errors"; }
  [ "$(show | wc -l)" = "$(count messages)" ] || fail "packets: $(show | wc -l), and $(count messages) messages"
  [ "$(show -Y 'frame.comment contains "FAULT"' | wc -l)" = 2 ] || fail "two packets were struck"
  lost=$(show -Y 'frame.comment contains "FAULT on client->server REQ 1: lose"' -T fields -e infiniband.mad.attributeid)
  [ "$lost" = 0x0010 ] || fail "the lost one is the REQ, not '$lost'"
  [ "$(show -Y 'frame.comment contains "once more"' | wc -l)" -ge 1 ] || fail "the REQ is sent once more"
  [ "$(show -Y 'frame.comment contains "client#1"' | wc -l)" -ge 5 ] || fail "CM messages name their id"
  [ "$(show -Y 'frame.interface_name == "server"' | wc -l)" -ge 5 ] || fail "each host has its interface"
  [ -z "$(show -Y '_ws.malformed && infiniband.bth.opcode == 100')" ] || fail "a message of the CM is malformed"
  tshark -r "$file" -N n -T fields -e ip.src_host 2>/dev/null | grep -qx client || fail "addresses have the hosts' names"
  capinfos "$file" >"$work/info" 2>/dev/null && {
    grep -q "seed 8" "$work/info" || fail "the section's comment has no seed: $(cat "$work/info")"
    grep -q "$(count hash)" "$work/info" || fail "the section's comment has no hash"
    grep -q "plan: on client->server REQ 1: lose" "$work/info" || fail "the section's comment has no plan"
  }
else
  echo "SKIPPED: tshark is not installed"
fi

if /usr/bin/python3 -c 'import google.protobuf' 2>/dev/null; then
  /usr/bin/python3 tests/recording/perfetto.py "$work/run.perfetto" >"$work/found"
  head -4 "$work/counts" | diff - "$work/found" || fail "Perfetto's trace has other numbers"
else
  echo "SKIPPED: python3-protobuf is not installed"
fi
exit $failed

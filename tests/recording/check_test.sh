#!/usr/bin/env bash
# `anyrdma check`: correct programs have no finding, whichever way they were recorded; what cannot be judged is said.
set -uo pipefail
. tests/programs/skip.sh

anyrdma=$PWD/tools/bin/anyrdma
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0

fail() {
  echo "FAILED: $*"
  failures=$((failures + 1))
}

ends() { # STATUS PATTERN COMMAND...: how it ends, and what it says
  local expected=$1 pattern=$2 status
  shift 2
  "$@" >"$work/out" 2>&1
  status=$?
  [ "$status" = "$expected" ] || fail "status $status of '$*', expected $expected: $(head -c 600 "$work/out")"
  [ -z "$pattern" ] || grep -qE -- "$pattern" "$work/out" || fail "'$*' does not say '$pattern': $(head -c 600 "$work/out")"
}

command -v rping >/dev/null || skip_all "rping is not installed"
"$anyrdma" sim --quiet --host a=10.0.0.1 --on a true 2>&1 | grep -q "may not be traced" && skip_all "processes may not be traced here"

"$anyrdma" sim --quiet --record "$work/run" --host server=10.0.0.1 --host client=10.0.0.2 \
  --on server 'rping -s -a 10.0.0.1 -C 5' --on client 'rping -c -a 10.0.0.1 -C 5' >/dev/null || fail "the run"
ends 0 '' "$anyrdma" check "$work/run"
[ -s "$work/out" ] && fail "a correct program is not judged, or has a finding: $(cat "$work/out")"

# A mistake of the connection manager or the device, which no program can make: the recording is altered.
for checker in legality ledger 'private data' agreement work payload keys announcements; do
  tests/recorded/alter "$checker" "$work/run" "$work/altered" || fail "the recording cannot be altered for '$checker'"
  ends 1 "^$checker: " "$anyrdma" check "$work/altered"
  grep -vE "^$checker: " "$work/out" >"$work/others" && fail "'$checker' has other findings: $(cat "$work/others")"
done

# What the device has found is repeated; of a mistake that is allowed there is nothing.
cp -L tests/ownership/mistakes "$work/mistakes"
device_finds() { # KIND CHECKER [LINE]
  printf '%s\n' 'host server 10.0.0.1' 'host client 10.0.0.2' "on server ./mistakes $1 wrong server 10.0.0.1" \
    "on client ./mistakes $1 wrong client 10.0.0.1" 'limit 10000s' "${@:3}" >"$work/mistake.txt"
  timeout -k 5 300 "$anyrdma" sim --quiet "$work/mistake.txt" --seed 1 --record "$work/mistake.recording" >/dev/null 2>&1
  ends 1 "^$2: (client|server)/mistakes: " "$anyrdma" check "$work/mistake.recording"
}
device_finds source source
device_finds target target 'deny target'
device_finds key region
device_finds region region
device_finds unmapped region
device_finds unsignaled unsignaled
device_finds overrun overrun
device_finds owed owed
device_finds dry dry 'deny dry'
device_finds depth depth 'deny depth'
device_finds gone gone 'deny gone'
device_finds overlap overlap 'deny overlap'

# Cut off at many places, and damaged: judged up to there.
size=$(stat -c %s "$work/run")
for part in 1 3 5 7 9; do
  head -c $((size * part / 10)) "$work/run" >"$work/cut"
  ends 0 'cut off' "$anyrdma" check "$work/cut"
  grep -q 'not judged: ' "$work/out" || fail "it does not say what it cannot judge: $(cat "$work/out")"
done
{ head -c 8 "$work/run" && printf '\001' && tail -c +10 "$work/run"; } >"$work/older"
ends 2 'version 1 of the format' "$anyrdma" check "$work/older"
ends 2 'no recording' "$anyrdma" check /etc/hostname
ends 2 'cannot be read' "$anyrdma" check "$work/nowhere"
mkdir "$work/empty"
ends 2 'there is no recording' "$anyrdma" check "$work/empty"

[ "$failures" = 0 ]

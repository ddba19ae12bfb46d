#!/usr/bin/env bash
# locks.sh LOCKS SOURCE MAP ANYRDMA: on simulated hosts, ThreadSanitizer sees each function of pthread that anyrdma
# interposes (MAP): it reports no race of threads that such a function orders. SOURCE must use each of them.
set -uo pipefail

locks=$1 source=$2 map=$3 anyrdma=$4
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export TSAN_OPTIONS=exitcode=66
failed=0

fail() { # TEXT
  echo "FAILED: $1"
  failed=1
}

run() { # WAY
  timeout -k 5 60 "$anyrdma" sim --quiet --host a=10.0.0.1 --on a "$locks $1" >"$work/log" 2>&1 </dev/null
  grep '^\(.*: \)\?the word is 1$' "$work/log" >/dev/null || fail "$1 did not run: $(head -c 400 "$work/log")"
}

for name in $(grep -o '\(pthread\|sem\)_[a-z_]*' "$map"); do
  grep -w "$name" "$source" >/dev/null || fail "$source does not use $name of $map"
done

run nothing
grep 'WARNING: ThreadSanitizer: data race' "$work/log" >/dev/null || fail "accesses without order are not reported"
ways=$("$locks" list)
[ -n "$ways" ] || fail "$locks list prints no way"
for way in $ways; do
  run "$way"
  ! grep 'WARNING: ThreadSanitizer' "$work/log" >/dev/null || fail "$way: a false report: $(cat "$work/log")"
done
exit $failed

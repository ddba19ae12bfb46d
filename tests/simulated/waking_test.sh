#!/usr/bin/env bash
# What ends a wait (waking.c): the program says on simulated hosts what it has said on Linux (waking.txt), and the wait
# takes as much virtual time as it should.
. tests/simulated/lib.sh

waking=$PWD/tests/simulated/waking

# What the cases have returned, without the time.
answers() { sed -n 's/^[0-9.]* [a-z0-9]*\/[^:]*: \([a-z_]*: .*\), after [0-9]*$/\1/p; /: status /p'; }

as_linux() { # LOG PREFIX...
  local log=$work/$1.log count
  [ -f "$log" ] || return
  shift
  grep -E "^($(IFS='|' && echo "$*"))" tests/simulated/waking.txt | sort >"$work/linux"
  answers <"$log" | sort >"$work/simulated"
  diff "$work/linux" "$work/simulated" >"$work/difference" || fail "Linux (<) says something else: $(cat "$work/difference")"
  count=$(grep -c 'after [0-9]*$' "$log")
  [ "$count" -gt 4 ] || fail "only $count cases have ended"
  # The longest one waits twice for 5 ms.
  awk '/after [0-9]+$/ && $NF > 105 { exit 1 }' "$log" || fail "a wait takes too long: $(grep 'after [0-9]*$' "$log")"
}

wakes() { # NAME PREFIX...
  local name=$1
  shift
  rm -f "$work/first.log"
  alike "$name" "$waking $*"
  case_failed=0
  as_linux first "$@"
  failures=$((failures + case_failed))
}

wakes 'descriptors of signals' signal child_by_signal alarm
wakes 'all that is asked for' all
wakes 'many messages' many
wakes 'timeouts of sockets' in_vain
wakes 'refused connections' refused
wakes 'timers' value thread_of overrun timer
wakes 'children' child
wakes 'other descriptors' eventfd file line sealed queued
rm -f "$work/first.log"
apart 'connections refused by another host' 'sleep 1' "$waking 10.0.0.1 refused"
case_failed=0
as_linux first refused
failures=$((failures + case_failed))

finish

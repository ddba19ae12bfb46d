#!/usr/bin/env bash
# Where the threads of programs stand when nobody can go on, or the limit of virtual time is reached.
. tests/simulated/lib.sh

stuck=tests/simulated/stuck_/stuck
expected=1

# stands PATTERN...: each in a line of what the last case said, behind the one before
stands() {
  local pattern from=1 at
  [ "$((cases % shards))" = "$(((shard + 1) % shards))" ] || return 0
  for pattern in "$@"; do
    at=$(tail -n "+$from" "$work/first.log" | grep -nEm 1 -- "$pattern" | cut -d: -f1)
    if [ -z "$at" ]; then
      printf '    FAILED: nobody says, or not in this place: %s\n' "$pattern"
      sed 's/^/      /' "$work/first.log"
      failures=$((failures + 1))
      return
    fi
    from=$((from + at))
  done
}

says='deadlock: no event is pending'
alike two_that_lock_each_other_out "$stuck"
stands 'these wait:$' 'here/stuck waits for a futex' 'They are at these places:$' \
  ' here/stuck$' 'pthread_mutex_lock.*libc.so.6' ' want\+0x[0-9a-f]+ \(stuck\) stuck.c:12$' \
  ' want_second\+0x[0-9a-f]+ \(stuck\) stuck.c:17$' ' main\+0x.* \(stuck\) stuck.c' \
  ' here/stuck/2$' ' want\+0x' ' want_first\+0x[0-9a-f]+ \(stuck\) stuck.c:21$' ' run_backwards\+0x'

settings=(--limit 1s)
says='the limit of virtual time is reached at 1\.000000000 s'
alike one_that_never_ends "$stuck poll"
stands 'They are at these places:$' ' here/stuck$' ' _*poll\+0x.*libc.so.6' ' wait_for_ever\+0x[0-9a-f]+ \(stuck\) stuck.c:[34][0-9]$'

finish

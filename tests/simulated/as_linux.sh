# For tests of programs that consist of cases (cases.h): sourced, not run. `program` is the program, `table` the file with
# what it has printed on Linux: on simulated hosts it prints the same, and waits no longer than it should.
# shellcheck shell=bash
. tests/simulated/lib.sh

longest=105 # a case may take so much virtual time, in tenths of a millisecond: the longest one waits twice for 5 ms

# What the cases have returned, without the time.
answers() { sed -n 's/^[0-9.]* [a-z0-9]*\/[^:]*: \([a-z_]*: .*\), after [0-9]*$/\1/p; /: status /p'; }

as_linux() { # LOG PREFIX...
  local log=$work/$1.log count
  [ -f "$log" ] || return
  shift
  grep -E "^($(IFS='|' && echo "$*"))" "$table" | sort >"$work/linux"
  answers <"$log" | sort >"$work/simulated"
  diff "$work/linux" "$work/simulated" >"$work/difference" || fail "Linux (<) says something else: $(cat "$work/difference")"
  count=$(grep -c 'after [0-9]*$' "$log")
  [ "$count" -gt 4 ] || fail "only $count cases have ended"
  awk -v longest="$longest" '/after [0-9]+$/ && $NF > longest { exit 1 }' "$log" || fail "a wait takes too long: $(grep 'after [0-9]*$' "$log")"
}

as_on_linux() { # NAME PREFIX...: the cases whose names begin so
  local name=$1
  shift
  rm -f "$work/first.log"
  alike "$name" "$program $*"
  case_failed=0
  as_linux first "$@"
  failures=$((failures + case_failed))
}

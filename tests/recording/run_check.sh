# For tests of `anyrdma run --check`: sourced, not run. A pair of tests/recorded/mistakes on the device at $address, with the options $on of
# `anyrdma run`.
# shellcheck shell=bash
. tests/programs/skip.sh

anyrdma=$PWD/tools/bin/anyrdma
mistakes=$PWD/tests/recorded/mistakes
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0

fail() {
  echo "FAILED: $*"
  failures=$((failures + 1))
}

ends() { # STATUS COMMAND...: how it ends; what it says goes to $work/out
  local expected=$1 status
  shift
  timeout -k 5 300 "$@" >"$work/out" 2>&1 </dev/null
  status=$?
  [ "$status" = "$expected" ] || fail "status $status of '$*', expected $expected: $(head -c 900 "$work/out")"
}

says() { grep -qE -- "$1" "$work/out" || fail "it does not say '$1': $(head -c 900 "$work/out")"; }
says_not() { ! grep -qE -- "$1" "$work/out" || fail "it says '$1': $(head -c 900 "$work/out")"; }

# A finding, but not the remark about a mistake that the library itself prints.
finding='^(legality|ledger|private data|agreement|work|payload|atomics|keys|announcements|afterlife|leaks|misuse): '

# The recordings of the client and the server in $work/records, after a mistake of the connection manager or the device at the client.
judges_altered() { # CHECKER PATTERN
  local client
  client=$(echo "$work"/records/client.*.recording)
  cp "$client" "$work/unaltered"
  tests/recorded/alter "$1" "$work/unaltered" "$client" || fail "the recording cannot be altered for '$1'"
  ends 1 "$anyrdma" check "$work/records"
  says "^$1: .*$2"
  grep -E "$finding" "$work/out" | grep -vE "^$1: " >"$work/others" && fail "'$1' has other findings: $(cat "$work/others")"
  cp "$work/unaltered" "$client"
}

pair_in_one() { # MISTAKE STATUS: both processes of one command
  rm -f "$work/fifo" && mkfifo "$work/fifo"
  ends "$2" "$anyrdma" run "${on[@]}" --check -- sh -c \
    "$mistakes serve $1 $address $work/fifo & $mistakes ask $1 $address $work/fifo || exit 9; wait \$! || exit 9"
}

pair_in_two() { # MISTAKE: recordings of both in $work/records
  local server
  rm -rf "$work/fifo" "$work/records" && mkfifo "$work/fifo" && mkdir "$work/records"
  timeout -k 5 300 "$anyrdma" run "${on[@]}" --record "$work/records" --host server -- \
    "$mistakes" serve "$1" "$address" "$work/fifo" >"$work/server.log" 2>&1 </dev/null &
  server=$!
  ends 0 "$anyrdma" run "${on[@]}" --record "$work/records" --host client -- "$mistakes" ask "$1" "$address" "$work/fifo"
  wait "$server" || fail "the server of '$1' ends with $?: $(cat "$work/server.log")"
}

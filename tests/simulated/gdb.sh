# For tests that debug programs on simulated hosts with Debian's gdb: sourced after lib.sh, not run.
# shellcheck shell=bash
# shellcheck disable=SC2154 # lib.sh has work and deadline

command -v gdb >/dev/null || skip_all "gdb is not installed"

install -m 755 tests/simulated/debugged "$work/debugged"
socket=$work/socket
pair=(--seed 7 --host server=10.0.0.1 --host client=10.0.0.2
  --on server "$work/debugged" --on client "$work/debugged 10.0.0.1")

# debug NAME OPTION...: `anyrdma sim` with these, and gdb with the commands of stdin after it has connected.
debug() {
  local name=$1 run
  shift
  cat >"$work/$name.gdb"
  timeout -k 5 "$deadline" tools/bin/anyrdma sim "$@" --gdb "$socket" >"$work/$name.out" 2>&1 </dev/null &
  run=$!
  timeout "$deadline" bash -c "until [ -S '$socket' ] || ! kill -0 $run 2>/dev/null; do sleep 0.05; done"
  timeout -k 5 "$deadline" gdb -nx -batch -ex 'set debuginfod enabled off' -ex 'set confirm off' -ex 'set remotetimeout 60' \
    -ex 'set schedule-multiple on' -ex "target extended-remote $socket" -x "$work/$name.gdb" \
    >"$work/$name.log" 2>&1 </dev/null
  wait "$run"
  status=$?
}

log_says() { # NAME PATTERN
  grep -E -- "$2" "$work/$1.log" >/dev/null ||
    fail "gdb does not say '$2':"$'\n'"$(tail -n 30 "$work/$1.log")"$'\n'"$(tail -n 5 "$work/$1.out")"
}

hash_of() { sed -n 's/.*trace hash //p' "$work/$1.out"; }

# same_run NAME: it has ended as without gdb.
same_run() {
  [ "$status" = 0 ] || fail "exit status $status: $(tail -n 5 "$work/$1.out")"
  [ -n "$(hash_of plain)" ] || fail "the run without gdb has no hash"
  [ "$(hash_of "$1")" = "$(hash_of plain)" ] || fail "another run: $(hash_of "$1"), not $(hash_of plain)"
  cmp -s <(grep heard "$work/plain.out") <(grep heard "$work/$1.out") || fail "the programs say something else"
}

checks() { # NAME
  case_failed=
  cases=$((cases + 1))
  printf -- '-- %s\n' "$1"
}

ends() {
  [ -z "$case_failed" ] || failures=$((failures + 1))
}

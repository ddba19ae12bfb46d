# For tests that run programs on simulated hosts: sourced, not run. A test is a table; each line of it names a case
# and the programs on the hosts.
#
#   alike NAME COMMAND...           on one host, each COMMAND a line as a shell has it, the first one started first
#   apart NAME SERVER CLIENT...     the first one on the host "server" (10.0.0.1), the others on hosts of their own
#   needs_network NAME SERVER...    as apart, where the system lets hosts have a network of their own
#   not_yet NAME REASON COMMAND...  what does not work, and why
#
# A case runs with one seed twice, the second time beside busy loops: whatever the machine does meanwhile, all that the
# programs say, when they say it, how they end and the hash of the trace are the same. Where `runs_thrice`, it runs once
# more without the loops. Where `seeds_matter`, the second run is also beside a run with another seed, whose hash is
# another one. `settings` holds further options of `anyrdma sim`, `expected` the status of a run, `says` a pattern of
# what must have been said.
#
# With MEMORIES in the environment, a case of a table instead runs once under each of these memory profiles, with a seed
# of its own, and must end and say the same as under `strict`. Where `wrong_under` names a profile, the program relies on
# more than that profile promises: one of three seeds must show it. docs/memory.md has each reason.
# shellcheck shell=bash

set -uo pipefail
. tests/programs/skip.sh

# What is ours is said below; `anyrdma explore` is not to divide its runs by it once more.
shards=${TEST_TOTAL_SHARDS:-1} shard=${TEST_SHARD_INDEX:-0}
unset TEST_TOTAL_SHARDS TEST_SHARD_INDEX

deadline=900 # seconds of real time; a run takes a fraction of one where nothing else runs
work=$(mktemp -d "${TMPDIR:-/tmp}/anyrdma-simulated.XXXXXX")
loops=()
declare -A runs=() # that began, by name
cases=0 failures=0 left_out=0
settings=()
expected=0
says=
wrong_under=
export PATH=/usr/bin:/bin HOME=/root LC_ALL=C.UTF-8 TZ=UTC PYTHONHASHSEED=0 # Open MPI 5 does not begin without a home
export PYTHONDONTWRITEBYTECODE=1 # the first run would leave something for the second

end_loops() {
  local loop
  for loop in ${loops[@]+"${loops[@]}"}; do kill -9 "$loop"; done 2>/dev/null
  loops=()
}

cleanup() {
  end_loops
  rm -rf "$work"
}
trap cleanup EXIT

# Whether other work keeps the processors busy, as the other tests do when all run.
machine_is_busy() {
  local load
  read -r load _ </proc/loadavg
  [ "${load%.*}" -ge $((2 * $(nproc))) ]
}

# On a machine without other work. Where there is some, loops would only take from it: each test has a session, and what is
# nice is so only within its session (autogroups, sched(7)).
start_loops() { # RUNS: as many begin now, of which all but one keep a processor busy themselves
  local processor
  ! machine_is_busy || return 0
  for processor in $(seq "$1" "$(nproc)"); do
    nice -n 10 bash -c 'while :; do :; done' &
    disown $! # nobody has to hear of its end
    loops+=("$!")
  done
}

fail() {
  printf '    FAILED: %s\n' "$*"
  case_failed=1
}

# The command that is not installed, if there is one.
missing() {
  local command program
  for command in "$@"; do
    program=${command%% *}
    command -v "$program" >/dev/null || { echo "$program" && return; }
  done
}

# begin NAME OPTION...: a run in the background; what it says will be in the log NAME.
begin() {
  local name=$1
  shift
  {
    timeout -k 5 "$deadline" tools/bin/anyrdma sim "$@" >"$work/$name.out" 2>"$work/$name.err" </dev/null
    local status=$?
    { cat "$work/$name.out" && sed 's/^/stderr: /' "$work/$name.err" && echo "status $status"; } >"$work/$name.log"
    exit "$status"
  } &
  runs[$name]=$!
}

end() { # NAME: of a run that began; whether it ended as expected
  local status
  wait "${runs[$1]}"
  status=$?
  [ "$status" = "$expected" ] && return
  [ "$status" != 124 ] || fail "it did not end within $deadline s"
  fail "exit status $status, expected $expected"
  return 1
}

one_run() { # NAME OPTION...
  begin "$@" && end "$1"
}

same() { # WHAT LOG
  cmp -s "$work/first.log" "$work/$2.log" && return
  fail "$1 says something else"
  diff "$work/first.log" "$work/$2.log" | head -n 12 | cut -c1-200 | sed 's/^/      /'
}

hash_of() { # LOG
  grep -o 'trace hash [0-9a-f]\{16\}$' "$work/$1.log"
}

same_runs() { # OPTION...
  one_run first "$@" || { tail -n 15 "$work/first.log" | cut -c1-200 | sed 's/^/      /' && return; }
  hash_of first >/dev/null || fail "the run does not say its hash"
  [ -z "$says" ] || grep -qE -- "$says" "$work/first.log" || fail "nobody says '$says': $(tail -n 12 "$work/first.log" | cut -c1-200)"
  [ -z "${runs_thrice:-}" ] || { one_run second "$@" && same "the same seed once more" second; }
  local beside=1
  [ -z "${seeds_matter:-}" ] || beside=2
  start_loops "$beside"
  begin busy "$@"
  if [ -n "${seeds_matter:-}" ]; then
    begin other --seed 1001 "$@"
    end other && hash_of other >/dev/null || fail "another seed says no hash"
    [ "$(hash_of other)" != "$(hash_of first)" ] || fail "another seed has the same hash"
  fi
  end busy && same "the same seed on a busy machine" busy
  end_loops
}

# under MEMORY SEED OPTION...: once, or until a seed shows what goes wrong
under() {
  local memory=$1 seed=$2 last=$2 log
  shift 2
  [[ " $wrong_under " != *" $memory "* ]] || { seed=1 last=3; }
  for (( ; seed <= last; ++seed)); do
    log=$memory$seed
    begin "$log" --memory "$memory" --seed "$seed" "$@"
    ended_well "$log" && continue
    [[ " $wrong_under " != *" $memory "* ]] || return # as it says
    fail "under $memory, seed $seed"
    tail -n 12 "$work/$log.log" | cut -c1-200 | sed 's/^/      /'
  done
  [[ " $wrong_under " != *" $memory "* ]] || fail "with $last seeds nothing goes wrong under $memory, as wrong_under says"
}

ended_well() { # LOG: of a run that began
  wait "${runs[$1]}"
  [ $? = "$expected" ] && { [ -z "$says" ] || grep -qE -- "$says" "$work/$1.log"; }
}

# Every test of a table has all of it; which lines are its own is said by Bazel where it is sharded.
is_mine() {
  [ -z "${TEST_SHARD_STATUS_FILE:-}" ] || touch "$TEST_SHARD_STATUS_FILE"
  [ $((cases++ % shards)) = "$shard" ]
}

# Whether the next case is: what only that one needs is not made elsewhere.
is_mine_next() {
  [ $((cases % shards)) = "$shard" ]
}

table_row() { # NAME PROGRAMS OPTION...: the programs are looked for
  local name=$1 absent
  is_mine || return 0
  printf '  %s\n' "$name"
  absent=$(eval "missing $2")
  if [ -n "$absent" ]; then
    printf '    skipped: %s is not installed\n' "$absent"
    left_out=$((left_out + 1))
    return
  fi
  case_failed=0
  if [ -n "${MEMORIES:-}" ]; then
    local memory seed=0
    for memory in $MEMORIES; do under "$memory" $((++seed)) "${@:3}" ${settings[@]+"${settings[@]}"}; done
  else
    same_runs "${@:3}" ${settings[@]+"${settings[@]}"}
  fi
  failures=$((failures + case_failed))
}

alike() { # NAME COMMAND...
  local name=$1 command options=(--host "here=10.0.0.1")
  shift
  for command in "$@"; do options+=(--on here "$command"); done
  table_row "$name" "${*@Q}" "${options[@]}"
}

apart() { # NAME SERVER CLIENT...
  local name=$1 command options=(--host "server=10.0.0.1") number=0 host
  shift
  for command in "$@"; do
    host=server
    if [ "$number" -gt 0 ]; then
      host=client$number
      options+=(--host "$host=10.0.0.$((number + 1))")
    fi
    options+=(--on "$host" "$command")
    number=$((number + 1))
  done
  table_row "$name" "${*@Q}" "${options[@]}"
}

has_networks() {
  unshare -n true 2>/dev/null || unshare -Urn true 2>/dev/null
}

needs_network() { # NAME SERVER CLIENT...
  if has_networks; then
    apart "$@"
  else
    not_yet "$1" 'no network namespace can be had here'
  fi
}

not_yet() { # NAME REASON...
  is_mine || return 0
  printf '  %s\n    skipped: %s\n' "$1" "$2"
  left_out=$((left_out + 1))
}

finish() {
  printf '%d of %d cases left out\n' "$left_out" "$cases"
  [ "$failures" = 0 ] && echo PASSED
  exit "$((failures > 0))"
}

# Every function case_NAME is a case; then finish.
run_cases() {
  local each
  for each in $(declare -F | sed -n 's/^declare -f case_/case_/p'); do
    is_mine || continue
    echo "  ${each#case_}"
    case_failed=0
    "$each"
    failures=$((failures + case_failed))
  done
  finish
}

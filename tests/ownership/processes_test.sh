#!/usr/bin/env bash
# Each mistake (mistakes.c) is found in the first run of processes, its twin is silent, the replay shows both stacks,
# and an `allow` line silences it.
set -u
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
anyrdma=$PWD/tools/bin/anyrdma
cp -L tests/ownership/mistakes "$work/mistakes"
failures=0
fail() {
  printf '    %s\n' "$1"
  failures=$((failures + 1))
}

# scenario NAME KIND HOW LINE...
scenario() {
  local name=$1 kind=$2 how=$3
  shift 3
  {
    printf '%s\n' 'host server 10.0.0.1' 'host client 10.0.0.2' \
      "on server ./mistakes $kind $how server 10.0.0.1" "on client ./mistakes $kind $how client 10.0.0.1" \
      'limit 10000s' "$@"
  } >"$work/$name.txt"
}

# found KIND CHECKER HOST [LINE...]: a child of the program may make the mistake.
found() {
  local kind=$1 checker=$2 host=$3
  shift 3
  printf '  %s\n' "$kind"
  scenario wrong "$kind" wrong "$@"
  timeout -k 5 300 "$anyrdma" sim "$work/wrong.txt" --seed 1 >"$work/wrong.log" 2>&1
  [ $? = 1 ] || fail "$kind: the run does well"
  grep -qE "^(anyrdma: )?$checker: $host/mistakes(\.2)?: " "$work/wrong.log" || {
    fail "$kind: no line begins with '$checker: $host/mistakes: '"
    head -20 "$work/wrong.log"
  }
  [ "$(grep -cE "^(anyrdma: )?$checker: $host/mistakes(\.2)?: " "$work/wrong.log")" -le 3 ] || fail "$kind: it is said twice"
  scenario right "$kind" right 'deny target' 'deny dry' 'deny depth' 'deny gone' 'deny overlap' 'deny region' 'deny handover'
  timeout -k 5 300 "$anyrdma" sim "$work/right.txt" --seed 1 >"$work/right.log" 2>&1 || {
    fail "$kind: its twin is not silent"
    head -20 "$work/right.log"
  }
}

found source source client
found target target server 'deny target'
found key region server
found region region client
found unmapped region client
found given region server
for kind in anew over dropped moved segment shared thread child; do
  found "$kind" region server
  # Where all of the memory changes, the server's own SEND is the first to use it.
  grep -qE '(asks for a WRITE of 1024 bytes of|the SEND .* uses) memory that the program has mapped anew with ' \
    "$work/wrong.log" ||
    fail "$kind: it is not said what has happened"
  [ "$(grep -c 'mapped anew' "$work/wrong.log")" = 1 ] || fail "$kind: it is not said once"
done
for kind in resent heap; do
  found "$kind" region client
  grep -q 'uses memory that the program has mapped anew with ' "$work/wrong.log" || fail "$kind: it is not said what"
done
# Pages of a file that are mapped again, and memory that was registered once, are no mistakes.
scenario remapped remapped wrong 'deny region'
timeout -k 5 300 "$anyrdma" sim "$work/remapped.txt" --seed 1 >"$work/remapped.log" 2>&1 || {
  fail "memory that is the same is reported"
  head -20 "$work/remapped.log"
}
# A thread that has a filter of its own does not stop at its calls.
scenario filtered filtered wrong
timeout -k 5 300 "$anyrdma" sim "$work/filtered.txt" --seed 1 >"$work/filtered.log" 2>&1 ||
  fail "filtered: a thread with a filter of its own fails the run"
grep -q 'mistakes has threads with a seccomp filter of their own: ' "$work/filtered.log" || {
  fail "filtered: no remark says that a thread passes"
  head -20 "$work/filtered.log"
}
found unsignaled unsignaled client
found overrun overrun client
found owed owed client
found event owed client
found event owed client 'host other 10.0.0.3' "background other sh -c 'while sleep 1; do :; done'"
found dry dry server 'deny dry'
found depth depth client 'deny depth'
found gone gone client 'deny gone'
found overlap overlap server 'deny overlap'
found both overlap client 'deny overlap'

# An event of one thread, and another thread that destroys its id.
cp -L tests/ownership/handover "$work/handover"
handover() {
  printf '%s\n' 'host client 10.0.0.2' "on client ./handover $1" 'deny handover' 'limit 10000s' >"$work/handover.txt"
  timeout -k 5 300 "$anyrdma" sim "$work/handover.txt" --seed 1 >"$work/handover.log" 2>&1
}
handover wrong
status=$?
[ $status = 1 ] && grep -qE "^(anyrdma: )?handover: client/handover: .* by client/handover" "$work/handover.log" || {
  fail "handover: status $status, and no line that begins with 'handover: client/handover: '"
  head -20 "$work/handover.log"
}
handover right || {
  fail "handover: its twin is not silent"
  head -20 "$work/handover.log"
}

# Remarks stand below what has gone wrong, and are no mistakes.
scenario remark dry wrong
"$anyrdma" sim "$work/remark.txt" --seed 1 >"$work/remark.log" 2>&1 || fail "a remark fails the run"
scenario remark dry wrong 'expect client/mistakes status 3'
"$anyrdma" sim "$work/remark.txt" --seed 1 >"$work/remark.log" 2>&1
grep -q '^  remark: dry: server/mistakes: ' "$work/remark.log" || fail "a failure shows no remark"

scenario allowed source wrong 'allow source "the peer checks a sum"'
"$anyrdma" sim "$work/allowed.txt" --seed 1 >"$work/allowed.log" 2>&1 || fail "what is allowed is reported"
scenario allowed source wrong 'allow source'
"$anyrdma" sim "$work/allowed.txt" --seed 1 2>&1 | grep -q 'lacks its reason in quotes' || fail "no reason is wanted"
scenario allowed source wrong 'allow surce "a slip"'
"$anyrdma" sim "$work/allowed.txt" --seed 1 2>&1 | grep -q "no device has a checker 'surce'" || fail "any name is taken"

# Who posted it, and who was there when it was found.
scenario wrong source wrong
"$anyrdma" replay "$work/wrong.txt" 'seed 1' >"$work/replay.log" 2>&1
grep -A3 '^  posted here:' "$work/replay.log" | grep -q 'run_mistake+.* mistakes.c:' || {
  fail "the replay has no stack of the posting"
  head -40 "$work/replay.log"
}
grep -A3 '^  found here:' "$work/replay.log" | grep -q 'mistakes' || fail "the replay has no stack of the moment"

# A recording has it at its moment, with the stacks.
scenario wrong source wrong
"$anyrdma" sim "$work/wrong.txt" --seed 1 --record "$work/wrong.recording" >"$work/wrong.log" 2>&1
[ "$(grep -cE '^(anyrdma: )?source: client/mistakes: ' "$work/wrong.log")" = 1 ] || fail "a mistake is not said once"
"$anyrdma" trace "$work/wrong.recording" >"$work/trace.txt" 2>&1
grep -q 'source: client/mistakes: ' "$work/trace.txt" || {
  fail "the recording has no finding"
  tail -20 "$work/trace.txt"
}

[ "$failures" = 0 ] || exit 1

#!/usr/bin/env bash
# `verify`: a command of the user's judges what a run has left.
. tests/simulated/lib.sh

# judged STATUS PATTERN LINES...: `anyrdma sim` of a file with these lines ends like that and says so
judged() {
  local status
  printf '%s\n' 'host here 10.0.0.1' 'host there 10.0.0.2' "${@:3}" >"$work/scenario"
  timeout -k 5 "$deadline" tools/bin/anyrdma "${command:-sim}" "$work/scenario" ${more[@]+"${more[@]}"} \
    >"$work/said" 2>&1 </dev/null
  status=$?
  grep -qE -- "$2" "$work/said" && [ "$status" = "$1" ] && return
  fail "status $status, expected $1 with '$2'"
  tail -n 12 "$work/said" | cut -c1-200 | sed 's/^/      /'
}
programs=('on here sh -c "echo one; echo two >&2"' 'on there sh -c "exit 3"' 'on there sh -c "kill -9 $$"'
  'background here sleep 1000' 'expect there/sh any status' 'expect there/sh#2 any end')

case_directory() {
  more=()
  cat >"$work/check" <<'END'
#!/bin/sh
set -e
[ "$(cat here.sh.out) $(cat here.sh.err)" = 'one two' ]
[ -f there.sh.2.out ]
printf '%s\n' 'here/sleep signal 15' 'here/sh exit 0' 'there/sh exit 3' 'there/sh#2 signal 9' | cmp - statuses
[ "$(cat trial)" = 'seed 1' ]
[ ! -s problem ]
"$ANYRDMA" trace recording --json | grep -q '"verdict":"passed"'
[ -f "$ANYRDMA_SCENARIO/scenario" ]
! read -r line
pwd >"$ANYRDMA_SCENARIO/where"
END
  chmod +x "$work/check"
  judged 0 'there/sh ended with status 3' "${programs[@]}" 'verify ./check'
  [ ! -e "$(cat "$work/where")" ] || fail "its directory is still there"
  more=(--record "$work/recording")
  judged 0 'there/sh ended with status 3' "${programs[@]}" 'verify ./check'
  tools/bin/anyrdma trace "$work/recording" >/dev/null || fail "the recording is not where it was wanted"
}

case_problems() {
  more=()
  judged 1 '^anyrdma: verify: entry 3 is lost$' 'on here true' "verify sh -c 'echo entry 3 is lost; exit 1'"
  judged 1 "ended with status 1 without a word" 'on here true' 'verify false'
  judged 1 'was ended by signal 9' 'on here true' "verify sh -c 'kill -9 \$\$'"
  judged 1 'did not end within 0.3 s of real time, and was killed' 'on here true' 'verify within 300ms sleep 1000'
  judged 1 'bytes more\)' 'on here true' "verify sh -c 'yes | head -c 1000000; exit 1'"
  judged 1 'did not end within 0.3 s' 'on here true' 'verify within 300ms yes'
  # Others are asked, too, and may know what is wrong already.
  judged 1 '^verify: second$' 'on here true' "verify sh -c 'echo first; exit 1'" "verify sh -c 'echo second; exit 1'"
  judged 1 '^verify: here/false ended with status 1$' 'on here false' "verify sh -c 'cat problem; exit 1'"
  judged 0 'ended with status 0' 'on here true' 'verify true' 'verify true'
}

case_bad_input() {
  more=()
  judged 2 "scenario:4: 'verify' lacks its command" 'on here true' 'verify'
  judged 2 "scenario:4: there is no command 'nowhere' to verify with" 'on here true' 'verify nowhere'
  judged 2 "scenario:4: there is no command './nowhere' to verify with" 'on here true' 'verify ./nowhere'
  judged 2 "the limit of verify is a real time such as 10s, not 'soon'" 'on here true' 'verify within soon true'
  judged 2 "a quote of the command to verify with does not end" 'on here true' "verify sh -c 'true"
  command=explore judged 2 "there is no command 'nowhere' to verify with" 'on here true' 'verify nowhere'
}

# The example: explore finds the instant at which the leader's crash loses an acknowledged number, shrinks it, and the
# printed command has it again. The log that answers later has no such instant.
case_log() {
  local again
  cp examples/log/log.txt examples/log/check.sh "$work" && cp examples/log/log_/log "$work/log"
  timeout -k 5 1200 tools/bin/anyrdma explore "$work/log.txt" --seeds 200 --record "$work" >"$work/explored" 2>&1 </dev/null
  [ $? = 1 ] || fail "nothing is found"
  grep -q '^verify: acknowledged, and not in the log: [0-9]*$' "$work/explored" || fail "what is found is something else"
  grep -q 'crash n0' "$work/explored" || fail "no crash is to blame"
  again=$(sed -n 's/^again: anyrdma/tools\/bin\/anyrdma/p' "$work/explored" | tail -n 1)
  timeout -k 5 "$deadline" bash -c "$again" >"$work/replayed" 2>&1 </dev/null
  [ $? = 1 ] || fail "the replay does well"
  grep -q 'verify: acknowledged, and not in the log: [0-9]*$' "$work/replayed" || fail "the replay finds something else"
  sed 's/ early$/ safe/' "$work/log.txt" >"$work/safe.txt"
  timeout -k 5 1200 tools/bin/anyrdma explore "$work/safe.txt" --seeds 60 --record "$work" >"$work/safe" 2>&1 </dev/null
  [ $? = 0 ] || { fail "the other log loses something, too" && tail -n 12 "$work/safe" | sed 's/^/      /'; }
  [ "$case_failed" = 0 ] || tail -n 20 "$work/explored" | cut -c1-200 | sed 's/^/      /'
}

run_cases

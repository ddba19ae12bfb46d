#!/usr/bin/env bash
# Bugs of programs that others wrote come out of their scenarios (bugs/), which know nothing of them.
. tests/simulated/lib.sh

# found NAME PROGRAM SEEDS SCHEDULE FIRST KIND SHOWN: exploring finds a failure of that kind, shrinks it, and the
# command it prints has it again, twice alike, and shows more.
found() {
  local name=$1 program=$2 seeds=$3 schedule=$4 first=$5 kind=$6 shown=$7 log again run
  is_mine || return 0
  printf '  %s\n' "$name"
  if [ -n "$(missing "$program")" ]; then
    printf '    skipped: %s is not installed\n' "$program"
    left_out=$((left_out + 1))
    return
  fi
  case_failed=0
  log=$work/$name.log
  timeout -k 5 1200 tools/bin/anyrdma explore "tests/simulated/bugs/$name.txt" --seeds "$seeds" --first-seed "$first" \
    --schedule "$schedule" >"$log" 2>&1 </dev/null
  [ $? = 1 ] || fail "nothing is found in $seeds runs"
  grep -qE -- "$kind" "$log" || fail "what is found is not '$kind'"
  again=$(sed -n 's/^again: anyrdma/tools\/bin\/anyrdma/p' "$log" | tail -n 1)
  for run in first second; do
    timeout -k 5 "$deadline" bash -c "$again" >"$work/$run.log" 2>&1 </dev/null
    [ $? = 1 ] || fail "the $run replay does well: $again"
  done
  same "the replay once more" second
  grep -qE -- "$shown" "$work/first.log" || fail "the replay does not show '$shown'"
  [ "$case_failed" = 0 ] || tail -n 20 "$log" "$work/first.log" | cut -c1-200 | sed 's/^/      /'
  failures=$((failures + case_failed))
}

# Within ten seconds of virtual time: nobody has a timer that goes on for ever.
found rping_join rping 1000 pct 1 '^deadlock: no event is pending at [0-9]\.' 'wait for CONNECTED state 10'
if cmtime_serves_one_client; then
  not_yet cmtime_context 'Debian 13 has a cmtime without this bug'
else
  found cmtime_context cmtime 100 fifo 1 '^server/cmtime was ended by signal 11' 'REP 2: cut client<->server'
fi
found pingpong_events ibv_rc_pingpong 100 pct 1 'ibv_rc_pingpong ended with status [12]$' 'poll CQ failed 2'
found perftest_refused ib_write_bw 100 fifo 1 '^client/ib_write_bw was ended by signal 11' 'request 2: '
if has_networks; then
  found rxm_flushed fi_pingpong 100 mixed 1 '^client/env ended with status 125' 'cq_readerr: Work Request Flushed Error'
else
  not_yet rxm_flushed 'no network namespace can be had here'
fi

if [ "$(ucx_perftest_by_itself)" = ucx_perftest ]; then
  found ucx_wakeup ucx_perftest 100 fifo 1 '^deadlock: no event is pending' 'ucp_worker_wait'
else
  not_yet ucx_wakeup 'this ucx_perftest has other options'
fi

# What thousands of runs are made with (docs/found.md): a few of them end, and say nothing of ours.
if is_mine && [ -z "$(missing rping)" ]; then
  echo '  rping_faults'
  case_failed=0
  timeout -k 5 1200 tools/bin/anyrdma explore tests/simulated/bugs/rping_faults.txt --seeds 20 --keep-going \
    >"$work/rping_faults.log" 2>&1 </dev/null
  [ $? -lt 2 ] || fail "it is not explored"
  ! grep -qE 'mismatch|process died|the run did not end|ended by signal|runs of one trial differ' "$work/rping_faults.log" ||
    fail "something else than rping went wrong"
  [ "$case_failed" = 0 ] || cut -c1-200 "$work/rping_faults.log" | sed 's/^/      /'
  failures=$((failures + case_failed))
fi

finish

#!/usr/bin/env bash
# Job control (jobs.c) and signals of terminals (hangups.c): the programs say on simulated hosts what they have said on
# Linux (jobs.txt, hangups.txt).
program=$PWD/tests/simulated/jobs table=tests/simulated/jobs.txt
. tests/simulated/as_linux.sh

as_on_linux 'stops, process groups and sessions' stop group
as_on_linux 'terminals' terminal

program=$PWD/tests/simulated/hangups table=tests/simulated/hangups.txt
as_on_linux 'terminals that hang up' terminal gone_by
as_on_linux 'who waits when a terminal hangs up' gone_while gone_without gone_under
as_on_linux 'signals to who waits at a terminal' sent

says='here/bash: over status 143'
cat >"$work/jobs.sh" <<'END'
set -m
sleep 100 &
kill -STOP %1
sleep 0.1
jobs -s | grep 'sleep 100' >/dev/null || echo it runs
kill -CONT %1
jobs -r | grep 'sleep 100' >/dev/null || echo it is stopped
kill %1
wait %1
echo "over status $?"
END
alike 'bash with set -m' "bash $work/jobs.sh"

finish

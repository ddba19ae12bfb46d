#!/usr/bin/env bash
# What ends a wait (waking.c): the program says on simulated hosts what it has said on Linux (waking.txt), and the wait
# takes as much virtual time as it should.
program=$PWD/tests/simulated/waking table=tests/simulated/waking.txt
. tests/simulated/as_linux.sh

as_on_linux 'descriptors of signals' signal child_by_signal alarm
as_on_linux 'all that is asked for' all
as_on_linux 'many messages' many
as_on_linux 'timeouts of sockets' in_vain
as_on_linux 'refused connections' refused
as_on_linux 'timers' value thread_of overrun timer
as_on_linux 'children' child
as_on_linux 'addresses for TCP, and urgent data' address
as_on_linux 'other descriptors' eventfd file line sealed queued
rm -f "$work/first.log"
apart 'connections refused by another host' 'sleep 1' "$program 10.0.0.1 refused"
case_failed=0
as_linux first refused
failures=$((failures + case_failed))

finish

#!/usr/bin/env bash
# TIME_WAIT, keepalive and urgent data of TCP between two hosts (tcp_ends.c): the program says there what it has said on
# Linux (tcp_ends.txt).
program=$PWD/tests/simulated/tcp_ends table=tests/simulated/tcp_ends.txt
. tests/simulated/as_linux.sh
longest=641200 # a minute, and some seconds before and after it

between_hosts() { # NAME PREFIX...: the cases whose names begin so
  local name=$1
  shift
  rm -f "$work/first.log"
  apart "$name" "$program serve" "$program 10.0.0.1 $* end"
  case_failed=0
  as_linux first "$@"
  failures=$((failures + case_failed))
}

between_hosts 'ports of connections that are closed' port
between_hosts 'urgent data, peers that answer, and wrong options' urgent answering wrong
printf 'at 1s: cut client1<->server\nat 40s: mend client1<->server\n' >"$work/plan"
settings=(--faults "$work/plan")
between_hosts 'peers that fall silent' silent

finish

#!/usr/bin/env bash
# Pairs of rping and ib_write_bw of which either side is killed at any moment. The other side ends, or goes on as it would
# on a kernel; the next pair works, and nothing is left.
#
# killed_test.sh [CASE...] runs $PAIRS of each case (5) from $SEED on (1); each pair says its seed, and PAIRS=1 SEED=N runs
# one again. With 40 pairs there are 200 in all.
# $LIMIT is how many milliseconds the other side may take to end. The default is for a machine with
# other load; LIMIT=5000 holds on an idle one.
. tests/programs/lib.sh
need rping ib_write_bw stdbuf flock
pairs=${PAIRS:-5} first=${SEED:-1}
limit=${LIMIT:-60000} # with all retries, a queue pair's peer is known to be gone after some 4 s
longest=0 # milliseconds from a death until the other's end

# pass MILLISECONDS PID: so much time, unless PID ends before; timeout(1) takes 0 for no limit at all
pass() { [ "$1" = 0 ] || timeout "$(($1 / 1000)).$(printf %03d "$(($1 % 1000))")" tail --pid="$2" -s 0.01 -f /dev/null; }

milliseconds() { echo "${EPOCHREALTIME/./}" | sed 's/...$//'; }

# ends SURVIVOR: it does, and crashes as little as any
ends() {
  local before took
  before=$(milliseconds)
  finish "$1"
  took=$(($(milliseconds) - before))
  [ "$took" -le "$longest" ] || longest=$took
  [ "$took" -le "$limit" ] || fail "the other side ended $took ms after the death, more than $limit"
}

slay() { # PID
  kill -9 "$1"
  wait "$1" 2>/dev/null # says that it was killed, which we know
}

# What a fabric leaves where it keeps its files, and its sockets.
left_behind() {
  find /dev/shm "${XDG_RUNTIME_DIR:-/dev/shm}" /tmp -maxdepth 2 -name "*$fabric*" 2>/dev/null
  grep -F "$fabric" /proc/net/unix
}

next_pair() {
  local server
  start_server next_server "$host:7174" rping -s -a "$host" -C 10 -V
  server=$pid
  run next_client rping -c -a "$host" -C 10 -V
  expect_status 'client of the next pair' 0 $?
  finish "$server"
  expect_status 'server of the next pair' 0 $?
  [ -z "$(left_behind)" ] || fail "left behind: $(left_behind)"
}

# each PAIR: so many, each with a moment and a victim of its own; a moment may be before they are connected
each() {
  local seed
  for ((seed = first; seed < first + pairs && case_failed == 0; seed++)); do
    RANDOM=$seed
    victim=$((RANDOM % 2)) early=$((RANDOM % 4 == 0)) moment=$((RANDOM % 1000))
    "$@"
    next_pair
    [ "$case_failed" = 0 ] || echo "    SEED=$seed, victim $victim, early $early, after $moment ms"
  done
  echo "    $pairs pairs from seed $first on; the other side took up to $longest ms to end"
}

# rping's server has one client. When that has not come so far that it says so, it waits for the next.
rping_pair() {
  local server client
  start_server server "$host:7174" rping -s -a "$host" -v
  server=$pid
  start client rping -c -a "$host" -v
  client=$pid
  if [ "$early" = 1 ]; then moment=$((moment / 10)); else wait_for "$client" client '^ping data'; fi
  pass "$moment" "$client"
  if [ "$victim" = 0 ]; then
    slay "$server"
    ends "$client"
    return
  fi
  slay "$client"
  [ "$early" = 0 ] || run late rping -c -a "$host" -C 1
  ends "$server"
}

case_rping() { each rping_pair; }

# One side is stopped for less time than a queue pair retries: both go on as if nothing had happened.
paused_pair() {
  local server client
  start_server server "$host:7174" rping -s -a "$host" -C 2000
  server=$pid
  start client rping -c -a "$host" -C 2000
  client=$pid
  pass "$((moment / 10))" "$client"
  if [ "$victim" = 0 ]; then victim=$server; else victim=$client; fi
  kill -STOP "$victim"
  pass "$((moment / 2))" "$victim"
  kill -CONT "$victim"
  finish "$client"
  expect_status client 0 $?
  finish "$server"
  expect_status server 0 $?
}

case_rping_that_is_stopped_for_a_while() { each paused_pair; }

# A connection that is refused ends the program with an error, which is no crash.
case_ib_read_bw_that_is_refused() {
  local client=0
  while [ "$client" -lt "$pairs" ]; do
    client=$((client + 1))
    take_port
    run "client$client" ib_read_bw -R -F -p "$port" "$host"
    expect_status "client$client" 1 $?
  done
}

# write_pair OPTION...: ib_write_bw, which tells its peer of the end on a socket, or with -R by a message
write_pair() {
  local server client
  take_port
  start server ib_write_bw -F -p "$port" -D 60 "$@"
  server=$pid
  case " $* " in *" -R "*) await_listener tcp "$host" "$port" "$server" ;; *) await_socket "$server" ;; esac
  start client ib_write_bw -F -p "$port" -D 60 "$@" "$host"
  client=$pid
  if [ "$early" = 1 ]; then moment=$((moment / 10)); else wait_for "$client" client '^ #bytes'; fi
  pass "$moment" "$client"
  if [ "$victim" = 0 ]; then
    slay "$server"
    ends "$client"
    return
  fi
  slay "$client"
  # With -R nothing tells the server: it asks for no event once it is connected, and a kernel leaves its queue pair as it
  # is. And a server that nobody has come to waits on.
  case "$early $* " in 1* | *" -R "*) kill "$server" 2>/dev/null ;; esac
  ends "$server"
}

case_ib_write_bw() { each write_pair; }

case_ib_write_bw_over_the_connection_manager() { each write_pair -R; }

case_ib_write_bw_of_short_writes() { each write_pair -s 8; }

run_cases "$@"

#!/usr/bin/env bash
# The drop-in under the programs of newer Debians, in root directories of theirs (tools/root/make): 13, which has rdma-core 56,
# and unstable, which has the newest. Their libraries say what ours must export; a C program is built there that makes
# every call which Debian 12 does not have yet; rdma-core's own Python tests must not fail.
. tests/programs/lib.sh
. tests/programs/symbols.sh
need unshare objdump

newest=65 # rdma-core whose names and calls are known here; unstable goes on

rdma_core() { # ROOT: its number
  awk '/^Package: / { on = $2 == "libibverbs1" } on && /^Version: / { print int($2) }' "$1/var/lib/dpkg/status"
}

roots=() # those that are there and known; the others have said why not
for suite in trixie sid; do
  if ! made=$(tools/root/make "$suite" 2>"$work/why"); then
    cat "$work/why"
  elif [ "$(rdma_core "$made")" -gt "$newest" ]; then
    echo "$suite has rdma-core $(rdma_core "$made"), and $newest is the newest that is known here: see what is new." | tee "$work/why"
  else
    roots+=("$made")
  fi
done
[ ${#roots[@]} != 0 ] || skip_all "$(tail -n 1 "$work/why")"
together=2

enter() { # ROOT: what the case starts from here on is in it
  as_user=(tools/root/run "$1" "$work/bin/")
  anyrdma=/opt/anyrdma/anyrdma
}

pair() { # ADDRESS:PORT PROGRAM ARGUMENT... -- ARGUMENT...: a server with the first, a client with both
  local at=$1 server arguments=()
  shift
  while [ "$1" != -- ]; do arguments+=("$1") && shift; done
  shift
  start_server server "$at" "${arguments[@]}"
  server=$pid
  run client "${arguments[@]}" "$@"
  expect_status client 0 $?
  finish "$server"
  expect_status server 0 $?
}

# Once its pings are done, rping's main thread destroys its id. Its other one may just have been told by poll(2) of the goodbye
# and go to fetch it: the event has gone with the id, it waits for ever in rdma_get_cm_event, and the main one for it. On any
# stack; Debian 12's has other code there. So it may end, or stand just there: the goodbye not fetched, a thread in a read.
finish_rping() { # NAME PID
  local patience=$((SECONDS + 20))
  while kill -0 "$2" 2>/dev/null; do
    if [ "$SECONDS" -gt "$patience" ] && grep -q '^ping data: rdma-ping-9' "$work/$1.log" &&
      ! grep -q 'DISCONNECT EVENT' "$work/$1.log" && grep -q '^0 ' "/proc/$2"/task/*/syscall; then
      echo "    $1 waits for the event that it has destroyed: rping's own race"
      kill -9 "$2"
      wait "$2" 2>/dev/null
      return 0
    fi
    [ "$SECONDS" -lt $((patience + deadline)) ] || break
    sleep 0.05
  done
  finish "$2"
}

rping() {
  local server
  start_server server 127.0.0.1:7174 rping -s -C 10 -V -v -a 127.0.0.1
  server=$pid
  start client rping -c -C 10 -V -v -a 127.0.0.1
  finish_rping client "$pid"
  expect_status client 0 $?
  expect_line client '^ping data: rdma-ping-9'
  finish "$server"
  expect_status server 0 $?
}

ucmatose() {
  pair 127.0.0.1:7471 ucmatose -c 10 -- -s 127.0.0.1
  expect_line client '^return status 0$'
}

ib_send_bw() {
  local server
  take_port
  start server ib_send_bw -F -n 20 -s 64 -p "$port"
  server=$pid
  await_socket "$server"
  run client ib_send_bw -F -n 20 -s 64 -p "$port" 127.0.0.1
  expect_status client 0 $?
  finish "$server"
  expect_status server 0 $?
  expect_line client '^ 64 +20 '
}

ib_write_lat() {
  take_port
  pair "127.0.0.1:$port" ib_write_lat -F -R -n 20 -s 64 -p "$port" -- 127.0.0.1
  expect_line client '^ 64 +20 '
}

pyverbs() { # LEAST: that many pass at least
  local outcomes
  cp -rL "$root/usr/share/doc/rdma-core/tests" tests/programs/pyverbs_run.py "$work"
  find "$work/tests" -name '*.gz' -exec gunzip {} +
  run pyverbs python3 "$work/pyverbs_run.py" "$work/tests" "$work/every"
  expect_status pyverbs_run.py 0 $?
  # Whether these can pass is the machine's, at each moment; pyverbs_test judges them.
  grep -vE '_huge_(user_addr_|page_)?traffic	' "$work/every" >"$work/results"
  outcomes=$(cut -f 2 "$work/results" | sort | uniq -c | xargs)
  echo "    $outcomes"
  [ "$(awk -F '\t' '$2 == "ok"' "$work/results" | wc -l)" -ge "$1" ] || fail "fewer than $1 tests pass"
  ! awk -F '\t' '$2 == "fail" || $2 == "error" { print "    " $0; found = 1 } END { exit !found }' "$work/results" ||
    fail "tests that fail"
}

# Debian's own tables: what ours must have, and what symbols_test holds them against where there is no root.
names() {
  local library theirs lacking
  for library in libibverbs.so.1 librdmacm.so.1; do
    theirs=$root/usr/lib/x86_64-linux-gnu/$library
    [ "$(all_versions "$theirs" | wc -l)" -gt 60 ] || fail "$theirs has hardly a name: is this objdump's output?"
    lacking=$(comm -23 <(nodes "$theirs") <(nodes "tools/bin/lib/$library"))
    [ -z "$lacking" ] || fail "$library: version nodes that Debian has: $lacking"
    lacking=$(comm -23 <(all_versions "$theirs") <(all_versions "tools/bin/lib/$library"))
    [ -z "$lacking" ] || fail "$library lacks: $lacking"
    lacking=$(comm -23 <(all_versions "$theirs" | sed "s/^/$library /") <(sort tests/programs/newer_names.txt))
    [ -z "$lacking" ] || fail "newer_names.txt lacks: $lacking"
  done
}

# What a program is linked with there is the root's; what it runs on, ours.
newer_calls() {
  cp tests/programs/newer_calls.c "$work"
  tools/root/run "$root" "$work/bin/" gcc -Wall -Werror -o "$work/newer_calls" "$work/newer_calls.c" -lrdmacm -libverbs \
    >"$work/build.log" 2>&1 || fail "newer_calls.c cannot be built"
  run newer_calls "$work/newer_calls"
  expect_status newer_calls 0 $?
  expect_line newer_calls '^0 wrong$'
}

for root in "${roots[@]}"; do
  suite=${root##*/}
  cases=(names rping ucmatose ib_send_bw ib_write_lat)
  case "$suite" in
    trixie) cases+=("pyverbs 151") ;;
    sid) cases+=("pyverbs 172" newer_calls) ;;
  esac
  for each in "${cases[@]}"; do
    eval "case_${each%% *}_of_$suite() { root=$root; enter $root; $each; }"
  done
done

run_cases "$@"

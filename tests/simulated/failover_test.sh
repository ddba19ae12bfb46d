#!/usr/bin/env bash
# One of two rails fails at any moment: the example of docs/failover.md, and the checker of what is sent again.
. tests/simulated/lib.sh

# explored NAME STATUS FILE OPTION...: explores a scenario, which must end with that status
explored() {
  local name=$1 status=$2 file=$3
  shift 3
  timeout -k 5 1200 tools/bin/anyrdma explore "$work/$file" --record "$work" "$@" >"$work/$name" 2>&1 </dev/null
  [ $? = "$status" ] || fail "the exploration of $file does not end with status $status: $(tail -n 12 "$work/$name" | cut -c1-300)"
}

# with_rails NAME SERVER LINE...: the example's scenario with a careful or careless server, and further lines
with_rails() {
  local name=$1 server=$2
  shift 2
  cp examples/rails/check.sh "$work" && cp examples/rails/stream_/stream "$work/stream"
  { sed "s/ careless / $server /" examples/rails/stream.txt && printf '%s\n' "$@"; } >"$work/$name"
}

case_careless_server_takes_a_number_twice() {
  local again
  with_rails stream.txt careless
  explored found 1 stream.txt --seeds 1000
  grep -q '^verify: delivered twice: [0-9]*$' "$work/found" || fail "what is found is something else"
  again=$(sed -n 's/^again: anyrdma/tools\/bin\/anyrdma/p' "$work/found" | tail -n 1)
  timeout -k 5 "$deadline" bash -c "$again" >"$work/replayed" 2>&1 </dev/null
  [ $? = 1 ] || fail "the replay does well"
  grep '^ *remark: retried: client/stream' "$work/replayed" >/dev/null || fail "nobody says that it was sent again"
  [ "$case_failed" = 0 ] || tail -n 20 "$work/found" | cut -c1-200 | sed 's/^/      /'
}

case_careful_server_passes() {
  with_rails careful.txt careful
  explored clean 0 careful.txt --seeds 60
}

case_what_is_sent_again_may_be_denied() {
  with_rails denied.txt careful 'deny retried'
  explored denied 1 denied.txt --seeds 1000
  grep '^retried: client/stream.*: the SEND with wr_id 0 on .*/rail0 QP .* failed, but server/stream.* had executed it, and has executed it again as the SEND with wr_id 0 on .*/rail1 QP ' \
    "$work/denied" >/dev/null || fail "what is found is something else: $(tail -n 12 "$work/denied" | cut -c1-400)"
}

run_cases

#!/usr/bin/env bash
# `anyrdma run --check`: a pair of processes that makes a mistake in real time is found, by the command and again from its
# recordings; a correct one is not. What cannot be judged is said.
set -uo pipefail
. tests/recording/run_check.sh

address=127.0.0.1
on=(--fabric "check-$$")

pair_in_one none 0
[ -s "$work/out" ] && fail "a correct pair has something to say: $(cat "$work/out")"
pair_in_one twice 1
says '^misuse: mistakes\[[0-9]+\]: rdma_ack_cm_event: id 1: ADDR_RESOLVED status 0 was acknowledged already'
pair_in_one source 1
says '^payload: .*a message of 64 bytes arrived changed$'

# The same from recordings of two commands.
pair_in_two none
ends 0 "$anyrdma" check "$work/records"
says '^not judged: buffers, keys and queues \(source, .*\), since no simulated device has watched them'
[ "$(wc -l <"$work/out")" = 1 ] || fail "a correct pair has something to say: $(cat "$work/out")"
# What no program can do by itself: the recording is altered as if the device or the connection manager had made the mistake.
judges_altered legality 'client#1: DISCONNECTED although it is address resolved'
judges_altered ledger 'client#1: an event was acknowledged that was not fetched'
judges_altered 'private data' 'server#.*: request on .*, but given was '
judges_altered agreement 'server#.*: its event on .*, but the peer sent '
judges_altered work 'client QP .*: send .* completed, but was not posted'
judges_altered payload 'a message of 64 bytes arrived changed'
judges_altered announcements 'client QP .*: LAST_WQE_REACHED comes again'
pair_in_two twice
ends 1 "$anyrdma" check "$work"/records/client.*.recording "$work"/records/server.*.recording
says '^misuse: client: rdma_ack_cm_event: id 1: ADDR_RESOLVED'
pair_in_two source
ends 1 "$anyrdma" check "$work/records"
says '^payload: .*a message of 64 bytes arrived changed$'

# Half of the processes, cut off, damaged, of another version: judged as far as they go.
ends 0 "$anyrdma" check "$work"/records/client.*.recording
says '^not judged: 1 connection has no recording of its other end'
says_not "$finding"
client=$(echo "$work"/records/client.*.recording)
cp "$client" "$work/whole"
size=$(stat -c %s "$client")
for part in 3 5 7 9; do
  head -c $((size * part / 10)) "$work/whole" >"$client"
  timeout 300 "$anyrdma" check "$work/records" >"$work/out" 2>&1
  says "client.*\.recording' is cut off: it is judged up to there"
  says '^not judged: what the programs have not reported'
done
{ head -c $((size / 2)) "$work/whole" && head -c 300 /dev/zero | tr '\0' '\177' && tail -c +$((size / 2 + 301)) "$work/whole"; } >"$client"
ends 2 "$anyrdma" check "$work/records"
says "client.*\.recording' is damaged, .*: it is judged up to there"
{ head -c 8 "$work/whole" && printf '\001' && tail -c +10 "$work/whole"; } >"$client"
ends 2 "$anyrdma" check "$work/records"
says "client.*\.recording' cannot be judged: .*version 1 of the format"
says '^not judged: 1 connection has no recording of its other end'

# The program's own status stays what it was; one that uses no RDMA is not judged.
ends 7 "$anyrdma" run "${on[@]}" --check -- sh -c 'exit 7'
says '^anyrdma: not judged: the program, since none of its processes has used RDMA'
ends 139 sh -c '"$@"; exit $?' sh "$anyrdma" run "${on[@]}" --check -- sh -c 'kill -SEGV $$'
ends 2 env TMPDIR="$work/nowhere" "$anyrdma" run "${on[@]}" --check -- touch "$work/started"
says '^anyrdma: --check has no place for recordings: .*Set TMPDIR'
[ ! -e "$work/started" ] || fail "the program was started"

[ "$failures" = 0 ]

#!/bin/bash
# A crash, a deadlock, a race and wrong data of tests/finds, each debugged by a script: from the command that the search
# prints after `debug:`, in Debian's gdb, to the guilty line (docs/debugging.md).
set -uo pipefail

command -v gdb >/dev/null || {
  echo "SKIPPED: gdb is not installed"
  exit 0
}
finds=$PWD/tests/finds
anyrdma=$PWD/tools/bin/anyrdma
work=$(mktemp -d "${TMPDIR:-/tmp}/anyrdma-finds-gdb.XXXXXX")
trap 'rm -rf "$work"' EXIT
failures=0

fail() {
  echo "FAILED: $*"
  failures=$((failures + 1))
}

# What the printed command starts: gdb as it is called, then the commands of the script.
mkdir "$work/bin"
printf '#!/bin/sh\nexec %s -nx -batch -ex "set debuginfod enabled off" "$@" -x "%s"\n' "$(command -v gdb)" \
  "$work/script" >"$work/bin/gdb"
chmod +x "$work/bin/gdb"
ln -s "$anyrdma" "$work/bin/anyrdma"

# debug SUBJECT NAME: searches the scenario, and runs the printed command with the script of stdin.
debug() {
  local name=$2
  source=$finds/$1/$name.c
  printf -- '-- %s/%s\n' "$1" "$name"
  cat >"$work/script"
  cd "$finds/$1" || exit 1
  timeout 900 "$anyrdma" explore "$name.buggy.txt" --jobs 1 --record "$work" >"$work/$name.found" 2>&1
  local command
  command=$(sed -n 's/^debug: //p' "$work/$name.found" | tail -n 1)
  [ -n "$command" ] || {
    fail "the search prints no command: $(cat "$work/$name.found")"
    return
  }
  PATH=$work/bin:$PATH timeout -k 5 900 bash -c "$command" >"$work/$name.log" 2>&1 </dev/null
  log=$work/$name.log
}

# at FUNCTION TEXT: the log has a frame of that function at the source line with that text.
at() {
  local lines
  lines=$(grep -nF -- "$2" "$source" | cut -d : -f 1 | paste -sd '|')
  [ -n "$lines" ] || fail "$source has no line '$2'"
  log_says "^#[0-9]+ .*\b$1 \(.* at .*/$(basename "$source"):($lines)\$"
}

log_says() { # PATTERN
  grep -E -- "$1" "$log" >/dev/null || fail "gdb does not say '$1':"$'\n'"$(tail -n 60 "$log")"
}

# The crash reads what another thread has taken away: who wrote it last?
debug teardown handler_context <<'COMMANDS'
bt
watch -l lane->cq
reverse-continue
bt
detach
COMMANDS
log_says 'received signal SIGSEGV'
at answer_one 'next_wc(&s->lane, &wc, 0);'
log_says '^#[0-9]+ .* lane_close '
at release 'lane_close(&s->lane);'

# Each thread has what the other waits for.
debug connection migrate_lock <<'COMMANDS'
thread apply all bt
thread 1.1
print log_lock.__data.__lock
monitor who
detach
COMMANDS
log_says 'deadlock: no event is pending'
log_says '^#[0-9]+ .* rdma_migrate_id '
at serve 'NEED(rdma_migrate_id(lane.id, workers));'
at say 'pthread_mutex_lock(&log_lock);'
at take_events 'say(rdma_event_str(event->event));'
log_says '^.1 = [12]$'
log_says 'server/migrate_lock/3 waits for a futex'

# Two threads have closed one session: they were in the same lines.
debug teardown double_disconnect <<'COMMANDS'
bt
print closed
watch closed
reverse-continue
bt
reverse-continue
bt
detach
COMMANDS
log_says 'client/double_disconnect ended with status 3'
at talk 'CHECK(closed == 1);'
log_says '^.1 = 2$'
at end_session '++closed;'
at work 'end_session();'
at talk 'end_session();'

# The server has read a request twice: who wrote the second one over the first?
debug flow request_buffer_given_away <<'COMMANDS'
bt
frame 3
print request
inferior 2
watch 'request_buffer_given_away.c'::main::words[2]
reverse-continue
bt
detach
COMMANDS
log_says 'server/request_buffer_given_away ended with status 3'
at serve 'CHECK_EQ(++carried_out[request], 1);'
at ask 'words[next] = i;'

echo "$failures failed"
[ "$failures" = 0 ]

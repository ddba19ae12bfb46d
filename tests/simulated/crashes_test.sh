#!/usr/bin/env bash
# Where the threads of a program stood when it crashed: its signal, stacks with source lines, registers.
. tests/simulated/lib.sh

crashing=tests/simulated/crashing_/crashing
plain=tests/simulated/crashing_/plain
stripped=tests/simulated/crashing_/stripped
expected=1

# line_of WAY: where it crashes
line_of() {
  echo "crashing.cc:$(grep -n "// crashes: $1\$" tests/simulated/crashing.cc | cut -d: -f1)"
}

# stands PATTERN...: each in a line of what the last case said, behind the one before
stands() {
  local pattern from=1 at
  [ "$((cases % shards))" = "$(((shard + 1) % shards))" ] || return 0
  for pattern in "$@"; do
    at=$(tail -n "+$from" "$work/first.log" | grep -nEm 1 -- "$pattern" | cut -d: -f1)
    if [ -z "$at" ]; then
      printf '    FAILED: nobody says, or not in this place: %s\n' "$pattern"
      sed 's/^/      /' "$work/first.log"
      failures=$((failures + 1))
      return
    fi
    from=$((from + at))
  done
}

# --- each way, with the same words whatever the machine does meanwhile ---
says='here/crashing was ended by signal 11'
alike segv "$crashing segv"
stands 'SIGSEGV: address 0x0 is not mapped$' 'here/crashing, which got it$' \
  "    ways::load\+0x[0-9a-f]+ \(crashing\) $(line_of segv)\$" ' ways::segv\+0x' ' main\+0x' \
  'its registers$' ' rip 0x0000[0-9a-f]{12}  rsp 0x0000[0-9a-f]{12}  rbp 0x'

alike thread "$crashing thread"
stands 'here/crashing/3, which got it$' " $(line_of segv)\$" ' ways::crash_here\+0x' 'its registers$' \
  '  here/crashing$' ' ways::thread\+0x.* crashing.cc:' '  here/crashing/2$' ' ways::wait_for_ever\+0x'

alike in_handler "$crashing in_handler"
stands "$(line_of segv)\$" ' ways::handle_and_crash\+0x' ' raise\+0x' ' ways::in_handler\+0x'

alike raise_again "$crashing raise_again"
stands ': caught$' 'SIGSEGV: a process has sent it$' "$(line_of segv)\$" ' ways::raise_again\+0x'

alike overflow "$crashing overflow"
stands 'SIGSEGV: address 0x7f[0-9a-f]+ is not mapped' 'has overflowed' "$(line_of overflow)$|crashing.cc:" \
  ' ways::overflow\+0x.* \* [0-9]+$' '    \.\.\.$'

alike overflow_with_handler "$crashing overflow_with_handler"
stands 'no room on the stack for the handler$' 'has overflowed' ' ways::overflow\+0x'

alike lose_stack "$crashing lose_stack"
stands 'the stack pointer, 0x10, is in no memory that can be a stack' ' ways::lose_stack\+0x'

alike smash_stack "$crashing smash_stack"
stands ' ways::smash_stack\+0x'

says='here/crashing was ended by signal 6'
alike abort "$crashing abort"
stands 'SIGABRT: abort\(\)$' ' abort\+0x.*libc.so.6' " ways::check_failed\+0x.* $(line_of abort)\$|check_failed" ' ways::abort_itself\+0x'

alike handled_by_abort "$crashing handled_by_abort"
stands ' ways::abort_in_handler\+0x' " $(line_of segv)\$"

says='here/crashing was ended by signal 7'
alike bus "$crashing bus"
stands 'SIGBUS: there is no memory behind address 0x' " ways::bus\+0x.* $(line_of bus)\$"

says='here/crashing was ended by signal 8'
alike fpe "$crashing fpe"
stands 'SIGFPE: division of an integer by zero$' " ways::fpe\+0x.* $(line_of fpe)\$"

says='here/crashing was ended by signal 4'
alike ill "$crashing ill"
stands 'SIGILL: no such instruction, at 0x' " ways::ill\+0x.* $(line_of ill)\$"

says='here/crashing.2 was ended by signal 11' # whose parent makes nothing of it
alike child "$crashing child"
stands 'here/crashing ended with status 0$' 'here/crashing.2, which got it$' " $(line_of segv)\$" ' ways::child\+0x'

says='here/plain was ended by signal 11'
alike without_debug_information "$plain segv"
stands ' ways::load\+0x0 \(plain\)$' ' ways::segv\+0x[0-9a-f]+ \(plain\)$'

says='here/stripped was ended by signal 11'
alike without_symbols "$stripped segv"
stands ' 0x[0-9a-f]+ \(stripped\)$' ' 0x[0-9a-f]+ \(stripped\)$'

expected=0 says='here/crashing ended with status 0'
alike one_that_recovers "$crashing recover"

# --- in every place where somebody looks ---
everywhere() { # WAY SIGNAL
  is_mine || return 0
  echo "  everywhere: $1"
  case_failed=0
  seen_everywhere "$1" "$PWD/$crashing $1" "$(line_of "$1")" "here/crashing was ended by signal $2"
  failures=$((failures + case_failed))
}
# seen_everywhere NAME PROGRAM LINE PROBLEM: explore, replay, summary and page name the crashing line
seen_everywhere() {
  local way=$1 line=$3 again record
  mkdir -p "$work/$way"
  printf 'host here 10.0.0.1\non here %s\n' "$2" >"$work/$way/scenario.txt"
  timeout -k 5 "$deadline" tools/bin/anyrdma explore "$work/$way/scenario.txt" --seeds 2 --record "$work/$way" \
    >"$work/explored" 2>&1 </dev/null
  grep -q "^$4\$" "$work/explored" || fail "explore does not find: $4"
  grep -q "$line" "$work/explored" || fail "explore does not say $line"
  ! grep -q 'its registers' "$work/explored" || fail "explore says more than frames"
  again=$(sed -n 's/^again: anyrdma/tools\/bin\/anyrdma/p' "$work/explored" | tail -n 1)
  timeout -k 5 "$deadline" bash -c "$again" >"$work/replayed" 2>&1 </dev/null
  grep -q "$line" "$work/replayed" || fail "replay does not say $line"
  record=$(echo "$work/$way"/*.recording)
  tools/bin/anyrdma trace summary "$record" >"$work/summary"
  case "$4" in *signal*)
    grep -q 'its registers' "$work/replayed" || fail "replay says no registers"
    grep -q "^crash, " "$work/summary" || fail "the recording's verdict is no crash"
    ;;
  esac
  sed '1,/^look first at/d' "$work/summary" | grep -q "$line" || fail "the summary does not say $line"
  tools/bin/anyrdma trace "$record" --html "$work/page.html"
  grep -q "$line" "$work/page.html" || fail "the page does not say $line"
  [ "$case_failed" = 0 ] || tail -n 40 "$work/explored" "$work/summary" | cut -c1-200 | sed 's/^/      /'
}
everywhere segv 11
everywhere abort 6
everywhere bus 7
everywhere fpe 8
everywhere ill 4

# --- what a file allows ---
allowed() { # NAME STATUS TEXT
  is_mine || return 0
  echo "  $1"
  case_failed=0
  printf 'host here 10.0.0.1\n%b' "$3" >"$work/scenario"
  timeout -k 5 "$deadline" tools/bin/anyrdma sim "$work/scenario" >"$work/said" 2>&1 </dev/null
  [ $? = "$2" ] || fail "it does not end with status $2"
  [ "$2" = 1 ] || ! grep -q 'which got it' "$work/said" || fail "there is a stack of what is allowed"
  [ "$case_failed" = 0 ] || sed 's/^/      /' "$work/said"
  failures=$((failures + case_failed))
}
allowed crash_allowed 0 "on here $PWD/$crashing segv\nexpect here/crashing any end\n"
allowed crash_of_child_allowed 0 "on here $PWD/$crashing child\nexpect here/crashing any end\n"
allowed crash_of_child 1 "on here $PWD/$crashing child\nexpect here/crashing any status\n"

# --- what a sanitizer reports, and when it was said ---
case_sanitizer() {
  printf 'int* volatile p;\n__attribute__((noinline)) int use(void) { return *p + 1; }\n' >"$work/freed.c"
  printf '#include <stdlib.h>\n#include <unistd.h>\n' >>"$work/freed.c"
  printf 'int main(void) { p = malloc(4); free(p); sleep(3); int r = use() & 0; sleep(2); return r; }\n' >>"$work/freed.c"
  gcc -g -O1 -fsanitize=address "$work/freed.c" -o "$work/freed" 2>/dev/null || { echo '    skipped: no AddressSanitizer here' && return; }
  ASAN_OPTIONS=detect_leaks=0 timeout -k 5 "$deadline" tools/bin/anyrdma sim --record "$work/freed.recording" \
    --host here=10.0.0.1 --on here "$work/freed" >"$work/said" 2>&1 </dev/null
  [ $? = 1 ] || fail "a report is no failure"
  sed '1,/^anyrdma: here\/freed: AddressSanitizer: heap-use-after-free$/d' "$work/said" | head -n 2 | tr '\n' ' ' |
    grep -q '^  here/freed, which reports it     use+0x[0-9a-f]* (freed) freed.c:2 $' || fail "it does not say where"
  tools/bin/anyrdma trace summary "$work/freed.recording" | sed '1,/^look first at/d' | head -n 1 |
    grep -q '^  3\.[0-9]* s: here/freed: AddressSanitizer' || fail "it is not said when it was"
  export ASAN_OPTIONS=detect_leaks=0
  seen_everywhere sanitizer "$work/freed" ' freed\.c:2' 'here/freed: AddressSanitizer: heap-use-after-free'
  unset ASAN_OPTIONS
  [ "$case_failed" = 0 ] || tail -n 30 "$work/said" | cut -c1-200 | sed 's/^/      /'
}

# A finding is where it was said, not where the run ends.
case_moments() {
  printf 'host here 10.0.0.1\non here sh -c "sleep 1; echo oops; sleep 1; exit 3"\non here sleep 9\n' >"$work/scenario"
  printf 'expect here/sh no output oops\n' >>"$work/scenario"
  timeout -k 5 "$deadline" tools/bin/anyrdma sim --record "$work/said.recording" "$work/scenario" >"$work/said" 2>&1 </dev/null
  [ $? = 1 ] || fail "it does well"
  tools/bin/anyrdma trace summary "$work/said.recording" >"$work/summary"
  sed '1,/^look first at/d' "$work/summary" | tr '\n' ' ' |
    grep -qE "^  1\.[0-9]+ s: here/sh printed 'oops'   2\.[0-9]+ s: here/sh ended with status 3 \$" || fail "not when it was said"
  [ "$case_failed" = 0 ] || sed 's/^/      /' "$work/summary"
}

run_cases

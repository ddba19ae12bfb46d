#!/usr/bin/env bash
# One archive with all that a replay needs (docs/debugging.md): it is replayed in another directory, where the programs
# are others or missing, and what is no bundle is refused.
. tests/simulated/lib.sh

anyrdma=$PWD/tools/bin/anyrdma
mkdir "$work/made" "$work/else"
install -m 755 tests/simulated/failing "$work/made/failing"
printf '%s\n' 'host server 10.0.0.1' 'host client 10.0.0.2' 'on server ./failing' 'on client ./failing 10.0.0.1 exit' \
  >"$work/made/fails.txt"
export TMPDIR=${TMPDIR:-/tmp}

checks() { # NAME
  case_failed=
  cases=$((cases + 1))
  printf -- '-- %s\n' "$1"
}

ends() {
  [ -z "$case_failed" ] || failures=$((failures + 1))
}

# replay WHERE ARGUMENT...: in that directory
replay() {
  local where=$1
  shift
  (cd "$work/$where" && timeout -k 5 "$deadline" "$anyrdma" replay "$@") >"$work/out" 2>"$work/err" </dev/null
  status=$?
}

says() {
  grep -E -- "$1" "$work/err" >/dev/null || fail "it does not say '$1': $(cat "$work/err")"
}

hash_of() { sed -n 's/.*trace hash //p' "$work/out"; }

checks 'a bundle is replayed in another directory, where its programs are missing'
replay made fails.txt 'seed 7' --bundle "$work/fails.tar"
[ "$status" = 1 ] || fail "exit status $status"
says "the bundle is '$work/fails.tar'"
made=$(hash_of)
mv "$work/made" "$work/gone"
replay else "$work/fails.tar"
[ "$status" = 1 ] || fail "exit status $status"
[ -n "$made" ] && [ "$(hash_of)" = "$made" ] || fail "another run: '$(hash_of)', not '$made'"
says "the program './failing' is missing on this machine: the copy in the bundle is used"
says 'client/failing ended with status 3'
grep 'differs from that of the bundle' "$work/err" >/dev/null && fail "it says that the run differs"
ends

checks 'a program of this machine that is another one is named, and not used'
printf '#!/bin/sh\nexit 9\n' >"$work/else/failing"
chmod +x "$work/else/failing"
replay else "$work/fails.tar"
[ "$(hash_of)" = "$made" ] || fail "another run: '$(hash_of)', not '$made'"
says "the program './failing' of this machine is another one \(content:[0-9a-f]{16}, not build-id:"
ends

checks 'tar unpacks it, and the recording and the page are in it'
mkdir "$work/unpacked"
tar -xf "$work/fails.tar" -C "$work/unpacked" || fail "tar does not unpack it"
"$anyrdma" trace summary "$work/unpacked/run.recording" >/dev/null || fail "the recording cannot be read"
grep -i '<html' "$work/unpacked/page.html" >/dev/null || fail "there is no page"
[ "$(cat "$work/unpacked/trial.txt")" = 'seed 7' ] || fail "trial: $(cat "$work/unpacked/trial.txt")"
grep '^library build-id:[0-9a-f]* /.*libc' "$work/unpacked/bundle.txt" >/dev/null ||
  fail "bundle.txt: $(cat "$work/unpacked/bundle.txt")"
cmp -s "$work/gone/failing" "$work/unpacked/programs/0/failing" || fail "the program is another one"
ends

checks 'a library that is another one is named'
sed -i 's/^library build-id:[0-9a-f]* \(.*libc.*\)/library build-id:00 \1/; s/^hash .*/hash 0000000000000001/' \
  "$work/unpacked/bundle.txt"
printf 'library build-id:11 /nowhere/lib.so\n' >>"$work/unpacked/bundle.txt"
tar -cf "$work/altered.tar" -C "$work/unpacked" .
replay else "$work/altered.tar"
says "the library '/.*libc.*' of this machine is another one \(build-id:[0-9a-f]*, not build-id:00\)"
says "the library '/nowhere/lib.so' is missing on this machine"
says 'the run differs from that of the bundle: its trace hash is'
ends

checks 'what is no bundle is refused in a sentence'
head -c 20000 "$work/fails.tar" >"$work/cut.tar"
replay else "$work/cut.tar"
[ "$status" = 2 ] || fail "exit status $status"
says "cut.tar' is not usable: it ends early"
tar -cf "$work/other.tar" -C "$work/unpacked" page.html
replay else "$work/other.tar"
[ "$status" = 2 ] || fail "exit status $status"
says 'is no bundle: it has no bundle.txt'
tar -cPf "$work/outside.tar" "$work/unpacked/trial.txt"
replay else "$work/outside.tar"
[ "$status" = 2 ] || fail "exit status $status"
says 'leads out of the archive'
rm "$work/unpacked/programs/0/failing"
tar -cf "$work/without.tar" -C "$work/unpacked" .
replay else "$work/without.tar"
[ "$status" = 2 ] || fail "exit status $status"
says "it lacks 'programs/0/failing'"
replay else "$work/fails.tar" 'seed 1'
[ "$status" = 2 ] || fail "exit status $status"
says 'a bundle has its own trial'
replay gone fails.txt 'seed 7' --bundle /nowhere/x.tar
[ "$status" = 1 ] || fail "exit status $status"
says "the bundle '/nowhere/x.tar' cannot be written"
replay gone connect 'seed 7' --bundle "$work/built-in.tar"
[ "$status" = 2 ] || fail "exit status $status"
replay gone fails.txt
[ "$status" = 2 ] || fail "exit status $status"
says 'TRIAL is required'
ends

printf '%s cases, %s failed\n' "$cases" "$failures"
[ "$failures" = 0 ]

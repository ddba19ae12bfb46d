#!/usr/bin/env bash
# Each verb of ./dev tells of itself, and does nothing else, least of all install something.
set -uo pipefail
failures=0
fail() { echo "FAILED: $*"; failures=$((failures + 1)); }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Whoever asks what is installed, installs or builds leaves a line. No package seems to be installed.
for program in apt-get bazel bazelisk dpkg-query sudo; do
  printf '#!/bin/sh\necho "%s $*" >>"%s/called"\nexit 1\n' "$program" "$work" >"$work/$program"
  chmod +x "$work/$program"
done
export PATH=$work:$PATH

list=$(./dev help) || fail "./dev help ends with $?"
verbs=$(sed -nE 's/^  ([a-z]+) .*/\1/p' <<<"$list")
[ "$(wc -w <<<"$verbs")" -ge 14 ] || fail "few verbs: $list"
known=$(sed -nE 's/^  ([a-z |]+)\) "\$(verb|\{verb\}_)" "\$@" ;;$/\1/p' dev | tr -d '|')
[ "$(xargs -n 1 <<<"$known" | sort -u)" = "$(sort -u <<<"$verbs")" ] || fail "it lists $verbs and knows $known"
for verb in $verbs; do
  line=$(grep -E "^  $verb " <<<"$list")
  for option in --help -h; do
    said=$(./dev "$verb" "$option" 2>&1) || fail "./dev $verb $option ends with $?: $said"
    [ "$(head -n 1 <<<"$said")" = "$line" ] || fail "./dev $verb $option says '$said', not '$line'"
  done
done
[ ! -e "$work/called" ] || fail "it called $(sort -u "$work/called" | head -n 5)"

# These do ask; so would one be seen that does not stop at its help.
./dev lint >/dev/null 2>&1 && fail "./dev lint goes on without packages"
[ -e "$work/called" ] || fail "nobody sees what is called"

[ "$failures" = 0 ] && echo PASSED
exit "$((failures > 0))"

#!/usr/bin/env bash
# measure.sh RACES ANYRDMA run|sim [CASE...]: how each case of races.c is judged by ThreadSanitizer, then precision and recall.
# 1: lower than it was measured, or a case that did not run.
set -uo pipefail

races=$(realpath "$1") anyrdma=$2 way=$3
shift 3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export TSAN_OPTIONS=exitcode=0:report_bugs=1
export RACES_FIFO=$work/fifo
right=0 wrong=0 missed=0 broken=0

one() { # CASE
  rm -f "$RACES_FIFO" && mkfifo "$RACES_FIFO"
  if [ "$way" = sim ]; then
    # The pipe is for both hosts.
    printf '%s\n' 'host server 10.0.0.1' 'host client 10.0.0.2' "keep $work" "on server $races $1 server 10.0.0.1" \
      "on client $races $1 client 10.0.0.1" >"$work/scenario"
    timeout -k 5 120 "$anyrdma" sim --quiet "$work/scenario" >"$work/log" 2>&1 </dev/null
  else
    timeout -k 5 60 "$anyrdma" run --fabric "races-$$" -- sh -c \
      "'$races' $1 server 127.0.0.1 & '$races' $1 client 127.0.0.1; wait" >"$work/log" 2>&1 </dev/null
  fi
}

while read -r label name; do
  [ $# = 0 ] || [[ " $* " == *" $name "* ]] || continue
  one "$name"
  found=no
  grep -q 'WARNING: ThreadSanitizer: ' "$work/log" && found=yes
  case $label in *conflict) expected=yes ;; *) expected=no ;; esac
  verdict=
  if [ "$(grep -c '^\(.*: \)\?done$' "$work/log")" != 2 ]; then
    verdict="DID NOT RUN: $(grep -v '^ \|^=' "$work/log" | head -c 400)"
    broken=$((broken + 1))
  elif [ $found$expected = yesyes ]; then right=$((right + 1))
  elif [ $found = yes ]; then wrong=$((wrong + 1)) verdict="FALSE REPORT"
  elif [ $expected = yes ]; then missed=$((missed + 1)) verdict=MISSED
  fi
  echo "$label $name $found $verdict"
  [ -z "${KEEP:-}" ] || cp "$work/log" "$KEEP/$name.log"
done < <("$races" list)
awk -v least=0.95 -v right=$right -v wrong=$wrong -v missed=$missed -v broken=$broken 'BEGIN {
  precision = right + wrong ? right / (right + wrong) : 0
  recall = right + missed ? right / (right + missed) : 0
  printf "%d found, %d false, %d missed: precision %.2f, recall %.2f\n", right, wrong, missed, precision, recall
  exit broken || precision < least || recall < 0.9
}'

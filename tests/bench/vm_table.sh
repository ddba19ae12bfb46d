#!/usr/bin/env bash
# vm_table.sh BIN AWAIT_LISTENER COUNT: what cmtime and perftest measure on Linux's rxe and on the drop-in in folder
# BIN, in one run of one virtual machine, as a table in Markdown. A ratio above 1: the drop-in is that many times faster.
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")/../.."
figures=$(tools/vm/rxe --cpus 2 --deadline 600 -- tests/bench/vm_figures.sh "$@")

echo "| in one machine, emulated | Linux's rxe | the drop-in | ratio |"
echo '|---|---|---|---|'
awk -F '|' '
  function row(what, kernel, dropin, ratio) { printf "| %s | %.3f | %.3f | %.2g |\n", what, kernel, dropin, ratio }
  /^cmtime: / { kernel += $2; dropin += $3; row($1, $2, $3, $2 / $3); next }
  !total++ { row("cmtime: all steps", kernel, dropin, kernel / dropin) }
  { row($1, $2, $3, /a second/ ? $3 / $2 : $2 / $3) }' <<<"$figures"

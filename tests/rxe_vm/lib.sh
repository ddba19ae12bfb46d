# For tests on a real kernel's connection manager: sourced, not run.
# shellcheck shell=bash
. tests/programs/skip.sh

reason=$(tools/vm/rxe --check 2>&1) || skip_all "${reason#rxe: }"

in_machine() { # [OPTION... --] COMMAND ARGUMENT...
  case "$1" in -*) ;; *) set -- -- "$@" ;; esac
  tools/vm/rxe --deadline 290 "$@" # a later --deadline wins
}
